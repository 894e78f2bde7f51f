// Runs reads and creates in a process of their own: one that has dropped its user, lost its directory,
// has a umask or a mount of its own, or may die.

import { spawn } from "node:child_process";
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import type { CreateFileResult, ReadFileOutput, WorkspaceSnapshot } from "../../index.js";

const SCRIPT = fileURLToPath(new URL("./child.mjs", import.meta.url));
const SCENES = fileURLToPath(new URL("./create-scenes.mjs", import.meta.url));

interface Setting {
  /** The user id to drop to before the work; null to stay. */
  user?: number | null;
  /** A directory to work in, which is removed before the work. */
  lostDirectory?: string;
}

export interface Job extends Setting {
  reads: { context: object; path: string; options?: object }[];
}

export interface CreateJob extends Setting {
  creates: { context: object; args: unknown }[];
  umask?: number;
}

/** Calls of exported functions by name. */
export interface CallJob extends Setting {
  calls: { call: string; args: unknown[] }[];
}

export type CallOutcome =
  | { answer: unknown }
  | { error: { name: string; code: string; path: string; message: string; removed?: number } };

export interface SnapshotJob extends Setting {
  snapshots: { context: object; options?: object }[];
}

export type SnapshotOutcome =
  | { answer: WorkspaceSnapshot }
  | { error: { name: string; code: string; message: string } };

export type Outcome =
  | { answer: ReadFileOutput }
  | { error: { name: string; code: string; path: string; message: string } };

/** Runs the job and gives the outcome of each read, in order. */
export async function runChild(job: Job): Promise<Outcome[]> {
  return answerOf(await runScript(SCRIPT, [JSON.stringify(job)]));
}

export interface ManyReadsJob extends Setting {
  byteReads: { context: object; path: string; options?: object }[];
  manyReads: { context: object; args: object }[];
}

export type ManyReadsOutcome =
  | { answer: Record<string, unknown> }
  | { error: { name: string; code: string; path: string; message: string } };

/** Runs the job and gives the outcome of each `readBytes`, then of each `readFiles`. */
export async function readManyInChild(job: ManyReadsJob): Promise<ManyReadsOutcome[]> {
  return answerOf(await runScript(SCRIPT, [JSON.stringify(job)]));
}

/** Runs the job and gives the result of each create, in order. */
export async function createInChild(job: CreateJob): Promise<CreateFileResult[]> {
  return answerOf(await runScript(SCRIPT, [JSON.stringify(job)]));
}

/** Runs the job and gives the outcome of each snapshot, in order. */
export async function snapshotInChild(job: SnapshotJob): Promise<SnapshotOutcome[]> {
  return answerOf(await runScript(SCRIPT, [JSON.stringify(job)]));
}

/** Runs the job and gives the outcome of each call, in order. */
export async function callInChild(job: CallJob): Promise<CallOutcome[]> {
  return answerOf(await runScript(SCRIPT, [JSON.stringify(job)]));
}

/** A mount that a child has to itself. */
export type Mount =
  /** A folder or file of another place; `null` for an empty tmpfs. */
  | { source: string | null; at: string }
  /** An overlayfs over a folder; its changes go to a tmpfs that is mounted at the empty folder `upper`. */
  | { overlay: string; upper: string; at: string };

