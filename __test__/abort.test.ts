// AbortSignal: an aborted call rejects with the signal's reason itself. docs/contract.md §2.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import { readFile } from "../index.js";
import { ABORT_REASONS } from "./support/hostile.ts";
import {
  exceptionValue,
  looseReadFile,
  looseReadFileSync,
  refuseArguments,
  rejectionValue,
} from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

describe("a signal that is aborted already", () => {
  for (const [name, reason] of ABORT_REASONS) {
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
    "the abort comes before every other error",
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
  // No read can end before the turn of the event loop that began it does.
  for (const [name, text] of [
    ["large", "é".repeat(500_000)],
    ["small", "a"],
  ] as const) {
    test(
      `20 ${name} reads under way all reject with the reason itself`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", text);
        const controller = new AbortController();
        const reason = new Error("enough");
        const { signal } = controller;
        const reads = Array.from({ length: 20 }, () => readFile(ws.context, "a.txt", { signal }));
        controller.abort(reason);
        for (const outcome of await Promise.allSettled(reads)) {
          assert.ok(outcome.status === "rejected", "a read that was aborted has answered");
          assert.equal(outcome.reason, reason);
        }
      }),
    );
  }

  test(
    "a read under way rejects in the turn that aborts it, without waiting for the worker",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a".repeat(1_000_000));
      const controller = new AbortController();
      const { signal } = controller;
      const pending = readFile(ws.context, "a.txt", { signal }).catch((reason: unknown) => reason);
      controller.abort("enough");
      const soon = new Promise((resolve) => setTimeout(resolve, 0)).then(() => "later");
      assert.equal(await Promise.race([pending, soon]), "enough");
    }),
  );

  test(
    "a read under way that would be refused rejects with the reason instead",
    inWorkspace(async (ws) => {
      const controller = new AbortController();
      const { signal } = controller;
      const pending = rejectionValue(() => readFile(ws.context, "missing.txt", { signal }));
      controller.abort("enough");
      assert.equal(await pending, "enough");
    }),
  );

  for (const fires of ["context", "options"] as const) {
    test(
      `of a signal in the context and one in the options, that of the ${fires} alone ends a read under way`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const controllers = { context: new AbortController(), options: new AbortController() };
        const context = { ...ws.context, signal: controllers.context.signal };
        const options = { signal: controllers.options.signal };
        const pending = rejectionValue(() => looseReadFile(context, "a.txt", options));
        controllers[fires].abort(`enough of the ${fires}`);
        assert.equal(await pending, `enough of the ${fires}`);
      }),
    );
  }

  test(
    "a signal in the context, without one in the options, ends a read under way",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const controller = new AbortController();
      const context = { ...ws.context, signal: controller.signal };
      const pending = rejectionValue(() => looseReadFile(context, "a.txt"));
      controller.abort("enough");
      assert.equal(await pending, "enough");
    }),
  );

  test(
    "one of two reads with signals of their own is aborted alone",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const [mine, other] = [new AbortController(), new AbortController()];
      const aborted = rejectionValue(() => readFile(ws.context, "a.txt", { signal: mine.signal }));
      const kept = readFile(ws.context, "a.txt", { signal: other.signal });
      mine.abort("enough");
      assert.equal(await aborted, "enough");
      assert.equal((await kept).content, "a");
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
});

