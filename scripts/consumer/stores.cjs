// @ts-check
// The CommonJS counterpart of stores.mjs.

const assert = require("node:assert/strict");

async function main() {
  const { SUBPATHS } = await import("./exports.mjs");
  for (const [path, names] of Object.entries(SUBPATHS)) {
    assert.deepEqual(Object.keys(require(path)).sort(), [...names].sort(), path);
  }
  assert.throws(() => require("ringfence/stores/s3"), /@aws-sdk\/client-s3/);
}

main();
