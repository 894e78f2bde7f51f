// What stands below a folder, so that a test can say that nothing else has changed. Plain JavaScript,
// since the children of the tests look too.

import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

/**
 * One line for each thing below `base`, by its path: kind, mode, owner, inode, time and bytes.
 *
 * @param {string} base
 * @returns {Record<string, string>}
 */
export function treeOf(base) {
  /** @type {Record<string, string>} */
  const tree = {};
  /** @param {string} relative */
  const visit = (relative) => {
    for (const name of fs.readdirSync(path.join(base, relative)).sort()) {
      const below = relative === "" ? name : `${relative}/${name}`;
      tree[below] = describe(path.join(base, below));
      if (tree[below].startsWith("folder")) visit(below);
    }
  };
  visit("");
  return tree;
}

/** @param {string} absolute */
function describe(absolute) {
  const stat = fs.lstatSync(absolute, { bigint: true });
  const owner = `${(stat.mode & 0o7777n).toString(8)} ${stat.uid}:${stat.gid} inode ${stat.ino}`;
  if (stat.isSymbolicLink()) return `link to ${fs.readlinkSync(absolute)}, inode ${stat.ino}`;
  if (stat.isDirectory()) return `folder ${owner}`;
  if (!stat.isFile()) return `special ${owner}`;
  const hash = createHash("sha256").update(fs.readFileSync(absolute)).digest("hex");
  return `file ${owner} of ${stat.mtimeNs} with ${stat.size} bytes ${hash}`;
}
