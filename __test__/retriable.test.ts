// `retriable`: whether a failed call can succeed later, by code, never by wording. docs/contract.md §8.

import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { createAgentToolkit, createSecureTool, type ToolResult } from "../dist/index.js";
import { memoryStore } from "../dist/stores/index.js";
import type { DocumentStore } from "../index.js";
import { inWorkspace } from "./support/workspace.ts";

/** The tool's code of a failure, and whether to try again. */
function verdict(result: ToolResult): unknown {
  assert.ok(result.status !== "success");
  return [result.error.details.code, result.error.retriable];
}

const PATH = "please try again.md";

// B15: the decision is taken from words of a name or a message instead of the code.
describe("second look B15: documents", () => {
  const read = async (store: DocumentStore, path = PATH) =>
    verdict(await createAgentToolkit({ store }).invoke("workspace.read_file", { path }));
  const failing = (error: unknown): DocumentStore => ({ get: () => Promise.reject(error) });
  const coded = (code: string) => Object.assign(new Error("try again later"), { code });
  const refused = (httpStatusCode: number) =>
    Object.assign(new Error("no"), { $metadata: { httpStatusCode } });

  test("second look B15: a missing one is not retriable, whichever name it has", async () => {
    assert.deepEqual(await read(memoryStore({})), ["NOT_FOUND", false]);
    assert.deepEqual(await read(memoryStore({}), "INTERNAL_ERROR 503 try again"), [
      "NOT_FOUND",
      false,
    ]);
  });

  test("second look B15: one that is not UTF-8 is not retriable", async () => {
    const bytes = new Uint8Array([0xff]);
    assert.deepEqual(await read(memoryStore({ [PATH]: bytes })), ["INTERNAL_ERROR", false]);
    const wrong = { get: () => ({ bytes, sizeBytes: 5 }) };
    assert.deepEqual(await read(wrong), ["INTERNAL_ERROR", false]);
    const noBytes = { get: () => ({ bytes: "try again", sizeBytes: 5 }) } as never;
    assert.deepEqual(await read(noBytes), ["INTERNAL_ERROR", false]);
  });

  test(
    "second look B15: nor is one in a directory that is not UTF-8, or is reached by a link that leads out",
    inWorkspace(async (ws) => {
      ws.write(PATH, Buffer.from([0xff]));
      const toolkit = createAgentToolkit({ store: ws.root });
      const result = await toolkit.readSourceDocument({ path: PATH });
      assert.deepEqual(verdict(result), ["INTERNAL_ERROR", false]);
    }),
  );

  test("second look B15: a store that fails is retriable, unless it refuses", async () => {
    for (const error of [
      new Error("down"),
      "down",
      undefined,
      coded("ECONNRESET"),
      refused(500),
      refused(503),
      refused(429),
    ]) {
      assert.deepEqual(await read(failing(error)), ["INTERNAL_ERROR", true]);
    }
    for (const error of [
      coded("PERMISSION_DENIED"),
      coded("TOO_LARGE"),
      refused(403),
      refused(400),
    ]) {
      assert.deepEqual(await read(failing(error)), ["INTERNAL_ERROR", false]);
    }
  });

  test("second look B15: the host's own onError is called, too", async () => {
    const told: unknown[] = [];
    const error = new Error("down");
    const toolkit = createAgentToolkit({ store: failing(error), onError: (e) => told.push(e) });
    await toolkit.invoke("workspace.read_file", { path: PATH });
    assert.deepEqual(told, [error]);
  });
});

describe("second look B15: pages", () => {
  const fetched = async (fetch: unknown) =>
    verdict(
      await createAgentToolkit({ fetch: fetch as never }).read({ uri: "https://a/try again" }),
    );

  for (const status of [429, 502, 503, 504]) {
    test(`second look B15: status ${status} is retriable`, async () => {
      const fetch = async () => new Response("", { status });
      assert.deepEqual(await fetched(fetch), ["HTTP_ERROR", true]);
    });
  }
  for (const status of [301, 400, 401, 403, 404, 410, 418, 451, 500, 501, 505]) {
    test(`second look B15: status ${status} is not`, async () => {
      const fetch = async () => new Response("try again later", { status });
      assert.deepEqual(await fetched(fetch), ["HTTP_ERROR", false]);
    });
  }

  test("second look B15: a failed fetch is retriable, and an answer that breaks off", async () => {
    const server = net.createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => {
        const head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\nhalf";
        socket.write(head, () => socket.destroy());
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const toolkit = createAgentToolkit({ fetch });
    const uri = `http://127.0.0.1:${port}/`;
    assert.deepEqual(verdict(await toolkit.read({ uri })), ["FETCH_FAILED", true]);
    server.close();
    await once(server, "close");
    assert.deepEqual(verdict(await toolkit.read({ uri })), ["FETCH_FAILED", true]);
    const broken = async () => Promise.reject(new Error("do not try again"));
    assert.deepEqual(await fetched(broken), ["FETCH_FAILED", true]);
    assert.deepEqual(await fetched(async () => null), ["FETCH_FAILED", true]);
  });

  test("second look B15: a page that is not text, or too large, is not", async () => {
    const page = (type: string, body: string) => async () =>
      new Response(body, { headers: { "content-type": type } });
    assert.deepEqual(await fetched(page("image/png", "try again")), ["NOT_TEXT", false]);
    const long = page("text/plain", "try again ".repeat(200_000));
    assert.deepEqual(await fetched(long), ["TOO_LARGE", false]);
  });
});

describe("second look B15: handlers of a host's own", () => {
  const failing = (error: unknown) =>
    createSecureTool({ name: "own", isWriteOp: false }, () => Promise.reject(error));
  const run = async (error: unknown) => {
    const result = await failing(error)({ workspaceRoot: "/" });
    assert.ok(result.status === "failure");
    return result.error.retriable;
  };
  const coded = (code: unknown, more: object = {}) =>
    Object.assign(new Error("please try again"), { code }, more);

  test("second look B15: by code", async () => {
    for (const code of [
      "INTERNAL",
      "CONTENDED",
      "FETCH_FAILED",
      "ETIMEDOUT",
      "ECONNRESET",
      "EBUSY",
    ]) {
      assert.equal(await run(coded(code)), true, code);
    }
    for (const code of [
      "NOT_FOUND",
      "ENOENT",
      "EACCES",
      "HTTP_ERROR",
      undefined,
      503,
      {},
      "constructor",
    ]) {
      assert.equal(await run(coded(code)), false, String(code));
    }
    assert.equal(await run(coded("HTTP_ERROR", { status: 503 })), true);
    assert.equal(await run(coded("HTTP_ERROR", { status: 404 })), false);
    for (const thrown of ["try again", null, undefined, 5]) assert.equal(await run(thrown), false);
  });

  test(
    "second look B15: a file that cannot be created is not retriable because of its name",
    inWorkspace(async (ws) => {
      ws.write("try again", "a file");
      const toolkit = createAgentToolkit(ws.context);
      for (const path of ["try again", "try again/b.txt", "../try again"]) {
        const result = await toolkit.createFile({ path, content: "" });
        assert.ok(result.status !== "success" && !result.error.retriable, path);
      }
    }),
  );
});
