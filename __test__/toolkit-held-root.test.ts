// A toolkit holds one root: its tools stay there, even if the root's path leads elsewhere later.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { createAgentToolkit, defineTool, ToolCatalog, type ToolResult } from "../dist/index.js";
import { holdRealRoot, resolveInWorkspace } from "../dist/resolve-path.js";
import { readFile, Workspace } from "../index.js";
import { noSymlinks } from "./support/platform.ts";
import { READING_TOOLS, WORKSPACE_TOOLS } from "./support/tools.ts";
import { inWorkspace, SECRET, type TestWorkspace } from "./support/workspace.ts";

type Toolkit = ReturnType<typeof createAgentToolkit>;
/** The answer of any tool, called in any way. */
type Answer = Promise<ToolResult>;

/** Renames the root away, and puts a link to the outside in its place. */
function exchangeRoot(ws: TestWorkspace): string {
  const moved = path.join(ws.base, "moved");
  fs.renameSync(ws.root, moved);
  fs.symlinkSync(ws.outside, ws.root, "dir");
  return moved;
}

async function dataOf(result: Answer): Promise<Record<string, unknown>> {
  const settled = await result;
  assert.equal(settled.status, "success", JSON.stringify(settled));
  return (settled as { data: Record<string, unknown> }).data;
}

// A1: a handler opens the root's path again, after the toolkit has opened the root.
describe("second look A1", { skip: noSymlinks }, () => {
  const DOORS: [name: string, create: (kit: Toolkit, args: object) => Answer][] = [
    ["invoke", (kit, args) => kit.invoke("workspace_create_file", args as never)],
    ["tools", (kit, args) => kit.tools.workspace_create_file(args as never)],
    ["createFile", (kit, args) => kit.createFile(args as never)],
    [
      "invoke with a signal",
      (kit, args) =>
        kit.invoke("workspace_create_file", args as never, {
          signal: new AbortController().signal,
        }),
    ],
  ];
  for (const [name, create] of DOORS) {
    test(
      `second look A1: ${name} creates in the root that was opened, and reads it there`,
      inWorkspace(async (ws) => {
        ws.writeOutside("old.txt", "outside");
        ws.write("old.txt", "inside");
        const kit = createAgentToolkit(ws.writable);
        const moved = exchangeRoot(ws);
        await dataOf(create(kit, { path: "sub/new.txt", content: "new" }));
        await dataOf(create(kit, { path: "old.txt", content: "newer", overwrite: true }));
        assert.equal(fs.readFileSync(path.join(moved, "sub/new.txt"), "utf8"), "new");
        assert.equal(fs.readFileSync(path.join(moved, "old.txt"), "utf8"), "newer");
        assert.deepEqual(fs.readdirSync(ws.outside), ["old.txt"]);
        assert.equal(fs.readFileSync(path.join(ws.outside, "old.txt"), "utf8"), "outside");
        for (const read of [
          kit.readFile("sub/new.txt"),
          kit.invoke("read_file", { path: "sub/new.txt" }),
        ]) {
          assert.equal((await dataOf(read)).content, "new");
        }
        kit.close();
      }),
    );
  }

  test(
    "second look A1: a space, a chat and a store given as paths are held, too",
    inWorkspace(async (ws) => {
      ws.write("a.md", "inside");
      ws.write("files/a.md", "inside");
      ws.writeOutside("a.md");
      ws.writeOutside("files/a.md");
      for (const space of [ws.root, { workspaceRoot: ws.root }]) {
        const kit = createAgentToolkit({ space, chat: ws.root, store: ws.root });
        const moved = exchangeRoot(ws);
        assert.equal((await dataOf(kit.read({ uri: "file:///a.md" }))).text, "inside");
        assert.equal((await dataOf(kit.read({ uri: "file:a.md" }))).text, "inside");
        const { file } = await dataOf(kit.readSourceDocument({ path: "a.md" }));
        assert.equal((file as { content: string }).content, "inside");
        kit.close();
        fs.unlinkSync(ws.root);
        fs.renameSync(moved, ws.root);
      }
    }),
  );

  test(
    "second look A1: near misses and a host's own tool see the root that was opened",
    inWorkspace(async (ws) => {
      ws.write("main.ts", "inside");
      ws.writeOutside("mine.ts");
      const own = defineTool({
        name: "own_read",
        description: "Reads.",
        parameters: {
          type: "object",
          properties: { path: { type: "string" } },
          required: ["path"],
        },
        isWriteOp: false,
        handler: ({ workspace }, { path }: { path: string }) => {
          assert.ok(workspace);
          return readFile(workspace, path);
        },
      });
      const kit = createAgentToolkit(ws.writable, { tools: [own] });
      exchangeRoot(ws);
      const missing = await kit.readFile("main.tsx");
      assert.deepEqual(missing.status !== "success" && missing.error.details.nearMisses, [
        "main.ts",
      ]);
      assert.equal((await dataOf(kit.tools.own_read({ path: "main.ts" }))).content, "inside");
      const secret = await kit.invoke("own_read", { path: "mine.ts" });
      assert.notEqual(secret.status, "success");
      assert.ok(!JSON.stringify(secret).includes(SECRET.trim()));
      kit.close();
    }),
  );
});

