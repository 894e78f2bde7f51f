// The subjects of the attacks: ringfence through each of its functions, or another package.

import {
  applyPatch,
  createFile,
  createFileSync,
  deleteFile,
  editFile,
  findFiles,
  moveFile,
  readBytes,
  readFile,
  readFileSync,
  readFiles,
  readFileUri,
  searchFiles,
  tree,
  Workspace,
  workspaceSnapshot,
  workspaceSnapshotSync,
} from "../../index.js";
import { patchOf } from "./patches.mjs";

/**
 * One subject, or one for each of several access rules.
 *
 * @param {object} job
 * @param {string} job.subject
 * @param {string} [job.packages]
 * @param {string | null} job.containment
 * @param {string} job.root
 * @param {import("../../index.js").AccessRules[]} [job.rules]
 * @param {boolean} [job.leavesGaps]
 */
export async function openSubjects(job) {
  const { rules = [undefined] } = job;
  if (job.subject === "ringfence") return rules.map((rules) => ringfence({ ...job, rules }));
  const { openPeer } = await import("../peers/adapters.mjs");
  return [await openPeer(job.subject, String(job.packages), job.root)];
}

/**
 * The text that all items have, or all texts if they differ. Throws the error of an item that has none.
 *
 * @param {import("../../index.js").ReadFilesItem[]} items
 */
function textOf(items) {
  const texts = items.map(({ output, error }) => {
    if (output == null) throw Object.assign(new Error(error?.message), error);
    return output.content;
  });
  return [...new Set(texts)].join();
}

/** @param {import("../../index.js").WorkspaceSnapshot} snapshot */
function textsOf({ entries, text }) {
  return [...entries, text];
}

/** The codes that ringfence may answer for a path while its names are swapped. */
const EXPECTED = new Set([
  ...["SANDBOX_VIOLATION", "NOT_FOUND"],
  ...["InvalidPath", "FileExists", "WriteFailed", "DirectoryCreateFailed"],
]);

/** The same if names are swapped with links to protected files. A link may come to stand where a file is made. */
const EXPECTED_WITH_RULES = new Set(["PATH_DENIED", "FileExists"]);
/** The same if nothing stands at the names in some moments. */
const EXPECTED_IN_GAPS = new Set([...EXPECTED_WITH_RULES, "NOT_FOUND", "InvalidPath"]);

/**
 * @param {object} job
 * @param {string} job.root
 * @param {string | null} job.containment
 * @param {import("../../index.js").AccessRules} [job.rules]
 * @param {boolean} [job.leavesGaps]
 */
function ringfence({ root, containment, rules, leavesGaps }) {
  const options = /** @type {const} */ ({ durability: "none", rules });
  const context = { workspaceRoot: root, ...options };
  const workspace = Workspace.open(root, options);
  const expectedWithRules = leavesGaps ? EXPECTED_IN_GAPS : EXPECTED_WITH_RULES;
  const expected = rules ? expectedWithRules : EXPECTED;
  if (workspace.containment !== containment) {
    throw new Error(`the tier is ${workspace.containment}, not ${containment}`);
  }
  const reads = [
    (/** @type {string} */ path) => readFileSync(workspace, path).content,
    (/** @type {string} */ path) => readFileSync(context, path).content,
    async (/** @type {string} */ path) => (await readFile(workspace, path)).content,
    async (/** @type {string} */ path) =>
      (await readFileUri(`file:///${path}`, { space: workspace })).text,
    async (/** @type {string} */ path) =>
      textOf((await readFiles(workspace, { files: [path, path] })).items),
    async (/** @type {string} */ path) =>
      (await readBytes(context, path, { include_hash: true })).bytes.toString(),
  ];
  const lists = [
    () => textsOf(workspaceSnapshotSync(workspace)),
    async () => textsOf(await workspaceSnapshot(context)),
    async () => [JSON.stringify(await findFiles(workspace, { patterns: "*", kind: "all" }))],
    async () => [JSON.stringify(await tree(context, ".", { entry_kind: "all", max_depth: 12 }))],
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
        const { code, message } = /** @type {Error & { code: string }} */ (error);
        return { told: message, code };
      }
    },

    /** @param {number} turn */
    async list(turn) {
      return (await lists[turn % lists.length]?.()) ?? [];
    },

    /**
     * All lines of all files, by turns of the root and of a folder.
     *
     * @param {string} folder
     * @param {number} turn
     */
    async search(folder, turn) {
      const root_path = turn % 2 === 0 ? "." : folder || ".";
      try {
        const { items } = await searchFiles(turn % 4 < 2 ? workspace : context, {
          ...{ pattern: ".+", root_path },
        });
        return items.map(({ path, line_text }) => `${path}: ${line_text}`);
      } catch (error) {
        const { code } = /** @type {{ code: string }} */ (error);
        if (!expected.has(code)) throw error;
        return [];
      }
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
      // Its code for a protected path stands in the message.
      if (result?.message.startsWith("PATH_DENIED")) return "PATH_DENIED";
      return result?.errorCode ?? undefined;
    },

    /**
     * @param {string} path
     * @param {string} old_string
     * @param {string} new_string
     * @param {number} turn
     */
    async edit(path, old_string, new_string, turn) {
      const args = { path, old_string, new_string };
      try {
        const place = Math.floor(turn / 2) % 2 === 0 ? workspace : context;
        return { told: JSON.stringify(await editFile(place, args)) };
      } catch (error) {
        const { code, message, closest } = /** @type {import("../../index.js").EditFileError} */ (
          error
        );
        return { told: JSON.stringify({ message, closest }), code };
      }
    },

    /**
     * @param {string} path
     * @param {string} to
     * @param {number} turn
     */
    move: (path, to, turn) => outcomeOf(moveFile(turn % 8 < 4 ? workspace : context, { path, to })),

    /**
     * @param {string} path
     * @param {number} turn
     */
    remove: (path, turn) =>
      outcomeOf(deleteFile(turn % 8 < 4 ? workspace : context, { path, recursive: true })),

    /**
     * @param {import("./patches.mjs").Change[]} changes
     * @param {number} turn
     */
    patch: (changes, turn) =>
      outcomeOf(
        applyPatch(turn % 4 < 2 ? workspace : context, {
          patch: patchOf(changes, turn % 2 === 0 ? "v4a" : "unified"),
        }),
      ),

    unexpected: (/** @type {string} */ code) => !expected.has(code),
    close: () => workspace.close(),
  };
}

/**
 * @param {Promise<object>} call
 * @returns {Promise<{ told: string, code?: string, applied?: string[] }>}
 */
export async function outcomeOf(call) {
  try {
    return { told: JSON.stringify(await call) };
  } catch (error) {
    const { message, ...others } = /** @type {import("../../index.js").ApplyPatchError} */ (error);
    const applied = others.applied?.map(({ path }) => path);
    return { told: JSON.stringify({ message, ...others }), code: others.code, applied };
  }
}
