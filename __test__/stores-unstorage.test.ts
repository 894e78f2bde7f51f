// Any unstorage Storage or driver as a store of documents, with the real unstorage. docs/contract.md §7.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createStorage, type Driver, type Storage } from "unstorage";
import fsDriver from "unstorage/drivers/fs";
import fsLiteDriver from "unstorage/drivers/fs-lite";
import memoryDriver from "unstorage/drivers/memory";
import { type UnstorageLike, unstorageKey, unstorageStore } from "../dist/stores/index.js";
import { ABORT_REASONS } from "./support/hostile.ts";
import { namesAreFolded, notPosix } from "./support/platform.ts";
import { Random } from "./support/random.ts";
import { rejectionValue } from "./support/read.ts";
import { inWorkspace } from "./support/workspace.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const document = (text: string) => ({ bytes: bytes(text), sizeBytes: Buffer.byteLength(text) });

/** A driver that keeps text alone, as one for a database does. */
const textDriver = (): Driver => {
  const { getItemRaw, setItemRaw, ...driver } = memoryDriver();
  return driver as Driver;
};

/** Names that unstorage, or one of its drivers, takes for others. */
const TWINS = [
  ["a:b", "a/b", "a\\b", "a//b", "a%3Ab", "a%2Fb", "a/b/", "/a/b", "a/b$", "a:b$"],
  ["c", "c?x", "c?", "c#method:x", "c#", "c%3F", "c$", "c ", " c", "c\t", "c\n"],
  ["d/e", "d%/e", "d%25/e", "d/e%", "d$/e", "d /e", "d/ e"],
  // D6: disk drivers refuse every segment that ends in two dots.
  ["wait...", "wait..", "wait.%2E", "wait..%2E", "wait.", "wait", "wait.../x", "wait../", "..."],
];

/** Every kind of storage there is here, each with a body of its own. */
function onEveryStorage(name: string, body: (storage: Storage, fold: boolean) => Promise<void>) {
  test(`${name}, in memory`, () => body(createStorage({ driver: memoryDriver() }), false));
  test(`${name}, as text`, () => body(createStorage({ driver: textDriver() }), false));
  test(
    `${name}, on disk`,
    { skip: notPosix },
    inWorkspace((ws) => {
      const storage = createStorage({ driver: fsDriver({ base: ws.root }) });
      return body(storage, namesAreFolded !== false);
    }),
  );
}

