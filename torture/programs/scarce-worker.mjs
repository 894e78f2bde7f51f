// Works with a scarce resource, and reports violations: node scarce-worker.mjs SCENE HOW ROOT TIMES
//
// HOW is "ringfence" or "naive". Prints { operations, violations, examples, refused } as JSON.

import fs from "node:fs";
import path from "node:path";
import { createFileSync, readFileSync } from "../../index.js";

const [, , scene = "", how, root = "", times] = process.argv;
const at = (/** @type {string} */ name) => path.join(root, name);
const context = /** @type {const} */ ({ workspaceRoot: root, durability: "none" });

const tally = { operations: 0, violations: 0, refused: 0, examples: /** @type {string[]} */ ([]) };

/** @param {string} example */
function violation(example) {
  tally.violations++;
  if (tally.examples.length < 5) tally.examples.push(example);
}

/**
 * Writes a file. Returns the error code of a refusal.
 *
 * @param {string} name
 * @param {string} content
 * @param {boolean} overwrite
 */
function write(name, content, overwrite) {
  if (how === "naive") return writeNaively(name, content);
  return createFileSync(context, { path: name, content, overwrite }).errorCode ?? undefined;
}

/**
 * In place, and synced into its folder.
 *
 * @param {string} name
 * @param {string} content
 */
function writeNaively(name, content) {
  try {
    fs.mkdirSync(path.dirname(at(name)), { recursive: true });
    const file = fs.openSync(at(name), "w");
    try {
      fs.writeFileSync(file, content);
      fs.closeSync(fs.openSync(path.dirname(at(name)), "r"));
    } finally {
      fs.closeSync(file);
    }
    return undefined;
  } catch (error) {
    return /** @type {{ code: string }} */ (error).code;
  }
}

/** Every file and folder below the root, with the text of the files. */
function treeOf() {
  /** @type {Record<string, string>} */
  const tree = {};
  for (const entry of fs.readdirSync(root, { withFileTypes: true, recursive: true })) {
    const absolute = path.join(entry.parentPath ?? entry.path, entry.name);
    const name = path.relative(root, absolute);
    tree[name] = entry.isFile() ? fs.readFileSync(absolute, "utf8") : "";
  }
  return tree;
}

/**
 * Does one write, under `scarcity`, and checks the result.
 *
 * @param {string} name
 * @param {string} content
 * @param {(body: () => string | undefined) => string | undefined} scarcity
 */
function writeUnder(name, content, scarcity) {
  const before = treeOf();
  const code = scarcity(() => write(name, content, name in before));
  const after = treeOf();
  tally.operations++;
  if (code !== undefined) {
    tally.refused++;
    const isRight = how === "naive" || ["WriteFailed", "DirectoryCreateFailed"].includes(code);
    if (!isRight) violation(`${name} is refused as ${code}`);
    const isAsBefore = JSON.stringify(after) === JSON.stringify(before);
    if (!isAsBefore) violation(`${name} is refused, but not all is as it was`);
  } else if (after[name] !== content) {
    violation(`${name} is told to be written, and holds something else`);
  }
  return code;
}

/** @type {Record<string, () => void>} */
const scenes = {
  /** The root is a small disk, which is repeatedly filled up and emptied. */
  fullDisk() {
    for (let i = 0; i < Number(times); i++) {
      const name = ["a.txt", "b.txt", `dir/${i}.txt`, `made-${i}/deep/${i}.txt`][i % 4] ?? "";
      const content = String(i % 10).repeat(((i * 7919) % 60) * 1_000);
      const code = writeUnder(name, content, (body) => body());
      if (code !== undefined && i % 3 === 0) {
        for (const entry of fs.readdirSync(root)) {
          if (!/^[ab]\.txt$/.test(entry)) fs.rmSync(at(entry), { recursive: true });
        }
      }
    }
  },

  /** None, one, two … of the process's descriptors are free. */
  fewDescriptors() {
    fs.writeFileSync(at("old.txt"), "old");
    for (let i = 0; i < Number(times); i++) {
      const free = i % 12;
      const name = ["old.txt", `new-${i}.txt`, `made-${i}/deep/new.txt`][i % 3] ?? "";
      writeUnder(name, `text ${i}\n`, (body) => withFree(free, body));
      tally.operations++;
      const text = withFree(free, () => readCode("old.txt"));
      if (text !== undefined && text !== "INTERNAL") violation(`a read comes to ${text}`);
    }
    if (write("last.txt", "last", false)) violation("descriptors have been lost");
  },

  /** Only `/proc` is missing; everything must still work. */
  noProc() {
    if (fs.existsSync("/proc/self")) throw new Error("/proc is there");
    fs.mkdirSync(at("dir"));
    fs.symlinkSync(at("dir"), at("way"));
    for (let i = 0; i < Number(times); i++) {
      for (const name of ["a.txt", `dir/${i}.txt`, `made-${i}/deep/a.txt`, "way/b.txt"]) {
        tally.operations++;
        const code = how === "naive" ? writeByProc(name) : write(name, `${i}\n`, true);
        if (code !== undefined) violation(`${name} is refused as ${code}`);
        else if (fs.readFileSync(at(name), "utf8") !== `${i}\n`)
          violation(`${name} is not written`);
        const text = how === "naive" ? undefined : readCode(name);
        if (text !== undefined) violation(`reading ${name} comes to ${text}`);
      }
    }
    const left = Object.keys(treeOf()).filter((name) => name.includes(".rf-"));
    if (left.length > 0) violation(`left over: ${left}`);
  },
};

/**
 * Reads a file. Returns the error code of a refusal.
 *
 * @param {string} name
 */
function readCode(name) {
  try {
    readFileSync(context, name);
    return undefined;
  } catch (error) {
    return /** @type {{ code: string }} */ (error).code;
  }
}

/**
 * The naive way to link an unnamed file to a name, which needs `/proc`.
 *
 * @param {string} name
 */
function writeByProc(name) {
  const file = fs.openSync(at("naive"), "w");
  try {
    fs.linkSync(`/proc/self/fd/${file}`, at(name));
    return undefined;
  } catch (error) {
    return /** @type {{ code: string }} */ (error).code;
  } finally {
    fs.closeSync(file);
  }
}

/**
 * Runs `body` with `free` descriptors available.
 *
 * @template T
 * @param {number} free
 * @param {() => T} body
 */
function withFree(free, body) {
  /** @type {number[]} */
  const taken = [];
  try {
    for (;;) taken.push(fs.openSync("/dev/null", "r"));
  } catch {}
  for (const file of taken.splice(0, free)) fs.closeSync(file);
  try {
    return body();
  } finally {
    for (const file of taken) fs.closeSync(file);
  }
}

scenes[scene]?.();
process.stdout.write(`${JSON.stringify(tally)}\n`);
