// Makes each system call of an operation fail, with each kind of failure.

import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../__test__/support/random.ts";
import type { Check, Control, Row, Setting } from "../kit/check.mts";
import { linesOf, type Running, scriptWith, start, TIERS, type Tier } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";
import { type Fault, type SystemCall, type Traced, traced } from "../kit/tracer.mts";
import { type Change, patchOf } from "../programs/patches.mjs";

/** The kinds of failures: the error, and how often in a row. */
const FAILURES: [errno: string, times: number][] = [
  ...["ENOSPC", "EIO", "EINTR", "EDQUOT", "EMFILE", "EROFS"].map((errno): [string, number] => [
    errno,
    1,
  ]),
  ["EAGAIN", 200],
];

/**
 * Calls for memory, threads and signals are left out because the engine makes them. `close` is left out because
 * strace suppresses a call that it makes fail: the descriptor would leak because of strace.
 */
const NOT_OURS = /^(close|mmap|munmap|mprotect|mremap|madvise|brk|futex|rt_\w+|sched_\w+)$/;

/** A thread of the pool tells the engine by this call that it has done its work. */
const WAKES_ENGINE = /^write\(\d+, "\\1(\\0){7}", 8\)/;

interface Command {
  operation: "read" | "create" | "edit" | "patch" | "naive";
  args: {
    path?: string;
    patch?: string;
    overwrite?: boolean;
    expectedHash?: string;
    old_string?: string;
    expected_hash?: string;
  };
  /** What the changes of a patch do to the files, by their action and path. */
  effects?: Record<string, (tree: Map<string, string>) => void>;
}

const OLD = `${"old ".repeat(50)}\n`.repeat(100);
const NEW = "new\n".repeat(20_000); // as fault-worker.mjs writes it
const overwrite = true;
const OLD_HASH = createHash("sha256").update(OLD).digest("hex");

const COMMANDS: Record<string, Command> = {
  "a read": { operation: "read", args: { path: "dir/old.txt" } },
  "a read through a link": { operation: "read", args: { path: "way/old.txt" } },
  "a create": { operation: "create", args: { path: "dir/new.txt" } },
  "a create in new folders": {
    operation: "create",
    args: { path: "dir/made/deep/new.txt" },
  },
  "an overwrite": { operation: "create", args: { path: "dir/old.txt", overwrite } },
  "an overwrite through a link": { operation: "create", args: { path: "link.txt", overwrite } },
  "an overwrite of a known file": {
    operation: "create",
    args: { path: "dir/old.txt", overwrite, expectedHash: OLD_HASH },
  },
};

const old_string = OLD;
const EDITS: Record<string, Command> = {
  "an edit through a link": { operation: "edit", args: { path: "link.txt", old_string } },
  "an edit of a known file": {
    operation: "edit",
    args: { path: "dir/old.txt", old_string, expected_hash: OLD_HASH },
  },
};

/** The text of the files that a patch moves and removes. */
const SPARE = "spare\n";

const PATCH: Change[] = [
  { path: "link.txt", before: OLD, after: "patched\n" },
  { path: "dir/moved.txt", to: "way/to.txt", before: SPARE, after: "moved\n" },
  { path: "dir/removed.txt", before: SPARE },
  { path: "dir/made/deep/new.txt", after: "made\n" },
];

const EFFECTS: Record<string, (tree: Map<string, string>) => void> = {
  "update link.txt": (tree) => tree.set("dir/old.txt", "patched\n"),
  "update dir/moved.txt": (tree) => tree.set("dir/moved.txt", "moved\n"),
  "move way/to.txt": (tree) => {
    tree.set("dir/to.txt", tree.get("dir/moved.txt") ?? "");
    tree.delete("dir/moved.txt");
  },
  "delete dir/removed.txt": (tree) => tree.delete("dir/removed.txt"),
  "add dir/made/deep/new.txt": (tree) => tree.set("dir/made/deep/new.txt", "made\n"),
};

const PATCHES: Record<string, Command> = {
  "a patch": {
    operation: "patch",
    args: { patch: patchOf(PATCH, "unified") },
    effects: EFFECTS,
  },
};

const NAIVE: Command[] = [
  { operation: "naive", args: { path: "dir/old.txt" } },
  { operation: "naive", args: { path: "dir/made/deep/new.txt" } },
];

