// Reads, lists, searches, creates and overwrites, or edits, while another process swaps names on the path, and counts
// reads from outside and writes to outside. The naive way does the same in between, under the same attacker.
//
//     node swap-worker.mjs <job as JSON>
//
// Plain JavaScript, because Node 20 has no TypeScript loader.

import fs from "node:fs";
import path from "node:path";
import { naive } from "./naive.mjs";
import { openSubject } from "./subjects.mjs";

/**
 * @typedef {object} Job
 * @property {string} subject "ringfence", or the name of another package.
 * @property {string} [packages] The folder that other packages are installed in.
 * @property {string | null} containment What ringfence must call its tier.
 * @property {"read" | "list" | "search" | "write" | "edit" | "move"} action
 * @property {string} root
 * @property {string} outside What must neither be read nor changed.
 * @property {string} folder The folder on the attacked way, relative to the root.
 * @property {string | null} fresh The one name to create; without it, each create has its own.
 * @property {string[]} homes Where the folder's files may stand, relative to the root.
 * @property {boolean} clears Whether the attacker may remove what was made.
 * @property {number} operations
 * @property {number} controls How many of them the naive way does, too.
 * @property {number} mostControls How many it does until it has gone wrong.
 */

const INSIDE = "inside\n";
const SECRET = "the secret outside\n";
/** A name that only the folders outside have. */
const SECRET_NAME = "only-outside.txt";
const BLOCK = 100;
/** How often the naive way must have gone wrong, before it may stop early. */
const ENOUGH = 3;

/** @type {Job} */
const job = JSON.parse(process.argv[2] ?? "");
const at = (/** @type {string[]} */ ...names) => path.join(job.root, ...names);
const within = (/** @type {string} */ name) => path.posix.join(job.folder, name);

/** The results of one side: the subject or the naive way. */
class Tally {
  operations = 0;
  violations = 0;
  /** How many operations were not refused. */
  answered = 0;
  /** @type {string[]} */
  examples = [];
  /** @type {string[]} The files that an answer has told to be left beside. */
  kept = [];

  /** @param {string | undefined} code Why it was refused. */
  count(code) {
    this.operations++;
    if (code === undefined) this.answered++;
  }

  /** @param {string} example */
  violation(example) {
    this.violations++;
    if (this.examples.length < 5) this.examples.push(example);
  }
}

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

/** @typedef {Awaited<ReturnType<typeof openSubject>>} Subject */

/**
 * @param {Subject} side
 * @param {Tally} tally
 * @param {number} turn
 */
async function readOnce(side, tally, turn) {
  const { text, code } = await side.read(within("a.txt"), turn);
  tally.count(code);
  if (text === SECRET) tally.violation("the file outside was read");
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
  else if (told.includes("secret")) tally.violation(`the file outside was read: ${told}`);
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

/**
 * The files that an answer tells to be left.
 *
 * @param {string} told
 */
const keptIn = (told) => told.match(/(?<=is kept (?:beside )?as )\.rf-\w+/g) ?? [];

/** @param {string} absolute */
const isFile = (absolute) => fs.lstatSync(absolute, { throwIfNoEntry: false })?.isFile() ?? false;

/** A step that was refused leaves the next one nothing to do. */
const EXPECTED_OF_MOVES = new Set(["NOT_FOUND", "ALREADY_EXISTS", "CONTENDED", "FileExists"]);

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
 */
function findMade(name, action) {
  for (let attempt = 0; attempt < 500; attempt++) {
    const home = job.homes[Math.floor(Math.random() * job.homes.length)] ?? "";
    try {
      action(at(home, name));
      return true;
    } catch {}
  }
  return false;
}

const subject = await openSubject(job);
const control = naive(job.root);
const [tally, naiveTally] = [new Tally(), new Tally()];
const guard = new Guard();
const actions = {
  ...{ read: readOnce, list: listOnce, search: searchOnce, write: writeOnce, edit: editOnce },
  ...{ move: moveOnce },
};
const once = actions[job.action];

/** Whether the naive way runs another block: it runs longer until the attack has succeeded often enough. */
const isControlDue = () =>
  naiveTally.operations < job.controls ||
  (naiveTally.violations < ENOUGH && naiveTally.operations < job.mostControls);

/**
 * @param {Subject} side
 * @param {Tally} its
 */
async function block(side, its) {
  const end = its.operations + BLOCK;
  while (its.operations < end) await once(side, its, its.operations, guard);
}

while (tally.operations < job.operations) {
  await block(subject, tally);
  if (job.controls > 0 && isControlDue()) await block(control, naiveTally);
}
while (job.controls > 0 && isControlDue()) await block(control, naiveTally);
subject.close();
process.stdout.write(`${JSON.stringify({ subject: tally, control: naiveTally })}\n`);
