// Other packages that open files for agents, installed from npm for the time of a run.

import fs from "node:fs";
import path from "node:path";
import { start } from "../kit/programs.mts";

/** The names in npm, with the versions that the adapters were written for. */
export const PACKAGES: Record<string, string> = {};

export const PEERS: string[] = Object.keys(PACKAGES);

export async function installPeers(folder: string): Promise<void> {
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ dependencies: PACKAGES }));
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { code, stderr } = await start(["npm", "install", ...options], { cwd: folder }).ended;
  if (code !== 0) throw new Error(`npm cannot install the other packages: ${stderr}`);
}