interface Answer {
  success: boolean;
  code?: string;
  message?: string;
  content?: string;
  /** The changes of a patch that stand all the same. */
  applied?: { path: string; action: string }[];
  /** How many more descriptors are open than before. */
  leaked: number;
}

export const faults: Check = {
  name: "faults",
  run: (setting) => underFaults(setting, COMMANDS),
};

/** Makes the system calls of edits fail: in the short run of one that makes the most of them. */
export function editsUnderFaults(setting: Setting): AsyncIterable<Row> {
  const edits = Object.entries(EDITS).slice(0, setting.scale.of(1, Infinity));
  return underFaults(setting, Object.fromEntries(edits));
}

/** Makes the system calls of a patch fail. */
export function patchesUnderFaults(setting: Setting): AsyncIterable<Row> {
  return underFaults(setting, PATCHES);
}

async function* underFaults(
  setting: Setting,
  commands: Record<string, Command>,
): AsyncIterable<Row> {
  const reason = await whyNoTrace();
  if (reason) return yield { check: "a system call fails", where: "", notRun: reason };
  for (const tier of TIERS) {
    const naive = await inVictim(tier, (victim) => {
      return failAll(victim, NAIVE, setting);
    });
    const control = { what: "write in place", ...naive };
    for (const [name, command] of Object.entries(commands)) {
      yield await inVictim(tier, (victim) => oneCommand(victim, name, command, control, setting));
    }
  }
}

async function whyNoTrace(): Promise<string | undefined> {
  if (process.platform !== "linux") return "strace is a Linux program";
  const sleeper = start([process.execPath, "-e", "console.log(1); process.stdin.resume()"]);
  try {
    await sleeper.ready;
    await inScratch((base) =>
      traced(Number(sleeper.child.pid), path.join(base, "log"), undefined, async () => {}),
    );
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n")[0];
  } finally {
    await sleeper.kill();
  }
}

/** A worker and its workspace. A worker that ends is replaced. */
class Victim {
  readonly tier: Tier;
  readonly root: string;
  readonly log: string;
  #worker: Running;
  #nextLine: () => Promise<string>;
  #threads = { main: 0, pool: 0 };

  constructor(tier: Tier, base: string) {
    this.tier = tier;
    this.root = path.join(base, "ws");
    this.log = path.join(base, "log");
    fs.mkdirSync(this.root);
    this.#worker = this.#start();
    this.#nextLine = linesOf(this.#worker);
  }

  #start(): Running {
    // Further threads of the engine would make system calls at unpredictable times.
    const command = scriptWith(["--single-threaded"], "fault-worker.mjs", this.tier, this.root);
    // Of the pool one thread is enough, and strace can attach to it.
    return start(command, { env: { ...process.env, UV_THREADPOOL_SIZE: "1" } });
  }

  async begin(): Promise<void> {
    this.#threads = JSON.parse(await this.#nextLine());
  }

  async beginAnew(): Promise<void> {
    await this.end();
    this.#worker = this.#start();
    this.#nextLine = linesOf(this.#worker);
    await this.begin();
  }

  /** The answer to a command; `undefined` if the worker ends meanwhile. */
  async do(command: Command): Promise<Answer | undefined> {
    this.#worker.child.stdin?.write(`${JSON.stringify(command)}\n`);
    try {
      return JSON.parse(await this.#nextLine());
    } catch {
      return undefined;
    }
  }

  /** The same under strace. */
  traced(command: Command, fault?: Fault): Promise<Traced<Answer | undefined>> {
    const { main, pool } = this.#threads;
    const isOnPool = command.operation === "edit" || command.operation === "patch";
    const thread = isOnPool ? pool : main;
    return traced(thread, this.log, fault, () => this.do(command));
  }

  async end(): Promise<void> {
    await this.#worker.kill();
  }
}

async function inVictim<T>(tier: Tier, body: (victim: Victim) => Promise<T>): Promise<T> {
  return inScratch(async (base) => {
    const victim = new Victim(tier, base);
    try {
      await victim.begin();
      return await body(victim);
    } finally {
      await victim.end();
    }
  });
}

/** The results of failing calls. */
interface Count {
  operations: number;
  violations: number;
  examples: string[];
}

