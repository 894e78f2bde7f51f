// The program that `bun build --compile` turns into one executable: prints a file of a workspace.

import { readFile } from "ringfence";

const [workspaceRoot = "", path = ""] = process.argv.slice(2);
const { content } = await readFile({ workspaceRoot }, path);
process.stdout.write(content);
