// Access rules (docs/contract.md §14): every function, by every way to a protected path, whatever stands there.
// The cases are the product of the tables below, so a new function or way is one line.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import {
  type AccessRules,
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
  searchFiles,
  tree,
  Workspace,
  type WorkspaceContext,
} from "../index.js";
import { v4a } from "./support/patch.ts";
import { noSymlinks } from "./support/platform.ts";
import { TestWorkspace } from "./support/workspace.ts";

type Context = Workspace | WorkspaceContext;
type Call = (context: Context, path: string) => unknown;

/** What must never be read. */
const TOKEN = "b6ef1c";

const FOLDER = "vault";
const NAME = "geheim-é.txt";
const FILE = `${FOLDER}/${NAME}`;

const patching = (context: Context, patch: string) => applyPatch(context, { patch });

/** The functions that read a file. */
const READERS: Record<string, Call> = {
  readFile: (context, path) => readFile(context, path),
  readFileSync: (context, path) => readFileSync(context, path),
  readBytes: (context, path) => readBytes(context, path, { include_hash: true }),
  readFiles: async (context, path) => {
    const { items } = await readFiles(context, { files: ["free.txt", path] });
    throw items[1]?.error ?? new Error(JSON.stringify(items));
  },
  "searchFiles in the file": (context, path) =>
    searchFiles(context, { pattern: ".", root_path: path }),
};

/** The functions that list a folder. */
const LISTERS: Record<string, Call> = {
  tree: (context, path) => tree(context, path, { entry_kind: "all" }),
  findFiles: (context, path) => findFiles(context, { patterns: "**", root_path: path }),
  searchFiles: (context, path) => searchFiles(context, { pattern: ".", root_path: path }),
};

/** The functions that change the file at a path, or what lies behind it if that is a link. */
const WRITERS: Record<string, Call> = {
  createFile: async (context, path) => {
    const answer = await createFile(context, { path, content: "new", overwrite: true });
    throw Object.assign(new Error(answer.message), { code: answer.errorCode });
  },
  "createFile of a new file": async (context, path) => {
    const answer = await createFile(context, { path, content: "new" });
    throw Object.assign(new Error(answer.message), { code: answer.errorCode });
  },
  createFileSync: (context, path) => {
    const answer = createFileSync(context, { path, content: "new", overwrite: true });
    throw Object.assign(new Error(answer.message), { code: answer.errorCode });
  },
  editFile: (context, path) => editFile(context, { path, old_string: TOKEN, new_string: "new" }),
  "editFile of a text that is not there": (context, path) =>
    editFile(context, { path, old_string: "nowhere", new_string: "new" }),
  "editFile with a hash": (context, path) =>
    editFile(context, {
      path,
      old_string: TOKEN,
      new_string: "new",
      expected_hash: "0".repeat(64),
    }),
  "applyPatch that updates": (context, path) =>
    patching(context, v4a(`*** Update File: ${path}`, `-${TOKEN}`, "+new")),
  "applyPatch of two files": (context, path) =>
    patching(
      context,
      v4a("*** Update File: free.txt", "-free", "+new", `*** Update File: ${path}`, "-x", "+y"),
    ),
  "a unified applyPatch": (context, path) =>
    patching(context, `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${TOKEN}\n+new\n`),
};

/** The functions that change the entry at a path itself. A link is not followed. */
const ENTRY_WRITERS: Record<string, Call> = {
  moveFile: (context, path) => moveFile(context, { path, to: "elsewhere.txt" }),
  "moveFile to it": (context, path) => moveFile(context, { path: "free.txt", to: path }),
  "moveFile over it": (context, path) =>
    moveFile(context, { path: "free.txt", to: path, overwrite: true }),
  deleteFile: (context, path) => deleteFile(context, { path }),
  "deleteFile with a hash": (context, path) =>
    deleteFile(context, { path, expected_hash: "0".repeat(64) }),
  "deleteFile that is recursive": (context, path) => deleteFile(context, { path, recursive: true }),
  "a dry run of deleteFile": (context, path) => deleteFile(context, { path, dry_run: true }),
  "applyPatch that adds": (context, path) =>
    patching(context, v4a(`*** Add File: ${path}`, "+new")),
  "applyPatch that deletes": (context, path) => patching(context, v4a(`*** Delete File: ${path}`)),
  "applyPatch that moves": (context, path) =>
    patching(context, v4a(`*** Update File: ${path}`, "*** Move to: elsewhere.txt")),
  "applyPatch that moves to it": (context, path) =>
    patching(context, v4a("*** Update File: free.txt", `*** Move to: ${path}`)),
};

/** The spellings of a path. */
const SPELLINGS: Record<string, (path: string, ws: TestWorkspace) => string> = {
  spelled: (path) => path,
  "with ./": (path) => `./${path}`,
  "with a folder that is left again": (path) => `nothing/../${path}`,
  absolute: (path, ws) => ws.at(path),
  "in upper case": (path) => path.toUpperCase(),
  "in NFD": (path) => path.normalize("NFD"),
  "in NFD and upper case": (path) => path.normalize("NFD").toUpperCase(),
};

/** The links to a path, made in a workspace. */
const LINKS: Record<string, (path: string, ws: TestWorkspace) => string> = {
  "a link": (target, ws) => linkTo(ws, "links/one", `../${target}`),
  "a chain of links": (target, ws) => {
    linkTo(ws, "links/c", `../${target}`);
    linkTo(ws, "links/b", "./c");
    return linkTo(ws, "links/a", "../links/b");
  },
  "an absolute link": (target, ws) => linkTo(ws, "links/absolute", ws.at(target)),
  "a link with ..": (target, ws) => linkTo(ws, "links/up", `../links/../free/../${target}`),
  "a link in upper case": (target, ws) => linkTo(ws, "links/upper", `../${target.toUpperCase()}`),
};

