// Runs reads of file: URIs, and work with stores, in processes of their own.

import { fileURLToPath } from "node:url";
import { answerOf, type Running, runScript, startProgram } from "./child.ts";

const SCRIPT = fileURLToPath(new URL("./uri-child.mjs", import.meta.url));

export interface UriJob {
  /** The user id to drop to before the work; null to stay. */
  user?: number | null;
  /** A file to wait for before the work. */
  start?: string;
  reads?: { uri: string; context: object }[];
  /** The directory of the store that the rest is for. */
  store?: string;
  gets?: string[];
  puts?: string[];
  /** How often each of `puts` is repeated to make a text: a command line has room for little. */
  repeat?: number;
}

export interface UriOutcome {
  answer?: unknown;
  error?: { name: string; code: string; message: string };
}

/** Runs the job and gives the outcome of each read, get and put, in that order. */
export async function runUriChild(job: UriJob): Promise<UriOutcome[]> {
  return answerOf(await runScript(SCRIPT, [JSON.stringify(job)]));
}

/** Starts a job that waits for its file `start`; it is ready when it waits. */
export function startUriChild(job: UriJob & { start: string }): Running {
  return startProgram(process.execPath, [SCRIPT, JSON.stringify(job)]);
}

/** What a child that was started gives when it ends. */
export async function outcomesOf(child: Running): Promise<UriOutcome[]> {
  return answerOf(await child.ended);
}
