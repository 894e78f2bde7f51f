// AbortSignal in the context: an aborted call rejects with the reason itself and leaves no file, or resolves
// because the file was written already. docs/contract.md §2, docs/cases.md P04.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import fs from "node:fs";
import { describe, test } from "node:test";
import { type CreateFileResult, createFile } from "../index.js";
import {
  abortValue,
  checkResult,
  looseCreateFile,
  refuseCreate,
  temporaries,
} from "./support/create.ts";
import { ABORT_REASONS, withGetter } from "./support/hostile.ts";
import { treeOf } from "./support/tree.mjs";
import { inWorkspace } from "./support/workspace.ts";

describe("a signal that is aborted already", () => {
  for (const [name, reason] of ABORT_REASONS) {
    test(
      `P04: both functions fail with the reason itself, ${name}, and make nothing`,
      inWorkspace(async (ws) => {
        ws.write("old.txt", "old");
        const before = treeOf(ws.base);
        const context = { ...ws.writable, signal: AbortSignal.abort(reason) };
        for (const path of ["new.txt", "new/dir/new.txt", "old.txt"]) {
          const value = await abortValue(context, { path, content: "new", overwrite: true });
          assert.equal(value, reason);
        }
        assert.deepEqual(treeOf(ws.base), before);
      }),
    );
  }

  test(
    "P04: without a reason the call rejects with the signal's own AbortError",
    inWorkspace(async (ws) => {
      const signal = AbortSignal.abort();
      const value = await abortValue({ ...ws.writable, signal }, { path: "a.txt", content: "a" });
      assert.equal(value, signal.reason);
      assert.equal((value as Error).name, "AbortError");
    }),
  );

  test(
    "P04: the abort comes before every domain error",
    inWorkspace(async (ws) => {
      ws.write("old.txt", "old");
      const context = { ...ws.writable, signal: AbortSignal.abort("enough") };
      for (const args of [
        { path: "old.txt", content: "a" },
        { path: "../x", content: "a" },
        { path: "a.txt", content: 5 },
        { path: "a.txt" },
        {},
        null,
        "a.txt",
      ]) {
        assert.equal(await abortValue(context, args), "enough");
      }
      for (const other of [{ workspaceRoot: "relative" }, {}, { writeScope: "read-only" }]) {
        const wrong = { ...other, signal: context.signal };
        assert.equal(await abortValue(wrong, { path: "a.txt", content: "a" }), "enough");
      }
    }),
  );
});

describe("a signal that is aborted later", () => {
  const OLD = "o".repeat(100_000);

  /** An aborted call left the file as it was, or a result says that it was written. */
  function consistent(
    outcome: PromiseSettledResult<CreateFileResult>,
    reason: unknown,
    target: string,
    contents: { before: string | null; after: string },
  ): void {
    const now = fs.existsSync(target) ? fs.readFileSync(target, "utf8") : null;
    if (outcome.status === "fulfilled") {
      const result = checkResult(outcome.value);
      assert.equal(result.errorCode, null, result.message);
      assert.ok(now === contents.after, "the result says written");
    } else {
      assert.equal(outcome.reason, reason);
      assert.ok(now === contents.before, "the reason came, so nothing was written");
    }
  }

  for (const existing of [false, true]) {
    test(
      `P04: 32 ${existing ? "overwrites" : "creates in new folders"} under way end with the reason and no trace, or say written`,
      { timeout: 15_000 },
      inWorkspace(async (ws) => {
        const after = "n".repeat(500_000);
        const names = Array.from({ length: 32 }, (_, i) => `dir-${i}/sub/a.txt`);
        if (existing) for (const name of names) ws.write(name, OLD);
        const controller = new AbortController();
        const reason = new Error("enough");
        const context = { ...ws.writable, signal: controller.signal };
        const calls = names.map((path) =>
          createFile(context, { path, content: after, overwrite: existing }),
        );
        controller.abort(reason);
        const outcomes = await Promise.allSettled(calls);
        await drained(ws.root);
        for (const [i, name] of names.entries()) {
          const contents = { before: existing ? OLD : null, after };
          const outcome = outcomes[i] as PromiseSettledResult<CreateFileResult>;
          consistent(outcome, reason, ws.at(name), contents);
          if (outcome.status === "rejected" && !existing) {
            assert.ok(!fs.existsSync(ws.at(`dir-${i}`)), "no folder is left");
          }
          if (fs.existsSync(ws.at(`dir-${i}/sub`))) {
            assert.deepEqual(temporaries(ws.at(`dir-${i}/sub`)), []);
          }
        }
      }),
    );
  }

  test(
    "P04: an abort at any moment of a single call leaves the file whole, old or new",
    { timeout: 15_000 },
    inWorkspace(async (ws) => {
      for (let i = 0; i < 40; i++) {
        const path = `dir/file-${i}.txt`;
        ws.write(path, OLD);
        const controller = new AbortController();
        const context = { ...ws.writable, signal: controller.signal };
        const after = `${i}`.repeat(100_000);
        const call = createFile(context, { path, content: after, overwrite: true });
        const until = performance.now() + (i % 20) * 0.2;
        while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve));
        controller.abort("enough");
        const [outcome] = await Promise.allSettled([call]);
        await drained(ws.root);
        consistent(outcome, "enough", ws.at(path), { before: OLD, after });
      }
      assert.deepEqual(temporaries(ws.at("dir")), []);
    }),
  );

  test(
    "P04: an abort after the end changes nothing",
    inWorkspace(async (ws) => {
      const controller = new AbortController();
      const context = { ...ws.writable, signal: controller.signal };
      const pending = createFile(context, { path: "a.txt", content: "a" });
      assert.equal((await pending).created, true);
      controller.abort("too late");
      assert.equal((await pending).created, true);
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "a");
      const next = await abortValue(context, { path: "b.txt", content: "b" });
      assert.equal(next, "too late");
    }),
  );

  test(
    "P04: an abort from a getter of the arguments ends with the reason and no file, or says written",
    inWorkspace(async (ws) => {
      const controller = new AbortController();
      const args = {
        path: "a.txt",
        get content() {
          controller.abort("enough");
          return "a";
        },
      };
      const context = { ...ws.writable, signal: controller.signal };
      const [outcome] = await Promise.allSettled([looseCreateFile(context, args)]);
      consistent(outcome, "enough", ws.at("a.txt"), { before: null, after: "a" });
    }),
  );

  /** Waits until nothing more changes below `root`: a worker may still be taking back what it made. */
  async function drained(root: string): Promise<void> {
    for (let last = "", now = "?"; last !== now; ) {
      last = now;
      await new Promise((resolve) => setTimeout(resolve, 3));
      now = JSON.stringify(fs.readdirSync(root, { recursive: true }));
    }
  }
});

