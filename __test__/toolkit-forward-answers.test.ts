// Answers of the other side, and errors of `forward`, may be as hostile as a model's arguments.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  createAgentToolkit,
  createSecureTool,
  defineTool,
  type ToolFailure,
} from "../dist/index.js";
import { memoryFileStore } from "../dist/stores/index.js";
import { Workspace } from "../index.js";
import { published } from "./support/events.ts";
import { inWorkspace } from "./support/workspace.ts";

const ARGS = { path: "a.txt", content: "a" };
const server = (forward: () => unknown) => ({ location: "server", forward }) as const;

// B12: an error of the host's own shows a root that the toolkit never opened. Variants:
// a root under another key, a `forward` that throws a string.
describe("second look B12: a root that is not opened", () => {
  for (const key of ["workspaceRoot", "chat", "space", "store"] as const) {
    test(
      `second look B12: is removed from an error of forward, under the key ${key}`,
      inWorkspace(async (ws) => {
        for (const thrown of [new Error(`ENOENT ${ws.root}/x`), `ENOENT '${ws.root}/x'`]) {
          using kit = createAgentToolkit({
            ...server(() => {
              throw thrown;
            }),
            [key]: ws.root,
          });
          const result = await kit.invoke("workspace_create_file", ARGS);
          assert.equal(result.status, "failure");
          assert.ok(!JSON.stringify(result).includes(ws.base), JSON.stringify(result));
          assert.match((result as ToolFailure).message, /ENOENT/);
        }
      }),
    );
  }
});

// B7: an invalid answer of the other side reaches the host as a success.
describe("second look B7: answers of forward", () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const ANSWERS: [name: string, answer: unknown][] = [
    ["a cyclic object", cyclic],
    ["a success with a revoked proxy", { status: "success", data: proxy }],
    ["a denial without a reason", { status: "denied" }],
    ["a failure without a message, as JSON", '{"status":"failure","reason":"runtime"}'],
    ["a number too large for JSON", { size: 1n }],
    ["nothing", undefined],
    ["text that is no JSON", "{"],
  ];
  for (const [name, answer] of ANSWERS) {
    test(`second look B7: ${name} is a failure that says so`, async () => {
      using kit = createAgentToolkit(server(() => answer));
      const result = await kit.invoke("workspace_create_file", ARGS);
      assert.equal(result.status, "failure");
      assert.match((result as ToolFailure).message, /^The client has (answered|refused) the call/);
      JSON.stringify(result);
    });
  }

  test("second look B7: a revoked proxy, whose `then` the engine asks for, is a failure", async () => {
    using kit = createAgentToolkit(server(() => proxy));
    const result = await kit.invoke("workspace_create_file", ARGS);
    assert.equal(result.status, "failure");
    JSON.stringify(result);
  });
});

// B21: a property descriptor inherits `get` from `Object.prototype`.
describe("second look B21: keys of descriptors on Object.prototype", () => {
  for (const key of ["get", "set", "value", "writable", "enumerable"]) {
    test(
      `second look B21: ${key} changes no failure`,
      inWorkspace(async (ws) => {
        using kit = createAgentToolkit(ws.writable);
        Object.defineProperty(Object.prototype, key, { value: 5, configurable: true });
        try {
          const result = (await kit.invoke("read_file", { path: "none" })) as ToolFailure;
          assert.equal(result.error.details.code, "NOT_FOUND");
          await assert.rejects(async () => memoryFileStore().getBytes("x"), {
            code: "INVALID_ARGUMENT",
          });
        } finally {
          delete (Object.prototype as Record<string, unknown>)[key];
        }
      }),
    );
  }
});

