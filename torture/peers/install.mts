// Installs other packages that open files for agents, from npm, for the time of a run.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { start } from "../kit/programs.mts";

/** Their names in npm. The newest of each is installed, whatever Node it wants. */
export const PEERS = [
  "@modelcontextprotocol/server-filesystem",
  "@openclaw/fs-safe",
  "@mastra/core",
  "deepagents",
  "just-bash",
];

/** Installs them, and returns the path of a Node that is new enough for all of them. */
export async function installPeers(folder: string): Promise<string> {
  const dependencies = Object.fromEntries(PEERS.map((name) => [name, "latest"]));
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ dependencies }));
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await run(["npm", "install", ...options], folder);
  const newest = fileURLToPath(new URL("../../scripts/newest-node.mjs", import.meta.url));
  return run([process.execPath, newest], folder);
}

/** The version that was installed. */
export function versionOf(name: string, folder: string): string {
  const file = path.join(folder, "node_modules", name, "package.json");
  return String(JSON.parse(fs.readFileSync(file, "utf8")).version);
}

async function run(command: string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await start(command, { cwd }).ended;
  if (code !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  return stdout.trim();
}
