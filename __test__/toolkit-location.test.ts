// Toolkits without a directory, and toolkits for one side: server or client.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import {
  createAgentToolkit,
  type ForwardedCall,
  publishForwarded,
  publishResultReceived,
  splitCallsByLocation,
} from "../dist/index.js";
import { memoryStore } from "../dist/stores/index.js";
import { published } from "./support/events.ts";
import { WORKSPACE_TOOLS } from "./support/tools.ts";
import { inWorkspace } from "./support/workspace.ts";

const store = memoryStore({ "a.cs": "class A {}" });
const create = { path: "a.txt", content: "a" };

// B4: a directory is required although no tool needs one.
describe("second look B4", () => {
  test(
    "second look B4: tools that need no directory work without one, and the others are not offered",
    inWorkspace(async (ws) => {
      ws.write("a.md", "a");
      const documents = createAgentToolkit({ store });
      assert.deepEqual(documents.getAllowedTools(), ["workspace.read_file"]);
      assert.equal((await documents.readSourceDocument({ path: "a.cs" })).status, "success");
      const files = createAgentToolkit({ space: ws.root, chat: ws.root });
      assert.deepEqual(files.getAllowedTools(), ["read"]);
      assert.equal((await files.read({ uri: "file:///a.md" })).status, "success");
      const pages = createAgentToolkit({ fetch: async () => new Response("page") });
      assert.equal((await pages.read({ uri: "https://example.com/" })).status, "success");
      for (const kit of [documents, files, pages]) {
        const read = await kit.readFile("a.md");
        assert.equal(read.status !== "success" && read.error.details.code, "NO_WORKSPACE");
        const made = await kit.createFile(create);
        assert.equal(made.status !== "success" && made.error.details.code, "UnhandledException");
      }
    }),
  );

  test("second look B4: a context with nothing that a tool could use is refused", () => {
    for (const context of [{}, { workspaceroot: "/" }, { policy: { defaultPolicy: "allow" } }]) {
      assert.throws(() => createAgentToolkit(context as never), /workspaceRoot/);
    }
  });
});

// B5: one side executes the other side's tools.
describe("second look B5", () => {
  test(
    "second look B5: a server neither offers nor executes the client's tools, nor opens its root",
    inWorkspace(async (ws) => {
      for (const workspaceRoot of [ws.root, `${ws.root}/not-here`, undefined]) {
        const server = createAgentToolkit({
          ...(workspaceRoot === undefined ? {} : { workspaceRoot }),
          store,
          location: "server",
        });
        assert.deepEqual(server.getAllowedTools(), ["workspace.read_file"]);
        assert.equal((await server.readSourceDocument({ path: "a.cs" })).status, "success");
        const made = await server.createFile(create);
        assert.ok(made.status === "failure");
        assert.match(made.message, /executed by the client/);
        assert.equal((made.error.details.result as { path: string }).path, "a.txt");
      }
      assert.deepEqual(fs.readdirSync(ws.root), []);
      const client = createAgentToolkit({ ...ws.writable, store, location: "client" });
      assert.deepEqual(client.getAllowedTools(), WORKSPACE_TOOLS);
      assert.throws(() => createAgentToolkit({ store, location: "cloud" as never }), /location/);
    }),
  );

  test(
    "second look B5: forward has the client execute its tools, and both events tell of it",
    inWorkspace(async (ws) => {
      const client = createAgentToolkit({ ...ws.writable, location: "client" });
      const calls: ForwardedCall[] = [];
      const FORMS: ((call: ForwardedCall) => unknown)[] = [
        (call) => client.invoke(call.name as string, call.arguments),
        async (call) => JSON.stringify(await client.invoke(call.name as string, call.arguments)),
        async (call) => {
          const result = await client.invoke(call.name as string, call.arguments);
          return result.status === "success" ? result.data : result.error.details.result;
        },
      ];
      for (const [index, form] of FORMS.entries()) {
        const forward = (call: ForwardedCall) => {
          calls.push(call);
          return form(call);
        };
        const server = createAgentToolkit({ store, location: "server", forward, sessionId: "s" });
        assert.ok(server.getAllowedTools().includes("workspace_create_file"));
        const args = { path: `${index}.txt`, content: "a" };
        const events = await published(async () => {
          const made = await server.invoke("workspace_create_file", args, { callId: "c" });
          assert.equal(made.status === "success" && made.data.created, true, JSON.stringify(made));
          const again = await server.invoke("workspace_create_file", args);
          assert.ok(again.status !== "success");
          assert.equal(again.error.details.code, "FileExists");
          assert.equal(again.error.message, again.message);
        });
        const told = events.map(({ event, Success, ErrorCode }) => [event, Success, ErrorCode]);
        const received = told.filter(([event]) => event === "Tool.CreateFile.ResultReceived");
        assert.deepEqual(
          received.map((event) => event.slice(1)),
          [
            [true, null],
            [false, "FileExists"],
          ],
        );
        assert.equal(told.filter(([event]) => event === "Tool.CreateFile.Forwarded").length, 2);
        assert.equal(
          events.find(({ event }) => event === "Tool.CreateFile.Forwarded")?.CallId,
          "c",
        );
      }
      assert.equal(calls[0]?.callId, "c");
      assert.equal(calls[0]?.sessionId, "s");
      assert.deepEqual({ ...calls[0]?.arguments }, { path: "0.txt", content: "a" });
    }),
  );

  test("second look B5: policy, arguments and abort are dealt with before anything is forwarded", async () => {
    let forwarded = 0;
    const forward = () => {
      forwarded += 1;
      return new Promise(() => {});
    };
    const policy = {
      tools: { workspace_create_file: "deny" as const },
      defaultPolicy: "allow" as const,
    };
    const denied = createAgentToolkit({ location: "server", forward, policy });
    assert.equal((await denied.createFile(create)).status, "denied");
    const server = createAgentToolkit({ location: "server", forward });
    assert.equal((await server.invoke("read_file", {} as never)).status, "failure");
    assert.equal(forwarded, 0);
    const controller = new AbortController();
    const call = server.createFile(create, { signal: controller.signal });
    setImmediate(() => controller.abort("over"));
    await assert.rejects(call, (reason) => reason === "over");
  });

  for (const answer of [null, "text", 1, undefined, "{"]) {
    test(`second look B5: an answer of the client that is none is a failure: ${answer}`, async () => {
      const server = createAgentToolkit({ location: "server", forward: async () => answer });
      const result = await server.createFile(create);
      assert.ok(result.status === "failure");
      assert.equal(result.error.details.code, "UnhandledException");
    });
  }

  test("second look B5: the calls of a turn are split by where they are executed", () => {
    const calls = ["read_file", "workspace_read_file", "functions.read", "nothing", "constructor"];
    const split = splitCallsByLocation(calls.map((name, id) => ({ name, id })));
    const names = Object.fromEntries(
      Object.entries(split).map(([side, list]) => [
        side,
        (list as { name: string }[]).map(({ name }) => name),
      ]),
    );
    assert.deepEqual(names, {
      client: ["read_file", "functions.read"],
      server: ["workspace_read_file"],
      both: [],
      unknown: ["nothing", "constructor"],
    });
    const openai = [{ function: { name: "workspace_create_file" } }];
    assert.deepEqual(splitCallsByLocation(openai, (call) => call.function.name).client, openai);
  });
});

