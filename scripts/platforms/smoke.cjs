// What depends on the system in docs/contract.md §3 to §7, without dependencies, for systems where the
// suite's own runner is not to be had: Node under Wine, Node under qemu, Bun on musl.
//
//     node smoke.cjs <addon.node> [containment]
//
// Prints one line per check and `N passed, N failed, N skipped`; exits 1 if one failed. With
// `containment` ("kernel" or "walk") that tier must be in force.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { base, checkOn, onWindows, read, runChecks } = require("./smoke/harness.cjs");

require("./smoke/reading.cjs");
require("./smoke/sandbox.cjs");
require("./smoke/windows.cjs");
require("./smoke/links.cjs");
require("./smoke/creating.cjs");
require("./smoke/documents.cjs");

// Last, since it leaves the process without a working directory.
checkOn(!onWindows, "a deleted working directory changes nothing", async () => {
  const before = process.cwd();
  const cwd = fs.mkdtempSync(path.join(base, "cwd-"));
  process.chdir(cwd);
  fs.rmdirSync(cwd);
  try {
    assert.equal((await read("sub/x.txt")).path, "sub/x.txt");
  } finally {
    process.chdir(before);
  }
});

runChecks();
