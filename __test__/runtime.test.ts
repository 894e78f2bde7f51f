// The addon in its process: the event loop, workers, lost directories, changing files, the end of the process.
// Cases P of docs/cases.md.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import {
  MAX_READ_FILE_SIZE_BYTES,
  readFile,
  readFileSync,
  readFiles,
  Workspace,
} from "../index.js";
import { runChild, runScript, runScriptWithFiles } from "./support/child.ts";
import { holdLease, noLeases } from "./support/linux.ts";
import { noSymlinks, notPosix } from "./support/platform.ts";
import { mtimeMs, rejection, rejectionValue } from "./support/read.ts";
import { inWorkspace } from "./support/workspace.ts";

const support = (name: string) => new URL(`./support/${name}`, import.meta.url);

describe("the event loop", () => {
  /** The longest time, in ms, for which a 5 ms timer was kept waiting while `work` ran. */
  async function longestWait(work: () => Promise<unknown>): Promise<number> {
    let longest = 0;
    let last = performance.now();
    const tick = () => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    };
    const timer = setInterval(tick, 5);
    await work();
    tick();
    clearInterval(timer);
    return longest;
  }

  const LIMIT_MS = 100;

  /**
   * One slow turn is the machine's; a reader that starves the timer does so every time. Other programs may
   * use the processors, so the timer may also wait as long as it does beside reads by `node:fs`.
   */
  async function leavesRoom(work: () => Promise<unknown>): Promise<void> {
    const waits: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      waits.push(Math.round(await longestWait(work)));
      const limit = Math.max(LIMIT_MS, await longestWait(readsByNode));
      if (Math.min(...waits) <= limit) return;
    }
    assert.fail(`a 5 ms timer waited ${waits.join(", ")} ms`);
  }

  async function readsByNode(): Promise<void> {
    const itself = fileURLToPath(import.meta.url);
    for (let batch = 0; batch < 10; batch++) {
      await Promise.all(Array.from({ length: 50 }, () => fs.promises.readFile(itself, "utf8")));
    }
  }

  for (const [name, character] of [
    ["ASCII", "a"],
    ["two-byte characters", "é"],
    ["three-byte characters", "あ"],
  ] as const) {
    const text = character.repeat(
      Math.floor(MAX_READ_FILE_SIZE_BYTES / Buffer.byteLength(character)),
    );

    test(
      `P07: 100 reads of 1 MiB of ${name} at once leave room for a timer`,
      { timeout: 60_000 },
      inWorkspace(async (ws) => {
        ws.write("a.txt", text);
        await leavesRoom(() =>
          Promise.all(Array.from({ length: 100 }, () => readFile(ws.context, "a.txt"))),
        );
      }),
    );

    test(
      `P07: 100 reads of 1 MiB of ${name} one after another leave room for a timer`,
      { timeout: 60_000 },
      inWorkspace(async (ws) => {
        ws.write("a.txt", text);
        await leavesRoom(async () => {
          for (let i = 0; i < 100; i++) await readFile(ws.context, "a.txt");
        });
      }),
    );
  }

  test(
    "P07: 5,000 small reads at once leave room for a timer",
    { timeout: 60_000 },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a".repeat(4_096));
      const workspace = Workspace.open(ws.root);
      await leavesRoom(async () => {
        for (let batch = 0; batch < 10; batch++) {
          await Promise.all(Array.from({ length: 500 }, () => readFile(workspace, "a.txt")));
        }
      });
      workspace.close();
    }),
  );

  test(
    "P07: 5,000 small reads one after another leave room for a timer",
    { timeout: 60_000 },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a".repeat(4_096));
      const workspace = Workspace.open(ws.root);
      await leavesRoom(async () => {
        for (let i = 0; i < 5_000; i++) await readFile(workspace, "a.txt");
      });
      workspace.close();
    }),
  );
});

