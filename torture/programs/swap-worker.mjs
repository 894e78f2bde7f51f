// Reads, lists, searches, creates and overwrites, edits, moves, or patches, while another process swaps names on the
// path, and counts reads from outside and writes to outside, or to a folder inside that access rules protect. The naive
// way does the same in between, under the same attacker.
//
//     node swap-worker.mjs <job as JSON>
//
// Plain JavaScript, because Node 20 has no TypeScript loader.

import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { contest, keptIn } from "./contest.mjs";
import { naive } from "./naive.mjs";
import { openSubjects } from "./subjects.mjs";

/**
 * @typedef {object} Job
 * @property {string} subject "ringfence", or the name of another package.
 * @property {string} [packages] The folder that other packages are installed in.
 * @property {string | null} containment What ringfence must call its tier.
 * @property {"read" | "list" | "search" | "write" | "edit" | "move" | "patch" | "folder"} action
 * @property {string} root
 * @property {string} outside What must neither be read nor changed.
 * @property {import("../../index.js").AccessRules[]} [rules] Rules that protect `outside`, which is inside then. They
 *   have turns.
 * @property {boolean} [leavesGaps] Whether nothing stands at the folder's path in some moments.
 * @property {boolean} [hidesAbsence] Whether an answer must not tell that nothing stands at the path.
 * @property {string} folder The folder on the attacked way, relative to the root.
 * @property {string | null} fresh The one name to create; without it, each create has its own.
 * @property {string[]} homes Where the folder's files may stand, relative to the root.
 * @property {boolean} clears Whether the attacker may remove what was made.
 * @property {number} operations
 * @property {number} controls How many of them the naive way does, too.
 * @property {number} mostControls How many it does until it has gone wrong.
 */

const INSIDE = "inside\n";
const INSIDE_TOO = "inSIDE\n";
const SECRET = "the secret outside\n";
const SECRET_HASH = createHash("sha256").update(SECRET).digest("hex");
/** A name that only the folders outside have. */
const SECRET_NAME = "only-outside.txt";
/** The codes which tell that nothing stands at a path. */
const ABSENT = ["NOT_FOUND", "ENOENT"];

/** @type {Job} */
const job = JSON.parse(process.argv[2] ?? "");
const at = (/** @type {string[]} */ ...names) => path.join(job.root, ...names);
const within = (/** @type {string} */ name) => path.posix.join(job.folder, name);

const FILES = ["a.txt", SECRET_NAME];

/** The files and folders outside. Each has an old modification time, so that every change shows. */
class Guard {
  static #TIME = 1;
  #folders = [job.outside, path.join(job.outside, "low")];

  constructor() {
    this.restore();
  }

  /** The changes outside since the last check. */
  look() {
    const changed = this.#things().filter((thing) => this.#isChanged(thing));
    if (changed.length === 0) return [];
    const found = changed.map((thing) => path.relative(job.outside, thing) || "the folder outside");
    this.restore();
    return found;
  }

  restore() {
    for (const folder of this.#folders) {
      fs.mkdirSync(folder, { recursive: true });
      for (const name of fs.readdirSync(folder)) {
        const thing = path.join(folder, name);
        if (!this.#things().includes(thing)) fs.rmSync(thing, { recursive: true });
      }
      for (const name of FILES) fs.writeFileSync(path.join(folder, name), SECRET);
    }
    for (const thing of this.#things()) fs.utimesSync(thing, Guard.#TIME, Guard.#TIME);
  }

  #things() {
    return this.#folders.flatMap((folder) => [
      folder,
      ...FILES.map((name) => path.join(folder, name)),
    ]);
  }

  /** @param {string} thing */
  #isChanged(thing) {
    return fs.statSync(thing, { throwIfNoEntry: false })?.mtimeMs !== Guard.#TIME * 1000;
  }
}

/** @typedef {import("./contest.mjs").Tally} Tally */
/** @typedef {Awaited<ReturnType<typeof openSubjects>>[number]} Subject */

/**
 * Whether an answer has anything of the files outside.
 *
 * @param {string} told
 */
const isSecretIn = (told) =>
  ["secret", SECRET_HASH, SECRET_NAME].some((secret) => told.includes(secret));

