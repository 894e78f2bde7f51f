// @ts-check
// An ES module that uses the installed package; run by Node and by Bun.

import assert from "node:assert/strict";
import { readFileSync as readOwnFile } from "node:fs";
import ringfence, { readFile } from "ringfence";
import { EXPORTS } from "./exports.mjs";

/** @type {Map<string, unknown>} */
const names = new Map(Object.entries(await import("ringfence")));
for (const name of EXPORTS) {
  assert.notEqual(names.get(name), undefined, name);
  assert.equal(names.get(name), ringfence[name], name);
}
// `default` and, on newer Node, `module.exports` are the CommonJS exports as a whole.
for (const name of ["default", "module.exports"]) names.delete(name);
assert.deepEqual([...names.keys()].sort(), [...EXPORTS].sort());

const { content } = await readFile({ workspaceRoot: import.meta.dirname }, "package.json");
assert.equal(content, readOwnFile(new URL("package.json", import.meta.url), "utf8"));