// A2: a key of the context is read again after the toolkit was made.
describe("second look A2", () => {
  test(
    "second look A2: a root link that is re-pointed, and a root that is made anew, lead nowhere else",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      const current = path.join(ws.base, "current");
      fs.symlinkSync(ws.root, current, "dir");
      const kit = createAgentToolkit({ workspaceRoot: current });
      fs.unlinkSync(current);
      fs.symlinkSync(ws.outside, current, "dir");
      await dataOf(kit.createFile({ path: "a.txt", content: "a" }));
      assert.equal((await dataOf(kit.readFile("a.txt"))).content, "a");
      fs.renameSync(ws.root, path.join(ws.base, "moved"));
      fs.mkdirSync(ws.root);
      await dataOf(kit.createFile({ path: "b.txt", content: "b" }));
      assert.equal((await dataOf(kit.readFile("b.txt"))).content, "b");
      assert.deepEqual(fs.readdirSync(ws.root), []);
      assert.deepEqual(fs.readdirSync(ws.outside), []);
      kit.close();
    }),
  );

  test(
    "second look A2: root, scope, policy, space and store are those of when it was made",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.writeOutside("a.txt");
      const policy = {
        tools: { read_file: "allow" as "allow" | "deny" },
        defaultPolicy: "allow" as const,
      };
      const context = {
        workspaceRoot: ws.root,
        writeScope: "read-only" as "read-only" | "workspace-write",
        policy,
        space: ws.root as string | null,
      };
      const kit = createAgentToolkit(context);
      context.workspaceRoot = ws.outside;
      context.writeScope = "workspace-write";
      context.space = ws.outside;
      policy.tools.read_file = "deny";
      assert.equal((await dataOf(kit.readFile("a.txt"))).content, "a");
      assert.equal((await dataOf(kit.read({ uri: "file:///a.txt" }))).text, "a");
      const denied = await kit.createFile({ path: "b.txt", content: "" });
      assert.equal(denied.status, "denied");
      assert.ok(!kit.getAllowedTools().includes("workspace_create_file"));
      kit.close();
    }),
  );

  test(
    "second look A2: ids, signal and active files are those of when a call begins",
    inWorkspace(async (ws) => {
      const store = { get: async () => ({ bytes: new Uint8Array(), sizeBytes: 0 }) };
      const context: Record<string, unknown> = { ...ws.writable, store, sessionId: "first" };
      const kit = createAgentToolkit(context as never);
      context.sessionId = "second";
      context.activeFiles = ["in-context.cs"];
      const active = await kit.readSourceDocument({ path: "in-context.cs" });
      assert.equal(active.status !== "success" && active.error.details.code, "ALREADY_IN_CONTEXT");
      assert.equal((await dataOf(kit.readSourceDocument({ path: "b.cs" }))).sessionId, "second");
      context.signal = AbortSignal.abort("over");
      await assert.rejects(kit.readFile("a.txt"), (reason) => reason === "over");
      kit.close();
    }),
  );
});