/** @param {string | undefined} code */
const isAbsenceTold = (code) => job.hidesAbsence && code !== undefined && ABSENT.includes(code);

/**
 * @param {Subject} side
 * @param {Tally} tally
 * @param {number} turn
 */
async function readOnce(side, tally, turn) {
  const { text, code, told = "" } = await side.read(within("a.txt"), turn);
  tally.count(code);
  if (text === SECRET) tally.violation("the file outside was read");
  else if (isSecretIn(told)) tally.violation(`the refusal tells of outside: ${told}`);
  else if (isAbsenceTold(code)) tally.violation("told that nothing is there");
  else if (text !== undefined && text !== INSIDE) tally.violation(`read ${JSON.stringify(text)}`);
  else if (code && side.unexpected(code)) tally.violation(`refused as ${code}`);
}

/**
 * @param {Subject} side
 * @param {Tally} tally
 * @param {number} turn
 */
async function listOnce(side, tally, turn) {
  const names = await side.list(turn);
  tally.count(names.length > 0 ? undefined : "nothing");
  if (names.some((name) => name.includes(SECRET_NAME))) tally.violation(`listed ${names}`);
}

/**
 * @param {Subject} side
 * @param {Tally} tally
 * @param {number} turn
 */
async function searchOnce(side, tally, turn) {
  const lines = await side.search(job.folder, turn);
  tally.count(lines.length > 0 ? undefined : "nothing");
  const found = lines.find((line) => line.includes(SECRET.trim()) || line.includes(SECRET_NAME));
  if (found !== undefined) tally.violation(`found ${found}`);
}

/**
 * @param {Subject} side
 * @param {Tally} tally
 * @param {number} turn
 * @param {Guard} guard
 */
async function writeOnce(side, tally, turn, guard) {
  const isNew = turn % 2 === 0;
  const name = isNew ? (job.fresh ?? `${side.name}-${turn}.txt`) : "a.txt";
  const code = await side.write(within(name), `${side.name} ${turn}\n`, !isNew, turn);
  tally.count(code);
  const changed = guard.look();
  if (changed.length > 0) tally.violation(`changed outside: ${changed}`);
  else if (code && side.unexpected(code)) tally.violation(`refused as ${code}`);
  if (isNew && !code && !removeMade(name) && !job.clears && changed.length === 0) {
    tally.violation("told of success, and no file is there");
  }
}

/**
 * Changes a word to and fro that the file outside has, too. What comes back, an answer or an error with the closest
 * lines, must have nothing of that file.
 *
 * @param {Subject} side
 * @param {Tally} tally
 * @param {number} turn
 * @param {Guard} guard
 */
async function editOnce(side, tally, turn, guard) {
  const [old, now] = turn % 2 === 0 ? ["side", "SIDE"] : ["SIDE", "side"];
  const { told, code } = await side.edit(within("a.txt"), String(old), String(now), turn);
  tally.count(code);
  tally.kept.push(...keptIn(told));
  const changed = guard.look();
  if (changed.length > 0) tally.violation(`changed outside: ${changed}`);
  else if (isSecretIn(told)) tally.violation(`the file outside was read: ${told}`);
  else if (isAbsenceTold(code)) tally.violation("told that nothing is there");
  // The last edit may have been refused, so that this one has been made already. And an edit is refused if another
  // program moves files in the moment of the exchange, so that one has to be left beside.
  else if (code && !["NO_MATCH", "CONTENDED"].includes(code) && side.unexpected(code))
    tally.violation(`refused as ${told}`);
  else if (!code && !job.clears && !findMade("a.txt", (at) => isText(at, `in${now}\n`))) {
    tally.violation("told of success, and nothing is edited");
  }
}

/**
 * Moves a file of the attacked folder to the root and back, deletes it and makes it anew, in turns.
 *
 * @param {Subject} side
 * @param {Tally} tally
 * @param {number} turn
 * @param {Guard} guard
 */
