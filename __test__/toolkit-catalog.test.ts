// The catalog's raw handlers, secure tools around secure tools, and the methods of a toolkit.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import {
  createAgentToolkit,
  createSecureTool,
  ToolCatalog,
  type ToolContext,
} from "../dist/index.js";
import { memoryStore } from "../dist/stores/index.js";
import { published } from "./support/events.ts";
import { createSecureTool as hostSecureTool } from "./support/host.ts";
import { inWorkspace } from "./support/workspace.ts";

// B1: a result that is wrapped into another result.
describe("second look B1", () => {
  test(
    "second look B1: handlers are raw: they resolve with data, and reject with the function's error",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { read_file, workspace_create_file, read } = ToolCatalog;
      assert.equal((await read_file.handler(ws.writable, "a.txt")).content, "a");
      await assert.rejects(read_file.handler(ws.writable, "none"), { name: "ReadFileError" });
      const args = { path: "a.txt", content: "" };
      assert.equal(
        (await workspace_create_file.handler(ws.writable, args)).errorCode,
        "FileExists",
      );
      const uri = "file:///none";
      await assert.rejects(read.handler({ space: ws.root }, { uri }), { code: "NOT_FOUND" });
      const source = await ToolCatalog["workspace.read_file"].handler(
        { store: memoryStore({}) },
        { path: "none" },
      );
      assert.equal(source.errorCode, "NOT_FOUND");
    }),
  );

  test(
    "second look B1: a host's own wrapper keeps failures as failures, without an event of ours",
    inWorkspace(async (ws) => {
      const context = {
        workspaceRoot: ws.root,
        writeScope: "workspace-write" as const,
        policy: { tools: {}, defaultPolicy: "allow" as const },
        env: {},
      };
      const events = await published(async () => {
        const { metadata, handler } = ToolCatalog.read_file;
        const result = await hostSecureTool(metadata, handler)(context, "none.txt");
        assert.ok(result.status === "failure");
        assert.match(result.message, /^NOT_FOUND: /);
      });
      assert.deepEqual(events, []);
    }),
  );

  test(
    "second look B1: wrapping twice, or wrapping a toolkit's tool, is harmless and gives one event",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { metadata, handler } = ToolCatalog.read_file;
      const once = createSecureTool(metadata, handler);
      const twice = createSecureTool(metadata, (context: ToolContext, file: string) =>
        once(context, file),
      );
      const kit = createAgentToolkit(ws.writable);
      const around = createSecureTool(metadata, (_context: ToolContext, file: string) =>
        kit.readFile(file),
      );
      for (const tool of [twice, createSecureTool(metadata, twice), around]) {
        for (const [file, status] of [
          ["a.txt", "success"],
          ["none", "failure"],
          ["../a", "denied"],
        ] as const) {
          const events = await published(async () => {
            const result = (await tool(ws.writable, file)) as unknown as Record<string, unknown>;
            assert.equal(result.status, status, JSON.stringify(result));
            const { data } = result as { data?: { status?: unknown } };
            assert.equal(data?.status, undefined);
          });
          assert.equal(events.length, 1, file);
        }
      }
    }),
  );

  test("second look B1: data that merely has a status is data", async () => {
    for (const data of [
      { status: "success" },
      { status: "failure", message: "m" },
      { status: "success", data: 1, more: 2 },
    ]) {
      const tool = createSecureTool({ name: "mine", isWriteOp: false }, () => data);
      assert.deepEqual(await tool({}), { status: "success", data });
    }
  });
});

// B2: a method that a specification names and the toolkit lacks.
describe("second look B2", () => {
  test(
    "second look B2: each tool stands under its function's name, too",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\ntwo\n");
      const store = memoryStore({ "a.cs": "class A {}" });
      const kit = createAgentToolkit({ ...ws.writable, store, space: ws.root });
      const window = await kit.readFile("a.txt", { start_line: 2, max_lines: 1 });
      assert.equal(window.status === "success" && window.data.content, "two\n");
      assert.equal((await kit.createFile({ path: "b.txt", content: "" })).status, "success");
      for (const args of [{ path: "a.cs" }, '{"path":"a.cs"}']) {
        assert.equal((await kit.readSourceDocument(args)).status, "success");
      }
      assert.equal((await kit.read({ uri: "file:///a.txt" })).status, "success");
    }),
  );

  test(
    "second look B2: readFile of a toolkit names unknown options, and never throws",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\ntwo\n");
      const kit = createAgentToolkit(ws.writable);
      for (const result of [
        await kit.readFile("a.txt", { maxLines: 1 } as never),
        await kit.tools.read_file({ path: "a.txt", maxLines: 1 } as never),
      ]) {
        assert.match((result.status === "success" && result.hint) || "", /ignored: maxLines/);
      }
      const throwing = {
        get max_lines(): number {
          throw new Error("getter");
        },
      };
      for (const [file, options] of [
        ["a.txt", throwing],
        [1, null],
        [undefined, 3],
        ["a.txt", { path: "b" }],
      ]) {
        const result = await kit.readFile(file as never, options as never);
        const isRead = file === "a.txt" && options !== throwing;
        assert.equal(result.status, isRead ? "success" : "failure", JSON.stringify(result));
      }
      const controller = new AbortController();
      controller.abort("over");
      await assert.rejects(
        kit.readFile("a.txt", { signal: controller.signal }),
        (e) => e === "over",
      );
    }),
  );
});

// B3: JSON text of arguments that is taken for a path.
describe("second look B3", () => {
  test("second look B3: the handler of workspace.read_file takes JSON text", async () => {
    const context = { store: memoryStore({ "src/a.ts": "a" }) };
    const { handler } = ToolCatalog["workspace.read_file"];
    for (const args of ['{"path":"src/a.ts"}', { path: "src/a.ts" }]) {
      const { file } = await handler(context, args);
      assert.equal(file?.content, "a");
    }
    assert.equal((await handler(context, "src/a.ts")).errorCode, "INVALID_ARGUMENT");
    assert.equal((await handler(context, null)).errorCode, "INVALID_ARGUMENT");
  });

  test(
    "second look B3: under a wrapper that resolves strings the object is passed on",
    inWorkspace(async (ws) => {
      const context = { ...ws.writable, store: memoryStore({ "src/a.ts": "a" }) };
      const { metadata, handler } = ToolCatalog["workspace.read_file"];
      const result = await createSecureTool(metadata, handler)(context, { path: "src/a.ts" });
      assert.equal(result.status === "success" && result.data.file?.content, "a");
      assert.deepEqual(fs.readdirSync(ws.root), []);
    }),
  );
});
