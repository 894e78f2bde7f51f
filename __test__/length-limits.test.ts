// Paths, URIs, hashes and JSON texts are refused by their length, before they are copied.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { createAgentToolkit, type ToolFailure } from "../dist/index.js";
import {
  contentHash,
  createFile,
  createFileSync,
  DirectoryStore,
  FileStore,
  nearMisses,
  readFile,
  readFileSync,
  readFileUri,
  readSourceDocument,
  resolveFileUri,
  Workspace,
  workspaceSnapshot,
} from "../index.js";
import { exceptionValue, rejectionValue } from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const LONGEST_PATH = 64 * 1024;
const LONGEST_JSON = 16 * 1024 * 1024;
/** As long as the longest string that every supported engine makes. */
const HUGE = "a/".repeat(2 ** 28 - 16);

interface Coded {
  code: string;
  message: string;
}

/** Demands an answer within a time that no copy of a huge string could keep. */
async function atOnce<T>(call: () => T | Promise<T>): Promise<T> {
  const began = performance.now();
  const answer = await call();
  const took = performance.now() - began;
  assert.ok(took < 1000, `took ${took} ms`);
  return answer;
}

async function refuses(call: () => Promise<unknown>, code: string, says: RegExp): Promise<void> {
  const error = (await atOnce(() => rejectionValue(call))) as Coded;
  assert.equal(error.code, code, error.message);
  assert.match(error.message, says);
  assert.ok(error.message.length < 2000);
}

async function throws(call: () => unknown, code: string, says: RegExp): Promise<void> {
  const error = (await atOnce(() => exceptionValue(call))) as Coded;
  assert.equal(error.code, code, error.message);
  assert.match(error.message, says);
  assert.ok(error.message.length < 2000);
}

const tooLong = (name: string) => new RegExp(`${name} must not be longer than 64 KiB`);

