// `applyPatch` is all or nothing: when a system call fails, when the process is killed, and when another program changes
// the files meanwhile. docs/contract.md §11.

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type ApplyPatchError, applyPatch } from "../index.js";
import type { Fault, SystemCall, Traced } from "../torture/kit/tracer.mts";
import { traced } from "../torture/kit/tracer.mts";
import { contentsOf, type Files, lay, text, v4a } from "./support/patch.ts";
import { noStrace, notLinux, notPosix } from "./support/platform.ts";
import { ROOT } from "./support/program.ts";
import { Random, times } from "./support/random.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const scriptAt = (name: string) => fileURLToPath(new URL(`./support/${name}`, import.meta.url));

/** Of Node the thread is known that makes the system calls. */
const NODE = "Bun" in globalThis ? "node" : process.execPath;
const noNode =
  "Bun" in globalThis && spawnSync(NODE, ["--version"]).error ? "node is missing" : false;

/** A section of each kind, and several of most. */
const SECTIONS = {
  before: {
    ...{ "u1.txt": "one\nb\n", "u2.txt": "two\r\nb\r\n", "dir/u3.txt": "three\nb" },
    ...{ "d1.txt": "d\n", "dir/d2.txt": "d\n", "m1.txt": "moved\n", "dir/m2.txt": "moved\nb\n" },
    ...{ "m3.txt": "b\n", "x1.sh": "b\n", "x2.sh": "b\n" },
  } as Files,
  after: {
    ...{ "u1.txt": "one\nx\n", "u2.txt": "two\r\nx\r\n", "dir/u3.txt": "three\nx\n" },
    ...{
      "new/deep/a1.txt": "a\n",
      "a2.sh": "a\n",
      "new/m1.txt": "moved\n",
      "m2.txt": "moved\nx\n",
    },
    ...{ "new/other/m3.txt": "b\n", "x1.sh": "b\n", "x2.sh": "x\n" },
  } as Files,
  patch: [
    ...["u1.txt", "u2.txt", "dir/u3.txt"].map((name) =>
      text(
        `diff --git a/${name} b/${name}`,
        `--- a/${name}`,
        `+++ b/${name}`,
        "@@ -2 +2 @@",
        "-b",
        "+x",
      ),
    ),
    text(
      "diff --git a/d1.txt b/d1.txt",
      "deleted file mode 100644",
      "--- a/d1.txt",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-d",
    ),
    text(
      "diff --git a/dir/d2.txt b/dir/d2.txt",
      "deleted file mode 100644",
      "--- a/dir/d2.txt",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-d",
    ),
    text("diff --git a/m1.txt b/new/m1.txt", "rename from m1.txt", "rename to new/m1.txt"),
    text(
      "diff --git a/dir/m2.txt b/m2.txt",
      "rename from dir/m2.txt",
      "rename to m2.txt",
      "--- a/dir/m2.txt",
      "+++ b/m2.txt",
      "@@ -2 +2 @@",
      "-b",
      "+x",
    ),
    text(
      "diff --git a/m3.txt b/new/other/m3.txt",
      "rename from m3.txt",
      "rename to new/other/m3.txt",
    ),
    text(
      "diff --git a/new/deep/a1.txt b/new/deep/a1.txt",
      "new file mode 100644",
      "--- /dev/null",
      "+++ b/new/deep/a1.txt",
      "@@ -0,0 +1 @@",
      "+a",
    ),
    text(
      "diff --git a/a2.sh b/a2.sh",
      "new file mode 100755",
      "--- /dev/null",
      "+++ b/a2.sh",
      "@@ -0,0 +1 @@",
      "+a",
    ),
    text("diff --git a/x1.sh b/x1.sh", "old mode 100644", "new mode 100755"),
    text(
      "diff --git a/x2.sh b/x2.sh",
      "old mode 100644",
      "new mode 100755",
      "--- a/x2.sh",
      "+++ b/x2.sh",
      "@@ -1 +1 @@",
      "-b",
      "+x",
    ),
  ].join(""),
};
const MODES: Record<string, number> = {
  "u2.txt": 0o600,
  "dir/u3.txt": 0o755,
  "m1.txt": 0o640,
  "dir/m2.txt": 0o600,
};

