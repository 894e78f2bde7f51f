// @ts-check
import { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(import.meta.url);

/**
 * @typedef {typeof import("../../index.js")} Ringfence
 * @typedef {import("./load.mjs").Contender} Contender
 */

/**
 * Ringfence through a `Workspace` and through a plain context.
 *
 * @param {string} root
 * @param {string} [checkout] Another checkout with a built addon, to compare two states of ringfence.
 * @returns {Contender[]}
 */
export function openRingfence(root, checkout) {
  const suffix = checkout === undefined ? "" : ", the other build";
  const addon = loadRingfence(checkout);
  const workspace = addon.Workspace.open(root, { durability: "none" });
  return [
    through(addon, `ringfence${suffix}`, workspace),
    through(addon, `ringfence, plain context${suffix}`, {
      workspaceRoot: root,
      durability: "none",
    }),
  ];
}

/**
 * @param {string} [checkout]
 * @returns {Ringfence}
 */
export function loadRingfence(checkout) {
  return require(checkout === undefined ? "../../index.js" : resolve(checkout, "index.js"));
}

/**
 * @param {Ringfence} addon
 * @param {string} name
 * @param {import("../../index.js").Workspace | import("../../index.js").WorkspaceContext} context
 * @returns {Contender}
 */
function through(addon, name, context) {
  const { readFile, readFileSync, createFile } = addon;
  return {
    name,
    kind: "ours",
    read: (path) => readFile(context, path),
    readSync: (path) => readFileSync(context, path),
    window: (path, { startLine, maxLines }) =>
      readFile(context, path, { start_line: startLine, max_lines: maxLines }),
    windowSync: (path, { startLine, maxLines }) =>
      readFileSync(context, path, { start_line: startLine, max_lines: maxLines }),
    create: (path, content) => succeeded(createFile(context, { path, content })),
    overwrite: (path, content) =>
      succeeded(createFile(context, { path, content, overwrite: true })),
    text: (output) => output.content,
  };
}

/** @param {Promise<import("../../index.js").CreateFileResult>} result */
async function succeeded(result) {
  const { success, message } = await result;
  if (!success) throw new Error(message);
}
