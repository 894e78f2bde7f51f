// Attaches strace to a process that waits for its next command, to record the system calls of an operation or to
// make one of them fail.

import fs from "node:fs";
import { type Running, start } from "./programs.mts";

/** One call of an operation: its name, and its number among the calls of that name since strace was attached. */
export interface SystemCall {
  name: string;
  /** From 1. */
  ordinal: number;
  /** The line of strace. */
  text: string;
}

/** A failure to inject. */
export interface Fault {
  call: string;
  errno: string;
  /** The first call of that name that fails, from 1. */
  first: number;
  /** How many in a row. */
  times: number;
}

export interface Traced<T> {
  answer: T;
  /** The calls between the marks. */
  calls: SystemCall[];
  /** How many calls failed before the first mark, between the marks, and after them. */
  injected: Record<Place, number>;
}

type Place = "before" | "inside" | "after";

/** Runs `body` while strace watches one thread of a process, and injects faults. */
export async function traced<T>(
  pid: number,
  log: string,
  fault: Fault | undefined,
  body: () => Promise<T>,
): Promise<Traced<T>> {
  fs.rmSync(log, { force: true });
  const strace = start(["strace", "-p", String(pid), "-o", log, ...injection(fault)]);
  try {
    await attached(strace);
    return { answer: await body(), ...(await detached(strace, log)) };
  } finally {
    await strace.kill();
  }
}

function injection(fault: Fault | undefined): string[] {
  if (!fault) return [];
  const { call, errno, first, times } = fault;
  const when = times === 1 ? `${first}` : `${first}..${first + times - 1}`;
  return ["-e", `inject=${call}:error=${errno}:when=${when}`];
}

/** Settles when strace says that it is attached. */
function attached({ child, ended }: Running): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.on("data", (text: string) => {
      said += text;
      if (said.includes("attached")) resolve();
    });
    ended.then(() => reject(new Error(`strace cannot attach: ${said}`)), reject);
  });
}

async function detached(strace: Running, log: string): Promise<Omit<Traced<never>, "answer">> {
  strace.child.kill("SIGTERM");
  await strace.ended;
  return read(fs.readFileSync(log, "utf8"));
}

function read(log: string): Omit<Traced<never>, "answer"> {
  const counts = new Map<string, number>();
  const calls: SystemCall[] = [];
  const injected = { before: 0, inside: 0, after: 0 };
  let place: Place = "before";
  for (const text of log.split("\n")) {
    const name = /^(\w+)\(/.exec(text)?.[1];
    if (!name) continue;
    const ordinal = (counts.get(name) ?? 0) + 1;
    counts.set(name, ordinal);
    if (text.includes("/ringfence-torture-begin")) place = "inside";
    else if (text.includes("/ringfence-torture-end")) place = "after";
    else if (place === "inside") calls.push({ name, ordinal, text });
    if (text.includes("(INJECTED)")) injected[place]++;
  }
  return { calls, injected };
}
