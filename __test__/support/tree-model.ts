// What a snapshot of a workspace must show, worked out with `node:fs` and no regard to speed.

import fs from "node:fs";
import path from "node:path";

const LEFT_OUT = ["bin", "obj", "node_modules", ".git", "dist"];

export interface TreeModel {
  text: string;
  entries: string[];
}

/** The whole tree down to `maxDepth`, for names that need no escape. */
export function treeOf(root: string, maxDepth = Number.POSITIVE_INFINITY): TreeModel {
  const lines: string[] = [];
  const entries: string[] = [];
  const walk = (folder: string, depth: number): void => {
    for (const entry of entriesOf(path.join(root, folder))) {
      const shown = `${folder}${entry.name}`;
      const indent = "  ".repeat(depth - 1);
      if (!entry.isDirectory()) {
        entries.push(shown);
        lines.push(`${indent}${entry.name}${markOf(entry)}`);
        continue;
      }
      const isCut = depth === maxDepth && entriesOf(path.join(root, shown)).length > 0;
      entries.push(`${shown}/`);
      lines.push(`${indent}${entry.name}/${isCut ? " …" : ""}`);
      if (depth < maxDepth) walk(`${shown}/`, depth + 1);
    }
  };
  walk("", 1);
  return { text: lines.join("\n"), entries };
}

/** A folder's entries but for build artifacts, in the order of their names' bytes. */
function entriesOf(folder: string): fs.Dirent[] {
  const bytes = (entry: fs.Dirent) => Buffer.from(entry.name);
  const isShown = (entry: fs.Dirent) =>
    !LEFT_OUT.includes(entry.name) ||
    (entry.name !== ".git" && !entry.isDirectory() && !entry.isSymbolicLink());
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .filter(isShown)
    .sort((one, other) => Buffer.compare(bytes(one), bytes(other)));
}

function markOf(entry: fs.Dirent): string {
  if (entry.isSymbolicLink()) return " (link)";
  return entry.isFile() ? "" : " (special file)";
}
