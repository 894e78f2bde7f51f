// Patches that are applied or refused, and what must hold of each of them.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import {
  type ApplyPatchError,
  type ApplyPatchOutput,
  applyPatch,
  isApplyPatchError,
} from "../../index.js";
import { rejectionValue } from "./read.ts";
import { treeOf } from "./tree.mjs";
import type { TestWorkspace } from "./workspace.ts";

/** `applyPatch` without its types, for arguments that are wrong on purpose. */
export const loosePatch = applyPatch as unknown as (
  ...args: unknown[]
) => Promise<ApplyPatchOutput>;

/** Files by their paths; `null` for none. */
export type Files = Record<string, string | Uint8Array | null>;

export const sha256 = (bytes: Uint8Array | string) =>
  createHash("sha256").update(bytes).digest("hex");

/** Lines, each with its line feed. */
export const text = (...lines: string[]) => lines.map((line) => `${line}\n`).join("");

/** A V4A patch of these lines. */
export const v4a = (...lines: string[]) => text("*** Begin Patch", ...lines, "*** End Patch");

/** Writes files. */
export function lay(ws: TestWorkspace, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    if (content !== null) ws.write(name, content);
  }
}

/** What stands below a folder: the bytes of files as Latin-1, the targets of links, and folders. */
export function contentsOf(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of fs.readdirSync(root, { recursive: true, withFileTypes: true })) {
    const absolute = path.join(entry.parentPath, entry.name);
    const name = path.relative(root, absolute).replaceAll(path.sep, "/");
    if (entry.isDirectory()) found[`${name}/`] = "";
    else if (entry.isSymbolicLink()) found[name] = `→ ${fs.readlinkSync(absolute)}`;
    else found[name] = fs.readFileSync(absolute, "latin1");
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What stands after changes. Folders come up where files need them, and never go. */
export function changed(before: Record<string, string>, changes: Files): Record<string, string> {
  const after = { ...before };
  for (const [name, content] of Object.entries(changes)) {
    if (content === null) delete after[name];
    else after[name] = Buffer.from(content as Uint8Array).toString("latin1");
    const folders = content === null ? [] : name.split("/").slice(0, -1);
    for (let i = 1; i <= folders.length; i += 1) after[`${folders.slice(0, i).join("/")}/`] = "";
  }
  return Object.fromEntries(Object.entries(after).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The context of a copy of the workspace. */
function copyOf(ws: TestWorkspace, name: string): { workspaceRoot: string; durability: "none" } {
  const root = path.join(ws.base, name);
  fs.rmSync(root, { recursive: true, force: true });
  fs.cpSync(ws.root, root, { recursive: true, verbatimSymlinks: true });
  return { workspaceRoot: root, durability: "none" };
}

/**
 * Has a patch applied, and demands the changes and nothing else; and of every patch:
 *
 * - a dry run gives the same answer, and leaves everything as it is, times too;
 * - the hashes are those of the files before and after;
 * - the diff of the dry run, given back as a patch to a copy, makes the same bytes.
 */
export async function applied(
  ws: TestWorkspace,
  patch: string,
  changes: Files,
  more: object = {},
): Promise<ApplyPatchOutput> {
  const tree = treeOf(ws.base);
  const before = contentsOf(ws.root);
  const tried = await applyPatch(ws.writable, { patch, ...more, dry_run: true });
  assert.deepEqual(treeOf(ws.base), tree, "a dry run changes nothing");
  assert.equal(tried.applied, false);
  const copy = copyOf(ws, "copy");

  const answer = await applyPatch(ws.writable, { patch, ...more });
  assert.equal(answer.applied, true);
  assert.deepEqual({ ...tried, applied: true }, answer, "a dry run gives the same answer");
  const after = contentsOf(ws.root);
  assert.deepEqual(after, changed(before, changes));
  checkAnswer(answer, before, after);
  if (
    !answer.diff_truncated &&
    !/^Binary files /m.test(answer.diff) &&
    !movesLinks(before, answer)
  ) {
    await applyPatch(copy, { patch: answer.diff });
    assert.deepEqual(filesOf(contentsOf(copy.workspaceRoot)), filesOf(after), answer.diff);
  }
  fs.rmSync(copy.workspaceRoot, { recursive: true });
  return answer;
}

const filesOf = (contents: Record<string, string>) =>
  Object.fromEntries(Object.entries(contents).filter(([name]) => !name.endsWith("/")));

function movesLinks(before: Record<string, string>, { files }: ApplyPatchOutput): boolean {
  return files.some((file) => before[file.from_path ?? file.path]?.startsWith("→"));
}

function checkAnswer(
  answer: ApplyPatchOutput,
  before: Record<string, string>,
  after: Record<string, string>,
): void {
  assert.deepEqual(Object.keys(answer), ["format", "applied", "files", "diff", "diff_truncated"]);
  const hash = (bytes: string | undefined) =>
    bytes === undefined ? null : sha256(Buffer.from(bytes, "latin1"));
  const standing = new Map(Object.entries(before).map(([name, bytes]) => [name, hash(bytes)]));
  for (const file of answer.files) {
    assert.deepEqual(Object.keys(file), [
      ...["path", "action", "from_path", "hunks", "lines_added", "lines_removed"],
      ...["before_sha256", "sha256"],
    ]);
    const from = file.from_path ?? file.path;
    if (before[from]?.startsWith("→")) return;
    const was = file.action === "add" ? null : standing.get(from);
    assert.equal(file.before_sha256, was, `before_sha256 of ${file.path}`);
    standing.delete(from);
    if (file.action !== "delete") standing.set(file.path, file.sha256);
    else assert.equal(file.sha256, null);
    assert.equal(file.from_path !== null, file.action === "move");
  }
  for (const { path: name } of answer.files) {
    if (after[name]?.startsWith("→")) continue;
    assert.equal(standing.get(name) ?? null, hash(after[name]), `sha256 of ${name}`);
  }
}

/** Has arguments refused by a call and by a dry run alike, and everything left as it is. */
export async function refused(ws: TestWorkspace, args: unknown): Promise<ApplyPatchError> {
  const before = treeOf(ws.base);
  const error = await rejectionValue(() => loosePatch(ws.writable, args));
  assert.ok(isApplyPatchError(error), String(error));
  assert.deepEqual(treeOf(ws.base), before, `${error.message}\nchanges nothing`);
  assert.equal(error.name, "ApplyPatchError");
  assert.deepEqual(Object.keys(error).slice(0, 2), ["code", "path"]);
  const { code, path: shown, message } = error;
  const end = shown === "" ? "" : `: ${shown}`;
  assert.ok(message.startsWith(`${code}: `), message);
  if (/^[ -~…]*$/.test(shown)) assert.ok(message.endsWith(end), message);
  for (const hidden of ws.hidden)
    assert.ok(!JSON.stringify({ ...error, message }).includes(hidden));
  if (typeof args === "object" && args !== null && "patch" in args && !("dry_run" in args)) {
    const tried = await rejectionValue(() => loosePatch(ws.writable, { ...args, dry_run: true }));
    assert.deepEqual({ ...(tried as Error) }, { ...error });
  }
  return error;
}
