// @ts-check
import { join } from "node:path";
import { node, ROOT } from "../../scripts/lib/project.mjs";

/**
 * The binary of a runtime: `node` is the one that runs this, `node24` or `node-latest` comes from
 * npm, `bun` is the development dependency.
 *
 * @param {string} name
 */
export function runtimeBinary(name) {
  if (name === "node") return process.execPath;
  if (name === "bun") return join(ROOT, "node_modules", "bun", "bin", "bun.exe");
  const version = /^node-?(?<version>latest|\d+)$/u.exec(name)?.groups?.version;
  if (version === undefined) throw new Error(`${name} is no runtime that is known here`);
  return node([join(ROOT, "scripts", "newest-node.mjs"), "--version", version]).trim();
}
