// The exported readFile as the handler of a secure-tool host, unchanged. docs/contract.md §1 fact 1 and §2,
// spec read_file §7 and §11. The host is written from its description, without any code for ringfence.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ReadFileOptions, type ReadFileOutput, readFile, Workspace } from "../index.js";
import { type CatalogEntry, createSecureTool, type ToolContext } from "./support/host.ts";
import { noSymlinks } from "./support/platform.ts";
import { modelAnswer } from "./support/read.ts";
import { concat, inWorkspace, SECRET, type TestWorkspace } from "./support/workspace.ts";

const METADATA = { name: "read_file", isWriteOp: false };
// The proof: the exported function itself, without a wrapper and without a cast.
const read = createSecureTool(METADATA, readFile);

const ToolCatalog = {
  read_file: { metadata: { ...METADATA, description: "Reads a file." }, handler: read },
} satisfies Record<string, CatalogEntry<[string, (ReadFileOptions | null)?], ReadFileOutput>>;

/** The same tool without the handler's types, for what models really send. */
const looseRead = read as unknown as (
  context: ToolContext,
  ...args: unknown[]
) => ReturnType<typeof read>;

function hostContext(ws: TestWorkspace, changes: Partial<ToolContext> = {}): ToolContext {
  return {
    workspaceRoot: ws.root,
    writeScope: "read-only",
    policy: { tools: {}, defaultPolicy: "allow" },
    env: { HOME: "/home/agent" },
    ...changes,
  };
}

/** The failure's message, which is all that the host keeps of an error. */
async function failure(call: Promise<unknown>, ws: TestWorkspace): Promise<string> {
  const envelope = (await call) as { status: string; reason: string; message: string };
  assert.deepEqual(Object.keys(envelope), ["status", "reason", "message"]);
  assert.equal(envelope.status, "failure", JSON.stringify(envelope));
  assert.equal(envelope.reason, "runtime");
  assert.ok(!envelope.message.includes(ws.base), envelope.message);
  return envelope.message;
}

describe("success", () => {
  test(
    "the error of a wrong option has the model's own path, not the wrapper's",
    inWorkspace(async (ws) => {
      for (const root of [ws.root, `${ws.root}/.`]) {
        const context = hostContext(ws, { workspaceRoot: root });
        const message = await failure(looseRead(context, "src/a.txt", { max_lines: 0 }), ws);
        assert.match(message, /max_lines must be .*, got 0: src\/a\.txt$/);
      }
    }),
  );

  test(
    "the host's absolute path is read, and the answer's path is relative",
    inWorkspace(async (ws) => {
      const bytes = concat("\ufeffa\r\nb\r\n");
      ws.write("src/main.ts", bytes);
      const envelope = await read(hostContext(ws), "src/main.ts");
      const data = modelAnswer(ws, "src/main.ts", bytes);
      assert.deepStrictEqual(envelope, { status: "success", data });
    }),
  );

  test(
    "it is read by way of the catalog",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { metadata, handler } = ToolCatalog.read_file;
      assert.equal(metadata.name, "read_file");
      const envelope = await handler(hostContext(ws), "a.txt");
      assert.equal(envelope.status, "success");
    }),
  );

  test(
    "options go through the host",
    inWorkspace(async (ws) => {
      const bytes = concat("a\nb\nc\n");
      ws.write("a.txt", bytes);
      const envelope = await read(hostContext(ws), "a.txt", { start_line: 2, max_lines: 1 });
      const data = modelAnswer(ws, "a.txt", bytes, 2, 1);
      assert.deepStrictEqual(envelope, { status: "success", data });
    }),
  );

  test(
    "250 lines stop after 200 and go on at 201",
    inWorkspace(async (ws) => {
      ws.write("a.txt", Array.from({ length: 250 }, (_, i) => `line ${i + 1}`).join("\n"));
      const envelope = await read(hostContext(ws), "a.txt");
      assert.ok(envelope.status === "success");
      assert.equal(envelope.data.truncated, true);
      assert.equal(envelope.data.next_start_line, 201);
    }),
  );

  test(
    "I07: a path with backslashes is read",
    inWorkspace(async (ws) => {
      ws.write("src/a.ts", "a");
      const envelope = await read(hostContext(ws), "src\\a.ts");
      assert.ok(envelope.status === "success");
      assert.equal(envelope.data.path, "src/a.ts");
    }),
  );

  test(
    "a host may build its context from a Workspace and read with that",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const workspace = Workspace.open(ws.root, { writeScope: "read-only" });
      const policy = { tools: {}, defaultPolicy: "allow" } as const;
      const handler = (_: ToolContext, path: string) => readFile(workspace, path);
      const tool = createSecureTool(METADATA, handler);
      const context = { workspaceRoot: workspace.workspaceRoot, writeScope: workspace.writeScope };
      const envelope = await tool({ ...context, policy, env: {} }, "a.txt");
      assert.ok(envelope.status === "success");
      assert.equal(envelope.data.path, "a.txt");
      workspace.close();
    }),
  );
});