// A3: a root that a toolkit has opened stays open until the process ends.
describe("second look A3", () => {
  const openHandles = () => fs.readdirSync("/proc/self/fd").length;

  test(
    "second look A3: close closes every root that the toolkit opened, and none that was given",
    { skip: process.platform !== "linux" },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const shared = Workspace.open(ws.root);
      const before = openHandles();
      for (let session = 0; session < 300; session += 1) {
        const kit = createAgentToolkit({ ...ws.writable, space: ws.outside, store: ws.root });
        if (session % 2 === 0) kit.close();
        else kit[Symbol.dispose]();
        kit.close();
        createAgentToolkit(shared).close();
      }
      assert.ok(openHandles() <= before + 2, `${openHandles()} handles, ${before} before`);
      assert.equal((await readFile(shared, "a.txt")).content, "a");
      shared.close();
    }),
  );

  test(
    "second look A3: where one root cannot be opened, none stays open",
    { skip: process.platform !== "linux" },
    inWorkspace((ws) => {
      const before = openHandles();
      for (let attempt = 0; attempt < 50; attempt += 1) {
        assert.throws(
          () => createAgentToolkit({ ...ws.writable, space: ws.root, chat: `${ws.base}/none` }),
          /^WorkspaceError: INVALID_ARGUMENT: chat /,
        );
      }
      assert.ok(openHandles() <= before + 2);
    }),
  );

  test(
    "second look A3: a closed toolkit answers that it is closed, and calls under way finish",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const kit = createAgentToolkit(ws.writable);
      const under = kit.readFile("a.txt");
      kit.close();
      assert.equal((await under).status, "success");
      for (const result of [
        await kit.readFile("a.txt"),
        await kit.createFile({ path: "b", content: "" }),
      ]) {
        assert.equal(result.status, "failure");
        assert.match(result.message, /closed/);
      }
      assert.ok(!fs.existsSync(ws.at("b")));
    }),
  );
});

// A4: an object of a host's class is treated as a plain object.
describe("second look A4", () => {
  test(
    "second look A4: a Workspace is a context, and may stand in one",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const workspace = Workspace.open(ws.root, { writeScope: "read-only" });
      for (const kit of [createAgentToolkit(workspace), createAgentToolkit({ workspace })]) {
        assert.equal((await dataOf(kit.invoke("read_file", { path: "a.txt" }))).content, "a");
        assert.deepEqual(kit.getAllowedTools(), READING_TOOLS);
        assert.equal((await kit.createFile({ path: "b.txt", content: "" })).status, "denied");
      }
      const { handler } = ToolCatalog.read_file;
      assert.equal((await handler(workspace, "a.txt")).content, "a");
      assert.equal((await handler({ workspace }, "a.txt")).content, "a");
      workspace.close();
    }),
  );

  test(
    "second look A4: a context may narrow the scope of the workspace in it, and cannot widen it",
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root);
      const narrowed = createAgentToolkit({ workspace, writeScope: "read-only" });
      assert.equal((await narrowed.createFile({ path: "b.txt", content: "" })).status, "denied");
      assert.throws(
        () => createAgentToolkit({ workspace, writeScope: "readonly" as never }),
        /writeScope/,
      );
      const readOnly = Workspace.open(ws.root, { writeScope: "read-only" });
      const widened = createAgentToolkit({ workspace: readOnly, writeScope: "workspace-write" });
      assert.equal((await widened.createFile({ path: "b.txt", content: "" })).status, "denied");
      assert.deepEqual(fs.readdirSync(ws.root), []);
      workspace.close();
      readOnly.close();
    }),
  );

  test(
    "second look A4: a context with private fields behind getters and methods is read as itself",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      class Session {
        #root = ws.root;
        #asked: string[] = [];
        #turn = 1;
        get workspaceRoot() {
          return this.#root;
        }
        get space() {
          return this.#root;
        }
        get turnId() {
          return `${this.#turn}`;
        }
        get asked() {
          return this.#asked;
        }
        async fetch(uri: string) {
          this.#asked.push(uri);
          return new Response("page");
        }
      }
      class Derived extends Session {}
      for (const session of [new Session(), new Derived()]) {
        const kit = createAgentToolkit(session);
        assert.equal((await dataOf(kit.readFile("a.txt"))).content, "a");
        await dataOf(kit.createFile({ path: "b.txt", content: "", overwrite: true }));
        assert.equal((await dataOf(kit.read({ uri: "https://example.com/" }))).text, "page");
        assert.deepEqual(session.asked, ["https://example.com/"]);
        kit.close();
      }
    }),
  );

  test(
    "second look A4: properties of Object.prototype are no part of a context or of options",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const polluted = {
        workspaceRoot: ws.outside,
        policy: { defaultPolicy: "deny" },
        callId: "x",
      };
      Object.assign(Object.prototype, polluted, { space: ws.outside });
      try {
        const kit = createAgentToolkit({ workspaceRoot: ws.root, policy: null });
        assert.deepEqual(kit.getAllowedTools(), WORKSPACE_TOOLS);
        const result = await kit.invoke("read_file", { path: "a.txt" }, {});
        assert.equal(result.status, "success", JSON.stringify(result));
        kit.close();
      } finally {
        for (const key of [...Object.keys(polluted), "space"]) {
          delete (Object.prototype as Record<string, unknown>)[key];
        }
      }
    }),
  );

  test("second look A4: a value that is no context is refused when the toolkit is made", () => {
    for (const context of [null, undefined, 1, "/", {}, { workspaceRoot: "relative" }]) {
      assert.throws(() => createAgentToolkit(context as never));
    }
  });
});

