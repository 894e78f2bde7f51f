// File systems that keep their callers waiting: done by python3, as root on Linux.

import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { notLinux } from "./platform.ts";

type Skip = false | string;

/** A helper program that serves until it is stopped, or this process ends. */
export interface Slow {
  /** Whether it could begin. */
  begun: boolean;
  /** Sends a line, and waits for the one that it prints. */
  tell(line: string): Promise<void>;
  stop(): Promise<void>;
}

/** Mounts a file system that can be made to hang: a line to it holds its next answer back. */
export function mountHanging(mountpoint: string, seconds: number): Promise<Slow> {
  return start("hung-fuse.py", [mountpoint, String(seconds)]);
}

/** Keeps each opening of a file in a folder waiting. */
export function slowOpening(folder: string, seconds: number): Promise<Slow> {
  return start("slow-opening.py", [folder, String(seconds)]);
}

export async function noHangingMounts(): Promise<Skip> {
  const reason = "python3 is missing, or this user cannot serve a file system over /dev/fuse";
  return notLinux || (await unlessBegun(reason, (folder) => mountHanging(folder, 0)));
}

export async function noSlowOpenings(): Promise<Skip> {
  const reason = "python3 is missing, or this user or kernel has no fanotify permission events";
  return notLinux || (await unlessBegun(reason, (folder) => slowOpening(folder, 0)));
}

async function unlessBegun(reason: string, begin: (dir: string) => Promise<Slow>): Promise<Skip> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-probe-"));
  const slow = await begin(folder);
  await slow.stop();
  fs.rmdirSync(folder);
  return !slow.begun && reason;
}

async function start(script: string, args: string[]): Promise<Slow> {
  const file = fileURLToPath(new URL(`./${script}`, import.meta.url));
  const child = spawn("python3", [file, ...args], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  const begun = (await nextLine(child, ended)) === "ready";
  return {
    begun,
    async tell(line) {
      const answer = nextLine(child, ended);
      child.stdin?.write(`${line}\n`);
      await answer;
    },
    async stop() {
      child.stdin?.on("error", () => {});
      child.stdin?.end();
      await ended;
    },
  };
}

function nextLine(child: ChildProcess, ended: Promise<void>): Promise<string> {
  const line = new Promise<string>((resolve) => {
    child.stdout?.once("data", (data: Buffer) => resolve(data.toString().trim()));
  });
  return Promise.race([line, ended.then(() => "ended")]);
}
