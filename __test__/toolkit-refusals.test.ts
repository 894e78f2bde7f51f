// Calls that are refused: the specifications' own payloads, events, ids, and hostile arguments.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  createAgentToolkit,
  createSecureTool,
  ToolCatalog,
  type ToolResult,
} from "../dist/index.js";
import { memoryStore } from "../dist/stores/index.js";
import { published } from "./support/events.ts";
import { inWorkspace } from "./support/workspace.ts";

const CREATE_KEYS = [
  "success",
  "message",
  "path",
  "sizeBytes",
  "hash",
  "created",
  "overwritten",
  "errorCode",
];

// B6: a refusal without the payload of TUL-004 or TUL-001.
describe("second look B6", () => {
  const CALLS: [name: string, context: object, args: unknown, code: string, path: string][] = [
    ["no JSON", {}, "{", "UnhandledException", ""],
    ["no path", {}, { content: "a" }, "InvalidPath", ""],
    ["a path that is no text", {}, { path: 1, content: "a" }, "InvalidPath", ""],
    ["no content", {}, { path: "./a//b.txt" }, "UnhandledException", "a/b.txt"],
    ["content that is no text", {}, { path: "a", content: {} }, "UnhandledException", "a"],
    [
      "overwrite that is none",
      {},
      { path: "a", content: "", overwrite: "si" },
      "UnhandledException",
      "a",
    ],
    ["a path that leads out", {}, { path: "../a", content: "" }, "InvalidPath", "../a"],
    ["read-only", { writeScope: "read-only" }, { path: "./a", content: "" }, "WriteFailed", "a"],
    [
      "a policy",
      { policy: { defaultPolicy: "deny" } },
      { path: ".\\a", content: "" },
      "WriteFailed",
      "a",
    ],
    ["a policy, no arguments", { policy: { defaultPolicy: "deny" } }, null, "WriteFailed", ""],
  ];
  for (const [name, context, args, code, path] of CALLS) {
    test(
      `second look B6: the payload of TUL-004 is there, and the event: ${name}`,
      inWorkspace(async (ws) => {
        const kit = createAgentToolkit({ ...ws.writable, ...context });
        const tool = createSecureTool(
          ToolCatalog.workspace_create_file.metadata,
          ToolCatalog.workspace_create_file.handler,
        );
        const calls: (() => Promise<ToolResult>)[] = [
          () => kit.invoke("workspace_create_file", args as never),
          () => kit.tools.workspace_create_file(args as never),
          () => kit.createFile(args as never),
        ];
        if (args !== "{") calls.push(() => tool({ ...ws.writable, ...context }, args as never));
        for (const call of calls) {
          const events = await published(async () => {
            const result = await call();
            assert.ok(result.status !== "success");
            const payload = result.error.details.result as Record<string, unknown>;
            assert.deepEqual(Object.keys(payload), CREATE_KEYS);
            const { message, ...rest } = payload;
            assert.equal(typeof message, "string");
            assert.deepEqual(rest, {
              success: false,
              path,
              sizeBytes: 0,
              hash: "",
              created: false,
              overwritten: false,
              errorCode: code,
            });
            assert.equal(result.error.details.code, code);
          });
          assert.equal(events.length, 1);
          assert.equal(events[0]?.event, "Tool.CreateFile.Executed");
          assert.equal(events[0]?.ErrorCode, code);
        }
      }),
    );
  }

  test("second look B6: the payload of TUL-001 is there, and the event", async () => {
    const store = memoryStore({});
    const policy = { defaultPolicy: "deny" } as const;
    for (const [context, args, code] of [
      [{ store, sessionId: "s" }, {}, "INVALID_ARGUMENT"],
      [{ store, sessionId: "s" }, { path: "a", maxBytes: "x" }, "INVALID_ARGUMENT"],
      [{ store, sessionId: "s", policy }, { path: "a" }, "INTERNAL_ERROR"],
    ] as const) {
      const kit = createAgentToolkit(context);
      const [event] = await published(async () => {
        const result = await kit.invoke("workspace.read_file", args as never);
        assert.ok(result.status !== "success");
        const payload = result.error.details.result as Record<string, unknown>;
        const { errors, ...rest } = payload;
        assert.deepEqual(Object.keys(payload), [
          "success",
          "errorCode",
          "errors",
          "file",
          "sessionId",
          "conversationId",
        ]);
        assert.deepEqual(errors, [result.message]);
        assert.deepEqual(rest, {
          success: false,
          errorCode: code,
          file: null,
          sessionId: "s",
          conversationId: null,
        });
      });
      assert.equal(event?.ErrorCode, code);
    }
  });
});