// B7: an event contains unchecked values.
describe("second look B7", () => {
  const call = { toolName: "workspace_create_file", path: "a.txt", sessionId: "s" };
  const received = async (result: unknown, about: unknown = call) => {
    const [event, ...more] = await published(() => publishResultReceived(about as never, result));
    assert.deepEqual(more, []);
    const { Success, ErrorCode, SizeBytes, Hash } = event ?? {};
    return [Success, ErrorCode, SizeBytes, Hash];
  };

  test(
    "second look B7: results of invoke and payloads are read, and JSON text of either",
    inWorkspace(async (ws) => {
      const kit = createAgentToolkit(ws.writable);
      const hash = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
      const made = await kit.createFile(create);
      const exists = await kit.createFile(create);
      const payload = made.status === "success" ? made.data : null;
      for (const form of [made, payload, JSON.stringify(made), JSON.stringify(payload)]) {
        assert.deepEqual(await received(form), [true, null, 1, hash]);
      }
      for (const form of [exists, JSON.stringify(exists)]) {
        assert.deepEqual(await received(form), [false, "FileExists", 0, ""]);
      }
      const policy = { tools: {}, defaultPolicy: "deny" as const };
      const denied = await createAgentToolkit({ ...ws.writable, policy }).createFile(create);
      assert.deepEqual(await received(denied), [false, "WriteFailed", 0, ""]);
    }),
  );

  const NONE: [name: string, result: unknown][] = [
    ["null", null],
    ["nothing", undefined],
    ["a text", "done"],
    ["an array", []],
    ["a number", 1],
    ["success as text", { success: "true", errorCode: null, sizeBytes: 1, hash: "h" }],
    ["a success without data", { status: "success", data: null }],
    ["a failure without error", { status: "failure", message: "m" }],
    ["a code that is none", { success: false, errorCode: "NOT_FOUND" }],
    ["a code of another type", { success: false, errorCode: 1 }],
    [
      "a getter that throws",
      {
        get success(): boolean {
          throw new Error("getter");
        },
      },
    ],
    ["a revoked proxy", revoked()],
  ];
  for (const [name, result] of NONE) {
    test(`second look B7: ${name} is reported as UnhandledException`, async () => {
      assert.deepEqual(await received(result), [false, "UnhandledException", 0, ""]);
    });
  }

  test("second look B7: wrong types are not passed on", async () => {
    const result = {
      success: true,
      errorCode: "odd",
      sizeBytes: "12",
      hash: { toString: () => "h" },
    };
    assert.deepEqual(await received(result), [true, null, 0, ""]);
    for (const sizeBytes of [-1, 1.5, Number.NaN, 1n]) {
      assert.deepEqual(await received({ success: true, sizeBytes, hash: "h" }), [
        true,
        null,
        0,
        "h",
      ]);
    }
    for (const about of [
      null,
      undefined,
      1,
      revoked(),
      { toolName: 1, path: {}, overwrite: "yes", sessionId: 5 },
    ]) {
      const [forwarded] = await published(() => publishForwarded(about as never));
      assert.deepEqual(forwarded, {
        event: "Tool.CreateFile.Forwarded",
        SessionId: null,
        ConversationId: null,
        TurnId: null,
        ToolName: "",
        Path: "",
        Overwrite: false,
      });
      await received({}, about);
    }
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
