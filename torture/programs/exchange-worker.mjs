// Calls ringfence on a name while another process exchanges what stands there for what access rules protect there, and
// counts what it tells of that, or moves or removes of it. The naive way does the same in between, under the same attacker.
//
//     node exchange-worker.mjs <job as JSON>
//
// Plain JavaScript, because Node 20 has no TypeScript loader.

import fs from "node:fs";
import path from "node:path";
import {
  deleteFile,
  findFiles,
  moveFile,
  readFile,
  searchFiles,
  tree,
  Workspace,
} from "../../index.js";
import { contest, keptIn } from "./contest.mjs";
import { codeOf, removeAll } from "./naive.mjs";
import { outcomeOf } from "./subjects.mjs";

/**
 * @typedef {object} Job
 * @property {string | null} containment What ringfence must call its tier.
 * @property {"look" | "folder"} action
 * @property {string} root
 * @property {import("../../index.js").AccessRules[]} rules They have turns.
 * @property {number} operations
 * @property {number} controls How many of them the naive way does, too.
 * @property {number} mostControls How many it does until it has gone wrong.
 */

/** @typedef {{ told: string, code?: string }} Outcome An answer or an error as text, and the code of an error. */

/**
 * @typedef {object} Side ringfence under some rules, or the naive way.
 * @property {(name: string, turn: number) => Promise<Outcome>} look
 * @property {(from: string, to: string, turn: number) => Promise<Outcome>} move
 * @property {(name: string, turn: number) => Promise<Outcome>} remove
 * @property {(code: string) => boolean} isExpected
 * @property {() => void} close
 */

/** @typedef {import("./contest.mjs").Tally} Tally */

const INSIDE = "inside\n";
const SECRET = "the secret\n";
/** A name that only the protected folder has. */
const SECRET_NAME = "only-protected.txt";
/** A file of the protected folder that calls ask for by its name, so that their errors may tell it. */
const ASKED_NAME = "asked.txt";
/** The protected files of a folder, and those that stand in the harmless one. */
const PROTECTED = [".env", "sub/.env"];
const HARMLESS = ["a.txt", "sub/a.txt"];

/** @type {Job} */
const job = JSON.parse(process.argv[2] ?? "");
const at = (/** @type {string[]} */ ...names) => path.join(job.root, ...names);

/**
 * The codes for a path that is protected in some moments. A file is no folder that could be listed, and that may be told.
 * But nothing is ever missing, and what stands at a protected path must not be told.
 */
const EXPECTED = {
  look: ["PATH_DENIED", "NOT_DIRECTORY"],
  folder: ["PATH_DENIED", "CONTENDED"],
};

/**
 * @param {import("../../index.js").AccessRules} rules
 * @returns {Side}
 */
function ringfence(rules) {
  const options = /** @type {const} */ ({ durability: "none", rules });
  const context = { workspaceRoot: job.root, ...options };
  const workspace = Workspace.open(job.root, options);
  if (workspace.containment !== job.containment) {
    throw new Error(`the tier is ${workspace.containment}, not ${job.containment}`);
  }
  /** @typedef {Workspace | typeof context} Place */
  const looks = [
    (/** @type {Place} */ place, /** @type {string} */ name) => readFile(place, name),
    (/** @type {Place} */ place, /** @type {string} */ name) =>
      readFile(place, `${name}/${ASKED_NAME}`),
    (/** @type {Place} */ place, /** @type {string} */ root_path) =>
      searchFiles(place, { pattern: ".+", root_path }),
    (/** @type {Place} */ place, /** @type {string} */ root_path) =>
      findFiles(place, { patterns: "**", root_path, kind: "all" }),
    (/** @type {Place} */ place, /** @type {string} */ name) =>
      tree(place, name, { entry_kind: "all" }),
  ];
  const placeOf = (/** @type {number} */ turn) => (turn % 4 < 2 ? workspace : context);
  return {
    async look(name, turn) {
      const look = looks[Math.floor(turn / 4) % looks.length];
      return look ? outcomeOf(look(placeOf(turn), name)) : { told: "" };
    },
    move: (path, to, turn) => outcomeOf(moveFile(placeOf(turn), { path, to })),
    remove: (path, turn) => outcomeOf(deleteFile(placeOf(turn), { path, recursive: true })),
    isExpected: (code) => EXPECTED[job.action].includes(code),
    close: () => workspace.close(),
  };
}

/** @type {Side} Checks a path by its name first, then acts by the same name. */
const naive = {
  look: (name) =>
    attempt(() => {
      if (fs.statSync(at(name)).isDirectory()) throw { code: "refused" };
      return textsOf(at(name)).join();
    }),
  move: (from, to) =>
    attempt(() => {
      demandHarmless(at(from));
      fs.renameSync(at(from), at(to));
      return "";
    }),
  remove: (name) =>
    attempt(() => {
      demandHarmless(at(name));
      removeAll(at(name));
      return "";
    }),
  // Its answers are not judged.
  isExpected: () => true,
  close() {},
};

