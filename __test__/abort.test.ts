// AbortSignal: an aborted call rejects with the signal's reason itself. Contract §2.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import { readFile } from "../index.js";
import {
  exceptionValue,
  looseReadFile,
  looseReadFileSync,
  refuseArguments,
  rejectionValue,
} from "./support/read.ts";
import { inWorkspace } from "./support/workspace.ts";

describe("a signal that is aborted already", () => {
  for (const [name, reason] of [
    ["an Error", new Error("enough")],
    ["a string", "enough"],
    ["null", null],
    ["false", false],
    ["an object", { why: "enough" }],
    ["a symbol", Symbol("enough")],
  ] as const) {
    test(
      `the call rejects with the reason itself, ${name}`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const signal = AbortSignal.abort(reason);
        const rejected = await rejectionValue(() => readFile(ws.context, "a.txt", { signal }));
        assert.equal(rejected, reason);
      }),
    );
  }

  test(
    "without a reason the call rejects with the signal's own AbortError",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const signal = AbortSignal.abort();
      const rejected = await rejectionValue(() => readFile(ws.context, "a.txt", { signal }));
      assert.equal(rejected, signal.reason);
      assert.equal((rejected as Error).name, "AbortError");
    }),
  );

  test(
    "it wins over every other error",
    inWorkspace(async (ws) => {
      const signal = AbortSignal.abort("enough");
      for (const args of [
        [ws.context, "missing.txt", { signal }],
        [ws.context, "../x", { signal }],
        [ws.context, "", { signal }],
        [ws.context, 5, { signal }],
        [ws.context, "a\0b", { signal }],
        [ws.context, "a.txt", { signal, start_line: "x" }],
        [ws.context, "a.txt", { start_line: -1, max_lines: 0, signal }],
        [{ workspaceRoot: "relative" }, "a.txt", { signal }],
        [{}, "a.txt", { signal }],
        [null, "a.txt", { signal }],
      ]) {
        assert.equal(await rejectionValue(() => looseReadFile(...args)), "enough");
      }
    }),
  );

  test(
    "readFileSync throws the reason itself",
    inWorkspace((ws) => {
      ws.write("a.txt", "a");
      const signal = AbortSignal.abort("enough");
      const thrown = exceptionValue(() => looseReadFileSync(ws.context, "a.txt", { signal }));
      assert.equal(thrown, "enough");
    }),
  );

  test(
    "a signal in the context counts as one in the options",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const context = { ...ws.context, signal: AbortSignal.abort("enough") };
      assert.equal(await rejectionValue(() => looseReadFile(context, "a.txt")), "enough");
    }),
  );
});

describe("a signal that is aborted later", () => {
  test(
    "reads under way reject with the reason itself, or had ended",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "é".repeat(500_000));
      const controller = new AbortController();
      const reason = new Error("enough");
      const { signal } = controller;
      const reads = Array.from({ length: 32 }, () => readFile(ws.context, "a.txt", { signal }));
      controller.abort(reason);
      for (const outcome of await Promise.allSettled(reads)) {
        if (outcome.status === "fulfilled") assert.equal(outcome.value.content.length, 500_000);
        else assert.equal(outcome.reason, reason);
      }
    }),
  );

  test(
    "a call made after the abort rejects, though the signal was fine before",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const controller = new AbortController();
      const { signal } = controller;
      assert.equal((await readFile(ws.context, "a.txt", { signal })).content, "a");
      controller.abort("enough");
      const rejected = await rejectionValue(() => readFile(ws.context, "a.txt", { signal }));
      assert.equal(rejected, "enough");
    }),
  );

  test(
    "an abort after the end changes nothing",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const controller = new AbortController();
      const pending = readFile(ws.context, "a.txt", { signal: controller.signal });
      assert.equal((await pending).content, "a");
      controller.abort("too late");
      assert.equal((await pending).content, "a");
    }),
  );

  test(
    "an abort from a getter of the options counts",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const controller = new AbortController();
      const options = {
        signal: controller.signal,
        get start_line() {
          controller.abort("enough");
          return 1;
        },
      };
      const outcome = await looseReadFile(ws.context, "a.txt", options).then(
        ({ content }) => content,
        (reason: unknown) => reason,
      );
      assert.ok(outcome === "enough" || outcome === "a", String(outcome));
    }),
  );
});

describe("the caller's signal", () => {
  test(
    "onabort is left alone and still fires",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const controller = new AbortController();
      const { signal } = controller;
      let fired = 0;
      const handler = () => {
        fired++;
      };
      signal.onabort = handler;
      const pending = readFile(ws.context, "a.txt", { signal });
      assert.equal(signal.onabort, handler);
      await pending;
      assert.equal(signal.onabort, handler);
      controller.abort();
      assert.equal(fired, 1);
    }),
  );

  for (const [name, path] of [
    ["a read", "a.txt"],
    ["a refusal", "missing.txt"],
    ["a wrong argument", "../a\0"],
  ] as const) {
    test(
      `no listener is left after ${name}`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a".repeat(300_000));
        const { signal } = new AbortController();
        await readFile(ws.context, path, { signal }).catch(() => undefined);
        assert.equal(getEventListeners(signal, "abort").length, 0);
      }),
    );
  }

  test(
    "one signal serves many reads at once",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { signal } = new AbortController();
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => readFile(ws.context, "a.txt", { signal })),
      );
      assert.equal(answers.length, 50);
      assert.equal(getEventListeners(signal, "abort").length, 0);
    }),
  );
});

describe("what is no signal", () => {
  for (const [name, signal] of [
    ["a number", 5],
    ["a string", "signal"],
    ["true", true],
    ["an empty object", {}],
    ["an array", []],
    ["the controller", new AbortController()],
    [
      "a Proxy on which everything throws",
      new Proxy(
        {},
        {
          get() {
            throw new Error("boom");
          },
        },
      ),
    ],
  ] as const) {
    test(
      `signal as ${name} is refused by name`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        await refuseArguments([ws.context, "a.txt", { signal }], /signal/, ws.hidden);
      }),
    );
  }

  test(
    "a getter that throws for signal is a refusal that names it",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const options = {
        get signal() {
          throw new Error("boom");
        },
      };
      await refuseArguments([ws.context, "a.txt", options], /signal/, ws.hidden);
    }),
  );

  test(
    "N03: signal null or undefined is none",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      for (const signal of [null, undefined]) {
        const { content } = await looseReadFile(ws.context, "a.txt", { signal });
        assert.equal(content, "a");
      }
    }),
  );
});