// B8: ids of a call are read when it has ended.
describe("second look B8", () => {
  test(
    "second look B8: ids are those of when the call began, and those of the call come first",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const host = { ...ws.writable, sessionId: "s", turnId: "turn-1", conversationId: "c" };
      const kit = createAgentToolkit(host);
      const tool = createSecureTool({ name: "mine", isWriteOp: false }, async () => {
        host.turnId = "turn-3";
      });
      const events = await published(async () => {
        const first = kit.readFile("a.txt", { callId: "call-1" });
        host.turnId = "turn-2";
        await first;
        const ids = { callId: "call-2", sessionId: "s2", conversationId: "c2", turnId: "t2" };
        await kit.invoke("read_file", { path: "a.txt" }, ids);
        await tool(host);
        await kit.invoke("read_file", { path: "a.txt" });
      });
      const told = events.map(({ SessionId, ConversationId, TurnId, CallId }) => [
        SessionId,
        ConversationId,
        TurnId,
        CallId,
      ]);
      assert.deepEqual(told.slice(0, 3), [
        ["s", "c", "turn-1", "call-1"],
        ["s2", "c2", "t2", "call-2"],
        ["s", "c", "turn-2", null],
      ]);
      assert.match(String(told[3]?.[3]), /^[0-9a-f-]{36}$/);
      for (const { DurationMs } of events) assert.ok((DurationMs as number) >= 0);
    }),
  );

  test("second look B8: ids of other types are none", async () => {
    const kit = createAgentToolkit({ store: memoryStore({}), sessionId: 5 } as never);
    const [event] = await published(() =>
      kit.invoke("workspace.read_file", { path: "a" }, { callId: 7, turnId: {} } as never),
    );
    assert.deepEqual([event?.SessionId, event?.TurnId], [null, null]);
    assert.equal(typeof event?.CallId, "string");
  });
});

const throwing = (key: string) =>
  Object.defineProperty({}, key, {
    enumerable: true,
    get: () => {
      throw new Error("getter");
    },
  });
const trap = () => {
  throw new Error("trap");
};
const descriptors = (key: string) => Object.getOwnPropertyDescriptors(throwing(key));
const trapped = (trapName: string) => new Proxy({ path: "a.txt" }, { [trapName]: trap });
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

