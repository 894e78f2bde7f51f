// @ts-check
// ES modules beside the CommonJS of tsc, for the entry points that load no native code: bundlers for edges and
// browsers cannot take `require` apart. Each is one file, with the types of its CommonJS twin.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "./project.mjs";

/** The entry points, below toolkit/ and dist/. */
const ENTRIES = ["definitions", "stores"];

export async function bundleModules() {
  await build({
    entryPoints: ENTRIES.map((entry) => join(ROOT, "toolkit", entry, "index.ts")),
    outbase: join(ROOT, "toolkit"),
    outdir: join(ROOT, "dist"),
    outExtension: { ".js": ".mjs" },
    absWorkingDir: ROOT,
    bundle: true,
    platform: "neutral",
    // What is imported of Node stays an import.
    external: ["node:*"],
    format: "esm",
    target: "es2022",
  });
  for (const entry of ENTRIES) {
    writeFileSync(join(ROOT, "dist", entry, "index.d.mts"), 'export * from "./index.js";\n');
  }
}
