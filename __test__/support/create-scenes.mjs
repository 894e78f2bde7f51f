// What other processes do while a test creates: node create-scenes.mjs <scene> <job as JSON>.
// A scene prints "ready" when it is, and what it found, as JSON, at its end. Some go on until they are
// killed, or until nobody can be waiting for them any more.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { createFile, createFileSync, readFile } from "../../index.js";
import { treeOf } from "./tree.mjs";

const [, , scene, json] = process.argv;
const job = JSON.parse(json);

const say = (text) => fs.writeSync(1, `${text}\n`);
const ready = () => say("ready");
const report = (found) => say(JSON.stringify(found));
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const busy = () => performance.now() < 30_000;
const here = (name) => path.join(job.root, name);

/** Does something that loses races against the tests, and says whether it has won. */
const attempt = (action) => {
  try {
    action();
    return true;
  } catch {
    return false;
  }
};

/** Removes something that others may still be filling. */
const clear = (absolute) => attempt(() => fs.rmSync(absolute, { recursive: true }));

const scenes = {
  /** Waits for the file `start`, then creates every name with its own content. */
  race() {
    ready();
    while (busy() && !fs.existsSync(job.start)) pause(1);
    report(
      job.names.map((name) => createFileSync(job.context, { path: name, content: job.content })),
    );
  },

  /** Counts a file up, `times` times, and swears by the hash that it read. */
  async count() {
    let refused = 0;
    for (let done = 0; done < job.times; ) {
      const { content, meta } = await readFile(job.context, job.path, { include_hash: true });
      const result = await createFile(job.context, {
        path: job.path,
        content: `${Number(content) + 1}\n`,
        overwrite: true,
        expectedHash: meta.sha256,
      });
      if (result.success) done++;
      else if (/changed since it was read/.test(result.message)) refused++;
      else throw new Error(JSON.stringify(result));
    }
    report({ refused });
  },

  /** Appends `times` lines to `path` in place, as an editor without ringfence, and waits between opening and writing. */
  async append() {
    ready();
    for (let i = 0; i < job.times; i++) {
      const file = fs.openSync(job.path, "a");
      await new Promise((resolve) => setTimeout(resolve, i % 3));
      fs.writeSync(file, `appended ${i}\n`);
      fs.closeSync(file);
      await new Promise((resolve) => setTimeout(resolve, i % 5));
    }
    report({});
  },

  /** Reads `path` until the file `stop` comes up, and tells what it saw that is not `[character, length]`. */
  watch() {
    const allowed = job.allowed.map(([character, length]) => character.repeat(length));
    const odd = [];
    let reads = 0;
    ready();
    while (busy() && !fs.existsSync(job.stop)) {
      for (let i = 0; i < 20; i++, reads++) {
        let text;
        attempt(() => {
          text = fs.readFileSync(job.path, "utf8");
        });
        if (!allowed.includes(text) && odd.length < 5) {
          odd.push(text === undefined ? "missing" : `${text.length}: ${text.slice(0, 20)}`);
        }
      }
    }
    report({ reads, odd });
  },

  /** Creates new files, or overwrites one, until it is killed. */
  hammer() {
    ready();
    for (let i = 0; busy(); i++) {
      const args = job.overwrite
        ? { path: job.path, content: "AB"[i % 2].repeat(job.size), overwrite: true }
        : { path: `${job.path}/${process.pid}-${i}.txt`, content: "A".repeat(job.size) };
      const result = createFileSync(job.context, args);
      if (!result.success) throw new Error(JSON.stringify(result));
    }
  },

  /** Exchanges `name` with a link to `target`. */
  swap() {
    const [at, link, kept] = [here(job.name), `${here(job.name)}.link`, `${here(job.name)}.kept`];
    fs.symlinkSync(job.target, link);
    ready();
    while (busy()) {
      attempt(() => fs.renameSync(at, kept));
      // Somebody may have made a folder in the gap.
      while (!attempt(() => fs.renameSync(link, at))) clear(at);
      fs.renameSync(at, link);
      while (fs.existsSync(kept) && !attempt(() => fs.renameSync(kept, at))) clear(at);
    }
  },

  /** Turns the link `name` from `inside` to `target` and back; it never is missing. */
  turn() {
    ready();
    for (let i = 0; busy(); i++) {
      fs.symlinkSync(i % 2 === 0 ? job.target : job.inside, here("next"));
      attempt(() => fs.renameSync(here("next"), here(job.name))) || fs.unlinkSync(here("next"));
    }
  },

  /** Puts a link to `target` where others would make a folder, and takes it away. */
  plant() {
    ready();
    while (busy()) {
      attempt(() => fs.symlinkSync(job.target, here(job.name)));
      clear(here(job.name));
    }
  },

  /** Removes the folder `name` and all in it; makes it again if `again`. */
  remove() {
    ready();
    while (busy()) {
      clear(here(job.name));
      if (job.again) attempt(() => fs.mkdirSync(here(job.name)));
    }
  },

  /** Removes everything in the root whose name begins like a temporary's. */
  tidy() {
    ready();
    while (busy()) {
      for (const name of fs.readdirSync(job.root)) {
        if (/^\.rf-|\.tmp$/.test(name)) attempt(() => fs.unlinkSync(here(name)));
      }
    }
  },

  /** Plays steps in a mounted root, and tells for each create the result and both looks at the root. */
  async mounted() {
    const outcomes = [];
    for (const step of job.steps) {
      if (step.write) fs.writeFileSync(here(step.write), step.text);
      if (step.folder) fs.mkdirSync(here(step.folder));
      if (step.remove) fs.rmSync(here(step.remove));
      if (step.mount) execFileSync("mount", ["-o", step.mount, job.root]);
      if (!step.create) continue;
      const before = treeOf(job.root);
      const result = step.sync
        ? createFileSync(job.context, step.create)
        : await createFile(job.context, step.create);
      outcomes.push({ result, before, after: treeOf(job.root) });
    }
    report(outcomes);
  },
};

await scenes[scene]();
