// Starts the programs that do the work. Each has a process of its own, which can be killed, traced, or run without
// a system call.

import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLES = path.join(ROOT, "target", "debug", "examples");

/** The tier: the kernel's, or the walk of a process without `openat2`. */
export type Tier = "kernel" | "walk";

/** The tiers of this system. */
export const TIERS: Tier[] = process.platform === "linux" ? ["kernel", "walk"] : ["walk"];

/** The path of one of the Rust programs, which `buildPrograms` has built. */
export function nativeProgram(name: string): string {
  return path.join(EXAMPLES, name);
}

/** Builds the Rust programs: those in `programs`, and the one that takes `openat2` away. */
export async function buildPrograms(): Promise<void> {
  const { code, stderr } = await start(["cargo", "build", "--quiet", "--examples"], {
    cwd: ROOT,
  }).ended;
  if (code !== 0) throw new Error(`the Rust programs do not build:\n${stderr}`);
}

/** The command that runs one of the JavaScript programs, on a tier. */
export function script(name: string, tier: Tier, ...args: string[]): string[] {
  return scriptWith([], name, tier, ...args);
}

/** The same with flags for Node. */
export function scriptWith(flags: string[], name: string, tier: Tier, ...args: string[]): string[] {
  const file = fileURLToPath(new URL(`../programs/${name}`, import.meta.url));
  return onTier(tier, [process.execPath, ...flags, file, ...args]);
}

/** A command in a process with or without the newer system calls. Names can be exchanged in both. */
export function onTier(tier: Tier, command: string[]): string[] {
  if (tier === "kernel" || process.platform !== "linux") return command;
  return [nativeProgram("without_new_calls"), "ENOSYS", "--keep-renameat2", ...command];
}

export interface Ended {
  /** The exit code, or the name of the signal that ended the process. */
  code: number | string | null;
  stdout: string;
  stderr: string;
}

/** A running program. */
export interface Running {
  child: ChildProcess;
  /** Settles when the program has printed its first line; rejects if it ends without one. */
  ready: Promise<void>;
  ended: Promise<Ended>;
  /** Closes its standard input, and waits for its end. */
  finish(): Promise<Ended>;
  kill(): Promise<Ended>;
}

export interface StartOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** The time limit in milliseconds, after which it is killed. */
  timeout?: number;
}

/** The running programs. They end with this process, unless it is killed by SIGKILL. */
const running = new Set<ChildProcess>();

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a program, whose standard input is a pipe that ends with this process. */
export function start([program, ...args]: string[], options: StartOptions = {}): Running {
  if (program === undefined) throw new Error("no program");
  const child = spawn(program, args, {
    ...options,
    stdio: ["pipe", "pipe", "pipe"],
    // A program that hangs is killed and counts as a failure.
    timeout: options.timeout ?? 30 * 60_000,
    killSignal: "SIGKILL",
  });
  running.add(child);
  child.on("close", () => running.delete(child));
  const printed = { stdout: "", stderr: "" };
  child.stdin.on("error", () => {}); // it may have ended already
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      printed[stream] += text;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: signal ?? code, ...printed }));
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on("data", () => printed.stdout.includes("\n") && resolve());
    ended.then(({ code, stdout, stderr }) => {
      if (stdout.includes("\n")) resolve();
      else reject(new Error(`${program} ended with ${code}: ${stderr}`));
    }, reject);
  });
  ready.catch(() => {}); // some callers do not wait for it
  const finish = () => {
    child.stdin.end();
    return ended;
  };
  const kill = () => {
    child.kill("SIGKILL");
    return ended;
  };
  return { child, ready, ended, finish, kill };
}

/** Runs a program to its end, and returns the JSON that it printed last. */
export async function answerOf<T>(running: Running): Promise<T> {
  const { code, stdout, stderr } = await running.ended;
  if (code !== 0) throw new Error(`a program ended with ${code}: ${stderr}`);
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as T;
}

/** The lines that a program prints, one for each call. */
export function linesOf({ child, ended }: Running): () => Promise<string> {
  const waiting: ((line: string) => void)[] = [];
  const lines: string[] = [];
  let rest = "";
  child.stdout?.on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      const next = waiting.shift();
      if (next) next(line);
      else lines.push(line);
    }
  });
  const failed = ended.then(({ code, stderr }): never => {
    throw new Error(`a program ended with ${code}: ${stderr}`);
  });
  failed.catch(() => {}); // programs also end after the work is done
  return () => {
    const line = lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    return Promise.race([new Promise<string>((resolve) => waiting.push(resolve)), failed]);
  };
}
