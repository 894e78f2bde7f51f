// A held root together with a signal for one call; and contexts that are instances of a host's own class.
// docs/cases.md, second look A1 and A4.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import {
  createFile,
  nearMisses,
  readFile,
  readFileSync,
  Workspace,
  workspaceSnapshot,
} from "../index.js";
import {
  checkResult,
  looseCreateFile,
  looseCreateFileSync,
  refuseCreate,
  settled,
} from "./support/create.ts";
import { ABORT_REASONS, hostileProxy, revokedProxy, withGetter } from "./support/hostile.ts";
import { exceptionValue, rejectionValue } from "./support/read.ts";
import { treeOf } from "./support/tree.mjs";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

function withHeld(body: (workspace: Workspace, ws: TestWorkspace) => unknown): () => Promise<void> {
  return inWorkspace(async (ws) => {
    const workspace = Workspace.open(ws.root);
    try {
      await body(workspace, ws);
    } finally {
      workspace.close();
    }
  });
}

// A1: the work of a held Workspace must not depend on the path of its root.
describe("second look A1: createFile through a held Workspace, with a signal", () => {
  test(
    "second look A1: the file is created in the opened root, wherever the root's path leads now",
    withHeld(async (workspace, ws) => {
      fs.renameSync(ws.root, `${ws.base}/moved`);
      fs.symlinkSync(ws.outside, ws.root);
      const { signal } = new AbortController();
      const args = { path: "docs/a.txt", content: "a" };
      const made = checkResult(await createFile(workspace, args, { signal }));
      assert.equal(made.success, true, made.message);
      const again = { ...args, content: "b", overwrite: true };
      const replaced = checkResult(looseCreateFileSync(workspace, again, { signal }));
      assert.equal(replaced.overwritten, true, replaced.message);
      assert.deepEqual(fs.readdirSync(ws.outside), []);
      assert.equal(fs.readFileSync(`${ws.base}/moved/docs/a.txt`, "utf8"), "b");
      assert.equal((await readFile(workspace, "docs/a.txt")).content, "b");
      fs.unlinkSync(ws.root);
    }),
  );

  for (const [name, reason] of ABORT_REASONS) {
    test(
      `second look A1: an aborted signal in the options ends both functions with ${name}`,
      withHeld(async (workspace, ws) => {
        const before = treeOf(ws.base);
        const args = { path: "new/a.txt", content: "a" };
        const options = { signal: AbortSignal.abort(reason) };
        for (const context of [workspace, ws.writable]) {
          const call = () => looseCreateFile(context, args, options);
          assert.equal(await rejectionValue(call), reason);
          const atOnce = exceptionValue(() => looseCreateFileSync(context, args, options));
          assert.equal(atOnce, reason);
        }
        assert.deepEqual(treeOf(ws.base), before);
      }),
    );
  }

  test(
    "second look A1: the signal of the context counts beside that of the options, whichever fires",
    inWorkspace(async (ws) => {
      const args = { path: "a.txt", content: "a" };
      for (const fires of ["context", "options"]) {
        const controllers = { context: new AbortController(), options: new AbortController() };
        const context = { ...ws.writable, signal: controllers.context.signal };
        const call = looseCreateFile(context, args, { signal: controllers.options.signal });
        controllers[fires as "context" | "options"].abort(fires);
        const outcome = await call.then(
          (result) => result.success,
          (thrown: unknown) => thrown,
        );
        assert.ok(outcome === fires || outcome === true, String(outcome));
        assert.equal(fs.existsSync(ws.at("a.txt")), outcome === true);
        fs.rmSync(ws.at("a.txt"), { force: true });
      }
    }),
  );

  test(
    "second look A1: a third argument that is no object is ignored, and so are keys that are not known",
    withHeld(async (workspace) => {
      const strangers = [
        5,
        "x",
        true,
        10n,
        Symbol("s"),
        () => 2,
        [1],
        null,
        undefined,
        {},
        { other: 1 },
      ];
      for (const [at, third] of strangers.entries()) {
        const args = { path: `f${at}.txt`, content: "a" };
        const made = await settled(() => looseCreateFile(workspace, args, third, "and more"));
        assert.equal(made.success, true, made.message);
        const replace = { ...args, overwrite: true };
        assert.equal(looseCreateFileSync(workspace, replace, third).overwritten, true);
      }
    }),
  );

  test(
    "second look A1: a signal in the options that is none is refused by name, and nothing is written",
    withHeld(async (workspace, ws) => {
      const before = treeOf(ws.base);
      const args = { path: "a.txt", content: "a" };
      for (const signal of [5, "abort", {}, [], true, { aborted: false }, revokedProxy()]) {
        await refuseCreate([workspace, args, { signal }], "UnhandledException", /signal/);
      }
      for (const options of [hostileProxy(), revokedProxy(), withGetter("signal")]) {
        await refuseCreate([workspace, args, options], "UnhandledException", /signal/);
      }
      assert.deepEqual(treeOf(ws.base), before);
    }),
  );
});

// A4: properties are read from the host's own context, never from a copy, so that its class works.
describe("second look A4: a context of a host's own class", () => {
  class HostContext {
    readonly #root: string;
    readonly #settings: Record<string, unknown>;
    asked: unknown[] = [];

    constructor(root: string, settings: Record<string, unknown> = {}) {
      this.#root = root;
      this.#settings = settings;
    }

    get workspaceRoot(): string {
      this.asked.push(this);
      return this.#root;
    }

    get writeScope(): unknown {
      return this.#settings.writeScope;
    }

    get invalidUtf8(): unknown {
      return this.#settings.invalidUtf8;
    }

    get signal(): unknown {
      return this.#settings.signal;
    }
  }

  test(
    "second look A4: getters over private fields answer every function, and are asked on the object itself",
    inWorkspace(async (ws) => {
      class Derived extends HostContext {}
      ws.write("a.txt", "one\n");
      for (const Class of [HostContext, Derived]) {
        const context = new Class(ws.root);
        const made = checkResult(
          await createFile(context as never, { path: `${Class.name}.txt`, content: "b" }),
        );
        assert.equal(made.success, true, made.message);
        assert.equal((await readFile(context as never, "a.txt")).content, "one\n");
        assert.equal(readFileSync(context as never, "a.txt").content, "one\n");
        assert.deepEqual(await nearMisses(context as never, "a.tx"), ["a.txt"]);
        assert.match((await workspaceSnapshot(context as never)).text, /a\.txt/);
        assert.ok(context.asked.length >= 5 && context.asked.every((self) => self === context));
      }
    }),
  );

  test(
    "second look A4: its settings and its signal count",
    inWorkspace(async (ws) => {
      ws.write("latin.txt", new Uint8Array([0xe9, 0x0a]));
      const lenient = new HostContext(ws.root, { invalidUtf8: "replace" });
      assert.equal((await readFile(lenient as never, "latin.txt")).content, "\ufffd\n");
      const readOnly = new HostContext(ws.root, { writeScope: "read-only" });
      await refuseCreate([readOnly, { path: "a.txt", content: "a" }], "WriteFailed", /read-only/);
      const aborted = new HostContext(ws.root, { signal: AbortSignal.abort("enough") });
      assert.equal(await rejectionValue(() => readFile(aborted as never, "a.txt")), "enough");
      const args = { path: "a.txt", content: "a" };
      assert.equal(await rejectionValue(() => looseCreateFile(aborted, args)), "enough");
    }),
  );
});
