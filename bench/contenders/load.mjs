// @ts-check
// Loads the packages in bench/node_modules, which are there only once `npm run bench` has run.

import { readFileSync } from "node:fs";

/**
 * @typedef {object} Contender What one way of working with files can do. Paths are relative to the
 *   root that it was opened with.
 * @property {string} name
 * @property {"ours" | "bare" | "hand-written" | "peer"} kind
 * @property {string} [version]
 * @property {(path: string) => Promise<unknown>} [read] A whole file of up to 200 lines.
 * @property {(path: string) => unknown} [readSync]
 * @property {(paths: string[]) => Promise<string[]>} [readMany] The texts of several files, in one call.
 * @property {(path: string, window: Window) => Promise<unknown>} [window] Some lines of a file.
 * @property {Write} [create] Where nothing stands.
 * @property {Write} [overwrite] Where a file stands.
 * @property {(path: string, oldText: string, newText: string) => Promise<unknown>} [edit] Replaces a text that
 *   occurs once in a file, without waiting for the disk.
 * @property {(path: string, to: string) => Promise<unknown>} [move] To a path at which nothing stands, without
 *   waiting for the disk.
 * @property {(patch: string) => unknown} [patch] Applies a unified diff, without waiting for the disk.
 * @property {boolean} [canSync] Whether `create` and `overwrite` look at `durable`; otherwise they
 *   never sync.
 * @property {(result: any) => string} text The text in what `read` and `window` give.
 */

/**
 * @typedef {(path: string, content: string, options: { durable: boolean }) => Promise<unknown>} Write
 *   With `durable`, file and folder have reached the disk before it resolves.
 */

/**
 * @typedef {object} Window
 * @property {"start" | "middle" | "end"} position
 * @property {number} startLine From 1.
 * @property {number} maxLines
 */

/**
 * A module of bench/node_modules. Its types are not asked for: the checks of this repository run
 * without the contenders.
 *
 * @param {string} specifier
 * @returns {Promise<any>}
 */
export function load(specifier) {
  return import(specifier);
}

/** @param {string} packageName */
export function versionOf(packageName) {
  const file = new URL(`../node_modules/${packageName}/package.json`, import.meta.url);
  return /** @type {{ version: string }} */ (JSON.parse(readFileSync(file, "utf8"))).version;
}

/**
 * The lines of a window, cut as a host cuts them whose library reads whole files only.
 *
 * @param {string} text
 * @param {Window} window
 */
export function cut(text, { startLine, maxLines }) {
  return text
    .split("\n")
    .slice(startLine - 1, startLine - 1 + maxLines)
    .join("\n");
}
