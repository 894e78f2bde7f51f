// `ringfence mcp` with the official inspector's command: its list of tools, its calls, its check of the
// schemas, and its exit codes. Inspector and server run on the runtime that runs the tests.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CLI } from "./support/mcp.ts";
import { READING_TOOLS, WORKSPACE_TOOLS } from "./support/tools.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const INSPECTOR = path.join(
  fileURLToPath(new URL("../node_modules/@modelcontextprotocol/inspector", import.meta.url)),
  "clients/launcher/build/index.js",
);

interface Inspection {
  code: number | null;
  /** Its output, parsed as JSON. */
  answer: unknown;
  stderr: string;
}

/** Starts a server over the workspace with some options, and inspects it. */
function inspect(ws: TestWorkspace, options: string[], method: string[]): Promise<Inspection> {
  const server = [process.execPath, CLI, "mcp", "--root", ws.root, ...options];
  const child = spawn(process.execPath, [INSPECTOR, "--cli", ...server, "--method", ...method], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
    // It keeps its settings in the home directory.
    env: { ...process.env, HOME: ws.base, USERPROFILE: ws.base },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ code, answer: stdout === "" ? null : JSON.parse(stdout), stderr });
    });
  });
}

test(
  "lists the tools, and finds nothing to say against their schemas",
  inWorkspace(async (ws) => {
    const { code, answer, stderr } = await inspect(ws, [], ["tools/list", "--strict"]);
    assert.equal(code, 0, stderr);
    assert.equal(stderr, "");
    const { tools } = answer as { tools: { name: string; outputSchema?: object }[] };
    assert.deepEqual(
      tools.map(({ name }) => name),
      WORKSPACE_TOOLS,
    );
    for (const { outputSchema } of tools) assert.ok(outputSchema);
  }),
);

test(
  "lists no tool of a read-only server that writes",
  inWorkspace(async (ws) => {
    const { code, answer, stderr } = await inspect(ws, ["--read-only"], ["tools/list"]);
    assert.equal(code, 0, stderr);
    const { tools } = answer as { tools: { name: string }[] };
    assert.deepEqual(
      tools.map(({ name }) => name),
      READING_TOOLS,
    );
  }),
);

test(
  "creates a file, and reads it",
  inWorkspace(async (ws) => {
    const create = ["tools/call", "--tool-name", "workspace_create_file"];
    const made = await inspect(ws, [], [...create, "--tool-arg", "path=a.txt", "content=one"]);
    assert.equal(made.code, 0, made.stderr);
    assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "one");

    const read = ["tools/call", "--tool-name", "read_file", "--tool-arg", "path=a.txt"];
    const { code, answer, stderr } = await inspect(ws, [], [...read, "max_lines=1"]);
    assert.equal(code, 0, stderr);
    const { structuredContent } = answer as { structuredContent: { content: string } };
    assert.equal(structuredContent.content, "one");
  }),
);

test(
  "takes a refusal for the tool's error, with its reason",
  inWorkspace(async (ws) => {
    ws.writeOutside("secret.txt");
    const read = ["tools/call", "--tool-name", "read_file", "--tool-arg"];
    const { code, answer, stderr } = await inspect(ws, [], [...read, "path=../outside/secret.txt"]);
    assert.equal(code, 5, stderr);
    assert.match(stderr, /tool_is_error/);
    const { isError, content } = answer as { isError: boolean; content: { text: string }[] };
    assert.equal(isError, true);
    assert.match(content[0]?.text ?? "", /SANDBOX_VIOLATION/);
  }),
);
