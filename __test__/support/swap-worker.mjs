// Exchanges what a reader reads with a way out, by rename, as fast as it can, until it is terminated.
// Plain JavaScript, since a worker of Node 20 has no TypeScript loader.

import fs from "node:fs";
import path from "node:path";
import { parentPort, workerData } from "node:worker_threads";

const { attack, base } = workerData;
const outside = path.join(base, "outside");
const inRoot = (name) => path.join(base, "ws", name);

const attacks = {
  /** `dir` is by turns a folder and a link to the folder outside; in between it is missing. */
  folder() {
    fs.renameSync(inRoot("dir"), inRoot("dir.kept"));
    fs.renameSync(inRoot("link"), inRoot("dir"));
    fs.renameSync(inRoot("dir"), inRoot("link"));
    fs.renameSync(inRoot("dir.kept"), inRoot("dir"));
  },
  /** `a.txt` is by turns a file and a link to the file outside; it never is missing. */
  file() {
    fs.symlinkSync(path.join(outside, "a.txt"), inRoot("next"));
    fs.renameSync(inRoot("next"), inRoot("a.txt"));
    fs.writeFileSync(inRoot("next"), "inside\n");
    fs.renameSync(inRoot("next"), inRoot("a.txt"));
  },
  /** `dir` is by turns an absolute link to a folder inside and to the one outside; never missing. */
  link() {
    fs.symlinkSync(outside, inRoot("next"));
    fs.renameSync(inRoot("next"), inRoot("dir"));
    fs.symlinkSync(inRoot("real"), inRoot("next"));
    fs.renameSync(inRoot("next"), inRoot("dir"));
  },
};

if (attack === "folder") fs.symlinkSync(outside, inRoot("link"));
parentPort.postMessage("ready");
for (;;) attacks[attack]();