async function moveOnce(side, tally, turn, guard) {
  const [name, moved] = [within("a.txt"), "moved.txt"];
  const steps = [
    () => side.move(name, moved, turn),
    () => side.move(moved, name, turn),
    () => side.remove(name, turn),
    async () => ({ told: "", code: await side.write(name, INSIDE, false, turn) }),
  ];
  const { told = "", code = undefined } = (await steps[turn % steps.length]?.()) ?? {};
  tally.count(code);
  tally.kept.push(...keptIn(told));
  const changed = guard.look();
  // A link that leads out may be moved itself.
  const isLeak = isFile(at(moved)) && fs.readFileSync(at(moved), "utf8") !== INSIDE;
  if (changed.length > 0) tally.violation(`changed outside: ${changed}`);
  else if (isLeak) tally.violation("the file outside was moved in");
  else if (code && !EXPECTED_OF_MOVES.has(code) && side.unexpected(code))
    tally.violation(`refused as ${told}`);
  if (isLeak) fs.rmSync(at(moved));
}

/** A step that was refused leaves the next one nothing to do. */
const EXPECTED_OF_MOVES = new Set(["NOT_FOUND", "ALREADY_EXISTS", "CONTENDED", "FileExists"]);

/** @typedef {import("./patches.mjs").Change} Change */

/** The names that patches change: two in the attacked folder, and one beside it. */
const PATCHED = { a: within("a.txt"), b: within(job.fresh ?? "b.txt"), moved: "moved.txt" };

/**
 * The patches, each of which starts from what the one before leaves.
 *
 * @type {Change[][]}
 */
const PATCHES = [
  [
    { path: PATCHED.a, before: INSIDE, after: INSIDE_TOO },
    { path: PATCHED.b, after: INSIDE },
  ],
  [
    { path: PATCHED.a, to: PATCHED.moved, before: INSIDE_TOO, after: INSIDE },
    { path: PATCHED.b, before: INSIDE },
  ],
  [
    { path: PATCHED.moved, to: PATCHED.a, before: INSIDE, after: INSIDE },
    { path: PATCHED.b, after: INSIDE },
  ],
  [
    { path: PATCHED.a, before: INSIDE, after: INSIDE_TOO },
    { path: PATCHED.b, to: PATCHED.moved, before: INSIDE, after: INSIDE },
  ],
  [
    { path: PATCHED.a, before: INSIDE_TOO },
    { path: PATCHED.moved, to: PATCHED.b, before: INSIDE, after: INSIDE_TOO },
  ],
  [{ path: PATCHED.b, before: INSIDE_TOO }],
  [{ path: PATCHED.a, after: INSIDE }],
];

let nextPatch = 0;

/**
 * Applies the next patch. One that is refused leaves everything as it was, and is followed by any other.
 *
 * @param {Subject} side
 * @param {Tally} tally
 * @param {number} turn
 * @param {Guard} guard
 */
async function patchOnce(side, tally, turn, guard) {
  const changes = PATCHES[nextPatch] ?? [];
  const isChecked = side !== control && !job.clears;
  const before = isChecked ? standing() : new Map();
  const { told, code, applied } = await side.patch(changes, turn);
  tally.count(code);
  tally.kept.push(...keptIn(told));
  nextPatch = code ? Math.floor(Math.random() * PATCHES.length) : (nextPatch + 1) % PATCHES.length;
  const changed = guard.look();
  const moved = at(PATCHED.moved);
  // A link that leads out may be moved itself.
  const isLeak = isFile(moved) && !isInside(fs.readFileSync(moved, "utf8"));
  if (changed.length > 0) tally.violation(`changed outside: ${changed}`);
  else if (isLeak) tally.violation("the file outside was moved in");
  else if (isSecretIn(told)) tally.violation(`the file outside was read: ${told}`);
  else if (code && !EXPECTED_OF_PATCHES.has(code) && side.unexpected(code))
    tally.violation(`refused as ${told}`);
  else if (isChecked) {
    // The attacker changes no file, so that the tree is what the answers say.
    const made = code
      ? changes.filter((change) => applied?.includes(change.to ?? change.path))
      : changes;
    for (const change of made) {
      const { path, to = path, after } = change;
      // A mere rename takes whatever stands there.
      const moved = before.get(path);
      before.set(path, undefined);
      before.set(to, change.before === after ? moved : after);
    }
    const now = standing();
    const wrong = [...now].filter(([name, text]) => text !== before.get(name));
    if (wrong.length > 0)
      tally.violation(`${JSON.stringify(wrong)} after ${code ?? "success"}: ${told}`);
  }
  if (isLeak) fs.rmSync(moved);
}

