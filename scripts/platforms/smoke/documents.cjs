// file: URIs, stores and source documents.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { addon, base, check, inRoot, root, sha256, write } = require("./harness.cjs");

const { DirectoryStore, FileStore, readFileUri, readSourceDocument } = addon;

check("readFileUri: of a directory, in both scopes", async () => {
  fs.mkdirSync(inRoot("files"));
  write("files/notes.md", "# Notes\n");
  const roots = { space: root, chat: root };
  assert.equal((await readFileUri("file:///sub/x.txt", roots)).text, "x\n");
  const { path: where, text } = await readFileUri("file:notes.md", roots);
  assert.deepEqual([where, text], ["files/notes.md", "# Notes\n"]);
  for (const uri of ["file:///../outside/secret.txt", "file:///C:/a", "file:a%5Cb", "file:/a"]) {
    await assert.rejects(readFileUri(uri, roots), { code: "INVALID_URI" }, uri);
  }
  const missing = { message: "NOT_FOUND: Workspace file not found at /sub/none.md" };
  await assert.rejects(readFileUri("file:///sub/none.md", roots), missing);
});

check("FileStore: keeps bytes under their hash, and finds a flipped bit", async () => {
  const directory = path.join(base, "store", "made");
  const store = FileStore.open(directory);
  const stored = await Promise.all(
    Array.from({ length: 16 }, () => store.putBytes(Buffer.from("a"))),
  );
  const hash = sha256("a");
  assert.deepEqual(stored[15], { hash, size: 1 });
  const space = { store, resolve: async () => ({ hash, size: 1, mimeType: "text/plain" }) };
  assert.equal((await readFileUri("file:///a.txt", { space })).text, "a");
  fs.writeFileSync(path.join(directory, hash.slice(0, 2), hash.slice(2)), "b");
  await assert.rejects(store.getBytes(hash), { code: "CORRUPT" });
  await assert.rejects(readFileUri("file:///a.txt", { space }), { code: "CORRUPT" });
});

check(
  "readSourceDocument: by DocPath, of a directory and of a store of the host's own",
  async () => {
    const stores = [
      DirectoryStore.open(root),
      {
        get: async (docPath) =>
          docPath === "sub/x.txt" ? { bytes: Buffer.from("x\n"), sizeBytes: 2 } : null,
      },
    ];
    for (const store of stores) {
      const json = '{ "path": "sub/x.txt", "maxBytes": 1 }';
      const { file } = await readSourceDocument(json, { store });
      assert.deepEqual(file, { path: "sub/x.txt", sizeBytes: 2, content: "x", isTruncated: true });
      for (const docPath of ["../outside/secret.txt", "sub/none", "./sub/x.txt"]) {
        const { errorCode } = await readSourceDocument({ path: docPath }, { store });
        assert.equal(errorCode, "NOT_FOUND", docPath);
      }
    }
  },
);
