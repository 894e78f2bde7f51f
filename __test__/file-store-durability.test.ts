// When bytes of a `FileStore` have reached the disk. docs/contract.md §6.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { FileStore } from "../index.js";
import { noStrace } from "./support/platform.ts";
import { inWorkspace } from "./support/workspace.ts";

const ADDON = fileURLToPath(new URL("../index.js", import.meta.url));

const PROGRAM = `
  const { FileStore } = require(${JSON.stringify(ADDON)});
  const store = FileStore.open(process.argv.at(-1));
  store.putBytes(Buffer.from("brand")).then(({ hash }) => console.log(hash));
`;

/** What a process of its own syncs while it puts the bytes "brand", as paths beneath the store. */
function syncedWhilePutting(root: string): string[] {
  const file = path.join(path.dirname(root), "put.cjs");
  fs.writeFileSync(file, PROGRAM);
  const options = ["-f", "-qq", "-y", "-e", "trace=fsync,fdatasync", "-e", "signal=none"];
  const run = spawnSync("strace", [...options, process.execPath, file, root], { encoding: "utf8" });
  assert.match(run.stdout, /^[0-9a-f]{64}\n$/, run.stderr);
  const synced = [...run.stderr.matchAll(/f(?:data)?sync\(\d+<([^>]*)>\)/g)];
  return synced.map(([, name = ""]) => path.relative(root, name)).filter((name) => name[0] !== ".");
}

const hash = createHash("sha256").update("brand").digest("hex");
const [folder, name] = [hash.slice(0, 2), hash.slice(2)];

// Fault: the bytes are stored already, by a writer that has not synced them.
test(
  "second look F15: putBytes syncs bytes that are there already, with their folders",
  { skip: noStrace, timeout: 60_000 },
  inWorkspace((ws) => {
    fs.mkdirSync(path.join(ws.root, folder));
    fs.writeFileSync(path.join(ws.root, folder, name), "brand");
    assert.deepEqual(syncedWhilePutting(ws.root), [path.join(folder, name), folder, ""]);
  }),
);

test(
  "second look F15: so do writers of the same bytes at once, and a store that may not be written to",
  inWorkspace(async (ws) => {
    const stores = Array.from({ length: 8 }, () => FileStore.open(ws.root));
    const put = stores.map((store) => store.putBytes(Buffer.from("brand")));
    for (const stored of await Promise.all(put)) assert.deepEqual(stored, { hash, size: 5 });
    fs.chmodSync(path.join(ws.root, folder, name), 0o444);
    fs.chmodSync(path.join(ws.root, folder), 0o555);
    try {
      const stored = await FileStore.open(ws.root).putBytes(Buffer.from("brand"));
      assert.deepEqual(stored, { hash, size: 5 });
    } finally {
      fs.chmodSync(path.join(ws.root, folder), 0o755);
    }
  }),
);

test(
  "second look F15: a stored file that is shorter or longer than the bytes is replaced",
  inWorkspace(async (ws) => {
    const store = FileStore.open(ws.root);
    for (const rotten of ["", "bran", "brandy", "BRAND", "brand".repeat(100_000)]) {
      fs.mkdirSync(path.join(ws.root, folder), { recursive: true });
      fs.writeFileSync(path.join(ws.root, folder, name), rotten);
      await store.putBytes(Buffer.from("brand"));
      assert.equal(Buffer.from(await store.getBytes(hash)).toString(), "brand");
    }
  }),
);
