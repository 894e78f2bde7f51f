// The exported createFile as the handler of a secure-tool host, unchanged, called with the model's
// argument object. docs/contract.md §1 fact 1 and §2.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { type CreateFileResult, createFile, Workspace } from "../index.js";
import { type CreateArgs, checkResult, sha256 } from "./support/create.ts";
import { type CatalogEntry, createSecureTool, type ToolContext } from "./support/host.ts";
import { noSymlinks } from "./support/platform.ts";
import { treeOf } from "./support/tree.mjs";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const METADATA = { name: "workspace_create_file", isWriteOp: true };
// The proof: the exported function itself, without a wrapper and without a cast.
const create = createSecureTool(METADATA, createFile);

const ToolCatalog = {
  workspace_create_file: {
    metadata: { ...METADATA, description: "Creates a file." },
    handler: create,
  },
} satisfies Record<string, CatalogEntry<[CreateArgs], CreateFileResult>>;

/** The same tool without the handler's types, for what models really send. */
const looseCreate = create as unknown as (
  context: ToolContext,
  ...args: unknown[]
) => ReturnType<typeof create>;

function hostContext(ws: TestWorkspace, changes: Partial<ToolContext> = {}): ToolContext {
  return {
    workspaceRoot: ws.root,
    writeScope: "workspace-write",
    policy: { tools: {}, defaultPolicy: "allow" },
    env: { HOME: "/home/agent" },
    ...changes,
  };
}

/** The result inside a success envelope: a domain failure is an answer, not an exception. */
async function resultOf(
  call: ReturnType<typeof create>,
  ws: TestWorkspace,
): Promise<CreateFileResult> {
  const envelope = await call;
  assert.equal(envelope.status, "success", JSON.stringify(envelope));
  return checkResult((envelope as { data: unknown }).data, ws.hidden);
}

describe("success", () => {
  test(
    "the model's argument object goes through the host untouched, and the file is made",
    inWorkspace(async (ws) => {
      const args = { path: "src\\main.ts", content: "a\r\nb\r\n" };
      const envelope = await create(hostContext(ws), args);
      assert.deepStrictEqual(envelope, {
        status: "success",
        data: {
          success: true,
          message: "File created.",
          path: "src/main.ts",
          sizeBytes: 4,
          hash: sha256("a\nb\n"),
          created: true,
          overwritten: false,
          errorCode: null,
        },
      });
      assert.equal(fs.readFileSync(ws.at("src/main.ts"), "utf8"), "a\nb\n");
    }),
  );

  test(
    "it is created by way of the catalog",
    inWorkspace(async (ws) => {
      const { metadata, handler } = ToolCatalog.workspace_create_file;
      assert.equal(metadata.isWriteOp, true);
      const result = await resultOf(handler(hostContext(ws), { path: "a", content: "a" }), ws);
      assert.equal(result.created, true);
    }),
  );

  test(
    "the spec's own example is created, and overwritten when asked",
    inWorkspace(async (ws) => {
      const args = {
        path: "src/Services/AgentOrchestrator.cs",
        content: "using System;\n\npublic class AgentOrchestrator { }\n",
        overwrite: false,
      };
      assert.equal((await resultOf(create(hostContext(ws), args), ws)).created, true);
      const again = await resultOf(create(hostContext(ws), args), ws);
      assert.equal(again.errorCode, "FileExists");
      const over = await resultOf(create(hostContext(ws), { ...args, overwrite: true }), ws);
      assert.equal(over.overwritten, true);
    }),
  );

  test(
    "an unrestricted host writes, but not outside",
    inWorkspace(async (ws) => {
      const context = hostContext(ws, { writeScope: "unrestricted" });
      const inside = await resultOf(create(context, { path: "a", content: "a" }), ws);
      assert.equal(inside.created, true);
      const outside = await resultOf(create(context, { path: "../outside/a", content: "a" }), ws);
      assert.equal(outside.errorCode, "InvalidPath");
      assert.deepEqual(fs.readdirSync(ws.outside), []);
    }),
  );

  test(
    "a host may build its context from a Workspace and create with that",
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root, { writeScope: "workspace-write" });
      const handler = (_: ToolContext, args: CreateArgs) => createFile(workspace, args);
      const tool = createSecureTool(METADATA, handler);
      const { workspaceRoot, writeScope } = workspace;
      const context = hostContext(ws, { workspaceRoot, writeScope });
      assert.equal((await resultOf(tool(context, { path: "a", content: "a" }), ws)).created, true);
      workspace.close();
    }),
  );
});

