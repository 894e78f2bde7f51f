// @ts-check
// The products that somebody would take instead, each as its own documentation uses it. Where one
// reads whole files only, the window is cut from the text, as its host would.

import { join } from "node:path";
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
    create: (path, content) => opened.create(path, content),
    overwrite: (path, content) => opened.write(path, content),
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
    overwrite: (path, content) => backend.write(`/${path}`, content),
    create: (path, content) => backend.write(`/${path}`, content),
    text: (result) => result.content,
  };
}

/**
 * The usual way to write a file whole; no sandbox.
 *
 * @param {string} root
 * @returns {Promise<Contender>}
 */
export async function openWriteFileAtomic(root) {
  const name = "write-file-atomic";
  const { default: writeFileAtomic } = await load(name);
  /** @param {string} path @param {string} content */
  const write = (path, content) => writeFileAtomic(join(root, path), content, { fsync: false });
  return {
    name,
    kind: "peer",
    version: versionOf(name),
    create: write,
    overwrite: write,
    text: String,
  };
}
