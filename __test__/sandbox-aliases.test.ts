// Hard links and bind mounts that alias files from elsewhere count as the workspace's files, as
// docs/threat-model.md says under "What is not promised".

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { readFile } from "../index.js";
import { noMounts } from "./support/platform.ts";
import { ROOT, runCommand } from "./support/program.ts";
import { inWorkspace, SECRET } from "./support/workspace.ts";

test(
  "a hard link to a file outside is read as the workspace's",
  inWorkspace(async (ws) => {
    ws.writeOutside("secret.txt");
    fs.linkSync(path.join(ws.outside, "secret.txt"), path.join(ws.root, "alias.txt"));
    assert.equal((await readFile(ws.context, "alias.txt")).content, SECRET);
  }),
);

test(
  "a folder outside that is mounted into the workspace is read as the workspace's",
  { skip: noMounts },
  inWorkspace(async (ws) => {
    ws.writeOutside("secret.txt");
    const mounted = path.join(ws.root, "mounted");
    fs.mkdirSync(mounted);
    const mount = 'mount --bind "$0" "$1" && shift && exec "$@"';
    const program = `
      const { readFileSync } = require(process.argv[1]);
      const { content } = readFileSync({ workspaceRoot: process.argv[2] }, "mounted/secret.txt");
      process.stdout.write(content);`;
    const read = [process.execPath, "-e", program, path.join(ROOT, "index.js"), ws.root];
    const args = ["--mount", "sh", "-c", mount, ws.outside, mounted, ...read];
    const { stdout, stderr } = await runCommand("unshare", args);
    assert.equal(stdout, SECRET, stderr);
  }),
);
