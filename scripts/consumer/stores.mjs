// @ts-check
// An ES module that uses the entry points beside the root, without the AWS SDK; Node and Bun run it.

import assert from "node:assert/strict";
import { memoryFileStore, memoryStore, unstorageKey, unstorageStore } from "ringfence/stores";
import { SUBPATHS } from "./exports.mjs";

for (const [path, names] of Object.entries(SUBPATHS)) {
  // Of CommonJS, `default` and, on newer Node, `module.exports` are the exports as a whole.
  const { default: whole, "module.exports": _, ...named } = await import(path);
  delete named.__esModule;
  assert.deepEqual(Object.keys(named).sort(), [...names].sort(), path);
  if (whole) for (const name of names) assert.equal(named[name], whole[name], name);
}

const { hash } = await memoryFileStore().putBytes(Buffer.from("abc"));
assert.equal(hash.length, 64);
const items = new Map([[unstorageKey("src/a.ts"), "a"]]);
for (const store of [
  memoryStore({ "src/a.ts": "a" }),
  unstorageStore({ getItemRaw: (key) => items.get(key) }),
]) {
  const document = await store.get("src/a.ts", { maxBytes: 5 });
  assert.equal(String(document && Buffer.from(document.bytes)), "a");
}

// Without its peer dependency this one cannot be had, and says why.
await assert.rejects(import("ringfence/stores/s3"), /@aws-sdk\/client-s3/);