// F26: work on the event loop's thread that grows with the length of a meaningless string.
describe("second look F26", () => {
  for (const [what, path] of [
    ["one unit too long", "a".repeat(LONGEST_PATH + 1)],
    ["few characters of many bytes", "あ".repeat(LONGEST_PATH / 2)],
    ["10 MB", "a".repeat(10_000_000)],
    ["800,000 components", "../a/".repeat(800_000)],
    ["as long as a string can be", HUGE],
    ["concatenated", `${HUGE.slice(0, 2 ** 28)}あ`],
    ["full of lone surrogates", "\ud800".repeat(5_000_000)],
  ] as const) {
    test(
      `second look F26: a path that is ${what} is refused at once by every function`,
      inWorkspace(async (ws) => {
        await refuses(() => readFile(ws.context, path), "NOT_FOUND", /the name is too long/);
        await throws(() => readFileSync(ws.context, path), "NOT_FOUND", /the name is too long/);
        if (path.length > LONGEST_PATH) {
          await refuses(() => nearMisses(ws.context, path), "NOT_FOUND", /the name is too long/);
        }
        const args = { path, content: "x" };
        for (const create of [createFile, createFileSync]) {
          const result = await atOnce(() => create(ws.writable, args));
          assert.equal(result.errorCode, "InvalidPath");
          assert.match(result.message, tooLong("path"));
          assert.equal(result.path, "");
        }
      }),
    );
  }

  test(
    "second look F26: a path of 64 KiB is looked at, and is no file",
    inWorkspace(async (ws) => {
      const path = "a".repeat(LONGEST_PATH);
      const error = (await rejectionValue(() => readFile(ws.context, path))) as Coded;
      assert.equal(error.code, "NOT_FOUND");
      const many = "a/../".repeat(LONGEST_PATH / 5 - 2);
      ws.write("x.txt", "x");
      assert.equal((await atOnce(() => readFile(ws.context, `${many}x.txt`))).content, "x");
    }),
  );

  test("second look F26: long URIs, hashes and roots are refused at once", async () => {
    for (const huge of ["a".repeat(LONGEST_PATH + 1), HUGE]) {
      const uri = `file:${"x".repeat(2 ** 20)}${huge.slice(2 ** 21)}`;
      const longUri = /uri must not be longer than 1 MiB/;
      await throws(() => resolveFileUri(uri), "INVALID_URI", longUri);
      await refuses(() => readFileUri(uri, {}), "INVALID_URI", longUri);
      const root = `/${huge.slice(1)}`;
      const long = /must not be longer than 64 KiB/;
      await throws(() => Workspace.open(root), "INVALID_ARGUMENT", long);
      await throws(() => FileStore.open(root), "INVALID_ARGUMENT", long);
      await throws(() => DirectoryStore.open(root), "INVALID_ARGUMENT", long);
      await refuses(() => readFile({ workspaceRoot: root }, "a"), "INVALID_ARGUMENT", long);
      await refuses(() => workspaceSnapshot({ workspaceRoot: root }), "INVALID_ARGUMENT", long);
      await refuses(() => readFileUri("file:///a", { space: root }), "INVALID_ARGUMENT", long);
      await throws(
        () => contentHash("", huge as "sha256"),
        "INVALID_ARGUMENT",
        /algorithm must be "sha256" or "aptix"/,
      );
    }
  });

  test(
    "second look F26: long hashes are refused at once by a store, and as expectedHash",
    inWorkspace(async (ws) => {
      const store = FileStore.open(ws.folder("store"));
      for (const get of [() => store.getBytes(HUGE), () => store.exists(HUGE)]) {
        await refuses(get, "INVALID_ARGUMENT", /64 lowercase hex digits/);
      }
      const args = { path: "a", content: "", expectedHash: HUGE };
      const result = await atOnce(() => createFile(ws.writable, args));
      assert.equal(result.errorCode, "UnhandledException");
      assert.match(result.message, /expectedHash must/);
      const space = {
        resolve: () => ({ hash: HUGE }),
        store,
      };
      await refuses(() => readFileUri("file:///a", { space }), "INTERNAL", /hash must/);
      store.close();
    }),
  );

  test(
    "second look F26: JSON over 16 MiB is refused at once by a toolkit, encoded once or twice",
    inWorkspace(async (ws) => {
      using kit = createAgentToolkit(ws.writable);
      const json = JSON.stringify({ path: "a.txt", content: "a".repeat(LONGEST_JSON) });
      for (const args of [json, JSON.stringify(json), HUGE]) {
        const result = await atOnce(() => kit.invoke("workspace_create_file" as string, args));
        const { status, message, error } = result as ToolFailure;
        assert.equal(status, "failure");
        assert.equal(error.details.code, "UnhandledException");
        assert.match(message, /more than 16777216 characters of JSON/);
      }
      assert.equal(fs.existsSync(ws.at("a.txt")), false);
    }),
  );

  test("second look F26: JSON over 16 MiB, long DocPaths and ids are refused at once", async () => {
    const store = { get: () => assert.fail("the store is not asked") };
    const refusesSource = async (args: string | object, ids: object, says: RegExp) => {
      const result = await atOnce(() =>
        readSourceDocument(args as string, { store, ...ids } as never),
      );
      assert.equal(result.errorCode, "INVALID_ARGUMENT");
      assert.match(result.errors.join(), says);
      assert.ok(result.errors.join().length < 2000);
    };
    const json = `{"path":"a","pad":"${"x".repeat(LONGEST_JSON)}"}`;
    await refusesSource(json, {}, /argumentsJson must not be longer than 16 MiB/);
    await refusesSource(HUGE, {}, /argumentsJson must not be longer than 16 MiB/);
    await refusesSource({ path: HUGE }, {}, tooLong("path"));
    const inJson = JSON.stringify({ path: "a".repeat(LONGEST_PATH + 1) });
    await refusesSource(inJson, {}, tooLong("path"));
    await refusesSource({ path: "a" }, { sessionId: HUGE }, tooLong("sessionId"));
    await refusesSource(JSON.stringify("a".repeat(100_000)), {}, /must be the JSON of an object/);
  });

  test(
    "second look F26: a long DocPath is refused at once by a directory's store",
    inWorkspace(async (ws: TestWorkspace) => {
      const store = DirectoryStore.open(ws.root);
      await refuses(() => store.get(HUGE), "INVALID_ARGUMENT", tooLong("docPath"));
      store.close();
    }),
  );
});