describe("documents in unstorage", () => {
  onEveryStorage("text and bytes come as they were set", async (storage) => {
    const store = unstorageStore(storage);
    const odd = Uint8Array.from({ length: 256 }, (_, i) => i);
    await storage.setItem("src/text.ts", "text ü");
    await storage.setItemRaw("src/bytes.bin", Buffer.from(odd));
    await storage.setItemRaw("empty", Buffer.alloc(0));
    assert.deepEqual(await store.get("src/text.ts", {}), document("text ü"));
    assert.deepEqual(await store.get("src/bytes.bin", {}), { bytes: odd, sizeBytes: 256 });
    assert.deepEqual(await store.get("empty", {}), document(""));
    assert.equal(await store.get("src/missing.ts", {}), null);
    assert.equal(await store.get("src", {}), null);
  });

  onEveryStorage("maxBytes gives the first bytes and the size of the whole", async (storage) => {
    const store = unstorageStore(storage);
    await storage.setItemRaw("a", Buffer.from("0123456789"));
    assert.deepEqual(await store.get("a", { maxBytes: 3 }), { bytes: bytes("012"), sizeBytes: 10 });
    assert.deepEqual(await store.get("a", { maxBytes: 11 }), document("0123456789"));
    await assert.rejects(async () => store.get("a", { maxBytes: 0 }), RangeError);
  });

  for (const twins of TWINS) {
    const row = twins[0] === "wait..." ? "second look D6: " : "";
    onEveryStorage(`${row}${twins[0]} and its likes are each found alone`, async (storage) => {
      const store = unstorageStore(storage);
      for (const name of twins) {
        for (const other of twins) await storage.removeItem(unstorageKey(other));
        // On a disk, nothing may stand where a folder is wanted.
        await storage.setItemRaw(unstorageKey(name), Buffer.from(name));
        for (const other of twins) {
          const expected = other === name ? document(name) : null;
          assert.deepEqual(await store.get(other, {}), expected, `${name}, asked for ${other}`);
        }
      }
    });
  }

  onEveryStorage("names that differ in case are two documents", async (storage, fold) => {
    if (fold) return;
    const store = unstorageStore(storage);
    await storage.setItem("Src/A.cs", "upper");
    assert.equal(await store.get("src/a.cs", {}), null);
    assert.deepEqual(await store.get("Src/A.cs", {}), document("upper"));
  });

  test("the metadata of a document is no document", async () => {
    const storage = createStorage({ driver: memoryDriver() });
    await storage.setItem("a", "document");
    await storage.setMeta("a", { secret: "metadata" });
    assert.equal(await unstorageStore(storage).get("a$", {}), null);
  });

  onEveryStorage("under a path that no key can be there is no document", async (storage) => {
    const store = unstorageStore(storage);
    await storage.setItem("b", "b");
    for (const docPath of ["", ".", "..", "../b", "a/../b", "./b", "b/.", "\ud800"]) {
      assert.equal(await store.get(docPath, {}), null, docPath);
      assert.throws(() => unstorageKey(docPath), RangeError, docPath);
    }
  });

  test(
    "second look D6: the drivers of disks take every key that is made",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      for (const driver of [fsDriver({ base: ws.root }), fsLiteDriver({ base: ws.root })]) {
        const storage = createStorage({ driver });
        for (const docPath of [
          "src/wait...",
          "a../b",
          "c..",
          "x....y..../z",
          ".../...",
          "..a/b..:",
          "q..?",
        ]) {
          await storage.setItem(unstorageKey(docPath), docPath);
          assert.deepEqual(
            await unstorageStore(storage).get(docPath, {}),
            document(docPath),
            docPath,
          );
          assert.deepEqual(
            await unstorageStore(driver).get(docPath, {}),
            document(docPath),
            docPath,
          );
        }
      }
    }),
  );

  test(
    "second look D6: a name that no disk can have is a document that is not there",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const store = unstorageStore(createStorage({ driver: fsDriver({ base: ws.root }) }));
      assert.equal(await store.get("a".repeat(300), {}), null);
    }),
  );

  test("a driver is as good as a Storage, one that keeps text alone too", async () => {
    for (const driver of [memoryDriver(), textDriver()]) {
      const storage = createStorage({ driver });
      await storage.setItem("src/text.ts", "text");
      await storage.setItemRaw("src/bytes.bin", Buffer.from([0, 255]));
      const store = unstorageStore(driver);
      assert.deepEqual(await store.get("src/text.ts", {}), document("text"));
      assert.deepEqual(await store.get("src/bytes.bin", {}), {
        bytes: Uint8Array.of(0, 255),
        sizeBytes: 2,
      });
    }
  });

  test("changes to the returned bytes do not change a document", async () => {
    const storage = createStorage({ driver: memoryDriver() });
    await storage.setItemRaw("a", Buffer.from("document"));
    const store = unstorageStore(storage);
    (await store.get("a", {}))?.bytes.fill(0);
    assert.deepEqual(await store.get("a", {}), document("document"));
  });

  const VALUES: [string, unknown][] = [
    ["an ArrayBuffer", bytes("document").buffer],
    ["a view", new DataView(bytes("a document.").buffer, 2, 8)],
    ["a Blob", new Blob(["document"])],
  ];
  for (const [name, value] of VALUES) {
    test(`a driver may answer with ${name}`, async () => {
      const store = unstorageStore({ getItemRaw: () => value });
      assert.deepEqual(await store.get("a", {}), document("document"));
    });
  }

  test("a value that is neither text nor bytes throws, and so does a driver's error", async () => {
    const failure = new Error("the driver failed");
    const get = (getItemRaw: () => unknown) => async () =>
      unstorageStore({ getItemRaw }).get("src/a", {});
    for (const value of [{}, 5, true, []]) {
      await assert.rejects(
        get(() => value),
        /^TypeError: the value of "src\/a" is neither text nor bytes/,
      );
    }
    const throwing = get(() => {
      throw failure;
    });
    assert.equal(await rejectionValue(throwing), failure);
    // The fs drivers answer with an error that they do not know.
    assert.equal(await rejectionValue(get(() => failure)), failure);
    assert.throws(() => unstorageStore({}), TypeError);
    assert.throws(() => unstorageStore(null as unknown as UnstorageLike), TypeError);
  });

  test(
    "on disk, a file where a folder would be is a document that is not there",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const store = unstorageStore(createStorage({ driver: fsDriver({ base: ws.root }) }));
      assert.equal(await store.get("a.txt/b", {}), null);
    }),
  );

  for (const [name, reason] of ABORT_REASONS) {
    test(`an aborted call rejects with the reason itself, ${name}`, async () => {
      const early = unstorageStore(createStorage()).get("", { signal: AbortSignal.abort(reason) });
      assert.equal(await rejectionValue(async () => early), reason);

      const controller = new AbortController();
      const store = unstorageStore({ getItemRaw: () => new Promise(() => {}) });
      const late = rejectionValue(async () => store.get("a", { signal: controller.signal }));
      controller.abort(reason);
      assert.equal(await late, reason);
    });
  }
});

describe("the key of a document", () => {
  test("is the one that unstorage makes of an ordinary path", async () => {
    for (const name of [
      "a",
      "src/a.ts",
      "a/..b/c.",
      "[id]/$x/(y).tsx",
      "日本/ü e.md",
      "a@b+c,d=e",
    ]) {
      const storage = createStorage();
      await storage.setItem(name, "");
      assert.deepEqual(await storage.getKeys(), [unstorageKey(name)]);
    }
  });

  test("is one that unstorage leaves as it is, and tells the path again", async () => {
    const random = new Random(1);
    const letters = [..."ab/:\\?#%$. \t2F5C"];
    for (let i = 0; i < 20_000; i++) {
      const docPath = Array.from({ length: random.below(8) }, () => random.pick(letters)).join("");
      let key: string;
      try {
        key = unstorageKey(docPath);
      } catch {
        assert.match(docPath, /^$|(?:^|\/)\.\.?(?:\/|$)/);
        continue;
      }
      const kept: string[] = [];
      await createStorage({
        driver: { ...memoryDriver(), getItemRaw: (used: string) => kept.push(used) },
      }).getItemRaw(key);
      assert.deepEqual(kept, [key], docPath);
      assert.equal(decodeURIComponent(key.replaceAll(":", "/")), docPath);
    }
  });
});