// B1, B7: a failure of the other side reaches the model as a success, while its event says failure.
describe("second look B7: failed payloads of forward", () => {
  const failed = { success: false, message: "bad", errorCode: "FileExists" };
  const FAILURES: [name: string, answer: unknown, code: string][] = [
    ["a success that holds it", { status: "success", data: failed }, "FileExists"],
    ["the payload", failed, "FileExists"],
    ["one without a code", { success: false, message: "bad" }, "UnhandledException"],
    ["one whose success is a text", { success: "false" }, "UnhandledException"],
    ["an empty object", {}, "UnhandledException"],
    ["a list", [1], "UnhandledException"],
  ];
  for (const [name, answer, code] of FAILURES) {
    test(`second look B7: ${name} is a failure, and its event says so`, async () => {
      using kit = createAgentToolkit(server(() => answer));
      const [, event] = await published(async () => {
        const result = await kit.invoke("workspace_create_file", ARGS);
        assert.ok(result.status === "failure");
        assert.equal((result.error.details.result as { errorCode: string }).errorCode, code);
      });
      assert.deepEqual([event?.Success, event?.ErrorCode], [false, code]);
    });
  }

  test("second look B7: an own tool's events have its name, its success and its size", async () => {
    const deploy = defineTool({
      name: "deploy",
      description: "Deploys.",
      parameters: { type: "object", properties: { path: { type: "string" } } },
      isWriteOp: false,
      executionLocation: "client",
      handler: () => null,
    });
    const answer = { status: "success", data: { ok: 1, meta: { byte_length: 6, sha256: "ab" } } };
    const kit = createAgentToolkit(server(() => answer) as never, { tools: [deploy] });
    const [sent, received] = await published(() => kit.invoke("deploy", { path: "p" } as never));
    assert.equal(sent?.event, "Tool.deploy.Forwarded");
    assert.equal(received?.event, "Tool.deploy.ResultReceived");
    assert.deepEqual([received?.Success, received?.SizeBytes, received?.Hash], [true, 6, "ab"]);
  });

  test("second look B7: a forward that throws has its second event, too", async () => {
    const kit = createAgentToolkit(
      server(() => {
        throw new Error("offline");
      }),
    );
    const events = await published(() => kit.invoke("workspace_create_file", ARGS));
    assert.deepEqual(
      events.map(({ event, Success }) => [event, Success]),
      [
        ["Tool.CreateFile.Forwarded", undefined],
        ["Tool.CreateFile.ResultReceived", false],
      ],
    );
  });
});

// B1, B12, B22: the answers of a host's own handlers.
describe("second look B1: answers of own handlers", () => {
  const answered = (context: object, answer: unknown) =>
    createSecureTool({ name: "own", isWriteOp: false }, () => answer)(context);

  for (const status of ["failure", "denied"] as const) {
    test(`second look B1: a ${status} of a host's wrapper, without \`error\`, is one`, async () => {
      const answer = { status, reason: status === "denied" ? "policy" : "runtime", message: "m" };
      const result = await answered({}, answer);
      assert.deepEqual([result.status, (result as ToolFailure).message], [status, "m"]);
      assert.equal(typeof (result as ToolFailure).error.code, "string");
    });
  }

  test("second look B22: a failure whose getters throw is a failure", async () => {
    const details = {
      get result() {
        throw new Error("boom");
      },
    };
    const error = { code: "X", message: "m", retriable: false, details };
    const result = await answered(
      {},
      { status: "failure", reason: "runtime", message: "m", error },
    );
    assert.equal((result as ToolFailure).message, "boom");
  });

  test(
    "second look B12: no failure that is returned shows the root",
    inWorkspace(async (ws) => {
      const message = `cannot open ${ws.root}/a.txt`;
      const error = { code: "RUNTIME_ERROR", message, retriable: false, details: { code: null } };
      for (const answer of [
        { success: false, errorCode: "E", message },
        { success: false, errorCode: "E", errors: [message] },
        { status: "failure", reason: "runtime", message, error },
        { status: "failure", reason: "runtime", message },
      ]) {
        const result = await answered(ws.context, answer);
        assert.equal(result.status, "failure");
        assert.ok(!JSON.stringify(result).includes(ws.root), JSON.stringify(result));
      }
    }),
  );

  test("second look B1: a failure with `errors` that are no list keeps its code", async () => {
    const answer = { success: false, errorCode: "E", errors: "text", message: 123 };
    const result = (await answered({}, answer)) as ToolFailure;
    assert.deepEqual([result.message, result.error.details.code], ["E", "E"]);
  });

  test(
    "second look A4: a proxy of a Workspace is refused with a sentence",
    inWorkspace((ws) => {
      const workspace = Workspace.open(ws.root);
      for (const unfit of [new Proxy(workspace, {}), Object.create(workspace)]) {
        assert.throws(() => createAgentToolkit(unfit), /give the Workspace itself/);
        assert.throws(() => createAgentToolkit({ workspace: unfit }), /give the Workspace itself/);
      }
      workspace.close();
    }),
  );
});
