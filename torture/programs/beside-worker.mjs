// Replaces t.txt repeatedly while another program (neighbour.rs) works in the same folder. After every few writes the
// other program pauses, and this one checks that each file exists once and is whole.
//
//     node beside-worker.mjs <job as JSON>
//
// As "patch", each replacement is a patch that counts up own/p.txt, too: both or none of them.
//
// Each file has a letter and a count in its first line, "A 7", and below it the neighbour's edits. With
// `expects`, a write reads the file, counts it up, and replaces it if it still is what was read. Without,
// it puts "W" and its own number there.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { applyPatch, createFileSync, Workspace } from "../../index.js";
import { patchOf } from "./patches.mjs";

/**
 * @typedef {object} Job
 * @property {"ringfence" | "patch" | "naive"} how
 * @property {string} root
 * @property {string | null} containment What ringfence must call its tier.
 * @property {string} program The path of the neighbour's program.
 * @property {string} work What the neighbour does: its first argument.
 * @property {boolean} link Whether u.txt is a link to v.txt; otherwise it is a file.
 * @property {boolean} expects Whether each write expects what was read.
 * @property {"full" | "none"} durability
 * @property {number} writes
 */

/** @type {Job} */
const job = JSON.parse(process.argv[2] ?? "");
const at = (/** @type {string} */ name) => path.join(job.root, name);
const sha256 = (/** @type {string} */ text) => createHash("sha256").update(text).digest("hex");
const SLICE = 8;
/** The other file of patches, which holds how often it was patched. */
const OWN = "own/p.txt";

const workspace = Workspace.open(job.root, { durability: job.durability });
if (job.how !== "naive" && workspace.containment !== job.containment) {
  throw new Error(`the tier is ${workspace.containment}, not ${job.containment}`);
}

const neighbour = spawn(job.program, [job.work, job.root], { stdio: ["pipe", "pipe", "inherit"] });
const lines = readline.createInterface({ input: neighbour.stdout })[Symbol.asyncIterator]();
const turn = () => neighbour.stdin.write("\n");
/**
 * How much the neighbour has done when it rests. Then the edits that reached a file without a name: Linux finds a file
 * by its name first and looks for leases later, and no program can hold on to a file between the two. Such an edit is
 * lost beside every program that replaces a file, so it is counted apart, except in the control.
 */
const rest = async () => {
  turn();
  const { value, done } = await lines.next();
  if (done) throw new Error("the neighbour has ended");
  const [count = 0, ...nameless] = String(value).split(" ").map(Number);
  return { count, nameless: job.how === "naive" ? [] : nameless };
};

/**
 * @typedef {object} Outcome
 * @property {boolean} success
 * @property {string} message
 * @property {{ path: string }[]} [applied] What stands of a patch all the same.
 */

/**
 * @param {string} content
 * @param {string | undefined} expected What was read.
 * @returns {Outcome}
 */
function replaceNaively(content, expected) {
  if (expected !== undefined && fs.readFileSync(at("t.txt"), "utf8") !== expected) {
    return { success: false, message: "changed" };
  }
  fs.writeFileSync(at("naive.tmp"), content);
  fs.renameSync(at("naive.tmp"), at("t.txt"));
  return { success: true, message: "" };
}

/**
 * @param {string} after
 * @param {string} before
 * @returns {Promise<Outcome>}
 */
async function patch(after, before) {
  const own = fs.readFileSync(at(OWN), "utf8");
  const changes = [
    { path: "t.txt", before, after },
    { path: OWN, before: own, after: `${Number(own) + 1}\n` },
  ];
  try {
    const expected_hashes = { "t.txt": sha256(before) };
    await applyPatch(workspace, { patch: patchOf(changes, "unified"), expected_hashes });
    return { success: true, message: "" };
  } catch (error) {
    const { message, applied } = /** @type {import("../../index.js").ApplyPatchError} */ (error);
    return { success: false, message, ...(applied && { applied }) };
  }
}

/**
 * @param {string} content
 * @param {string | undefined} expected
 * @returns {Outcome | Promise<Outcome>}
 */
function replace(content, expected) {
  if (job.how === "naive") return replaceNaively(content, expected);
  if (job.how === "patch") return patch(content, String(expected));
  const expectedHash = expected === undefined ? null : sha256(expected);
  return createFileSync(workspace, { path: "t.txt", content, overwrite: true, expectedHash });
}

/** What has come of all slices. */
const tally = {
  ...{ operations: 0, replaced: 0, violations: 0, kept: 0, nameless: 0 },
  /** @type {string[]} */
  examples: [],
  /** @type {Record<string, number>} */
  refusals: {},
};

/** A few writes, and what must be there after them. */
class Slice {
  /** How often each file was replaced: its count. @type {Map<string, number>} */
  counts = new Map();
  /** What a file may be that was written without expecting anything. @type {Set<string>} */
  candidates = new Set();
  /** @type {string | undefined} */
  last;
  /** The names that messages have told of. @type {Set<string>} */
  told = new Set();
  /** How often the other file of patches was patched. */
  patched = 0;

  lay() {
    for (const name of fs.readdirSync(job.root)) fs.rmSync(at(name), { recursive: true });
    fs.mkdirSync(path.dirname(at(OWN)));
    fs.writeFileSync(at(OWN), "0\n");
    this.#put("t.txt", "A");
    if (job.link) {
      this.#put("v.txt", "B");
      fs.symlinkSync("v.txt", at("u.txt"));
    } else if (job.work !== "save") {
      this.#put("u.txt", "B");
    }
  }