describe("refusals by the host, before the handler", () => {
  test(
    "policy",
    inWorkspace(async (ws) => {
      const policy = { tools: { read_file: "deny" }, defaultPolicy: "allow" } as const;
      const envelope = await read(hostContext(ws, { policy }), "../outside/a.txt");
      assert.equal(envelope.status, "denied");
      assert.ok(envelope.status === "denied" && envelope.reason === "policy");
    }),
  );

  test(
    "a path that leaves by its words",
    inWorkspace(async (ws) => {
      const envelope = await read(hostContext(ws), "../outside/a.txt");
      assert.ok(envelope.status === "denied" && envelope.reason === "sandbox");
    }),
  );

  test(
    "write scope does not concern a reader",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      for (const writeScope of ["read-only", "workspace-write", "unrestricted"] as const) {
        assert.equal((await read(hostContext(ws, { writeScope }), "a.txt")).status, "success");
      }
    }),
  );
});

describe("refusals by the handler: the message alone must say it", () => {
  test(
    "G13: a folder link that leads out passes the host's check and is refused by ours",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.writeOutside("secret.txt");
      ws.link("vendor", ws.outside, "dir");
      const message = await failure(read(hostContext(ws), "vendor/secret.txt"), ws);
      assert.match(message, /^SANDBOX_VIOLATION: .*: vendor\/secret\.txt$/);
      assert.ok(!message.includes(SECRET.trim()));
    }),
  );

  test(
    "G01: a file link that leads out passes the host's check and is refused by ours",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.link("notes.md", ws.writeOutside("secret.txt"));
      const message = await failure(read(hostContext(ws), "notes.md"), ws);
      assert.match(message, /^SANDBOX_VIOLATION: .*: notes\.md$/);
    }),
  );

  test(
    "a missing file",
    inWorkspace(async (ws) => {
      const message = await failure(read(hostContext(ws), "src/missing.ts"), ws);
      assert.match(message, /^NOT_FOUND: .*: src\/missing\.ts$/);
    }),
  );

  test(
    "a folder",
    inWorkspace(async (ws) => {
      ws.folder("src");
      assert.match(await failure(read(hostContext(ws), "src"), ws), /^NOT_FILE: .*: src$/);
    }),
  );

  test(
    "the root itself, which the host resolves to its absolute path",
    inWorkspace(async (ws) => {
      assert.match(await failure(read(hostContext(ws), "."), ws), /^NOT_FILE: /);
    }),
  );

  test(
    "a file above the size limit",
    inWorkspace(async (ws) => {
      ws.write("big.log", "0123456\n".repeat(262_144));
      const message = await failure(read(hostContext(ws), "big.log"), ws);
      assert.match(message, /^SIZE_LIMIT_EXCEEDED: .*: big\.log$/);
    }),
  );

  test(
    "a binary file",
    inWorkspace(async (ws) => {
      ws.write("logo.png", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0]));
      const message = await failure(read(hostContext(ws), "logo.png"), ws);
      assert.match(message, /^BINARY_NOT_SUPPORTED: .*: logo\.png$/);
    }),
  );

  test(
    "M10: a start_line of -1",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const message = await failure(read(hostContext(ws), "a.txt", { start_line: -1 }), ws);
      assert.match(message, /^INVALID_ARGUMENT: .*start_line.*>= 1.*got -1/);
    }),
  );

  for (const [name, argument] of [
    ["the model's whole argument object", { path: "a.txt" }],
    ["a number", 1],
    ["an array", ["a.txt"]],
    ["nothing", undefined],
  ] as const) {
    test(
      `N16: ${name} instead of a path goes through the host untouched and is refused`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const message = await failure(looseRead(hostContext(ws), argument), ws);
        assert.match(message, /^INVALID_ARGUMENT: .*\bpath\b/);
      }),
    );
  }

  test(
    "a host with a workspace that is gone",
    inWorkspace(async (ws) => {
      const context = hostContext(ws, { workspaceRoot: `${ws.root}-gone` });
      const message = await failure(read(context, "a.txt"), ws);
      assert.match(message, /^INVALID_ARGUMENT: .*workspaceRoot/);
    }),
  );
});
