// Overwrites a.txt with one version after the other until its standard input ends:
// node overwriter.mjs ringfence|naive ROOT

import fs from "node:fs";
import path from "node:path";
import { createFile, Workspace } from "../../index.js";
import { VERSIONS } from "./versions.mjs";

const [, , how, root = ""] = process.argv;
const workspace = Workspace.open(root, { durability: "none" });

/** @param {string} content */
async function overwrite(content) {
  if (how === "naive") return fs.promises.writeFile(path.join(root, "a.txt"), content);
  const result = await createFile(workspace, { path: "a.txt", content, overwrite: true });
  if (!result.success) throw new Error(JSON.stringify(result));
}

let done = false;
process.stdin.resume().on("end", () => {
  done = true;
});
for (let i = 0; !done; i++) {
  await overwrite(VERSIONS[i % VERSIONS.length] ?? "");
  if (i === 0) fs.writeSync(1, "ready\n");
}