async function oneCommand(
  victim: Victim,
  name: string,
  command: Command,
  control: Control,
  setting: Setting,
): Promise<Row> {
  const count = await failAll(victim, [command], setting);
  return { check: `a system call fails: ${name}`, where: victim.tier, ...count, control };
}

async function failAll(
  victim: Victim,
  commands: Command[],
  { scale, seed }: Setting,
): Promise<Count> {
  const random = new Random(seed);
  const count: Count = { operations: 0, violations: 0, examples: [] };
  for (const command of commands) {
    for (const call of await callsOf(victim, command)) {
      const first = random.below(FAILURES.length);
      for (let i = 0; i < scale.of(1, FAILURES.length); i++) {
        const failure = FAILURES[(first + i) % FAILURES.length] ?? ["EIO", 1];
        await failOnce(victim, command, call, failure, count);
      }
    }
  }
  return count;
}

/** The system calls that a command makes when none fails. */
async function callsOf(victim: Victim, command: Command): Promise<SystemCall[]> {
  // Some calls are made once per process, so the command runs twice.
  for (let turn = 0; ; turn++) {
    lay(victim.root);
    const { answer, calls } = await victim.traced(command);
    if (!answer?.success) throw new Error(`without a fault: ${answer?.message}`);
    const isOurs = ({ name, text }: SystemCall) => !NOT_OURS.test(name) && !WAKES_ENGINE.test(text);
    if (turn > 0) return calls.filter(isOurs);
  }
}

/** The files that every command starts from. */
const LAID = new Map([
  ["dir/old.txt", OLD],
  ["dir/moved.txt", SPARE],
  ["dir/removed.txt", SPARE],
]);

/** The tree that every command starts from. */
function lay(root: string): void {
  for (const name of fs.readdirSync(root)) fs.rmSync(path.join(root, name), { recursive: true });
  fs.mkdirSync(path.join(root, "dir"));
  for (const [name, text] of LAID) fs.writeFileSync(path.join(root, name), text);
  fs.symlinkSync(path.join(root, "dir"), path.join(root, "way"));
  fs.symlinkSync("dir/old.txt", path.join(root, "link.txt"));
}

async function failOnce(
  victim: Victim,
  command: Command,
  call: SystemCall,
  [errno, times]: [string, number],
  count: Count,
): Promise<void> {
  const fault = { call: call.name, errno, first: call.ordinal, times };
  const outcome = await underFault(victim, command, fault);
  // Sweeps run when they are due, and add their own calls.
  if (outcome === "not made") return;
  count.operations++;
  if (times > 1) await sweep(victim, outcome === "ended" ? "" : (outcome.message ?? ""));
  const wrong =
    outcome === "ended" ? "the process ended" : wrongAnswer(victim, command, outcome, fault);
  if (!wrong) return;
  count.violations++;
  const what = `${call.text.slice(0, 80)} ← ${errno} × ${times}`;
  if (count.examples.length < 5) count.examples.push(`${what}: ${wrong}`);
}

/** The command's answer while one of its calls fails, or the fact that the process ended. */
async function underFault(
  victim: Victim,
  command: Command,
  fault: Fault,
): Promise<Answer | "ended" | "not made"> {
  let { first } = fault;
  for (let attempt = 0; attempt < 8; attempt++) {
    lay(victim.root);
    const { answer, injected } = await victim.traced(command, { ...fault, first });
    if (!answer) await victim.beginAnew();
    if (injected.inside > 0) return answer ?? "ended";
    // The engine has made one such call more, or fewer, before the command.
    first = Math.max(1, injected.before > 0 ? first + 1 : first - 1);
  }
  return "not made";
}

/** Replaces a file in the folder. The folder is swept then, if that is due; what the message names is kept. */
async function sweep(victim: Victim, message: string): Promise<void> {
  const place = "dir/sweep.txt";
  const absolute = path.join(victim.root, place);
  const isLeftover = (name: string) =>
    name.includes(".rf-") && !message.includes(path.basename(name));
  const isSwept = () => ![...treeOf(victim.root).keys()].some(isLeftover);
  for (let attempt = 0; attempt < 40 && !isSwept(); attempt++) {
    if (attempt > 0) await pause(50);
    fs.writeFileSync(absolute, "");
    await victim.do({ operation: "create", args: { path: place, overwrite: true } });
    fs.rmSync(absolute);
  }
}

