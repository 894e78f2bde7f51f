// @ts-check
// The program that becomes a single executable application of Node, which has no node_modules: the addon
// lies beside it. Prints a file of a workspace.

const fs = require("node:fs");
const path = require("node:path");

const addon = path.join(path.dirname(process.execPath), "ringfence.node");
if (fs.existsSync(addon)) process.env.RINGFENCE_NATIVE_LIBRARY_PATH = addon;
const { readFileSync } = require("ringfence");

const [workspaceRoot = "", file = ""] = process.argv.slice(2);
process.stdout.write(readFileSync({ workspaceRoot }, file).content);
