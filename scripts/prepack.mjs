// @ts-check
// Refuses to pack a checkout that is not built: npm runs this before it packs, publishes, or installs the
// package from git. It needs no dependency, since there may be none yet.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { bin, exports, napi } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const addon = `${napi.binaryName}.*.node`;
const hasAddon = readdirSync(root).some(
  (file) => file.startsWith(`${napi.binaryName}.`) && file.endsWith(".node"),
);
const missing = [...pathsIn(bin), ...pathsIn(exports)].filter(
  (file) => !existsSync(join(root, file)),
);
if (!hasAddon) missing.push(addon);
if (missing.length > 0) {
  console.error(
    `This checkout is not built, so a package of it would not work: run "npm ci && npm run build" first. Missing: ${missing.join(", ")}.`,
  );
  process.exitCode = 1;
}

/**
 * The files that an entry of package.json names, however deep.
 *
 * @param {unknown} entry
 * @returns {string[]}
 */
function pathsIn(entry) {
  if (typeof entry === "string") return [entry];
  return entry !== null && typeof entry === "object" ? Object.values(entry).flatMap(pathsIn) : [];
}
