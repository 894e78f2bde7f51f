// @ts-check
// One file of 4 KiB on each of the file systems that agents' workspaces lie on: a disk's, a memory's, and the
// layers of a container.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { openBare } from "../contenders/bare.mjs";
import { openRingfence } from "../contenders/ringfence.mjs";
import { put, textOf } from "../lib/files.mjs";

/** @typedef {import("../measure.mjs").Bench} Bench */

/** What `statfs` calls them: <linux/magic.h>. */
const NAMES = new Map([
  [0xef53, "ext4"], // ext2 and ext3, too
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs"],
  [0x794c7630, "overlayfs"],
]);

/** @param {Bench} bench */
export async function fileSystems(bench) {
  await readsIn(bench, bench.root, nameOf(bench.root));
  await onTmpfs(bench);
  await onOverlayfs(bench);
}

/** @param {Bench} bench */
async function onTmpfs(bench) {
  if (process.platform !== "linux" || nameOf("/dev/shm") !== "tmpfs") {
    bench.missing.push("tmpfs: /dev/shm is none");
    return;
  }
  const root = mkdtempSync("/dev/shm/ringfence-bench-");
  try {
    await readsIn(bench, root, "tmpfs");
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** @param {Bench} bench */
async function onOverlayfs(bench) {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    bench.missing.push("overlayfs: needs Linux and root, who may mount it");
    return;
  }
  const [lower, upper, work, root] = ["lower", "upper", "work", "merged"].map((name) =>
    join(bench.root, "overlay", name),
  );
  for (const folder of [lower, upper, work, root]) mkdirSync(folder ?? "", { recursive: true });
  const layers = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
  const mounted = spawnSync("mount", ["-t", "overlay", "overlay", "-o", layers, root ?? ""]);
  if (mounted.status !== 0) {
    bench.missing.push(`overlayfs: ${mounted.error ?? mounted.stderr.toString().trim()}`);
    return;
  }
  try {
    await readsIn(bench, root ?? "", "overlayfs");
  } finally {
    // Lazily, since ringfence holds the root open until the process ends.
    spawnSync("umount", ["--lazy", root ?? ""]);
  }
}

/**
 * @param {Bench} bench
 * @param {string} root
 * @param {string} fileSystem
 */
async function readsIn(bench, root, fileSystem) {
  const path = put(root, "src/tools/read.ts", textOf(4096));
  const contenders = [...openRingfence(root).slice(0, 1), openBare(root)];
  await bench.time(
    `read 4 KiB on ${fileSystem}`,
    contenders.map(({ name, read, text }) => ({ name, run: () => read?.(path), answer: text })),
    { calls: 50 },
  );
  await bench.time(
    `read 4 KiB, sync, on ${fileSystem}`,
    contenders.map(({ name, readSync, text }) => ({
      name,
      run: () => readSync?.(path),
      sync: true,
      answer: text,
    })),
    { calls: 50 },
  );
}

/** @param {string} folder */
function nameOf(folder) {
  const { type } = statfsSync(folder);
  return NAMES.get(type) ?? `a file system of type ${type.toString(16)}`;
}
