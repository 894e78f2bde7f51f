// Another program that changes files of a patch while it is applied: node meddler.mjs ROOT FIRST LAST FOR MARK
//
// As soon as the file FIRST holds the word FOR, it appends MARK to it, and to the file LAST. Then it prints a line and
// waits for the next time, when FIRST does not hold the word any more.

import fs from "node:fs";
import path from "node:path";

const [, , root = "", first = "", last = "", word = "", mark = ""] = process.argv;
const [one, other] = [path.join(root, first), path.join(root, last)];

/** @param {string} file */
function textOf(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

process.stdout.write("ready\n");
for (const end = performance.now() + 60_000; performance.now() < end; ) {
  const text = textOf(one);
  if (!text.includes(word) || text.includes(mark)) continue;
  fs.appendFileSync(one, mark);
  fs.appendFileSync(other, mark);
  fs.writeSync(1, "done\n");
}
