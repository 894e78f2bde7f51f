// Calls functions, then again with accessors on `Array.prototype` as a library might leave them there, and
// prints both answers. The setters keep what the runtime's own code sets; what anything else sets is dropped,
// or with `throws` has them throw.

import {
  applyPatch,
  editFile,
  findFiles,
  nearMisses,
  readFiles,
  readSourceDocument,
  resolveFileUri,
  searchFiles,
  tree,
  workspaceSnapshot,
} from "../../index.js";

const { root, throws } = JSON.parse(process.argv[2]);
const context = { workspaceRoot: root, writeScope: "workspace-write" };
const twice = [{ old_string: "one", new_string: "1" }];
const PATCH =
  "--- a/d/b.txt\n+++ b/d/b.txt\n@@ -1,0 +1,2 @@\n+one\n+two\n--- /dev/null\n+++ b/n.txt\n@@\n+n\n";
const CALLS = {
  searchFiles: () => searchFiles(context, { pattern: "o", context_lines: 2 }),
  "searchFiles with counts": () => searchFiles(context, { pattern: "o", output: "counts" }),
  findFiles: () => findFiles(context, { patterns: ["*.txt", "*"], kind: "all" }),
  tree: () => tree(context, ".", { entry_kind: "all" }),
  readFiles: () => readFiles(context, { files: ["a.txt", { path: "d/b.txt" }, "none"] }),
  editFile: () => editFile(context, { path: "a.txt", edits: twice }),
  applyPatch: () => applyPatch(context, { patch: PATCH, dry_run: true }),
  "applyPatch that is refused": () => applyPatch(context, { patch: `${PATCH}-none\n` }),
  nearMisses: () => nearMisses(context, "d/bb.txt"),
  workspaceSnapshot: () => workspaceSnapshot(context),
  readSourceDocument: () => readSourceDocument(1, {}),
  resolveFileUri: () => resolveFileUri("file:///a/b.txt"),
};

async function answers() {
  const all = {};
  for (const [name, call] of Object.entries(CALLS)) {
    try {
      const { took_ms: _, ...answer } = await call();
      all[name] = { answer };
    } catch (error) {
      all[name] = { error: { message: error.message, ...error } };
    }
  }
  return JSON.stringify(all);
}

const expected = await answers();
const { defineProperty } = Object;
for (let index = 0; index < 1000; index++) {
  defineProperty(Array.prototype, index, {
    configurable: true,
    get: () => undefined,
    set(value) {
      if (/node:|internal:/.test(new Error().stack)) {
        const ordinary = { configurable: true, enumerable: true, writable: true };
        defineProperty(this, index, { value, ...ordinary });
      } else if (throws) {
        throw new Error(`Array.prototype[${index}]`);
      }
    },
  });
}
const found = await answers();
for (let index = 0; index < 1000; index++) delete Array.prototype[index];
process.stdout.write(`[${expected},${found}]`);