/** Runs the job with mounts that its process alone sees (root on Linux). */
export async function callWithMounts(mounts: Mount[], job: CallJob): Promise<CallOutcome[]> {
  const commands = mounts.flatMap((mount) => {
    const at = quoted(mount.at);
    if ("source" in mount) {
      const { source } = mount;
      return source === null
        ? [`mount -t tmpfs none ${at}`]
        : [`mount --bind ${quoted(source)} ${at}`];
    }
    const [lower, upper] = [quoted(mount.overlay), quoted(mount.upper)];
    const options = `lowerdir=${lower},upperdir=${upper}/changes,workdir=${upper}/work`;
    return [
      `mount -t tmpfs none ${upper}`,
      `mkdir ${upper}/changes ${upper}/work`,
      `mount -t overlay -o ${options} none ${at}`,
    ];
  });
  const command = [...commands, 'exec "$@"'].join(" && ");
  const program = [process.execPath, SCRIPT, JSON.stringify(job)];
  return answerOf(await run("unshare", ["-m", "sh", "-c", command, "sh", ...program]));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Runs the job under strace, and tells how often it made one of these system calls. */
export async function countCalls(job: CreateJob, calls: string[]): Promise<number> {
  const ended = await traced(job, ["-e", `trace=${calls.join(",")}`]);
  for (const { success } of answerOf<CreateFileResult[]>(ended)) {
    if (!success) throw new Error(ended.stdout);
  }
  const call = new RegExp(`\\b(?:${calls.join("|")})\\(`);
  return ended.stderr.split("\n").filter((line) => call.test(line)).length;
}

/** Runs the job under strace, where system calls fail as strace's `inject` is told, `call:error=NAME`. */
export async function createWithFaults(
  job: CreateJob,
  ...faults: string[]
): Promise<CreateFileResult[]> {
  return answerOf(await tracedWithFaults(job, faults));
}

/** Runs the job like `createWithFaults`. */
export async function callWithFaults(job: CallJob, ...faults: string[]): Promise<CallOutcome[]> {
  return answerOf(await tracedWithFaults(job, faults));
}

function tracedWithFaults(job: CreateJob | CallJob, faults: string[]): Promise<Ended> {
  const calls = faults.map((fault) => fault.split(":")[0]);
  const injected = faults.flatMap((fault) => ["-e", `inject=${fault}`]);
  return traced(job, ["-e", `trace=${calls.join(",")}`, ...injected]);
}

function traced(job: CreateJob | CallJob, options: string[]): Promise<Ended> {
  const quiet = ["-f", "-qq", "-e", "signal=none"];
  const program = [process.execPath, SCRIPT, JSON.stringify(job)];
  return run("strace", [...quiet, ...options, ...program]);
}

/** What a child has printed as JSON, last of all. */
export function answerOf<T>({ code, stdout, stderr }: Ended): T {
  if (code !== 0) throw new Error(`the child ended with ${code}: ${stderr}`);
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as T;
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

/** Plays a scene of create-scenes.mjs with a tmpfs at `folder` that it alone sees (root on Linux). */
export function playMounted(
  options: string,
  folder: string,
  scene: string,
  job: object,
): Promise<Ended> {
  const command = 'mount -t tmpfs -o "$0" none "$1" && shift && exec "$@"';
  const program = [process.execPath, SCENES, scene, JSON.stringify(job)];
  return run("unshare", ["-m", "sh", "-c", command, options, folder, ...program]);
}

function run(program: string, args: string[]): Promise<Ended> {
  return start(program, args).ended;
}

/** A child that goes on until it ends by itself or is killed, or thirty seconds have passed. */
export interface Running {
  /** Settles when the child has printed its first line, or has ended without one. */
  ready: Promise<void>;
  ended: Promise<Ended>;
  /** Kills it at once (SIGKILL on POSIX) and waits for its end. */
  kill(): Promise<Ended>;
}

/** Starts a scene of create-scenes.mjs in the runtime that runs the tests. */
export function startScene(scene: string, job: object): Running {
  return start(process.execPath, [SCENES, scene, JSON.stringify(job)], 30_000);
}

/**
 * Whether a test goes on that works against a scene: for 8 seconds, and for 20 rounds in any case. A create that loses
 * every race is repeated for some 60 ms, and a fast scene wins all of them.
 */
export function goesOn(begun: number, round: number): boolean {
  return round < 20 || performance.now() - begun < 8_000;
}

/** Runs `body` while a scene goes on, which must not end before it is killed. */
export async function alongside(
  scene: string,
  job: object,
  body: () => Promise<void>,
): Promise<void> {
  const running = startScene(scene, job);
  let ended: Ended;
  try {
    await running.ready;
    await body();
  } finally {
    ended = await running.kill();
  }
  if (ended.code !== "SIGKILL") {
    throw new Error(`the scene ${scene} ended with ${ended.code}: ${ended.stderr}`);
  }
}

/**
 * Counts from 1 to `most`, but no longer than some seconds: on a busy machine a body that `watching` runs
 * does less, in the same time. Twice at least, so that there is something to see.
 */
export function* briefly(most: number): Generator<number> {
  const end = performance.now() + 4_000;
  for (let i = 1; i <= most && (i <= 2 || performance.now() < end); i++) yield i;
}

/** Runs `body` while a process reads `path`, and returns the texts it read that are not in `allowed`. */
export async function watching(
  path: string,
  allowed: readonly (readonly [character: string, length: number])[],
  body: () => Promise<void>,
): Promise<{ reads: number; odd: string[] }> {
  const stop = `${path}.stop`;
  const reader = startScene("watch", { path, stop, allowed });
  try {
    await reader.ready;
    await body();
    fs.writeFileSync(stop, "");
    return answerOf(await reader.ended);
  } finally {
    await reader.kill();
    fs.rmSync(stop, { force: true });
  }
}

/** Starts any program. */
export function startProgram(program: string, args: string[]): Running {
  return start(program, args, 30_000);
}

function start(program: string, args: string[], timeout = 10_000): Running {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], timeout });
  let stdout = "";
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: signal ?? code, stdout, stderr }));
  });
  const ready = new Promise<void>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      if (stdout.includes("\n")) resolve();
    });
    child.on("error", () => resolve());
    child.on("close", () => resolve());
  });
  const kill = () => {
    child.kill("SIGKILL");
    return ended;
  };
  return { ready, ended, kill };
}
