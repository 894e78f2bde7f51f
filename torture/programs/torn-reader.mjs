// Reads a.txt TIMES times, by ringfence and by the system, while another process overwrites it, and counts reads that
// are no whole version: node torn-reader.mjs ROOT TIMES
//
// A version is one letter over and over, `A` 60,000 times, `B` 90,000 or `C` 30,000.

import fs from "node:fs";
import path from "node:path";
import { readFileSync, Workspace } from "../../index.js";
import { VERSIONS } from "./versions.mjs";

const [, , root = "", times] = process.argv;
const workspace = Workspace.open(root);
const ways = [
  () => fs.readFileSync(path.join(root, "a.txt"), "utf8"),
  () => readFileSync(workspace, "a.txt").content,
];

/** @type {string[]} */
const odd = [];
let torn = 0;
let changes = 0;
let last = "";
for (let i = 0; i < Number(times); i++) {
  const text = ways[i % ways.length]?.() ?? "";
  if (!VERSIONS.includes(text)) {
    torn++;
    if (odd.length < 5)
      odd.push(`${text.length} characters: ${text.slice(0, 3)}…${text.slice(-3)}`);
  }
  if (text[0] !== last) changes++;
  last = text[0] ?? "";
}
process.stdout.write(`${JSON.stringify({ torn, odd, changes })}\n`);