function wrongAnswer(
  victim: Victim,
  command: Command,
  answer: Answer,
  fault: Fault,
): string | undefined {
  const { success, code, message, content, leaked } = answer;
  if (leaked !== 0) return `${leaked} descriptors stay open`;
  // A file that always answers EAGAIN is one that makes its readers wait.
  const isWaiting = fault.errno === "EAGAIN" && fault.call === "read";
  if (command.operation === "read") {
    if (success) return content === OLD ? undefined : "read something else";
    // The system also answers EAGAIN for a file that another program holds for a moment.
    const isKept = fault.errno === "EAGAIN" && fault.times > 1 && code === "CONTENDED";
    const expected = isWaiting ? "NOT_FILE" : "INTERNAL";
    return isKept || code === expected ? undefined : `${code}: ${message}`;
  }
  const codes = [CODES[command.operation] ?? code, isWaiting ? "NOT_FILE" : ""].flat();
  const isPanic = /please report it/.test(message ?? "");
  if (!success && (isPanic || !codes.includes(code))) return `${code}: ${message}`;
  return wrongTree(victim.root, command, answer, fault.times > 1);
}

const CODES: Partial<Record<Command["operation"], string[]>> = {
  create: ["WriteFailed", "DirectoryCreateFailed"],
  // EROFS is a lack of permission, and EAGAIN that another program holds the file.
  edit: ["INTERNAL", "PERMISSION_DENIED", "CONTENDED"],
  patch: ["INTERNAL", "PERMISSION_DENIED", "CONTENDED", "PARTIAL"],
};

/**
 * After a success the new file is there; after a failure the tree is unchanged, but for what `PARTIAL` names.
 *
 * If a call fails repeatedly (`mayStay`), the operation may be impossible to undo. Then a new file may stay if the
 * answer says so, an empty folder may stay, and so may a file beside that the message names.
 */
function wrongTree(
  root: string,
  { args, effects = {} }: Command,
  { success, code, message, applied = [] }: Answer,
  mayStay: boolean,
): string | undefined {
  if (mayStay && /^(?:\w+: )?the file was written, but/.test(message ?? "")) return undefined;
  const found = treeOf(root);
  const standing = applied.map(({ action, path }) => `${action} ${path}`);
  // The last calls of a patch are made when all its changes are final.
  const isWhole =
    code === "PARTIAL" && Object.keys(effects).every((change) => standing.includes(change));
  if (code === "PARTIAL" && !mayStay && !isWhole) return `one failure, not undone: ${message}`;
  if (mayStay || isWhole) {
    for (const name of found.keys()) {
      const isKept = name.includes("/.rf-") && message?.includes(path.basename(name));
      if (name.endsWith("/") || isKept) found.delete(name);
    }
  }
  const expected = new Map(LAID);
  for (const [change, effect] of Object.entries(effects)) {
    if (success || standing.includes(change)) effect(expected);
  }
  if (success && args.path) {
    expected.set(args.path === "link.txt" ? "dir/old.txt" : args.path, NEW);
  }
  const shown = (tree: Map<string, string>) =>
    JSON.stringify([...tree].map(([name, text]) => `${name}: ${versionOf(text)}`).sort());
  if (shown(found) === shown(expected)) return undefined;
  return `${success ? "success" : message}, but there is ${shown(found)}`;
}

function versionOf(text: string): string {
  if (text === OLD) return "old";
  if (text === NEW) return "new";
  return text.length < 100 ? text : `${text.length} bytes`;
}

/** The files, by their path, and the folders that are empty. */
function treeOf(root: string, below = ""): Map<string, string> {
  const tree = new Map<string, string>();
  const entries = fs.readdirSync(path.join(root, below), { withFileTypes: true });
  if (entries.length === 0) tree.set(`${below}/`, "");
  for (const entry of entries) {
    const name = path.posix.join(below, entry.name);
    if (entry.isFile()) tree.set(name, fs.readFileSync(path.join(root, name), "utf8"));
    if (entry.isDirectory()) for (const [inner, text] of treeOf(root, name)) tree.set(inner, text);
  }
  return tree;
}
