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
  return [
    through(addon, `ringfence${suffix}`, {
      synced: addon.Workspace.open(root),
      unsynced: addon.Workspace.open(root, { durability: "none" }),
    }),
    through(addon, `ringfence, plain context${suffix}`, {
      synced: { workspaceRoot: root },
      unsynced: { workspaceRoot: root, durability: "none" },
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

/** @typedef {import("../../index.js").Workspace | import("../../index.js").WorkspaceContext} Context */

/**
 * @param {Ringfence} addon
 * @param {string} name
 * @param {{ synced: Context, unsynced: Context }} contexts
 * @returns {Contender}
 */
function through(addon, name, { synced, unsynced }) {
  const { readFile, readFileSync, readFiles, createFile, editFile, moveFile, applyPatch } = addon;
  return {
    name,
    kind: "ours",
    read: (path) => readFile(synced, path),
    readSync: (path) => readFileSync(synced, path),
    readMany: async (files) => {
      const { items } = await readFiles(synced, { files });
      return items.map(({ output }) => output?.content ?? "");
    },
    window: (path, { startLine, maxLines }) =>
      readFile(synced, path, { start_line: startLine, max_lines: maxLines }),
    edit: (path, old_string, new_string) => editFile(unsynced, { path, old_string, new_string }),
    move: (path, to) => moveFile(unsynced, { path, to }),
    patch: (patch) => applyPatch(unsynced, { patch }),
    create: (path, content, { durable }) =>
      succeeded(createFile(durable ? synced : unsynced, { path, content })),
    overwrite: (path, content, { durable }) =>
      succeeded(createFile(durable ? synced : unsynced, { path, content, overwrite: true })),
    canSync: true,
    text: (output) => output.content,
  };
}

/** @param {Promise<import("../../index.js").CreateFileResult>} result */
async function succeeded(result) {
  const { success, message } = await result;
  if (!success) throw new Error(message);
}
