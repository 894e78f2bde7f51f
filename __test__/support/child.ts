// Runs reads in a process of their own: one that has dropped its user, lost its directory, or may die.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ReadFileOutput } from "../../index.js";

const SCRIPT = fileURLToPath(new URL("./child.mjs", import.meta.url));

export interface Job {
  reads: { context: object; path: string; options?: object }[];
  /** The user id to drop to before reading; null to stay. */
  user?: number | null;
  /** A directory to work in, which is removed before reading. */
  lostDirectory?: string;
}

export type Outcome =
  | { answer: ReadFileOutput }
  | { error: { name: string; code: string; path: string; message: string } };

/** Runs the job and gives the outcome of each read, in order. */
export async function runChild(job: Job): Promise<Outcome[]> {
  const { code, stdout, stderr } = await runScript(SCRIPT, [JSON.stringify(job)]);
  if (code !== 0) throw new Error(`the child ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as Outcome[];
}

export interface Ended {
  /** The exit code, or the name of the signal that ended the process. */
  code: number | string | null;
  stdout: string;
  stderr: string;
}

/** Runs a JavaScript file in the runtime that runs the tests, for ten seconds at most. */
export function runScript(script: string, args: string[], flags: string[] = []): Promise<Ended> {
  return run(process.execPath, [...flags, script, ...args]);
}

/** Runs a JavaScript file like runScript, in a process that may have `limit` files open (POSIX). */
export function runScriptWithFiles(limit: number, script: string, args: string[]): Promise<Ended> {
  const command = `ulimit -n ${limit} && exec "$0" "$@"`;
  return run("sh", ["-c", command, process.execPath, script, ...args]);
}

function run(program: string, args: string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], timeout: 10_000 });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: signal ?? code, stdout, stderr }));
  });
}
