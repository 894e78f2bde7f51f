// @ts-check
// A CommonJS module that uses the installed package; run by Node and by Bun.

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const ringfence = require("ringfence");

async function main() {
  const { EXPORTS } = await import("./exports.mjs");
  assert.deepEqual(Object.keys(ringfence).sort(), [...EXPORTS].sort());

  const { content } = await ringfence.readFile({ workspaceRoot: __dirname }, "package.json");
  assert.equal(content, fs.readFileSync(path.join(__dirname, "package.json"), "utf8"));
}

main();