/** The refusals of a patch that meets what another one has left. */
const EXPECTED_OF_PATCHES = new Set([...EXPECTED_OF_MOVES, "HUNK_NOT_FOUND", "PARTIAL"]);

/** @param {string} text */
const isInside = (text) => text === INSIDE || text === INSIDE_TOO;

/**
 * What the names of patches hold, wherever the attacker has moved their folder.
 *
 * @returns {Map<string, string | undefined>}
 */
function standing() {
  return new Map(
    Object.values(PATCHED).map((name) => {
      /** @type {string | undefined} */
      let found;
      const homes = name === PATCHED.moved ? [""] : job.homes;
      findMade(
        path.basename(name),
        (absolute) => {
          const text = fs.readFileSync(absolute, "utf8");
          if (!isInside(text)) throw new Error("the file outside");
          found = text;
        },
        { homes, attempts: homes.length === 1 ? 1 : 40 },
      );
      return [name, found];
    }),
  );
}

/** @param {string} absolute */
const isFile = (absolute) => fs.lstatSync(absolute, { throwIfNoEntry: false })?.isFile() ?? false;

/**
 * @param {string} absolute
 * @param {string} text
 */
function isText(absolute, text) {
  if (fs.readFileSync(absolute, "utf8") !== text) throw new Error("another text");
}

/**
 * Removes a created file, wherever the attacker has moved its folder.
 *
 * The folder may move between two lookups, and could even keep pace with lookups in a fixed order, because both take
 * the same lock. So the order of the lookups is random.
 *
 * @param {string} name
 */
function removeMade(name) {
  return findMade(name, fs.unlinkSync);
}

/**
 * Does something with a file, wherever it is; it has not been found there if that throws.
 *
 * @param {string} name
 * @param {(absolute: string) => void} action
 * @param {{ homes?: string[], attempts?: number }} [where]
 */
function findMade(name, action, { homes = job.homes, attempts = 500 } = {}) {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const home = homes[Math.floor(Math.random() * homes.length)] ?? "";
    try {
      action(at(home, name));
      return true;
    } catch {}
  }
  return false;
}

/**
 * Moves a folder, and deletes it with all it holds, while links are moved into it.
 *
 * @param {Subject} side
 * @param {Tally} tally
 * @param {number} turn
 * @param {Guard} guard
 */
async function folderOnce(side, tally, turn, guard) {
  const [folder, moved] = [job.folder, "moved"];
  if (turn % 2 === 0) layFolder(at(folder));
  const { told = "", code = undefined } =
    turn % 2 === 0 ? await side.move(folder, moved, turn) : await side.remove(moved, turn);
  tally.count(code);
  tally.kept.push(...keptIn(told));
  const changed = guard.look();
  if (changed.length > 0) tally.violation(`changed outside: ${changed}`);
  else if (isSecretIn(told)) tally.violation(`told of outside: ${told}`);
  else if (code && !EXPECTED_OF_MOVES.has(code) && side.unexpected(code))
    tally.violation(`refused as ${told}`);
}

/**
 * Makes a folder in a folder, with the names that the files outside have. It is complete before the attacker sees it,
 * or it would be written through the attacker's links.
 *
 * @param {string} absolute
 */
function layFolder(absolute) {
  const laid = at("laid");
  fs.mkdirSync(path.join(laid, "sub"), { recursive: true });
  for (const name of FILES) fs.writeFileSync(path.join(laid, "sub", name), INSIDE);
  try {
    fs.renameSync(laid, absolute);
  } catch {
    // The last move was refused, so that it stands there.
  }
}

const subjects = await openSubjects(job);
const control = naive(job.root, job.outside);
const guard = new Guard();
const actions = {
  ...{ read: readOnce, list: listOnce, search: searchOnce, write: writeOnce, edit: editOnce },
  ...{ move: moveOnce, patch: patchOnce, folder: folderOnce },
};
const once = actions[job.action];

const tallies = await contest(job, subjects, control, (side, tally, turn) =>
  once(side, tally, turn, guard),
);
for (const subject of subjects) subject.close();
process.stdout.write(`${JSON.stringify(tallies)}\n`);
