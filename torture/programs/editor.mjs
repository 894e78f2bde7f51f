// Counts up the number in a line of its own of a file, while other processes do so in other lines:
//
//     node editor.mjs ringfence|naive ROOT LINE TIMES
//
// Prints "ready", waits for a line, and prints the errors as JSON.

import fs from "node:fs";
import path from "node:path";
import { editFile, Workspace } from "../../index.js";

const [, , how, root = "", line, times] = process.argv;
const workspace = Workspace.open(root, { durability: "none" });
const file = path.join(root, "lines.txt");
/** @param {number} count */
const lineOf = (count) => `line ${line}: ${count}\n`;

/** @param {number} count */
async function edit(count) {
  if (how === "ringfence") {
    const texts = { old_string: lineOf(count), new_string: lineOf(count + 1) };
    await editFile(workspace, { path: "lines.txt", ...texts });
  } else {
    // The number that stands there, so that one lost edit counts once.
    const own = new RegExp(`^(line ${line}: )(\\d+)$`, "m");
    const text = fs.readFileSync(file, "utf8");
    fs.writeFileSync(
      file,
      text.replace(own, (_, head, number) => `${head}${Number(number) + 1}`),
    );
  }
}

fs.writeSync(1, "ready\n");
fs.readSync(0, Buffer.alloc(1));
/** @type {string[]} */
const errors = [];
for (let count = 0; count < Number(times); count++) {
  await edit(count).catch((error) => errors.push(String(error)));
}
process.stdout.write(`${JSON.stringify(errors)}\n`);
