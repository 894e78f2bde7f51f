// Increases a number in a file TIMES times: node counter.mjs ringfence|naive ROOT TIMES
//
// With ringfence it passes the hash of the text that it has read as `expectedHash`, and tries again if the file has
// changed. The naive way just writes. Prints "ready", waits for a line, and prints the number of successes.

import fs from "node:fs";
import { createFile, readFile, Workspace } from "../../index.js";

const [, , how, root = "", times] = process.argv;
const workspace = Workspace.open(root, { durability: "none" });
const path = "counter.txt";

async function countUp() {
  const { content, meta } = await readFile(workspace, path, { include_hash: true });
  const expectedHash = how === "naive" ? undefined : meta.sha256;
  const next = { path, content: `${Number(content) + 1}\n`, overwrite: true, expectedHash };
  const result = await createFile(workspace, next);
  if (result.success) return true;
  if (/changed since it was read|open for writing/.test(result.message)) return false;
  throw new Error(JSON.stringify(result));
}

fs.writeSync(1, "ready\n");
fs.readSync(0, Buffer.alloc(1));
let refused = 0;
for (let done = 0; done < Number(times); ) {
  if (await countUp()) done++;
  else refused++;
}
process.stdout.write(`${JSON.stringify({ refused })}\n`);
