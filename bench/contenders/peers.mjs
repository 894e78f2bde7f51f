// @ts-check
// The products that somebody would take instead, each as its own documentation uses it. Where one
// reads whole files only, the window is cut from the text, as its host would.

import { promises } from "node:fs";
import { dirname, join } from "node:path";
import { cut, load, versionOf } from "./load.mjs";

/**
 * @typedef {import("./load.mjs").Contender} Contender
 * @typedef {import("./load.mjs").Window} Window
 */

/**
 * What the tool `read_text_file` of the MCP server does: `head` and `tail` skip the rest of a file,
 * anything between is cut from the whole.
 *
 * @param {string} root
 * @returns {Promise<Contender>}
 */
export async function openMcp(root) {
  const name = "@modelcontextprotocol/server-filesystem";
  const server = await load(`${name}/dist/lib.js`);
  server.setAllowedDirectories([root]);
  /** @type {Record<Window["position"], (path: string, window: Window) => Promise<string>>} */
  const windows = {
    start: async (path, { maxLines }) => server.headFile(path, maxLines),
    middle: async (path, window) => cut(await server.readFileContent(path), window),
    end: async (path, { maxLines }) => server.tailFile(path, maxLines),
  };
  return {
    name: "MCP server-filesystem",
    kind: "peer",
    version: versionOf(name),
    read: async (path) => server.readFileContent(await server.validatePath(path)),
    window: async (path, window) =>
      windows[window.position](await server.validatePath(path), window),
    edit: async (path, oldText, newText) =>
      server.applyFileEdits(await server.validatePath(path), [{ oldText, newText }]),
    // Of its tool `move_file`, which the module does not export.
    move: async (path, to) =>
      promises.rename(await server.validatePath(path), await server.validatePath(to)),
    create: async (path, content) =>
      server.writeFileContent(await server.validatePath(path), content),
    overwrite: async (path, content) =>
      server.writeFileContent(await server.validatePath(path), content),
    text: (text) => text,
  };
}

/**
 * @param {string} root
 * @returns {Promise<Contender>}
 */
export async function openFsSafe(root) {
  const name = "@openclaw/fs-safe";
  const library = await load(name);
  const opened = await library.root(root);
  return {
    name,
    kind: "peer",
    version: versionOf(name),
    read: (path) => opened.readText(path),
    window: async (path, window) => cut(await opened.readText(path), window),
    create: (path, content, { durable }) => opened.create(path, content, { durable }),
    overwrite: (path, content, { durable }) => opened.write(path, content, { durable }),
    canSync: true,
    text: (text) => text,
  };
}

/**
 * @param {string} root
 * @returns {Promise<Contender>}
 */
export async function openMastra(root) {
  const name = "@mastra/core";
  const { LocalFilesystem } = await load(`${name}/workspace`);
  const files = new LocalFilesystem({ basePath: root });
  /** @param {string} path @returns {Promise<string>} */
  const read = (path) => files.readFile(path, { encoding: "utf8" });
  return {
    name: "Mastra LocalFilesystem",
    kind: "peer",
    version: versionOf(name),
    read,
    window: async (path, window) => cut(await read(path), window),
    create: (path, content) => files.writeFile(path, content, { overwrite: false }),
    overwrite: (path, content) => files.writeFile(path, content),
    move: (path, to) => files.moveFile(path, to, { overwrite: false }),
    text: (text) => text,
  };
}

/**
 * @param {string} root
 * @returns {Promise<Contender>}
 */
export async function openDeepagents(root) {
  const name = "deepagents";
  const { FilesystemBackend } = await load(name);
  const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
  return {
    name,
    kind: "peer",
    version: versionOf(name),
    read: (path) => backend.read(`/${path}`, 0, 200),
    window: (path, { startLine, maxLines }) => backend.read(`/${path}`, startLine - 1, maxLines),
    edit: (path, oldText, newText) => backend.edit(`/${path}`, oldText, newText),
    overwrite: (path, content) => backend.write(`/${path}`, content),
    create: (path, content) => backend.write(`/${path}`, content),
    text: (result) => result.content,
  };
}

/**
 * The usual way to write a file whole; no sandbox. It never syncs the folder, so that is done here
 * where the others do it.
 *
 * @param {string} root
 * @returns {Promise<Contender>}
 */
export async function openWriteFileAtomic(root) {
  const name = "write-file-atomic";
  const { default: writeFileAtomic } = await load(name);
  /** @type {import("./load.mjs").Write} */
  const write = async (path, content, { durable }) => {
    const file = join(root, path);
    await writeFileAtomic(file, content, { fsync: durable });
    if (durable) await syncFolder(dirname(file));
  };
  return {
    name,
    kind: "peer",
    version: versionOf(name),
    create: write,
    overwrite: write,
    canSync: true,
    text: String,
  };
}

/**
 * Applies patches to texts; no sandbox. Reading and writing is left to its host, who does one file after the other,
 * and writes when all of them match.
 *
 * @param {string} root
 * @returns {Promise<Contender>}
 */
export async function openDiff(root) {
  const name = "diff";
  const { applyPatch, parsePatch } = await load(name);
  return {
    name,
    kind: "peer",
    version: versionOf(name),
    patch: async (patch) => {
      /** @type {[file: string, text: string][]} */
      const patched = [];
      for (const section of parsePatch(patch)) {
        const file = join(root, section.oldFileName.replace(/^a\//, ""));
        const text = applyPatch(await promises.readFile(file, "utf8"), section);
        if (text === false) throw new Error(`${file} does not match`);
        patched.push([file, text]);
      }
      for (const [file, text] of patched) await promises.writeFile(file, text);
    },
    text: String,
  };
}

/** @param {string} folder */
async function syncFolder(folder) {
  const handle = await promises.open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
