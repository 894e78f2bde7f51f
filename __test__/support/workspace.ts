// A throw-away workspace for one test: `base/ws` is the root, `base/outside` is what must stay out.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";

export class TestWorkspace {
  /** The fresh directory that holds everything; resolved, so that no link stands in it. */
  readonly base: string;
  readonly root: string;
  readonly outside: string;

  constructor(parent: string = os.tmpdir()) {
    this.base = fs.mkdtempSync(path.join(fs.realpathSync(parent), "ringfence-test-"));
    this.root = path.join(this.base, "ws");
    this.outside = path.join(this.base, "outside");
    fs.mkdirSync(this.root);
    fs.mkdirSync(this.outside);
  }

  get context(): { workspaceRoot: string; writeScope: "read-only" } {
    return { workspaceRoot: this.root, writeScope: "read-only" };
  }

  /** A context for tools that write. */
  get writable(): { workspaceRoot: string; writeScope: "workspace-write" } {
    return { workspaceRoot: this.root, writeScope: "workspace-write" };
  }

  /** Texts that no message may contain. */
  get hidden(): string[] {
    return [this.base];
  }

  /** The absolute path of something in the workspace. */
  at(relative: string): string {
    return path.join(this.root, relative);
  }

  /** Writes a file in the workspace, with the folders it needs. */
  write(relative: string, data: string | Uint8Array): string {
    return writeFile(this.at(relative), data);
  }

  /** Writes a file beside the workspace, which nothing may ever read. */
  writeOutside(relative: string, data: string | Uint8Array = SECRET): string {
    return writeFile(path.join(this.outside, relative), data);
  }

  /** The texts of all files in the workspace, by their paths. */
  texts(): Record<string, string> {
    const entries = fs.readdirSync(this.root, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return Object.fromEntries(
      files.map(({ parentPath, name }) => {
        const relative = path.relative(this.root, path.join(parentPath, name));
        return [relative.replaceAll(path.sep, "/"), fs.readFileSync(this.at(relative), "utf8")];
      }),
    );
  }

  folder(relative: string): string {
    fs.mkdirSync(this.at(relative), { recursive: true });
    return this.at(relative);
  }

  /** Makes the symlink `relative`, whose target is `target`, to the letter. */
  link(relative: string, target: string, kind?: "dir" | "file"): string {
    fs.mkdirSync(path.dirname(this.at(relative)), { recursive: true });
    fs.symlinkSync(target, this.at(relative), kind);
    return this.at(relative);
  }

  /** A call that was aborted may still be at work on its worker, and make a folder meanwhile. */
  async dispose(): Promise<void> {
    for (let attempt = 0; attempt < 50; attempt += 1) {
      try {
        return fs.rmSync(this.base, { recursive: true, force: true });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }
}

/** The text of everything outside: a test that ever sees it has seen a leak. */
export const SECRET = "the secret outside\n";

function writeFile(absolute: string, data: string | Uint8Array): string {
  fs.mkdirSync(path.dirname(absolute), { recursive: true });
  fs.writeFileSync(absolute, data);
  return absolute;
}

/** A test body that gets a workspace of its own, removed when it ends. */
export function inWorkspace(
  body: (ws: TestWorkspace) => unknown,
  parent?: string,
): () => Promise<void> {
  return async () => {
    const ws = new TestWorkspace(parent);
    try {
      await body(ws);
    } finally {
      await ws.dispose();
    }
  };
}

/** The bytes that a hex dump such as `61 0D 0A` shows. */
export function hex(dump: string): Uint8Array {
  return new Uint8Array(Buffer.from(dump.replaceAll(" ", ""), "hex"));
}

export function concat(...parts: (string | Uint8Array)[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array))));
}