/**
 * @param {() => string} action
 * @returns {Promise<Outcome>}
 */
async function attempt(action) {
  try {
    return { told: action() };
  } catch (error) {
    return { told: "", code: codeOf(error) };
  }
}

/**
 * The text of a file, or the names in a folder.
 *
 * @param {string} absolute
 */
function textsOf(absolute) {
  try {
    return fs.readdirSync(absolute);
  } catch {
    return [fs.readFileSync(absolute, "utf8")];
  }
}

/** @param {string} folder */
function demandHarmless(folder) {
  const names = fs.readdirSync(folder, { recursive: true }).map(String);
  if (names.some((name) => path.basename(name) === ".env")) throw { code: "refused" };
}

/** A file `keep`, a folder that is protected under that name, and a link to whatever stands there. */
function layNames() {
  fs.writeFileSync(at("keep"), INSIDE);
  fs.symlinkSync("keep", at("way"));
  // Complete before the attacker sees it.
  fs.mkdirSync(at("laid"));
  for (const name of [ASKED_NAME, SECRET_NAME]) fs.writeFileSync(at("laid", name), SECRET);
  fs.renameSync(at("laid"), at("spare"));
}

/**
 * Reads, searches and lists what stands at a name, by the name itself and by a link.
 *
 * @param {Side} side
 * @param {Tally} tally
 * @param {number} turn
 */
async function lookOnce(side, tally, turn) {
  const { told, code } = await side.look(turn % 2 === 0 ? "keep" : "way", turn);
  tally.count(code);
  const isLeak = told.includes(SECRET.trim()) || told.includes(SECRET_NAME);
  if (isLeak) tally.violation(`told of the folder: ${told}`);
  else if (code && !side.isExpected(code)) tally.violation(`refused as ${told}`);
}

/** Makes the harmless and the protected folder, where the last operation has taken them away, or parts of them. */
function layFolders() {
  if (!fs.existsSync(at("heap"))) layFolder("heap", HARMLESS, INSIDE);
  if (isAnywhere(HARMLESS) && isAnywhere(PROTECTED)) return;
  // Nothing is exchanged any more once one of the names is gone.
  fs.renameSync(at("heap"), at("moved"));
  for (const name of ["moved", "spare"]) fs.rmSync(at(name), { recursive: true, force: true });
  layFolder("heap", HARMLESS, INSIDE);
  layFolder("spare", PROTECTED, SECRET);
}

/**
 * Makes a folder that is complete before the attacker sees it.
 *
 * @param {string} name
 * @param {string[]} files
 * @param {string} text
 */
function layFolder(name, files, text) {
  fs.mkdirSync(at("laid/sub"), { recursive: true });
  for (const file of files) fs.writeFileSync(at("laid", file), text);
  fs.renameSync(at("laid"), at(name));
}

/**
 * Whether one of the two folders holds all of these files. The attacker may exchange them between two lookups, so that
 * the order of the lookups is random.
 *
 * @param {string[]} files
 */
function isAnywhere(files) {
  return files.every((file) => {
    for (let attempt = 0; attempt < 500; attempt++) {
      if (fs.existsSync(at(Math.random() < 0.5 ? "heap" : "spare", file))) return true;
    }
    return false;
  });
}

/**
 * Moves and deletes a folder, by turns. The attacker only exchanges it, so that whatever is gone or has come to stand
 * elsewhere afterwards was removed or moved by the call.
 *
 * @param {Side} side
 * @param {Tally} tally
 * @param {number} turn
 */
async function folderOnce(side, tally, turn) {
  layFolders();
  const { told, code } = await (turn % 2 === 0
    ? side.move("heap", "moved", turn)
    : side.remove("heap", turn));
  tally.count(code);
  tally.kept.push(...keptIn(told));
  const wrong = wrongAfter(code);
  if (wrong !== undefined) tally.violation(`${wrong}, and answered ${told}`);
  else if (code && !side.isExpected(code)) tally.violation(`refused as ${told}`);
  fs.rmSync(at("moved"), { recursive: true, force: true });
}

/** @param {string | undefined} code Why the call was refused. */
function wrongAfter(code) {
  if (PROTECTED.some((file) => fs.existsSync(at("moved", file)))) return "moved a protected file";
  if (!isAnywhere(PROTECTED)) return "removed a protected file";
  // A refused call must leave the harmless folder, too.
  if (code && !isAnywhere(HARMLESS)) return "took away what it refused to";
  return undefined;
}

const subjects = job.rules.map(ringfence);
if (job.action === "look") layNames();
const once = job.action === "look" ? lookOnce : folderOnce;
const tallies = await contest(job, subjects, naive, once);
for (const subject of subjects) subject.close();
process.stdout.write(`${JSON.stringify(tallies)}\n`);
