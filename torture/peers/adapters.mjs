// Adapters for the other packages: each is called as an agent's tool would call it, in this process.

import path from "node:path";
import { pathToFileURL } from "node:url";

/**
 * @typedef {object} Peer
 * @property {(relative: string) => Promise<string>} read
 * @property {(relative: string, content: string) => Promise<unknown>} create
 * @property {(relative: string, content: string) => Promise<unknown>} overwrite
 */

/** @type {Record<string, (load: (file: string) => Promise<any>, root: string) => Promise<Peer>>} */
const PEERS = {
  async "@modelcontextprotocol/server-filesystem"(load, root) {
    const server = await load("dist/lib.js");
    server.setAllowedDirectories([root]);
    const valid = (/** @type {string} */ relative) =>
      server.validatePath(path.join(root, relative));
    const write = async (/** @type {string} */ relative, /** @type {string} */ content) =>
      server.writeFileContent(await valid(relative), content);
    return {
      read: async (relative) => server.readFileContent(await valid(relative)),
      create: write,
      overwrite: write,
    };
  },

  async "@openclaw/fs-safe"(load, root) {
    const { root: open } = await load("dist/index.js");
    const safe = await open(root);
    return {
      read: (relative) => safe.readText(relative),
      create: (relative, content) => safe.create(relative, content),
      overwrite: (relative, content) => safe.write(relative, content),
    };
  },

  async "@mastra/core"(load, root) {
    const { LocalFilesystem } = await load("dist/workspace/index.js");
    const files = new LocalFilesystem({ basePath: root });
    return {
      read: (relative) => files.readFile(relative, { encoding: "utf-8" }),
      create: (relative, content) => files.writeFile(relative, content, { overwrite: false }),
      overwrite: (relative, content) => files.writeFile(relative, content, { overwrite: true }),
    };
  },

  async deepagents(load, root) {
    const { FilesystemBackend } = await load("dist/node.js");
    const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
    const demand = (/** @type {{ error?: string }} */ answer) => {
      if (answer.error) throw new Error(answer.error);
      return answer;
    };
    const write = async (/** @type {string} */ relative, /** @type {string} */ content) =>
      demand(await backend.write(`/${relative}`, content));
    return {
      read: async (relative) => {
        const { data } = await backend.readRaw(`/${relative}`).then(demand);
        return Array.isArray(data.content) ? data.content.join("\n") : String(data.content);
      },
      create: write,
      overwrite: write,
    };
  },

  async "just-bash"(load, root) {
    const { ReadWriteFs } = await load("dist/bundle/index.js");
    const files = new ReadWriteFs({ root });
    const write = (/** @type {string} */ relative, /** @type {string} */ content) =>
      files.writeFile(`/${relative}`, content);
    return {
      read: (relative) => files.readFile(`/${relative}`),
      create: write,
      overwrite: write,
    };
  },
};

/**
 * @param {string} name The package's name.
 * @param {string} packages The folder that it is installed in.
 * @param {string} root
 */
export async function openPeer(name, packages, root) {
  const load = (/** @type {string} */ file) =>
    import(pathToFileURL(path.join(packages, "node_modules", name, file)).href);
  const peer = await PEERS[name]?.(load, root);
  if (!peer) throw new Error(`no adapter for ${name}`);
  return {
    name: "peer",

    /** @param {string} relative */
    async read(relative) {
      try {
        return { text: await peer.read(relative) };
      } catch (error) {
        return { code: String(error) };
      }
    },

    /**
     * @param {string} relative
     * @param {string} content
     * @param {boolean} overwrite
     */
    async write(relative, content, overwrite) {
      try {
        await peer[overwrite ? "overwrite" : "create"](relative, content);
        return undefined;
      } catch (error) {
        return String(error);
      }
    },

    list: async () => [],
    // The wording of a package's refusals, and the files that it makes for itself, are not judged.
    unexpected: () => false,
    close() {},
  };
}