// A2: the root is a link that leads elsewhere after the toolkit has opened it.
describe("second look A2: a link root that is changed to another target", {
  skip: noSymlinks,
}, () => {
  /** Links `cur` to `v1`, and `spcur` to `space1`; `change` makes both lead elsewhere. */
  function linked(ws: TestWorkspace) {
    const [v1, v2, space1] = ["v1", "v2", "space1"].map((name) => ws.folder(name)) as string[];
    const link = (name: string) => path.join(ws.base, name);
    const point = (name: string, target: string) => {
      fs.rmSync(link(name), { force: true });
      fs.symlinkSync(target, link(name), "dir");
    };
    point("cur", v1 as string);
    point("spcur", space1 as string);
    const change = () => {
      point("cur", v2 as string);
      point("spcur", v2 as string);
    };
    return { v1: v1 as string, v2, space1, cur: link("cur"), spcur: link("spcur"), change };
  }

  test(
    "second look A2: a message does not show the target that it had, nor the new one",
    inWorkspace(async (ws) => {
      const { v1, v2, space1, cur, spcur, change } = linked(ws);
      const own = defineTool({
        name: "own",
        description: "Throws.",
        parameters: { type: "object", properties: {} },
        isWriteOp: false,
        handler() {
          throw new Error(
            [cur, spcur, v1, v2, space1].map((root) => `x ${root}/zz.txt`).join("; "),
          );
        },
      });
      const workspace = Workspace.open(cur);
      const kits = [
        createAgentToolkit({ workspaceRoot: cur, space: spcur }, { tools: [own] }),
        createAgentToolkit({ workspace, space: spcur }, { tools: [own] }),
      ];
      change();
      for (const kit of kits) {
        const { message } = (await kit.invoke("own", {})) as { message?: string };
        assert.equal(message, Array(5).fill("x zz.txt").join("; "));
        kit.close();
      }
      workspace.close();
    }),
  );

  test(
    "second look A2: a path by the target that is held is resolved, as readFile reads it",
    inWorkspace(async (ws) => {
      const { v1, cur, change } = linked(ws);
      fs.writeFileSync(path.join(v1, "a"), "held");
      const workspace = Workspace.open(cur);
      holdRealRoot(workspace);
      const kit = createAgentToolkit({ workspaceRoot: cur });
      change();
      const given = path.join(v1, "a");
      assert.equal((await kit.invoke("read_file", { path: given })).status, "success");
      kit.close();
      assert.equal((await readFile(workspace, given)).content, "held");
      assert.equal(await resolveInWorkspace(workspace, given), given);
      workspace.close();
    }),
  );
});
