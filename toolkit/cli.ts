#!/usr/bin/env node
// The command `ringfence`. Standard output has messages of the protocol only. Everything else goes to
// standard error, which shows no path but the one that the operator typed.

import path from "node:path";
import { parseArgs } from "node:util";
import type { AccessRules, WriteScope } from "../index.js";
import { createAgentToolkit } from "./agent-toolkit.js";
import { createClientRootsToolkit, type RootOptions } from "./mcp/client-roots.js";
import { FormError, SizeError } from "./mcp/message.js";
import { createToolServer, type McpServerOptions, type ToolServer } from "./mcp/server.js";
import { serveStdio } from "./mcp/stdio.js";
import { RULE_FLAGS, readRuleFlags } from "./rule-flags.js";
import { misuse, UsageError } from "./usage-error.js";
import { VERSION } from "./version.js";

const HELP = `ringfence ${VERSION}: reads and creates the files of a directory, and never leaves it

Usage: ringfence mcp [--root DIR] [--read-only]
                     [--deny PATTERN]... [--write-only PATTERN]...
                     [--read-only-path PATTERN... | --no-read-only-path]
                     [--instructions TEXT | --no-instructions]

Serves the Model Context Protocol on standard input and output.

  --root DIR                 the directory whose files the client may use;
                             without it, the first of the client's own roots
                             that can be opened
  --read-only                no file is created or replaced
  --deny PATTERN             paths that are neither read, changed nor listed;
                             patterns are those of a .gitignore
  --write-only PATTERN       changes only paths that match
  --read-only-path PATTERN   paths that are read and not changed, in place of
                             those that other programs run unasked, such as
                             .git and .vscode/
  --no-read-only-path        changes those, too
  --instructions TEXT        instructions for the client's model, in place of
                             the server's own, which say when to call which
                             tool
  --no-instructions          no instructions for the client's model
  -h, --help                 prints this
  -V, --version              prints the version

Exit codes: 0 when the client has gone, 1 when the server failed, 2 when it
could not start as asked.
`;

interface McpCommand {
  root: string | null;
  writeScope: WriteScope;
  rules: AccessRules;
  /** The text for the client's model; `null` for none, `undefined` for the server's own. */
  instructions: string | null | undefined;
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

/** The command, or the text of `--help` or `--version`. */
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
  return {
    root,
    writeScope: values["read-only"] ? "read-only" : "workspace-write",
    rules: readRuleFlags(values),
    instructions: readInstructions(values),
  };
}

function readInstructions(values: ReturnType<typeof parsed>["values"]): string | null | undefined {
  const [text, another] = values.instructions ?? [];
  if (another !== undefined) throw misuse("--instructions can be given once");
  if (!values["no-instructions"]) return text;
  if (text !== undefined) throw misuse("--instructions and --no-instructions exclude each other");
  return null;
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        root: { type: "string", multiple: true },
        "read-only": { type: "boolean" },
        instructions: { type: "string", multiple: true },
        "no-instructions": { type: "boolean" },
        ...RULE_FLAGS,
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "V" },
      },
    });
  } catch (error) {
    const [sentence = ""] = (error as Error).message.split(/\.?(?: To specify|\n|$)/);
    throw misuse(sentence);
  }
}

async function serve({ root, writeScope, rules, instructions }: McpCommand): Promise<void> {
  const options: McpServerOptions = instructions === undefined ? {} : { instructions };
  if (root !== null) {
    // The operator has decided. The client is not asked for roots and can neither widen nor move this one.
    await serveOn(createToolServer(openRoot(root, { writeScope, rules }), options));
    return;
  }
  const gone = new AbortController();
  const toolkit = createClientRootsToolkit({ writeScope, rules }, tell);
  const roots = { follow: toolkit.follow, signal: gone.signal };
  await serveOn(createToolServer(toolkit, { ...options, roots }), () => gone.abort());
}

async function serveOn(server: ToolServer, onEnd = () => {}): Promise<void> {
  server.onerror = (error) => tell(nameOf(error));
  await serveStdio(server, onEnd);
}

function openRoot(root: string, options: RootOptions) {
  try {
    return createAgentToolkit({ workspaceRoot: path.resolve(root), ...options });
  } catch (error) {
    const { message } = error as Error;
    const [, why] = /workspaceRoot (.*)/.exec(message) ?? [];
    throw new UsageError(`--root ${root} ${why ?? "cannot be opened"}`);
  }
}

/** The kind of an error. Its own message is not shown, because the SDK's messages repeat client data. */
function nameOf(error: Error): string {
  if (error instanceof SyntaxError) return "a line was ignored that is not JSON";
  if (error instanceof SizeError) return error.message;
  if (error instanceof FormError) return "a line was ignored that is no message of the protocol";
  if (error instanceof RangeError) return `the connection ends: ${error.message}`;
  return "a message could not be dealt with";
}

/** The most characters that wait for standard error to be read. Further lines are dropped. */
const MAX_UNTOLD = 64 * 1024;
let untold = 0;

function tell(sentence: string): void {
  if (untold > MAX_UNTOLD) return;
  const line = `ringfence: ${sentence}\n`;
  untold += line.length;
  process.stderr.write(line, () => {
    untold -= line.length;
  });
}
