// What is attacked: ringfence through all its ways in, or another package.

import {
  createFile,
  createFileSync,
  readFile,
  readFileSync,
  readFileUri,
  Workspace,
  workspaceSnapshot,
  workspaceSnapshotSync,
} from "../../index.js";

/**
 * @param {{ subject: string, packages?: string, containment: string | null, root: string }} job
 */
export async function openSubject(job) {
  if (job.subject === "ringfence") return ringfence(job);
  const { openPeer } = await import("../peers/adapters.mjs");
  return openPeer(job.subject, String(job.packages), job.root);
}

/** What ringfence may answer to a path whose names are being changed. */
const EXPECTED = new Set([
  ...["SANDBOX_VIOLATION", "NOT_FOUND"],
  ...["InvalidPath", "FileExists", "WriteFailed", "DirectoryCreateFailed"],
]);

/** @param {{ root: string, containment: string | null }} job */
function ringfence({ root, containment }) {
  const context = /** @type {const} */ ({ workspaceRoot: root, durability: "none" });
  const workspace = Workspace.open(root, { durability: "none" });
  if (workspace.containment !== containment) {
    throw new Error(`the tier is ${workspace.containment}, not ${containment}`);
  }
  const reads = [
    (/** @type {string} */ path) => readFileSync(workspace, path).content,
    (/** @type {string} */ path) => readFileSync(context, path).content,
    async (/** @type {string} */ path) => (await readFile(workspace, path)).content,
    async (/** @type {string} */ path) =>
      (await readFileUri(`file:///${path}`, { space: workspace })).text,
  ];
  const writes = [
    (/** @type {any} */ args) => createFileSync(workspace, args),
    (/** @type {any} */ args) => createFile(workspace, args),
    (/** @type {any} */ args) => createFileSync(context, args),
  ];

  return {
    name: "ringfence",

    /**
     * @param {string} path
     * @param {number} turn
     */
    async read(path, turn) {
      try {
        return { text: await reads[turn % reads.length]?.(path) };
      } catch (error) {
        return { code: /** @type {{ code: string }} */ (error).code };
      }
    },

    /** @param {number} turn */
    async list(turn) {
      const { entries, text } =
        turn % 2 === 0 ? workspaceSnapshotSync(workspace) : await workspaceSnapshot(context);
      return [...entries, text];
    },

    /**
     * @param {string} path
     * @param {string} content
     * @param {boolean} overwrite
     * @param {number} turn
     */
    async write(path, content, overwrite, turn) {
      const way = writes[Math.floor(turn / 2) % writes.length];
      const result = await way?.({ path, content, overwrite });
      return result?.errorCode ?? undefined;
    },

    unexpected: (/** @type {string} */ code) => !EXPECTED.has(code),
    close: () => workspace.close(),
  };
}
