// The native functions give the same answers over every store. docs/contract.md §6, §7.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { createStorage } from "unstorage";
import fsDriver from "unstorage/drivers/fs";
import memoryDriver from "unstorage/drivers/memory";
import { createWorkspaceFetch } from "../dist/index.js";
import {
  memoryFileStore,
  memoryStore,
  unstorageKey,
  unstorageStore,
} from "../dist/stores/index.js";
import { s3FileStore, s3Store } from "../dist/stores/s3.js";
import {
  type ContentAddressedStore,
  DirectoryStore,
  type DocumentStore,
  FileStore,
  readFileUri,
  readSourceDocument,
  type VirtualFile,
} from "../index.js";
import { S3Server } from "./support/s3.ts";

const DOCUMENTS: Record<string, string> = {
  "src/Billing/BillingService.cs": "class BillingService {} // größer 漢字 😀\n",
  "src/billing/billingservice.cs": "another",
  "docs/marked.md": "\ufeff# Marked\n",
  empty: "",
};

let server: S3Server;
let folder: string;
before(async () => {
  server = await S3Server.start();
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-stores-"));
});
after(async () => {
  fs.rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

function directory(name: string): string {
  const made = path.join(folder, name);
  for (const [docPath, text] of Object.entries(DOCUMENTS)) {
    fs.mkdirSync(path.dirname(path.join(made, docPath)), { recursive: true });
    fs.writeFileSync(path.join(made, docPath), text);
  }
  return made;
}

const STORES: [name: string, make: () => DocumentStore | Promise<DocumentStore>][] = [
  ["a directory", () => DirectoryStore.open(directory("own"))],
  ["memory", () => memoryStore(DOCUMENTS)],
  [
    "unstorage in memory",
    async () => {
      const storage = createStorage({ driver: memoryDriver() });
      for (const [docPath, text] of Object.entries(DOCUMENTS)) {
        await storage.setItemRaw(unstorageKey(docPath), Buffer.from(text));
      }
      return unstorageStore(storage);
    },
  ],
  ["unstorage on a disk", () => unstorageStore(fsDriver({ base: directory("unstorage") }))],
  [
    "S3",
    async () => {
      const bucket = await server.bucket();
      for (const [key, text] of Object.entries(DOCUMENTS)) await bucket.put(key, text);
      return s3Store(bucket.location);
    },
  ],
];

for (const [name, make] of STORES) {
  describe(`documents in ${name}`, () => {
    let store: DocumentStore;
    const onError = (error: unknown) => assert.fail(`onError was told ${String(error)}`);
    before(async () => {
      store = await make();
    });

    test("come whole", async () => {
      for (const [docPath, text] of Object.entries(DOCUMENTS)) {
        const result = await readSourceDocument({ path: docPath }, { store, onError });
        const content = text.replace(/^\ufeff/, "");
        const sizeBytes = Buffer.byteLength(text);
        const file = { path: docPath, sizeBytes, content, isTruncated: false };
        assert.deepEqual(result, {
          success: true,
          errorCode: null,
          errors: [],
          file,
          sessionId: null,
          conversationId: null,
        });
      }
    });

    test("are cut at the end of a character, at every length", async () => {
      const docPath = "src/Billing/BillingService.cs";
      const text = DOCUMENTS[docPath] ?? "";
      const sizeBytes = Buffer.byteLength(text);
      for (let maxBytes = 1; maxBytes <= sizeBytes + 1; maxBytes += 1) {
        const json = JSON.stringify({ path: docPath, maxBytes });
        const { file } = await readSourceDocument(json, { store, onError });
        let content = "";
        for (const character of text) {
          if (Buffer.byteLength(content + character) > maxBytes) break;
          content += character;
        }
        const isTruncated = maxBytes < sizeBytes;
        assert.deepEqual(file, { path: docPath, sizeBytes, content, isTruncated });
      }
    });

    test("that are not there are NOT_FOUND, under any other spelling too", async () => {
      for (const docPath of [
        "none",
        "SRC/Billing/BillingService.cs",
        "empty#method",
        "../own/empty",
      ]) {
        const result = await readSourceDocument({ path: docPath }, { store, onError });
        assert.equal(result.errorCode, "NOT_FOUND", docPath);
      }
    });

    test("are read by 64 at once", async () => {
      const docPath = "docs/marked.md";
      const reads = Array.from({ length: 64 }, () =>
        readSourceDocument({ path: docPath }, { store, onError }),
      );
      for (const { file } of await Promise.all(reads)) assert.equal(file?.content, "# Marked\n");
    });
  });
}

const CONTENT_STORES: [
  name: string,
  make: () => ContentAddressedStore | Promise<ContentAddressedStore>,
][] = [
  ["a FileStore", () => FileStore.open(path.join(folder, "content"))],
  ["memory", () => memoryFileStore()],
  ["S3", async () => s3FileStore((await server.bucket()).location)],
];

for (const [name, make] of CONTENT_STORES) {
  describe(`the files of a virtual space in ${name}`, () => {
    let store: ContentAddressedStore;
    const tree = new Map<string, VirtualFile>();
    const space = {
      resolve: (segments: string[]) => tree.get(segments.join("/")) ?? null,
      get store() {
        return store;
      },
    };
    before(async () => {
      store = await make();
      const { hash, size } = await store.putBytes(Buffer.from("# Brand 漢字\n"));
      tree.set("assets/brand.md", { hash, size, mimeType: "text/markdown" });
      tree.set("assets/gone.md", { hash: "0".repeat(64), size: 1, mimeType: "text/markdown" });
    });

    test("are read as they are", async () => {
      assert.deepEqual(await readFileUri("file:///assets/brand.md", { space }), {
        uri: "file:///assets/brand.md",
        scope: "workspace",
        path: "assets/brand.md",
        text: "# Brand 漢字\n",
        mimeType: "text/markdown",
        sizeBytes: Buffer.byteLength("# Brand 漢字\n"),
      });
    });

    test("whose bytes the store lacks are NOT_FOUND, by path and hash", async () => {
      await assert.rejects(readFileUri("file:///assets/gone.md", { space }), {
        name: "FileUriError",
        code: "NOT_FOUND",
        message: /^NOT_FOUND: Workspace file not found at \/assets\/gone\.md: .*0{64}$/,
      });
    });

    test("are the text that the fetch of a read tool gives", async () => {
      const html = async (_url: string) => new Response("<html>");
      const fetchForAgent = createWorkspaceFetch({ space }, html);
      // The tool of the specification, which knows of no space.
      const read = async ({ uri }: { uri: string }) => (await fetchForAgent(uri)).text();
      assert.equal(await read({ uri: "file:///assets/brand.md" }), "# Brand 漢字\n");
      assert.equal(await read({ uri: "https://example.com/" }), "<html>");
      await assert.rejects(read({ uri: "file:///assets/none.md" }), {
        name: "FileUriError",
        message: "NOT_FOUND: Workspace file not found at /assets/none.md",
      });
      await assert.rejects(read({ uri: " file:///assets/brand.md" }), { code: "INVALID_URI" });
    });
  });
}

test("a flipped bit in an S3 bucket is CORRUPT, and names the hash", async () => {
  const bucket = await server.bucket();
  const store = s3FileStore(bucket.location);
  const { hash, size } = await store.putBytes(Buffer.from("brand"));
  bucket.lay(`${hash.slice(0, 2)}/${hash.slice(2)}`, "brane");
  const space = { resolve: () => ({ hash, size }), store };
  await assert.rejects(readFileUri("file:///a.md", { space }), {
    code: "CORRUPT",
    message: new RegExp(`^CORRUPT: .*${hash}`),
  });
});

test("the reason of an aborted fetch is that of its signal", async () => {
  const space = { resolve: () => new Promise<null>(() => {}), store: memoryFileStore() };
  const fetchForAgent = createWorkspaceFetch({ space }, fetch);
  const controller = new AbortController();
  const reason = new Error("enough");
  const response = fetchForAgent("file:///a.md", { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(response, (thrown) => thrown === reason);
});