// B22: hostile objects make invoke reject.
describe("second look B22", () => {
  const ARGS: [name: string, args: unknown][] = [
    ["a getter", throwing("path")],
    ["a getter of what is ignored", Object.assign(throwing("max_lines"), { path: "a.txt" })],
    ["a trap of ownKeys", trapped("ownKeys")],
    ["a trap of get", trapped("get")],
    ["a trap of getOwnPropertyDescriptor", trapped("getOwnPropertyDescriptor")],
    ["a revoked proxy", revoked()],
    ["a revoked proxy inside", { path: revoked() }],
    ["a symbol", Symbol("s")],
    ["a function", () => ({ path: "a.txt" })],
    ["a bigint", 1n],
  ];
  for (const [name, args] of ARGS) {
    test(
      `second look B22: arguments that cannot be read are a failure: ${name}`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const kit = createAgentToolkit(ws.writable);
        const result = await kit.invoke("read_file", args as never);
        assert.ok(result.status === "failure");
        assert.equal(result.error.details.code, "INVALID_ARGUMENT");
        const made = await kit.createFile(args as never);
        assert.equal(made.status, "failure");
      }),
    );
  }

  const SIGNALS: [name: string, signal: unknown][] = [
    ["an object", {}],
    ["a text", "abort"],
    ["a number", 1],
    ["one that says it is aborted", { aborted: true, reason: "made up" }],
    ["a controller", new AbortController()],
    ["a getter that throws", throwing("aborted")],
    ["a revoked proxy", revoked()],
  ];
  for (const [name, signal] of SIGNALS) {
    test(
      `second look B22: a value that is no signal is a failure that says so: ${name}`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const args = { path: "a.txt" };
        const live = new AbortController().signal;
        const calls = [
          () => createAgentToolkit(ws.writable).invoke("read_file", args, { signal } as never),
          () =>
            createAgentToolkit({ ...ws.writable, signal: live }).readFile("a.txt", {
              signal,
            } as never),
          () => createAgentToolkit({ ...ws.writable, signal } as never).invoke("read_file", args),
        ];
        for (const call of calls) {
          const [event] = await published(async () => {
            const result = await call();
            assert.ok(result.status === "failure");
            assert.match(result.message, /signal must be an AbortSignal|has thrown/);
          });
          assert.equal(event?.Success, false);
        }
      }),
    );
  }

  test(
    "second look B22: contexts and options with getters that throw give a failure when a call begins",
    inWorkspace(async (ws) => {
      for (const key of ["turnId", "signal", "activeFiles"]) {
        const context = Object.assign(throwing(key), ws.writable);
        const result = await createAgentToolkit(context).invoke("read_file", { path: "a" });
        assert.ok(result.status === "failure");
        assert.match(result.message, /has thrown/);
      }
      const kit = createAgentToolkit(ws.writable);
      for (const options of [throwing("callId"), revoked(), 1, "x"]) {
        assert.equal(
          (await kit.invoke("read_file", { path: "a" }, options as never)).status,
          "failure",
        );
      }
      for (const name of [null, undefined, 1, {}, Symbol("s"), revoked()]) {
        assert.equal((await kit.invoke(name as never, {} as never)).status, "failure");
      }
    }),
  );

  for (const name of ["workspace_create_file", "workspace.read_file", "read_file", "own"]) {
    test(
      `second look B22: a secure tool resolves, with or without a subscriber, if this throws: ${name}`,
      inWorkspace(async (ws) => {
        const fails = createSecureTool({ name, isWriteOp: true }, (_: object, _first?: unknown) => {
          throw new Error("no");
        });
        const keys = ["callId", "sessionId", "turnId", "workspaceRoot", "policy", "hiddenRoots"];
        const contexts = [
          ...keys.map((key) => Object.defineProperties({ ...ws.writable }, descriptors(key))),
          revoked(),
          null,
          undefined,
        ];
        const args = [throwing("path"), throwing("overwrite"), trapped("get"), revoked(), null];
        for (const context of contexts) {
          assert.equal((await fails(context as never)).status, "failure");
          const events = await published(() => fails(context as never, { path: "a" }));
          assert.equal(events.length, 1);
        }
        for (const first of args) {
          assert.equal((await fails(ws.writable, first)).status, "failure");
          const events = await published(() => fails(ws.writable, first));
          assert.deepEqual(
            events.map(({ Path }) => Path),
            [null],
          );
        }
      }),
    );
  }

  test("second look B22: the event of an answer with getters that throw lacks those fields", async () => {
    for (const data of [throwing("sizeBytes"), { file: throwing("hash") }, { meta: revoked() }]) {
      const tool = createSecureTool({ name: "own", isWriteOp: false }, () => data);
      const [event] = await published(async () => {
        assert.equal((await tool({})).status, "success");
      });
      assert.deepEqual([event?.SizeBytes, event?.Hash, event?.Success], [0, "", true]);
    }
  });

  test(
    "second look B22: two signals abort as one, and nothing is left on either",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const session = new AbortController();
      let listeners = 0;
      const { addEventListener, removeEventListener } = session.signal;
      session.signal.addEventListener = function add(...args: never) {
        listeners += 1;
        return Reflect.apply(addEventListener, this, args);
      };
      session.signal.removeEventListener = function remove(...args: never) {
        listeners -= 1;
        return Reflect.apply(removeEventListener, this, args);
      };
      const kit = createAgentToolkit({ ...ws.writable, signal: session.signal });
      const own = new AbortController();
      for (let call = 0; call < 20; call += 1) await kit.readFile("a.txt", { signal: own.signal });
      assert.equal(listeners, 0);
      const aborted = kit.readFile("a.txt", { signal: own.signal });
      own.abort("own");
      await assert.rejects(aborted, (reason) => reason === "own");
      session.abort("session");
      await assert.rejects(kit.readFile("a.txt"), (reason) => reason === "session");
    }),
  );
});

// B23: a message that is in the result twice, so that a model pays for it twice.
describe("second look B23", () => {
  test(
    "second look B23: JSON of a failure has its message once, and error.message is there",
    inWorkspace(async (ws) => {
      ws.write("src/main.ts", "");
      const kit = createAgentToolkit(ws.writable);
      for (const result of [
        await kit.readFile("none"),
        await kit.readFile("src/Main.ts"),
        await kit.readFile("../a"),
        await kit.invoke("read_file", {} as never),
        await kit.invoke("no_such", {}),
        await kit.invoke("read_file", '{"path":"none","limit":1}'),
      ]) {
        assert.ok(result.status !== "success");
        assert.ok(Object.hasOwn(result.error, "message"));
        assert.equal(result.error.message, result.message);
        const said = JSON.stringify(result.message);
        assert.equal(JSON.stringify(result).split(said).length, 2);
        assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(result)).error), [
          "code",
          "retriable",
          "details",
        ]);
      }
    }),
  );
});