describe("promises that are settled at once", () => {
  test(
    "P07: calls of readFiles, one after another, let the loop turn",
    { timeout: 20_000 },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a".repeat(4_096));
      const files = Array.from({ length: 100 }, () => "a.txt");
      let turns = 0;
      let next = setImmediate(function turn() {
        turns += 1;
        next = setImmediate(turn);
      });
      for (let i = 0; i < 200; i++) await readFiles(ws.context, { files });
      clearImmediate(next);
      assert.ok(turns > 0, "the loop turned");
    }),
  );

  for (const [name, contextOf] of [
    ["a Workspace", (root: string) => Workspace.open(root)],
    ["a plain context", (workspaceRoot: string) => ({ workspaceRoot })],
  ] as const) {
    test(
      `P07: small reads through ${name}, one after another, let the loop turn`,
      { timeout: 20_000 },
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const context = contextOf(ws.root);
        let turns = 0;
        let next = setImmediate(function turn() {
          turns += 1;
          next = setImmediate(turn);
        });
        // On a busy machine Bun deals with several workers' answers in one turn. A loop that never gets
        // its turn does not get it however long this takes.
        for (let i = 0; i < 20_000; i++) await readFile(context, "a.txt");
        clearImmediate(next);
        assert.ok(turns > 0, "the loop turned");
      }),
    );
  }

  test(
    "a call that is aborted right after it was made is aborted",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const workspace = Workspace.open(ws.root);
      await readFile(workspace, "a.txt");
      const controller = new AbortController();
      const call = readFile(workspace, "a.txt", { signal: controller.signal });
      controller.abort("enough");
      assert.equal(await rejectionValue(() => call), "enough");
      workspace.close();
    }),
  );
});

describe("promises", () => {
  test(
    "P09: the async context is kept over a read and over a refusal",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const storage = new AsyncLocalStorage<string>();
      const seen = await storage.run("mine", async () => {
        await readFile(ws.context, "a.txt");
        const afterRead = storage.getStore();
        await readFile(ws.context, "missing.txt").catch(() => undefined);
        return [afterRead, storage.getStore()];
      });
      assert.deepEqual(seen, ["mine", "mine"]);
    }),
  );

  test(
    "P09: reads that run at once keep their own async contexts",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a".repeat(200_000));
      const storage = new AsyncLocalStorage<number>();
      const seen = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          storage.run(i, () => readFile(ws.context, "a.txt").then(() => storage.getStore())),
        ),
      );
      assert.deepEqual(
        seen,
        Array.from({ length: 20 }, (_, i) => i),
      );
    }),
  );

  test(
    "many reads at once each get their own file",
    inWorkspace(async (ws) => {
      const names = Array.from({ length: 200 }, (_, i) => `dir-${i % 7}/file-${i}.txt`);
      for (const name of names) ws.write(name, `this is ${name}`);
      const answers = await Promise.all(names.map((name) => readFile(ws.context, name)));
      assert.deepEqual(
        answers.map(({ path, content }) => ({ path, content })),
        names.map((name) => ({ path: name, content: `this is ${name}` })),
      );
    }),
  );
});

describe("worker threads", () => {
  test(
    "a worker reads",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const worker = new Worker(support("reader-worker.mjs"), {
        workerData: { context: ws.context, paths: ["a.txt", "missing.txt", "../x"] },
      });
      const outcomes = await new Promise((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", reject);
      });
      await worker.terminate();
      assert.deepEqual(outcomes, ["a", "NOT_FOUND", "SANDBOX_VIOLATION"]);
    }),
  );

  test(
    "main thread and workers read at the same time",
    { timeout: 10_000 },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a".repeat(100_000));
      const paths = Array.from({ length: 50 }, () => "a.txt");
      const workers = Array.from(
        { length: 2 },
        () =>
          new Worker(support("reader-worker.mjs"), { workerData: { context: ws.context, paths } }),
      );
      const theirs = workers.map(
        (worker) =>
          new Promise<string[]>((resolve, reject) => {
            worker.once("message", resolve);
            worker.once("error", reject);
          }),
      );
      const ours = await Promise.all(paths.map((name) => readFile(ws.context, name)));
      for (const outcomes of await Promise.all(theirs)) assert.equal(outcomes.length, 50);
      assert.ok(ours.every(({ content }) => content.length === 100_000));
      await Promise.all(workers.map((worker) => worker.terminate()));
    }),
  );
});

