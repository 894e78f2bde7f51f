#!/usr/bin/env node
// The command `ringfence`. Standard output belongs to the protocol; everything else is told on standard
// error, without a path that the operator has not typed.

import path from "node:path";
import { parseArgs } from "node:util";
import { createAgentToolkit } from "./agent-toolkit.js";
import { createClientRootsToolkit } from "./mcp/client-roots.js";
import { createMcpServer, type McpServer } from "./mcp/server.js";
import { serveStdio } from "./mcp/stdio.js";
import { VERSION } from "./version.js";

const HELP = `ringfence ${VERSION}: reads and creates the files of a directory, and never leaves it

Usage: ringfence mcp [--root DIR] [--read-only]

Serves the Model Context Protocol on standard input and output.

  --root DIR     the directory whose files the client may use; without it,
                 the first of the client's own roots that can be opened
  --read-only    no file is created or replaced
  -h, --help     prints this
  -V, --version  prints the version

Exit codes: 0 when the client has gone, 1 when the server failed, 2 when it
could not start as asked.
`;

/** What cannot be done as it was asked. */
class UsageError extends Error {}

const misuse = (sentence: string) => new UsageError(`${sentence} (see ringfence --help)`);

interface McpCommand {
  root: string | null;
  readOnly: boolean;
}

main(process.argv.slice(2)).catch((error) => {
  const asked = error instanceof UsageError;
  tell(asked ? error.message : "an unexpected error has ended it");
  process.exitCode = asked ? 2 : 1;
});

async function main(args: string[]): Promise<void> {
  const command = readCommand(args);
  if (typeof command === "string") process.stdout.write(command);
  else await serve(command);
}

/** The command, or the text that was asked for. */
function readCommand(args: string[]): McpCommand | string {
  const { values, positionals } = parsed(args);
  if (values.help) return HELP;
  if (values.version) return `${VERSION}\n`;
  const [command, extra] = positionals;
  if (command === undefined) throw misuse("a command is missing: ringfence mcp");
  if (command !== "mcp") throw misuse(`there is no command ${JSON.stringify(command)}`);
  if (extra !== undefined) {
    throw misuse(`${JSON.stringify(extra)} is one argument too many: --root names the directory`);
  }
  const [root = null, another] = values.root ?? [];
  if (another !== undefined) throw misuse("--root can be given once: one server has one root");
  if (root === "") throw misuse("--root needs a directory");
  return { root, readOnly: values["read-only"] ?? false };
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        root: { type: "string", multiple: true },
        "read-only": { type: "boolean" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "V" },
      },
    });
  } catch (error) {
    const [sentence = ""] = (error as Error).message.split(/\.?(?: To specify|\n|$)/);
    throw misuse(sentence);
  }
}

async function serve({ root, readOnly }: McpCommand): Promise<void> {
  const writeScope = readOnly ? "read-only" : "workspace-write";
  if (root !== null) {
    // The operator's word is the last: the client is not asked, and can neither widen nor move the root.
    await serveOn(createMcpServer(openRoot(root, writeScope)));
    return;
  }
  const gone = new AbortController();
  const toolkit = createClientRootsToolkit(writeScope, tell);
  const roots = { follow: toolkit.follow, signal: gone.signal };
  await serveOn(createMcpServer(toolkit, { roots }), () => gone.abort());
}

async function serveOn(server: McpServer, onEnd = () => {}): Promise<void> {
  server.onerror = (error) => tell(nameOf(error));
  await serveStdio(server, onEnd);
}

function openRoot(root: string, writeScope: "read-only" | "workspace-write") {
  try {
    return createAgentToolkit({ workspaceRoot: path.resolve(root), writeScope });
  } catch (error) {
    const { message } = error as Error;
    const [, why] = /workspaceRoot (.*)/.exec(message) ?? [];
    throw new UsageError(`--root ${root} ${why ?? "cannot be opened"}`);
  }
}

/** What kind of error it is; the SDK's own messages repeat what was sent. */
function nameOf(error: Error): string {
  if (error instanceof SyntaxError) return "a line was ignored that is not JSON";
  if (error.name === "ZodError") return "a line was ignored that is no message of the protocol";
  if (error instanceof RangeError) return `the connection ends: ${error.message}`;
  return "a message could not be dealt with";
}

function tell(sentence: string): void {
  process.stderr.write(`ringfence: ${sentence}\n`);
}