describe("the caller's signal", () => {
  test(
    "onabort is left alone and still fires",
    inWorkspace(async (ws) => {
      const controller = new AbortController();
      const { signal } = controller;
      let fired = 0;
      const handler = () => {
        fired++;
      };
      signal.onabort = handler;
      const pending = createFile({ ...ws.writable, signal }, { path: "a.txt", content: "a" });
      assert.equal(signal.onabort, handler);
      await pending;
      assert.equal(signal.onabort, handler);
      controller.abort();
      assert.equal(fired, 1);
    }),
  );

  for (const [name, args] of [
    ["a create", { path: "new.txt", content: "a".repeat(300_000) }],
    ["a refusal on disk", { path: "old.txt", content: "a" }],
    ["a wrong argument", { path: "../a", content: 5 }],
  ] as const) {
    test(
      `no listener is left after ${name}`,
      inWorkspace(async (ws) => {
        ws.write("old.txt", "old");
        const { signal } = new AbortController();
        await looseCreateFile({ ...ws.writable, signal }, args);
        assert.equal(getEventListeners(signal, "abort").length, 0);
      }),
    );
  }

  test(
    "one signal serves many creates at once",
    inWorkspace(async (ws) => {
      const { signal } = new AbortController();
      const context = { ...ws.writable, signal };
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, i) => createFile(context, { path: `${i}`, content: "a" })),
      );
      assert.ok(results.every(({ success }) => success));
      assert.equal(getEventListeners(signal, "abort").length, 0);
    }),
  );
});

describe("a value that is no signal", () => {
  const ARGS = { path: "a.txt", content: "a" };

  for (const [name, signal] of [
    ["a number", 5],
    ["a string", "signal"],
    ["true", true],
    ["an empty object", {}],
    ["the controller", new AbortController()],
  ] as const) {
    test(
      `signal as ${name} is refused by name`,
      inWorkspace(async (ws) => {
        const context = { ...ws.writable, signal };
        await refuseCreate([context, ARGS], "UnhandledException", /signal/, ws.hidden);
        assert.deepEqual(treeOf(ws.root), {});
      }),
    );
  }

  test(
    "a getter that throws for signal is a refusal that names it",
    inWorkspace(async (ws) => {
      const context = Object.assign(withGetter("signal"), ws.writable);
      await refuseCreate([context, ARGS], "UnhandledException", /signal/, ws.hidden);
      assert.deepEqual(treeOf(ws.root), {});
    }),
  );

  test(
    "N03: signal null or undefined is none",
    inWorkspace(async (ws) => {
      for (const [i, signal] of [null, undefined].entries()) {
        const args = { path: `${i}.txt`, content: "a" };
        const result = await looseCreateFile({ ...ws.writable, signal }, args);
        assert.equal(checkResult(result).success, true);
      }
    }),
  );
});
