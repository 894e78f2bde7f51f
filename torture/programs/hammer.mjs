// The work of writer.rs, through the addon, until it is killed or its parent has ended:
//
//     node hammer.mjs create|overwrite|edit|patch addon|in-place ROOT SIZE

import fs from "node:fs";
import path from "node:path";
import { applyPatch, createFileSync, editFile, Workspace } from "../../index.js";
import { patchOf } from "./patches.mjs";

const [, , what, how, root = "", size] = process.argv;
const KEPT = 4;
const overwrite = what !== "create";
const contents = ["A", "B"].map((letter) => letter.repeat(Number(size)));
const workspaces = /** @type {const} */ (["full", "none"]).map((durability) =>
  Workspace.open(root, { durability }),
);

/**
 * @param {string} name
 * @param {string} content
 * @param {number} turn
 */
async function write(name, content, turn) {
  if (how === "in-place") return fs.writeFileSync(path.join(root, name), content);
  const workspace = workspaces[turn % 8 === 0 ? 0 : 1];
  if (!workspace) throw new Error("no workspace");
  const old_string = String(contents[(turn + 1) % 2]);
  if (what === "patch") return applyPatch(workspace, { patch: patch(old_string, content, turn) });
  if (what === "edit") {
    return editFile(workspace, { path: name, old_string, new_string: content });
  }
  const result = createFileSync(workspace, { path: name, content, overwrite });
  if (!result.success) throw new Error(JSON.stringify(result));
}

/**
 * As writer.rs has it.
 *
 * @param {string} before
 * @param {string} after
 * @param {number} turn
 */
function patch(before, after, turn) {
  const isEven = turn % 2 === 0;
  const [path, to] = isEven ? ["c.txt", "d.txt"] : ["d.txt", "c.txt"];
  const last = { path: "e.txt", ...(isEven ? { after } : { before }) };
  const changes = [
    { path: "a.txt", before, after },
    { path: "b.txt", before, after },
  ];
  return patchOf([...changes, { path, to, before, after }, last], "unified");
}

const parent = process.ppid;
for (let turn = 0; process.ppid === parent; turn++) {
  const name = overwrite ? "a.txt" : `${turn}.txt`;
  await write(name, String(contents[overwrite ? turn % 2 : 0]), turn);
  if (!overwrite && turn >= KEPT) fs.unlinkSync(path.join(root, `${turn - KEPT}.txt`));
  if (turn === 0) fs.writeSync(1, "ready\n");
}
