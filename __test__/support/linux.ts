// What only Linux has and Node has no call for: done by python3.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Running, startProgram } from "./child.ts";
import { notLinux } from "./platform.ts";

type Skip = false | string;

const scriptAt = (name: string) => fileURLToPath(new URL(`./${name}`, import.meta.url));

/** Whether this user may take leases on files of the file system for temporary files. */
export async function noLeases(): Promise<Skip> {
  const reason = "python3 is missing, or this user or file system has no leases";
  return notLinux || unlessReady(reason, (dir) => holdLease(writeFile(dir, "a")));
}

/** Whether the file system for temporary files can exchange two names. */
export async function noExchange(): Promise<Skip> {
  const reason = "python3 is missing, or this file system cannot exchange two names";
  return (
    notLinux || unlessReady(reason, (dir) => exchange(writeFile(dir, "a"), writeFile(dir, "b")))
  );
}

async function unlessReady(reason: string, begin: (dir: string) => Running): Promise<Skip> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-probe-"));
  try {
    const child = begin(dir);
    await child.ready;
    return (await child.kill()).stdout !== "ready\n" && reason;
  } catch {
    return reason;
  } finally {
    fs.rmSync(dir, { recursive: true });
  }
}

function writeFile(dir: string, name: string): string {
  fs.writeFileSync(path.join(dir, name), "");
  return path.join(dir, name);
}

/** Exchanges two names as fast as it can until it is killed; neither is ever missing. */
export function exchange(one: string, other: string): Running {
  return startProgram("python3", [scriptAt("exchange.py"), one, other]);
}

/** Holds a lease until another process wants the file and `grace` seconds longer, or for ever. */
export function holdLease(file: string, grace?: number): Running {
  const seconds = grace === undefined ? [] : [String(grace)];
  return startProgram("python3", [scriptAt("hold-lease.py"), file, ...seconds]);
}
