// Changes the file a.txt as fast as it can, until it is terminated.

import fs from "node:fs";
import path from "node:path";
import { parentPort, workerData } from "node:worker_threads";

const { root, change } = workerData;
const inRoot = (name) => path.join(root, name);

const changes = {
  /** By turns a copy of `long` and of `short`, each with its own time of modification. */
  replace() {
    for (const [name, time] of [
      ["long", 2_000_000],
      ["short", 1_000_000],
    ]) {
      fs.copyFileSync(inRoot(name), inRoot("next"));
      fs.utimesSync(inRoot("next"), time, time);
      fs.renameSync(inRoot("next"), inRoot("a.txt"));
    }
  },
  /** From nothing to above the cap, in place, and back to nothing. */
  grow() {
    fs.truncateSync(inRoot("a.txt"), 0);
    for (let size = 0; size < 1_200_000; size += 60_000) {
      fs.appendFileSync(inRoot("a.txt"), "a".repeat(60_000));
    }
  },
};

parentPort.postMessage("ready");
for (;;) changes[change]();
