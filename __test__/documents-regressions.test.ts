// Regression tests of faults in file: URIs, stores and source documents.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import fs from "node:fs";
import { describe, test } from "node:test";
import { createWorkspaceFetch } from "../dist/index.js";
import { DirectoryStore, FileStore, readFileUri, readSourceDocument, Workspace } from "../index.js";
import { noSymlinks, notPosix } from "./support/platform.ts";
import { looseReadSource } from "./support/source.ts";
import { inWorkspace } from "./support/workspace.ts";

describe("a value that fetch would convert to text never reaches it", () => {
  const INPUTS: [name: string, input: unknown][] = [
    ["an object with a list for a url", JSON.parse('{"url":["file:///etc/passwd"]}')],
    ["a String", Object("file:///etc/passwd")],
    ["a list of one", ["file:///etc/passwd"]],
    ["a list of lists", JSON.parse('[["file:///etc/passwd"]]')],
    ["an object with an href and a list", { href: "https://a/", url: ["file:///etc/passwd"] }],
    ["an object that turns into text", { toString: () => "file:///etc/passwd" }],
    ["null", null],
    ["a number", 1],
  ];
  for (const [name, input] of INPUTS) {
    test(name, async () => {
      const passed: unknown[] = [];
      const fallback = async (url: unknown) => {
        passed.push(url);
        return new Response("");
      };
      const fetchForAgent = createWorkspaceFetch({}, fallback);
      await assert.rejects(fetchForAgent(input), TypeError);
      assert.deepEqual(passed, []);
    });
  }
});

describe("a collection of active files that is not known does not count as empty", () => {
  class Wrapped {
    readonly #paths = new Set(["p"]);
    has(path: string): boolean {
      return this.#paths.has(path);
    }
  }
  const ACTIVE: [name: string, activeFiles: unknown][] = [
    ["an array behind a Proxy", new Proxy(["p"], {})],
    ["a wrapper with has", new Wrapped()],
  ];
  const REFUSED: [name: string, activeFiles: unknown][] = [
    ["a Map behind a Proxy", new Proxy(new Map([["p", 1]]), {})],
    ["an array of objects", [{ path: "p" }]],
    ["an array of String objects", [new String("p")]],
    ["an iterator", ["p"].values()],
    ["a typed array", new Uint8Array(1)],
  ];
  const store = { get: () => assert.fail("the store was asked") };
  for (const [name, activeFiles] of ACTIVE) {
    test(name, async () => {
      const { errorCode } = await looseReadSource({ path: "p" }, { store, activeFiles });
      assert.equal(errorCode, "ALREADY_IN_CONTEXT");
    });
  }
  for (const [name, activeFiles] of REFUSED) {
    test(name, async () => {
      const { errorCode, errors } = await looseReadSource({ path: "p" }, { store, activeFiles });
      assert.equal(errorCode, "INVALID_ARGUMENT");
      assert.match(errors[0] ?? "", /^activeFiles /);
    });
  }
});

test(
  "a text longer than any string is TOO_LARGE for every maxBytes",
  { skip: notPosix },
  inWorkspace(async (ws) => {
    fs.truncateSync(ws.write("a.txt", ""), 600 * 1024 * 1024);
    const context = { space: ws.root, maxBytes: Number.MAX_SAFE_INTEGER };
    await assert.rejects(readFileUri("file:///a.txt", context), { code: "TOO_LARGE" });
    const told: { code?: string }[] = [];
    const onError = (error: unknown) => told.push(error as { code?: string });
    const store = DirectoryStore.open(ws.root);
    const { errorCode } = await readSourceDocument({ path: "a.txt" }, { store, onError });
    assert.equal(errorCode, "INTERNAL_ERROR");
    assert.deepEqual(
      told.map(({ code }) => code),
      ["TOO_LARGE"],
    );
  }),
);

test("an abort takes the listener away, though the store never answers", async () => {
  const controller = new AbortController();
  const store = { get: () => new Promise<null>(() => {}) };
  const read = readSourceDocument({ path: "a" }, { store, signal: controller.signal });
  controller.abort();
  await assert.rejects(read);
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
});

test("an abort while the listener is added is not lost", async () => {
  const reason = new Error("at once");
  let aborted = false;
  const signal = {
    get aborted() {
      return aborted;
    },
    reason,
    addEventListener() {
      aborted = true;
    },
    removeEventListener() {},
  };
  const store = { get: () => new Promise(() => {}) };
  const read = looseReadSource({ path: "a" }, { store, signal });
  await assert.rejects(read, (thrown) => thrown === reason);
});

test("a signal is read once", async () => {
  let times = 0;
  const context = {
    store: {
      get: (_path: string, options: object) => {
        assert.deepEqual(options, {});
        return null;
      },
    },
    get signal() {
      times += 1;
      return times === 1 ? undefined : "junk";
    },
  };
  assert.equal((await looseReadSource({ path: "a" }, context)).errorCode, "NOT_FOUND");
});

test(
  "a name of blanks is a name",
  { skip: notPosix },
  inWorkspace(async (ws) => {
    ws.write(" ", "blank");
    const { text } = await readFileUri("file:///%20", { space: ws.root });
    assert.equal(text, "blank");
  }),
);

test(
  "properties that every object inherits do not change a Workspace",
  inWorkspace(async (ws) => {
    ws.write("a.txt", "a");
    const workspace = Workspace.open(ws.root);
    const inherited = Object.prototype as { get?: unknown; resolve?: unknown };
    try {
      inherited.get = () => null;
      inherited.resolve = () => null;
      const result = await looseReadSource({ path: "a.txt" }, { store: workspace });
      assert.equal(result.success, true);
      assert.equal((await readFileUri("file:///a.txt", { space: workspace })).text, "a");
    } finally {
      delete inherited.get;
      delete inherited.resolve;
    }
  }),
);

test(
  "a store reports in its own error that the value is no bytes",
  { skip: noSymlinks },
  inWorkspace(async (ws) => {
    const store = FileStore.open(ws.at("store"));
    const hash = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
    ws.link(`store/${hash.slice(0, 2)}/${hash.slice(2)}`, "nowhere");
    const message = "INTERNAL: something else stands in the place of the bytes";
    await assert.rejects(store.putBytes(Buffer.from("a")), { message });
  }),
);
