// The host's own functions run in the asynchronous context of the call that calls them.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { memoryStore } from "../dist/stores/index.js";
import {
  DirectoryStore,
  FileStore,
  type ReadSourceContext,
  readFileUri,
  readSourceDocument,
  Workspace,
} from "../index.js";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const storage = new AsyncLocalStorage<string>();

/** The contexts in which `onError` runs for a document that is not UTF-8, and in which the caller goes on. */
async function contextsOf(
  store: ReadSourceContext["store"],
  context: string,
): Promise<{ told: unknown[]; after: unknown }> {
  const told: unknown[] = [];
  const onError = (error: unknown) => {
    told.push([storage.getStore(), (error as { code?: unknown }).code]);
  };
  const after = await storage.run(context, async () => {
    const result = await readSourceDocument({ path: "bad.txt" }, { store, onError });
    assert.equal(result.errorCode, "INTERNAL_ERROR");
    return storage.getStore();
  });
  return { told, after };
}

// Fault: a worker's result comes back by a callback of the engine, which has no asynchronous context.
describe("second look F29: onError is told in its caller's asynchronous context", () => {
  const BAD = new Uint8Array([0x61, 0xff]);
  const STORES: Record<string, (ws: TestWorkspace) => ReadSourceContext["store"]> = {
    "a directory's path": (ws) => ws.root,
    "a Workspace": (ws) => Workspace.open(ws.root),
    "a DirectoryStore": (ws) => DirectoryStore.open(ws.root),
    "documents in memory": () => memoryStore({ "bad.txt": BAD }),
    "a store that answers at once": () => ({ get: () => ({ bytes: BAD, sizeBytes: 2 }) }),
    "a store over a DirectoryStore": (ws) => {
      const inner = DirectoryStore.open(ws.root);
      return { get: (path, options) => inner.get(path, options) };
    },
  };
  for (const [name, make] of Object.entries(STORES)) {
    test(
      `second look F29: after ${name}`,
      inWorkspace(async (ws) => {
        ws.write("bad.txt", Buffer.from(BAD));
        const store = make(ws);
        const contexts = await contextsOf(store, "mine");
        assert.deepEqual(contexts, { told: [["mine", "NOT_UTF8"]], after: "mine" });
      }),
    );
  }

  test(
    "second look F29: of calls that run at once, each in its own",
    inWorkspace(async (ws) => {
      ws.write("bad.txt", Buffer.from(BAD));
      const store = DirectoryStore.open(ws.root);
      const names = Array.from({ length: 50 }, (_, i) => `call ${i}`);
      const all = await Promise.all(names.map((name) => contextsOf(store, name)));
      const expected = names.map((name) => ({ told: [[name, "NOT_UTF8"]], after: name }));
      assert.deepEqual(all, expected);
    }),
  );

  test(
    "second look F29: and in none where the call was made in none",
    inWorkspace(async (ws) => {
      ws.write("bad.txt", Buffer.from(BAD));
      const told: unknown[] = [];
      const onError = () => told.push(storage.getStore());
      await storage.run("other", async () => {});
      await readSourceDocument({ path: "bad.txt" }, { store: ws.root, onError });
      assert.deepEqual(told, [undefined]);
    }),
  );
});

describe("second look F29: a host's tree and store are asked in their caller's context", () => {
  const TEXT = Buffer.from("text");
  const hash = createHash("sha256").update(TEXT).digest("hex");

  for (const kind of ["at once", "later"]) {
    test(
      `second look F29: where they answer ${kind}`,
      inWorkspace(async (ws) => {
        const native = FileStore.open(ws.root);
        await native.putBytes(TEXT);
        const seen: unknown[] = [];
        const answer = async <T>(value: T): Promise<T> => {
          if (kind === "later") await new Promise((resolve) => setTimeout(resolve, 5));
          return value;
        };
        const space = {
          resolve: () => {
            seen.push(storage.getStore());
            return answer({ hash, mimeType: "text/plain" });
          },
          store: {
            getBytes: (asked: string) => {
              seen.push(storage.getStore());
              return native.getBytes(asked);
            },
          },
        };
        const after = await storage.run("mine", async () => {
          await readFileUri("file:///a.txt", { space });
          return storage.getStore();
        });
        assert.deepEqual([seen, after], [["mine", "mine"], "mine"]);
      }),
    );
  }
});