describe("refusals by the host, before the handler", () => {
  test(
    "policy",
    inWorkspace(async (ws) => {
      const policy = { tools: { workspace_create_file: "deny" }, defaultPolicy: "allow" } as const;
      const envelope = await create(hostContext(ws, { policy }), { path: "a", content: "a" });
      assert.ok(envelope.status === "denied" && envelope.reason === "policy");
      assert.deepEqual(treeOf(ws.root), {});
    }),
  );

  test(
    "a read-only host",
    inWorkspace(async (ws) => {
      const context = hostContext(ws, { writeScope: "read-only" });
      const envelope = await create(context, { path: "a", content: "a" });
      assert.ok(envelope.status === "denied" && envelope.reason === "sandbox");
      assert.deepEqual(treeOf(ws.root), {});
    }),
  );
});

describe("refusals by the handler are answers", () => {
  test(
    "G17: a folder link that leads out passes the host, which never looks, and is refused by ours",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.link("vendor", ws.outside, "dir");
      const args = { path: "vendor/a/b.txt", content: "a" };
      const result = await resultOf(create(hostContext(ws), args), ws);
      assert.equal(result.errorCode, "InvalidPath");
      assert.deepEqual(fs.readdirSync(ws.outside), []);
    }),
  );

  test(
    "a host that does not know of write operations is still kept from writing read-only",
    inWorkspace(async (ws) => {
      const tool = createSecureTool({ ...METADATA, isWriteOp: false }, createFile);
      const context = hostContext(ws, { writeScope: "read-only" });
      const result = await resultOf(tool(context, { path: "a", content: "a" }), ws);
      assert.equal(result.errorCode, "WriteFailed");
      assert.deepEqual(treeOf(ws.root), {});
    }),
  );

  for (const [name, args, code] of [
    ["N10: wrong key names", { file_path: "a", file_content: "a" }, "InvalidPath"],
    ["O11: no content", { path: "a" }, "UnhandledException"],
    [
      "N12: overwrite as a string",
      { path: "a", content: "a", overwrite: "true" },
      "UnhandledException",
    ],
    ["JSON text that is no object", 5, "UnhandledException"],
    ["nothing", undefined, "UnhandledException"],
  ] as const) {
    test(
      `${name}: ${code}`,
      inWorkspace(async (ws) => {
        const result = await resultOf(looseCreate(hostContext(ws), args), ws);
        assert.equal(result.errorCode, code, result.message);
        assert.deepEqual(treeOf(ws.root), {});
      }),
    );
  }

  test(
    "a path as first argument, which the host makes absolute, is refused as no argument object",
    inWorkspace(async (ws) => {
      const result = await resultOf(looseCreate(hostContext(ws), "a.txt", "content"), ws);
      assert.equal(result.errorCode, "UnhandledException");
      assert.deepEqual(treeOf(ws.root), {});
    }),
  );

  test(
    "a host with a workspace that is gone",
    inWorkspace(async (ws) => {
      const context = hostContext(ws, { workspaceRoot: `${ws.root}-gone` });
      const result = await resultOf(create(context, { path: "a", content: "a" }), ws);
      assert.equal(result.errorCode, "UnhandledException");
      assert.match(result.message, /workspaceRoot/);
    }),
  );
});

test(
  "an aborted call is the one failure that the host sees",
  inWorkspace(async (ws) => {
    const signal = AbortSignal.abort(new Error("the turn was stopped"));
    const context = { ...hostContext(ws), signal };
    const envelope = await create(context, { path: "a", content: "a" });
    assert.deepEqual(envelope, {
      status: "failure",
      reason: "runtime",
      message: "the turn was stopped",
    });
    assert.deepEqual(treeOf(ws.root), {});
  }),
);