describe("an abort while the arguments are read", () => {
  /** `object` with a property that aborts when it is read, and then has `value`. */
  function abortingAt(key: string, value: unknown, controller: AbortController, object: object) {
    return Object.defineProperty({ ...object }, key, {
      enumerable: true,
      get() {
        controller.abort("enough");
        return value;
      },
    });
  }

  /** The arguments of a read that is aborted by a getter; new ones for each call. */
  const scenes: Record<string, (ws: TestWorkspace, controller: AbortController) => unknown[]> = {
    "start_line in the options": (ws, controller) => {
      const options = { signal: controller.signal };
      return [ws.context, "a.txt", abortingAt("start_line", 1, controller, options)];
    },
    "include_hash in the options, the last that is read": (ws, controller) => {
      const options = { signal: controller.signal };
      return [ws.context, "a.txt", abortingAt("include_hash", false, controller, options)];
    },
    "workspaceRoot in the context": (ws, controller) => {
      const context = abortingAt("workspaceRoot", ws.root, controller, {});
      return [context, "a.txt", { signal: controller.signal }];
    },
    "workspaceRoot in a context that has the signal": (ws, controller) => {
      const { signal } = controller;
      return [abortingAt("workspaceRoot", ws.root, controller, { signal }), "a.txt"];
    },
    "invalidUtf8 in the context": (ws, controller) => {
      const context = abortingAt("invalidUtf8", "reject", controller, ws.context);
      return [context, "a.txt", { signal: controller.signal }];
    },
    "signal in the context": (ws, controller) => {
      const context = abortingAt("signal", undefined, controller, ws.context);
      return [context, "a.txt", { signal: controller.signal }];
    },
  };

  for (const [name, argumentsOf] of Object.entries(scenes)) {
    test(
      `readFile rejects with the reason where the getter of ${name} aborts`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const args = argumentsOf(ws, new AbortController());
        assert.equal(await rejectionValue(() => looseReadFile(...args)), "enough");
      }),
    );

    test(
      `readFileSync throws the reason where the getter of ${name} aborts`,
      inWorkspace((ws) => {
        ws.write("a.txt", "a");
        const args = argumentsOf(ws, new AbortController());
        assert.equal(
          exceptionValue(() => looseReadFileSync(...args)),
          "enough",
        );
      }),
    );
  }
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
    "20 reads at once on one signal bring no MaxListenersExceededWarning",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const warnings: string[] = [];
      const note = ({ name }: Error) => warnings.push(name);
      process.on("warning", note);
      const { signal } = new AbortController();
      await Promise.all(
        Array.from({ length: 20 }, () => readFile(ws.context, "a.txt", { signal })),
      );
      // A warning is emitted in a later turn.
      await new Promise((resolve) => setTimeout(resolve, 10));
      process.off("warning", note);
      assert.ok(!warnings.includes("MaxListenersExceededWarning"), String(warnings));
    }),
  );

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

describe("a signal of another implementation", () => {
  /** A polyfill of AbortSignal in its smallest form: it cannot take a listener back. */
  function polyfill() {
    const listeners: (() => void)[] = [];
    return {
      aborted: false,
      reason: undefined as unknown,
      addEventListener(_type: string, listener: () => void) {
        listeners.push(listener);
      },
      abort(reason: unknown) {
        this.aborted = true;
        this.reason = reason;
        for (const listener of listeners) listener();
      },
    };
  }

  test(
    "without removeEventListener: a file is read",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { content } = await looseReadFile(ws.context, "a.txt", { signal: polyfill() });
      assert.equal(content, "a");
    }),
  );

  test(
    "without removeEventListener: its abort ends a read under way",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const signal = polyfill();
      const pending = rejectionValue(() => looseReadFile(ws.context, "a.txt", { signal }));
      signal.abort("enough");
      assert.equal(await pending, "enough");
    }),
  );

  test(
    "without removeEventListener: its abort after the read has ended does no harm",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const signal = polyfill();
      await looseReadFile(ws.context, "a.txt", { signal });
      signal.abort("too late");
      const { content } = await looseReadFile(ws.context, "a.txt");
      assert.equal(content, "a");
    }),
  );

  const throws = () => {
    throw new Error("boom");
  };

  /** A signal that works, but for `key`: that is `first` when it is read first, then `then()`. */
  function fickle(key: string, first: unknown, then: () => unknown): object {
    let asked = false;
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener() {},
      removeEventListener() {},
    };
    return Object.defineProperty(signal, key, {
      get() {
        if (asked) return then();
        asked = true;
        return first;
      },
    });
  }

  for (const [name, make] of [
    [
      "addEventListener is a number the second time",
      () =>
        fickle(
          "addEventListener",
          () => {},
          () => 5,
        ),
    ],
    [
      "addEventListener is gone the second time",
      () =>
        fickle(
          "addEventListener",
          () => {},
          () => undefined,
        ),
    ],
    ["addEventListener throws the second time", () => fickle("addEventListener", () => {}, throws)],
    ["addEventListener throws when called", () => fickle("addEventListener", throws, () => throws)],
    ["removeEventListener throws when read", () => fickle("removeEventListener", () => {}, throws)],
    [
      "removeEventListener throws when called",
      () => fickle("removeEventListener", throws, () => throws),
    ],
    ["aborted is a string the second time", () => fickle("aborted", false, () => "no")],
    ["aborted throws the second time", () => fickle("aborted", false, throws)],
  ] as const) {
    test(
      `whose ${name}: readFile returns a promise that resolves, and does not throw`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        let promise: ReturnType<typeof looseReadFile>;
        try {
          promise = looseReadFile(ws.context, "a.txt", { signal: make() });
        } catch (error) {
          return assert.fail(`threw: ${String(error)}`);
        }
        const { content } = await promise;
        assert.equal(content, "a");
      }),
    );
  }

  test(
    "whose reason throws when read: the call still rejects",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const signal = Object.defineProperty(polyfill(), "reason", { get: throws });
      signal.aborted = true;
      await rejectionValue(() => looseReadFile(ws.context, "a.txt", { signal }));
    }),
  );
});

describe("a value that is no signal", () => {
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
