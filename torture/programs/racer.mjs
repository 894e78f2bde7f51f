// One of many that create the same names at the same moment.
//
//     node racer.mjs ROOT NUMBER ROUNDS GATE GATE
//
// Runs ROUNDS rounds by ringfence, then continues in the naive way until it is killed. The gates are FIFOs: opening one
// waits until the other end is opened, too, and then all waiting processes continue at once. After each round it prints
// the result: "won", or the error's code.

import fs from "node:fs";
import path from "node:path";
import { createFileSync, Workspace } from "../../index.js";

const [, , root = "", number, rounds, ...gates] = process.argv;
const workspace = Workspace.open(root, { durability: "none" });

/** @param {string} name */
function createNaively(name) {
  if (fs.existsSync(path.join(root, name))) return "FileExists";
  fs.writeFileSync(path.join(root, name), String(number));
  return "won";
}

/** @param {string} name */
function create(name) {
  const result = createFileSync(workspace, { path: name, content: String(number) });
  return result.errorCode ?? "won";
}

fs.writeSync(1, "ready\n");
for (let round = 0; ; round++) {
  const way = round < Number(rounds) ? create : createNaively;
  fs.closeSync(fs.openSync(gates[round % 2] ?? "", "r"));
  fs.writeSync(1, `${way(`${round}.txt`)}\n`);
}
