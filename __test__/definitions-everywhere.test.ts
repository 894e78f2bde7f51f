// `ringfence/definitions` where there is no Node: bundled for a browser or an edge runtime.

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import vm from "node:vm";
import { build } from "esbuild";
import { ROOT } from "./support/program.ts";
import { ALL_TOOLS } from "./support/tools.ts";

async function bundle(conditions: string[]): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: 'module.exports = require("ringfence/definitions");', resolveDir: ROOT },
    alias: { "ringfence/definitions": path.join(ROOT, "dist", "definitions", "index.js") },
    bundle: true,
    platform: "browser",
    conditions,
    format: "iife",
    globalName: "definitions",
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}

function fail(): never {
  throw new Error("A Node.js API is used");
}

// H5, for every runtime without Node's modules. Variants: `process` is missing, is a substitute
// without `getBuiltinModule`, or does not know the module.
for (const [name, globals] of [
  ["no process at all", {}],
  ["a stand-in for process", { process: { env: {} } }],
  ["a process without that module", { process: { getBuiltinModule: () => undefined } }],
  [
    "a process that throws",
    { process: Object.defineProperty({}, "getBuiltinModule", { get: fail }) },
  ],
] as const) {
  test(`second look H5: the definitions load, and publishing does nothing, with ${name}`, async () => {
    const context = vm.createContext({ ...globals });
    vm.runInContext(await bundle([]), context);
    const told = vm.runInContext(
      `definitions.publishForwarded({ toolName: "read_file", path: "a" });
       definitions.publishResultReceived({ toolName: "read_file", path: "a" }, { success: true });
       Object.keys(definitions.TOOL_DEFINITIONS).join()`,
      context,
    );
    assert.equal(told, ALL_TOOLS.join());
  });
}

test("second look H5: the bundle for an edge runtime asks for no module of Node", async () => {
  for (const conditions of [["edge-light"], ["worker"], ["browser"]]) {
    assert.doesNotMatch(
      await bundle(conditions),
      /["']node:(?!diagnostics_channel)|require\(["']node:/,
    );
  }
});