/** The ways to a path by a link to its folder. */
const FOLDER_LINKS: Record<string, (path: string, ws: TestWorkspace) => string> = {
  "a link to the folder": (target, ws) =>
    `${linkTo(ws, "links/folder", `../${path.dirname(target)}`)}/${path.basename(target)}`,
  "an absolute link to the folder": (target, ws) =>
    `${linkTo(ws, "links/far", ws.at(path.dirname(target)))}/${path.basename(target)}`,
  "a link to the folder above": (target, ws) => `${linkTo(ws, "links/root", "..")}/${target}`,
};

function linkTo(ws: TestWorkspace, link: string, target: string): string {
  if (!fs.lstatSync(ws.at(link), { throwIfNoEntry: false })) ws.link(link, target);
  return link;
}

/** The entries that can stand at the protected path. */
const SCENES: Record<string, (ws: TestWorkspace) => void> = {
  "a file": (ws) => ws.write(FILE, `${TOKEN}\n`),
  nothing: (ws) => ws.folder(FOLDER),
  "no folder around it": () => {},
  "a folder": (ws) => ws.write(`${FILE}/deep.txt`, `${TOKEN}\n`),
  "a link": (ws) => ws.link(FILE, "../free.txt"),
};

const DENYING: Record<string, AccessRules> = {
  "a rule for the file": { deny: [FILE] },
  "a rule for the name": { deny: [NAME.normalize("NFD")] },
  "a rule for the folder": { deny: [`${FOLDER}/`] },
  "a rule in upper case": { deny: ["VAULT"] },
};

const PROTECTING: Record<string, AccessRules> = {
  ...DENYING,
  "a read-only file": { read_only: [FILE] },
  "a read-only folder": { read_only: [`/${FOLDER}/`] },
  "other paths alone": { write_only: ["free.txt", "elsewhere.txt", "links/"] },
};

/** Everything beneath a folder, with its bytes. Bun's recursive `readdirSync` follows links. */
function contents(folder: string): unknown[] {
  return fs.readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) return [entry.name, contents(at)];
    return [entry.name, entry.isFile() ? fs.readFileSync(at, "utf8") : fs.readlinkSync(at)];
  });
}

/** What a call tells, in full. */
async function told(call: Call, context: Context, path: string): Promise<string> {
  try {
    return JSON.stringify(await call(context, path));
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return JSON.stringify({ code, message, ...(error as object) });
  }
}

type Ways = Record<string, (path: string, ws: TestWorkspace) => string>;

/** Tries each way in each scene. The answer must be the refusal, and the same in all scenes. Nothing may change. */
async function tryWays(name: string, call: Call, rules: AccessRules, target: string, ways: Ways) {
  const answers = new Map<string, Set<string>>();
  for (const [scene, prepare] of Object.entries(SCENES)) {
    const ws = new TestWorkspace();
    try {
      prepare(ws);
      ws.write("free.txt", "free\n");
      const paths = Object.entries(ways).map(([way, of]) => [way, of(target, ws)] as const);
      const before = contents(ws.base);
      const plain = { workspaceRoot: ws.root, durability: "none" as const, rules };
      const held = Workspace.open(ws.root, { durability: "none", rules });
      for (const [way, given] of paths) {
        for (const context of [held, plain]) {
          const answer = await told(call, context, given);
          const where = `${name} by ${way} at ${scene}: ${answer}`;
          assert.match(answer, /PATH_DENIED/, where);
          assert.ok(!answer.includes(TOKEN) && !answer.includes(ws.base), where);
          answers.set(way, (answers.get(way) ?? new Set()).add(answer));
        }
      }
      assert.deepEqual(contents(ws.base), before, `${name} at ${scene}`);
      held.close();
    } finally {
      await ws.dispose();
    }
  }
  for (const [way, told] of answers) assert.equal(told.size, 1, `${way}: ${[...told].join("\n")}`);
}

const withLinks = (ways: Ways): Ways => (noSymlinks ? {} : ways);

describe("a protected path is refused by every function, by every way, whatever stands there", () => {
  for (const [rule, rules] of Object.entries(DENYING)) {
    for (const [name, call] of Object.entries(READERS)) {
      const ways = { ...SPELLINGS, ...withLinks({ ...LINKS, ...FOLDER_LINKS }) };
      test(`${name}, by ${rule}`, () => tryWays(name, call, rules, FILE, ways));
    }
  }
  for (const [name, call] of Object.entries(LISTERS)) {
    const ways = { ...SPELLINGS, ...withLinks(LINKS) };
    const rules = { deny: [`${FOLDER}/`] };
    test(`${name}, of the folder`, () => tryWays(name, call, rules, FOLDER, ways));
  }
  for (const [rule, rules] of Object.entries(PROTECTING)) {
    for (const [name, call] of Object.entries(WRITERS)) {
      const ways = { ...spellingsFor(name), ...withLinks({ ...LINKS, ...FOLDER_LINKS }) };
      test(`${name}, by ${rule}`, () => tryWays(name, call, rules, FILE, ways));
    }
    for (const [name, call] of Object.entries(ENTRY_WRITERS)) {
      const ways = { ...spellingsFor(name), ...withLinks(FOLDER_LINKS) };
      test(`${name}, by ${rule}`, () => tryWays(name, call, rules, FILE, ways));
    }
  }
});

/** `createFile` takes no absolute path; a unified diff would have `a/` before it. */
function spellingsFor(name: string): Ways {
  const { absolute, ...others } = SPELLINGS;
  const takesAbsolute = !/createFile|unified/.test(name);
  return takesAbsolute && absolute ? { ...others, absolute } : others;
}