/** What stands in the workspace, with the modes of files. */
function scene(ws: TestWorkspace): Record<string, string> {
  const shown = Object.entries(contentsOf(ws.root)).map(([name, bytes]) => {
    const mode = name.endsWith("/") ? "" : (fs.statSync(ws.at(name)).mode & 0o777).toString(8);
    return [name, `${mode} ${bytes}`];
  });
  return Object.fromEntries(shown);
}

function layAnew(ws: TestWorkspace): void {
  for (const name of fs.readdirSync(ws.root)) fs.rmSync(ws.at(name), { recursive: true });
  lay(ws, SECTIONS.before);
  for (const [name, mode] of Object.entries(MODES)) fs.chmodSync(ws.at(name), mode);
}

interface WorkerOutcome {
  files?: number;
  code?: string;
  message?: string;
  applied?: { path: string; action: string }[];
  leaked: number;
}

/** A process that applies patches, one after the other, and whose system calls are traced and fail. */
class PatchWorker {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #log: string;
  #thread = 0;

  constructor(log: string) {
    const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
    const stdio = ["pipe", "pipe", "inherit"] as const;
    // Further threads of the engine would make system calls at unpredictable times.
    const args = ["--single-threaded", scriptAt("patch-worker.mjs")];
    this.#child = spawn(NODE, args, { env, stdio: [...stdio] });
    assert.ok(this.#child.stdout);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#log = log;
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    assert.ok(!done, "the process has ended");
    return value;
  }

  async begin(): Promise<void> {
    this.#thread = Number(await this.#line());
  }

  traced(context: object, args: object, fault?: Fault): Promise<Traced<WorkerOutcome>> {
    return traced(this.#thread, this.#log, fault, async () => {
      this.#child.stdin?.write(`${JSON.stringify([context, args])}\n`);
      return JSON.parse(await this.#line()) as WorkerOutcome;
    });
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }
}

/** The calls that change something on disk, or make it last. */
function changes({ name, text: line }: SystemCall): boolean {
  if (/^open(at2?)?$/.test(name)) return /O_CREAT|O_TMPFILE|O_WRONLY|O_RDWR/.test(line);
  // By a write of eight bytes a thread of the pool tells the engine that it is done.
  if (/^write\(\d+, "\\1(\\0){7}", 8\)/.test(line)) return false;
  return /^(p?write(64|v)?|mkdir(at)?|link(at)?|rename(at2?)?|unlink(at)?|rmdir|f?chmod(at2?)?|f?chown(at)?|ftruncate|fallocate|f?setxattr|utimensat|f(data)?sync|syncfs|sync_file_range|symlinkat|copy_file_range|sendfile)$/.test(
    name,
  );
}

const ERRORS = ["EIO", "ENOSPC", "EROFS", "EMFILE", "EDQUOT", "EINTR"];

for (const durability of ["full", "none"] as const) {
  test(
    `whichever system call that changes something fails, all is applied or nothing (durability ${durability})`,
    { skip: noStrace || noNode, timeout: 600_000 },
    inWorkspace(async (ws) => {
      const context = { workspaceRoot: ws.root, durability };
      const args = { patch: SECTIONS.patch };
      const worker = new PatchWorker(path.join(ws.base, "log"));
      try {
        await worker.begin();
        layAnew(ws);
        const before = scene(ws);
        // Some calls are made once in a process.
        await worker.traced(context, args);
        layAnew(ws);
        const { answer, calls } = await worker.traced(context, args);
        assert.equal(answer.files, 12, String(answer.message));
        const after = scene(ws);
        const bytes = Object.entries(contentsOf(ws.root)).filter(([name]) => !name.endsWith("/"));
        assert.deepEqual(Object.fromEntries(bytes), sorted(SECTIONS.after));

        const random = new Random(calls.length);
        const [failed, wrong]: [string[], string[]] = [[], []];
        // Forty of some two hundred; all of them with RINGFENCE_TEST_ROUNDS=6.
        const chosen = calls.filter(changes);
        while (chosen.length > times(40)) chosen.splice(random.below(chosen.length), 1);
        for (const call of chosen) {
          const first = random.below(ERRORS.length);
          for (let n = 0; n < Math.min(Math.ceil(times(1) / 6), ERRORS.length); n += 1) {
            const errno = ERRORS[(first + n) % ERRORS.length] ?? "EIO";
            layAnew(ws);
            const fault = { call: call.name, errno, first: call.ordinal, times: 1 };
            const { answer: outcome } = await worker.traced(context, args, fault);
            const now = JSON.stringify(scene(ws));
            const expected = outcome.code === undefined ? after : before;
            if (outcome.code !== undefined) failed.push(call.name);
            if (now !== JSON.stringify(expected) || outcome.leaked !== 0) {
              wrong.push(
                `${call.text}\n← ${errno}: ${outcome.message ?? "applied"}, ${outcome.leaked} leaked\n${now}`,
              );
            }
          }
        }
        assert.deepEqual(wrong, []);
        // Where the control of this test does not go wrong, nothing was made to fail.
        assert.ok(failed.length > chosen.length / 4, `${failed.length} of ${chosen.length}`);
      } finally {
        worker.end();
      }
    }),
  );
}

function sorted(files: Files): Files {
  return Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
}

test(
  "after kill -9 each file is whole, old or new, and later calls remove what was left",
  { skip: notPosix, timeout: 120_000 },
  inWorkspace(async (ws) => {
    const body = "whole\n".repeat(5_000);
    const [old, now] = [`old\n${body}`, `new\n${body}`];
    const names = ["1", "2", "dir/3", "dir/4"];
    const sections = (from: string, to: string) =>
      names.flatMap((name) => [`*** Update File: u${name}`, "@@", `-${from}`, `+${to}`]);
    const moves = (from: string, to: string, there: boolean) =>
      names.flatMap((name) => [
        ...(there
          ? [`*** Update File: m${name}`, `*** Move to: to/m${name}`]
          : [`*** Update File: to/m${name}`, `*** Move to: m${name}`]),
        ...["@@", `-${from}`, `+${to}`],
      ]);
    const lines = text(
      ...now
        .trimEnd()
        .split("\n")
        .map((line) => `+${line}`),
    ).trimEnd();
    const forth = v4a(
      ...[...sections("old", "new"), ...moves("old", "new", true)],
      ...["*** Add File: add/a", lines, "*** Delete File: d"],
    );
    const back = v4a(
      ...[...sections("new", "old"), ...moves("new", "old", false)],
      ...["*** Delete File: add/a", "*** Add File: d", lines],
    );
    const program = `
      const { applyPatch } = require(${JSON.stringify(ROOT)});
      const context = { workspaceRoot: ${JSON.stringify(ws.root)}, durability: "none" };
      const [forth, back] = ${JSON.stringify([forth, back])};
      (async () => {
        for (;;) {
          await applyPatch(context, { patch: forth });
          process.stdout.write(".");
          await applyPatch(context, { patch: back });
        }
      })();`;
    const random = new Random(9);
    for (let round = 0; round < times(8); round += 1) {
      for (const name of fs.readdirSync(ws.root)) fs.rmSync(ws.at(name), { recursive: true });
      for (const name of names) lay(ws, { [`u${name}`]: old, [`m${name}`]: old });
      // The names "udir/3" and "mdir/3" lie in folders of their own.
      lay(ws, { d: now });
      const child = spawn(process.execPath, ["-e", program], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await new Promise((resolve) => child.stdout.once("data", resolve));
      await new Promise((resolve) => setTimeout(resolve, random.below(60)));
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));

      const contents = contentsOf(ws.root);
      for (const name of names) {
        assert.ok([old, now].includes(contents[`u${name}`] ?? ""), `u${name}`);
        const moved = [contents[`m${name}`], contents[`to/m${name}`]].filter(
          (bytes) => bytes !== undefined,
        );
        assert.equal(moved.length, 1, `m${name} is at one place`);
        assert.ok([old, now].includes(moved[0] ?? ""), `m${name}`);
      }
      for (const name of ["d", "add/a"]) assert.ok([undefined, now].includes(contents[name]), name);

      const left = () => Object.keys(contentsOf(ws.root)).filter((name) => name.includes(".rf-"));
      const folders = () =>
        Object.keys(contentsOf(ws.root)).filter(
          (name) => name.endsWith("/") && !name.includes(".rf-"),
        );
      for (let attempt = 0; attempt < 100 && left().length > 0; attempt += 1) {
        if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, 100));
        for (const folder of ["", ...folders()]) {
          const context = { workspaceRoot: ws.root, durability: "none" as const };
          const name = `${folder}other.txt`;
          ws.write(name, "b\n");
          await applyPatch(context, { patch: v4a(`*** Update File: ${name}`, "@@", "-b", "+x") });
          await applyPatch(context, { patch: v4a(`*** Delete File: ${name}`) });
        }
      }
      assert.deepEqual(left(), []);
    }
  }),
);