describe("processes", () => {
  /** Runs one scene of scenes.mjs in a process of its own, which must end well. */
  async function plays(scene: string, root: string): Promise<string> {
    const flags = process.versions.bun === undefined ? ["--expose-gc"] : [];
    const script = fileURLToPath(support("scenes.mjs"));
    const { code, stdout, stderr } = await runScript(script, [scene, root], flags);
    assert.equal(code, 0, `${scene} ended with ${code}: ${stderr}`);
    return stdout.trim();
  }

  test(
    "a process whose current directory is deleted reads",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const lostDirectory = path.join(ws.base, "lost");
      fs.mkdirSync(lostDirectory);
      const outcomes = await runChild({
        reads: [
          { context: ws.context, path: "a.txt" },
          { context: ws.context, path: ws.at("a.txt") },
        ],
        lostDirectory,
      });
      assert.deepEqual(
        outcomes.map((outcome) => "answer" in outcome && outcome.answer.content),
        ["a", "a"],
      );
    }),
  );

  test(
    "2,000 reads at once need no more than 200 open files",
    { timeout: 15_000, skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const script = fileURLToPath(support("scenes.mjs"));
      const { code, stdout, stderr } = await runScriptWithFiles(200, script, ["crowd", ws.root]);
      assert.equal(code, 0, stderr);
      assert.equal(stdout.trim(), "2000");
    }),
  );

  test(
    "a folder 1,500 levels down needs no more than 256 open files, by its name and by an absolute link",
    { timeout: 15_000, skip: notPosix || noSymlinks },
    inWorkspace(async (ws) => {
      const script = fileURLToPath(support("scenes.mjs"));
      const { code, stdout, stderr } = await runScriptWithFiles(256, script, ["deep", ws.root]);
      assert.equal(code, 0, stderr);
      assert.equal(stdout.trim(), "deep deep");
    }),
  );

  for (const [scene, behaviour, says] of [
    ["timersReplaced", "large reads end where setImmediate never calls back", "32"],
    ["timersDeleted", "large reads end where there is no setImmediate", "32"],
    ["timersReplacedMeanwhile", "large reads end where setImmediate is replaced meanwhile", "32"],
    ["timersRestored", "large reads end where setImmediate was replaced for a while", "64"],
    ["signalsOfReads", "the signals of reads that have ended are collected", "collected"],
    ["signalsOfRefusals", "the signals of refusals are collected", "collected"],
    ["signalsOfAborted", "the signals of reads that were aborted are collected", "collected"],
    ["signalsWithoutRemoval", "signals that keep their listeners are collected", "collected"],
    [
      "twoSignals",
      "second look F20: of 5,000 calls with a signal in the context and one of their own nothing stays",
      "nothing stays",
    ],
    ["linger", "an open Workspace does not keep the process alive", "read"],
    ["leave", "a process may exit with reads under way", "left"],
    ["leaveQueue", "a process may exit while reads wait for the next turn", "left"],
    [
      "closeQueue",
      "reads that wait for the next turn are done though the Workspace is closed",
      "5000",
    ],
    ["collect", "a Workspace that is collected with reads under way still serves them", "32"],
    ["terminate", "a worker may be terminated with reads under way", "terminated"],
    [
      "terminateQueue",
      "a worker may be terminated while reads wait for the next turn",
      "terminated",
    ],
    [
      "throwingThen",
      "what a getter throws that all objects inherit ends one read alone",
      "small,then",
    ],
    ["unhandled", "a refusal that nobody handles is an ordinary unhandledRejection", "NOT_FOUND"],
  ] as const) {
    test(
      behaviour,
      { timeout: 60_000 },
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a".repeat(1_000_000));
        assert.equal(await plays(scene, ws.root), says);
      }),
    );
  }
});