  /**
   * @param {string} name
   * @param {string} letter
   */
  #put(name, letter) {
    fs.writeFileSync(at(name), `${letter} 0\n`);
    this.counts.set(letter, 0);
    this.candidates.add(`${letter} 0\n`);
  }

  async write() {
    const expected = job.expects ? fs.readFileSync(at("t.txt"), "utf8") : undefined;
    const content = expected === undefined ? `W ${tally.operations}\n` : next(expected);
    const { success, message, applied = [] } = await replace(content, expected);
    const stands = (/** @type {string} */ name) =>
      success || applied.some(({ path }) => path === name);
    if (job.how === "patch" && stands(OWN)) this.patched++;
    tally.operations++;
    for (const [name] of message.matchAll(/\.rf-[0-9a-z]+/g)) this.told.add(name);
    if (!stands("t.txt")) {
      const kind = message.replaceAll(/\.rf-[0-9a-z]+/g, ".rf-…");
      tally.refusals[kind] = (tally.refusals[kind] ?? 0) + 1;
      return;
    }
    tally.replaced++;
    this.last = content;
    this.candidates.add(content);
    const letter = content[0] ?? "";
    if (job.expects) this.counts.set(letter, (this.counts.get(letter) ?? 0) + 1);
  }

  /**
   * What is wrong now.
   *
   * @param {number} from The number of the first thing that the neighbour has done.
   * @param {number} to The number of the first that it has not.
   * @param {number[]} nameless The edits that reached a file without a name.
   */
  *wrongs(from, to, nameless) {
    const besides = ["naive.tmp", path.dirname(OWN)];
    const names = fs.readdirSync(job.root).filter((name) => !besides.includes(name));
    const kept = names.filter((name) => this.told.has(name));
    const live = names.filter((name) => !kept.includes(name));
    tally.kept += kept.length;
    const wanted = job.link ? "t.txt u.txt v.txt" : job.work === "save" ? "t.txt" : "t.txt u.txt";
    const own = fs.readdirSync(path.dirname(at(OWN))).filter((name) => !this.told.has(name));
    if (own.join(" ") !== path.basename(OWN)) yield `there are ${own} beside the other file`;
    const patched = fs.readFileSync(at(OWN), "utf8");
    if (patched !== `${this.patched}\n`) {
      yield `the other file was patched ${this.patched} times, and holds ${patched}`;
    }
    if (live.sort().join(" ") !== wanted) yield `there are ${live}`;
    const files = live.filter((name) => fs.lstatSync(at(name)).isFile());
    if (job.link && live.length - files.length !== 1) yield "the link is gone";
    const texts = files.map((name) => fs.readFileSync(at(name), "utf8"));
    const beside = kept.map((name) => fs.readFileSync(at(name), "utf8"));
    if (job.work === "save") return yield* this.#wrongSaves(texts[0] ?? "", to);
    yield* job.expects ? this.#wrongCounts(texts) : this.#wrongContents(texts);
    if (job.work === "edit" || job.work === "both") {
      yield* wrongEdits(texts, [...beside, ...nameless.map((i) => `edit ${i}`)], from, to);
    }
  }

  /** @param {string[]} texts */
  *#wrongCounts(texts) {
    for (const [letter, count] of this.counts) {
      const found = texts.filter((text) => text.startsWith(`${letter} `));
      if (found.length !== 1) yield `${letter} is there ${found.length} times`;
      else if (!found[0]?.startsWith(`${letter} ${count}\n`)) {
        yield `${JSON.stringify(found[0]?.slice(0, 9))} was replaced ${count} times`;
      }
    }
  }

  /** @param {string[]} texts */
  *#wrongContents(texts) {
    if (this.last !== undefined && !texts.includes(this.last)) yield "the last write is gone";
    if (new Set(texts).size !== texts.length) yield "a content is there twice";
    for (const text of texts) {
      if (!this.candidates.has(text)) yield `there is ${JSON.stringify(text)}`;
    }
  }

  /**
   * @param {string} text
   * @param {number} to
   */
  *#wrongSaves(text, to) {
    const last = `save ${to - 1}`;
    if (text !== last && !text.startsWith(`${last}\n`)) {
      yield `${last} is gone: there is ${JSON.stringify(text.slice(0, 20))}`;
    }
  }
}

/**
 * @param {string[]} texts
 * @param {string[]} beside What was kept beside, and told of, and what is excused.
 * @param {number} from
 * @param {number} to
 */
function* wrongEdits(texts, beside, from, to) {
  const made = texts.flatMap((text) => text.split("\n").slice(1, -1));
  const found = new Set([...made, ...beside.flatMap((text) => text.split("\n"))]);
  if (new Set(made).size !== made.length) yield "an edit is there twice";
  const lost = [];
  for (let i = from; i < to; i++) if (!found.has(`edit ${i}`)) lost.push(i);
  if (lost.length > 0) yield `${lost.length} edits are lost`;
}

/**
 * The text that replaces another: counted up.
 *
 * @param {string} text
 */
function next(text) {
  if (job.work === "save") return `${text.split("\n")[0]}\nreplaced ${tally.operations}`;
  return text.replace(/^(\w) (\d+)/, (_, letter, count) => `${letter} ${Number(count) + 1}`);
}

let done = 0;
while (tally.operations < job.writes) {
  const slice = new Slice();
  slice.lay();
  const from = done;
  turn();
  for (let i = 0; i < SLICE; i++) await slice.write();
  const { count, nameless } = await rest();
  done = count;
  tally.nameless += nameless.length;
  for (const wrong of slice.wrongs(from, done, nameless)) {
    tally.violations++;
    if (tally.examples.length < 5) tally.examples.push(wrong);
  }
}
neighbour.stdin.end();
workspace.close();
process.stdout.write(`${JSON.stringify(tally)}\n`);