test(
  "when another program changes files of a patch that is taken back, what stands or is left is told exactly, and its text kept",
  { skip: notLinux, timeout: 120_000 },
  inWorkspace(async (ws) => {
    const names = ["a.txt", ...Array.from({ length: 10 }, (_, n) => `n${n}.txt`), "z.txt"];
    const patch = v4a(
      ...names.flatMap((name) => [`*** Update File: ${name}`, "@@", "-old", "+new"]),
      ...["*** Add File: made/x.txt", "+x"],
    );
    const program = [scriptAt("meddler.mjs"), ws.root, "a.txt", "z.txt", "new", "theirs\n"];
    const meddler = spawn(process.execPath, program);
    await new Promise((resolve) => meddler.stdout.once("data", resolve));
    const without = (bytes: string | undefined) => bytes?.replaceAll("theirs\n", "");
    let failures = 0;
    try {
      for (let round = 0; round < 40 && failures < 3; round += 1) {
        for (const name of fs.readdirSync(ws.root)) fs.rmSync(ws.at(name), { recursive: true });
        for (const name of names) ws.write(name, `old\n${"line\n".repeat(200)}`);
        const before = contentsOf(ws.root);
        const error: ApplyPatchError | undefined = await applyPatch(ws.writable, { patch }).then(
          () => undefined,
          (reason) => reason,
        );
        // What the other program has begun.
        await new Promise((resolve) => setTimeout(resolve, 50));
        const now = contentsOf(ws.root);
        const left = Object.keys(now).filter((name) => name.includes(".rf-"));
        const { code = "applied", message = "", applied = [] } = error ?? {};
        for (const name of left)
          assert.ok(message.includes(name), `${name} is left: ${code} ${message}`);
        const standing = new Set(error ? applied.map((change) => change.path) : names);
        if (error) {
          failures += 1;
          assert.equal(code, applied.length > 0 ? "PARTIAL" : "CONTENDED", message);
          assert.equal("made/" in now, standing.has("made/x.txt"));
        }
        for (const { path: name, action } of applied) {
          assert.ok(message.includes(`${action} ${name}`), message);
        }
        for (const name of names) {
          const expected = before[name]?.replace("old", standing.has(name) ? "new" : "old");
          assert.equal(without(now[name]), expected, `${name}: ${code} ${message}`);
        }
        // What it has appended to the first file stands there, or in the file that is kept beside.
        const theirs = ["a.txt", ...left].filter((name) => now[name]?.endsWith("theirs\n"));
        if (error) assert.equal(theirs.length, 1, message);
      }
    } finally {
      meddler.kill("SIGKILL");
    }
    assert.ok(failures > 0, "the other program was never in time");
  }),
);

test(
  "a file that another program changes meanwhile is read and patched anew, and its change is kept",
  { timeout: 60_000 },
  inWorkspace(async (ws) => {
    const lines = Array.from({ length: 30 }, (_, n) => `line ${n}: old`);
    ws.write("a.txt", text(...lines));
    const context = { workspaceRoot: ws.root, durability: "none" as const };
    const calls = lines.map(async (_, n) => {
      const patch = v4a("*** Update File: a.txt", "@@", `-line ${n}: old`, `+line ${n}: new`);
      await applyPatch(context, { patch });
    });
    // In place, as an editor without ringfence; what it has written must not be lost.
    const file = fs.openSync(ws.at("a.txt"), "a");
    fs.writeSync(file, "theirs\n");
    fs.closeSync(file);
    await Promise.all(calls);
    const expected = [...lines.map((line) => line.replace("old", "new")), "theirs"];
    assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), text(...expected));
  }),
);
