// What this machine can show. Each constant is `false`, or the reason to skip.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

type Skip = false | string;

export const isWindows = process.platform === "win32";
export const isLinux = process.platform === "linux";
const isRoot = process.getuid?.() === 0;

export const notPosix: Skip = isWindows && "a POSIX rule: this is Windows";
export const notWindows: Skip = !isWindows && "a Windows rule: this is not Windows";
export const notLinux: Skip = !isLinux && "a Linux rule: this is not Linux";

export const noSymlinks: Skip = unlessPossible("this user may not make symlinks", (dir) =>
  fs.symlinkSync("nowhere", path.join(dir, "link")),
);

export const noFifos: Skip =
  notPosix || unlessPossible("mkfifo is missing", (dir) => mkfifo(path.join(dir, "pipe")));

export const noDevices: Skip =
  notPosix ||
  unlessPossible("only root may make device files, on a file system that has them", (dir) => {
    mknodNull(path.join(dir, "null"));
    fs.closeSync(fs.openSync(path.join(dir, "null"), "r"));
  });

/** Permission bits do not bind root: as root, a child process must change its user first. */
export const noPermissions: Skip =
  notPosix ||
  (isRoot && typeof process.setuid !== "function" && "running as root, and no setuid to drop it");

export const notRoot: Skip = notPosix || (!isRoot && "only root may do this");

/** A mount of one's own: as root, in a mount namespace of the child. */
export const noMounts: Skip =
  notLinux ||
  unlessPossible("this user may not mount a tmpfs in a namespace of its own", (dir) => {
    const script = 'mount -t tmpfs -o size=64k none "$0" && mount -o remount,ro "$0"';
    execFileSync("unshare", ["-m", "sh", "-c", script, dir], { stdio: "ignore" });
  });

export const noXattrs: Skip =
  notLinux ||
  unlessPossible("python3 or the file system has no extended attributes", (dir) => {
    fs.writeFileSync(path.join(dir, "a"), "");
    setXattr(path.join(dir, "a"), "user.ringfence", "value");
  });

export const noImmutable: Skip =
  notLinux ||
  unlessPossible("this user or file system cannot make a file immutable", (dir) => {
    fs.writeFileSync(path.join(dir, "a"), "");
    setImmutable(path.join(dir, "a"), true);
    setImmutable(path.join(dir, "a"), false);
  });

export const noAppendOnly: Skip =
  notLinux ||
  unlessPossible("this user or file system cannot make a folder append-only", (dir) => {
    setAppendOnly(dir, true);
    setAppendOnly(dir, false);
  });

export const noStrace: Skip =
  notLinux ||
  unlessPossible("strace is missing or may not trace", () => {
    execFileSync("strace", ["-f", "-o", "/dev/null", "true"], { stdio: "ignore" });
  });

/** The user and group that a child drops to, where it starts as root. */
export const UNPRIVILEGED = isRoot ? 65534 : null;

/** On a case-insensitive or normalising volume, two spellings are one name. */
export const namesAreFolded: Skip = unlessPossible("this volume folds names", (dir) => {
  fs.writeFileSync(path.join(dir, "a"), "");
  if (fs.existsSync(path.join(dir, "A"))) throw new Error("folded");
});

export function mkfifo(absolute: string): void {
  execFileSync("mkfifo", [absolute], { stdio: "ignore" });
}

export function mknodNull(absolute: string): void {
  execFileSync("mknod", [absolute, "c", "1", "3"], { stdio: "ignore" });
  fs.chmodSync(absolute, 0o666);
}

/** Sets one extended attribute, for which Node has no call. */
export function setXattr(absolute: string, name: string, value: string): void {
  const program = "import os, sys; os.setxattr(sys.argv[1], sys.argv[2], sys.argv[3].encode())";
  execFileSync("python3", ["-c", program, absolute, name, value], { stdio: "ignore" });
}

export function getXattr(absolute: string, name: string): string {
  const program = "import os, sys; print(os.getxattr(sys.argv[1], sys.argv[2]).decode())";
  return execFileSync("python3", ["-c", program, absolute, name], { encoding: "utf8" }).trim();
}

/** Makes a file or folder one that not even root may change, or lets go of it. */
export function setImmutable(absolute: string, on: boolean): void {
  execFileSync("chattr", [on ? "+i" : "-i", absolute], { stdio: "ignore" });
}

/** Makes a folder one in which names come up and never change, or lets go of it. */
export function setAppendOnly(absolute: string, on: boolean): void {
  execFileSync("chattr", [on ? "+a" : "-a", absolute], { stdio: "ignore" });
}

function unlessPossible(reason: string, attempt: (dir: string) => void): Skip {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-probe-"));
  try {
    attempt(dir);
    return false;
  } catch {
    return reason;
  } finally {
    fs.rmSync(dir, { recursive: true, force: true });
  }
}
