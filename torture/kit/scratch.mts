// Throw-away folders beneath the system's folder for temporary files.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const folders = new Set<string>();

function remove(folder: string): void {
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  folders.delete(folder);
}

process.on("exit", () => folders.forEach(remove));

/** Runs `body` with a fresh folder, which is removed afterwards in any case. */
export async function inScratch<T>(body: (folder: string) => Promise<T>): Promise<T> {
  // Resolved, so that its path contains no link.
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "ringfence-torture-"));
  folders.add(folder);
  try {
    return await body(folder);
  } finally {
    remove(folder);
  }
}
