// @ts-check
// What the runtime itself does, without a sandbox, a check or a window.

import { promises, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * @param {string} root
 * @returns {import("./load.mjs").Contender}
 */
export function openBare(root) {
  return {
    name: "bare fs",
    kind: "bare",
    read: (path) => promises.readFile(join(root, path), "utf8"),
    readSync: (path) => readFileSync(join(root, path), "utf8"),
    create: (path, content) => promises.writeFile(join(root, path), content, { flag: "wx" }),
    overwrite: (path, content) => promises.writeFile(join(root, path), content),
    move: (path, to) => promises.rename(join(root, path), join(root, to)),
    text: (text) => text,
  };
}