describe("files that change while they are read", () => {
  /** Starts `change` of change-worker.mjs, runs `body` and ends it. */
  async function whileChanging(root: string, change: string, body: () => Promise<void>) {
    const worker = new Worker(support("change-worker.mjs"), { workerData: { root, change } });
    await new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
    try {
      await body();
    } finally {
      await worker.terminate();
    }
  }

  test(
    "P14: content, byte_length and mtime_ms are of one file where it is replaced",
    { timeout: 15_000 },
    inWorkspace(async (ws) => {
      // Two versions that differ in all three; the worker renames copies of them to a.txt.
      fs.utimesSync(ws.write("short", "short"), 1_000_000, 1_000_000);
      fs.utimesSync(ws.write("long", "long".repeat(5_000)), 2_000_000, 2_000_000);
      ws.write("a.txt", "short");
      fs.utimesSync(ws.at("a.txt"), 1_000_000, 1_000_000);
      const versions = ["short", "long"].map((name) => {
        const content = fs.readFileSync(ws.at(name), "utf8");
        return [content, content.length, mtimeMs(ws.at(name))];
      });
      await whileChanging(ws.root, "replace", async () => {
        for (let i = 0; i < 1_000; i++) {
          const { content, meta } = await readFile(ws.context, "a.txt");
          const seen = [content, meta.byte_length, meta.mtime_ms];
          const known = versions.some((version) => version.every((part, j) => part === seen[j]));
          assert.ok(
            known,
            `a mixture: ${content.slice(0, 20)} ${meta.byte_length} ${meta.mtime_ms}`,
          );
        }
      });
    }),
  );

  test(
    "P14: byte_length is that of the content where the file grows and shrinks",
    { timeout: 15_000 },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "");
      await whileChanging(ws.root, "grow", async () => {
        for (let i = 0; i < 500; i++) {
          try {
            const { content, meta } = await readFile(ws.context, "a.txt");
            assert.equal(meta.byte_length, content.length);
            assert.ok(content.length <= MAX_READ_FILE_SIZE_BYTES);
          } catch (error) {
            assert.equal((error as { code: string }).code, "SIZE_LIMIT_EXCEEDED", String(error));
          }
        }
      });
    }),
  );
});

describe("a file on which another process holds a lease", { skip: await noLeases() }, () => {
  /** Runs `body` while a child holds a lease on `file`, and for `grace` seconds after it is asked. */
  async function whileLeased(file: string, grace: number | undefined, body: () => Promise<void>) {
    const holder = holdLease(file, grace);
    await holder.ready;
    try {
      await body();
    } finally {
      await holder.kill();
    }
  }

  for (const [name, asked] of [
    ["by its name", "a.txt"],
    ["by an absolute link", "link"],
  ] as const) {
    test(
      `is read, ${name}, as soon as the holder gives it up`,
      { timeout: 10_000 },
      inWorkspace(async (ws) => {
        ws.link("link", ws.write("a.txt", "leased"));
        await whileLeased(ws.at("a.txt"), 0.1, async () => {
          const { content } = await readFile(ws.context, asked);
          assert.equal(content, "leased");
        });
      }),
    );
  }

  test(
    "second look F13: is refused as CONTENDED for the sake of a lease, by its name or a link, where the holder keeps it",
    { timeout: 10_000 },
    inWorkspace(async (ws) => {
      ws.link("link", ws.write("a.txt", "leased"));
      await whileLeased(ws.at("a.txt"), undefined, async () => {
        // Both at once, since each takes all the patience there is.
        const refusals = ["a.txt", "link"].map((asked) =>
          rejection(() => readFile(ws.context, asked), ws.hidden),
        );
        for (const { code, message } of await Promise.all(refusals)) {
          assert.equal(code, "CONTENDED");
          assert.match(message, /\blease\b.*try again/);
        }
      });
    }),
  );

  test(
    "an abort ends the waiting at once",
    { timeout: 10_000 },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "leased");
      await whileLeased(ws.at("a.txt"), undefined, async () => {
        const controller = new AbortController();
        const { signal } = controller;
        const pending = rejectionValue(() => readFile(ws.context, "a.txt", { signal }));
        await new Promise((resolve) => setTimeout(resolve, 100));
        controller.abort("enough");
        assert.equal(await pending, "enough");
      });
    }),
  );

  test(
    "is read by readFileSync, too, as soon as the holder gives it up",
    { timeout: 10_000 },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "leased");
      await whileLeased(ws.at("a.txt"), 0.1, async () => {
        assert.equal(readFileSync(ws.context, "a.txt").content, "leased");
      });
    }),
  );
});
