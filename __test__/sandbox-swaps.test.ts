// Names that another process exchanges while they are read: no read leaves the root, and no name that always
// exists is reported as missing. docs/contract.md §3.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { Workspace } from "../index.js";
import { exchange, noExchange } from "./support/linux.ts";
import { noSymlinks, notPosix } from "./support/platform.ts";
import { looseReadFile, looseReadFileSync } from "./support/read.ts";
import { inWorkspace, SECRET, type TestWorkspace } from "./support/workspace.ts";

const MIN_READS = 500;
/** How often two reads in a row must have differed, before a swap counts as raced. */
const MIN_CHANGES = 20;
const DEADLINE_MS = 15_000;
const LONG = { timeout: 20_000 };

/**
 * Reads `asked` while another process swaps the file there, in all four ways by turns. Every read must
 * come to one of `outcomes`, a content or a code, and each of those `seen` must have come.
 */
async function readsWhileSwapping(
  ws: TestWorkspace,
  asked: string,
  { seen, legal = [] }: { seen: string[]; legal?: string[] },
): Promise<void> {
  const workspace = Workspace.open(ws.root);
  const counts = new Map<string, number>();
  let changes = 0;
  let last: string | undefined;
  const enough = () => seen.every((outcome) => counts.has(outcome)) && changes >= MIN_CHANGES;
  const begun = performance.now();
  for (let i = 0; i < MIN_READS || !enough(); i++) {
    if (performance.now() - begun > DEADLINE_MS) {
      assert.fail(`no race: ${changes} changes among ${JSON.stringify([...counts])}`);
    }
    const outcome = await outcomeOf(i, i % 2 === 0 ? workspace : ws.context, asked);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    if (outcome !== last) changes++;
    last = outcome;
  }
  workspace.close();
  assert.ok(!counts.has(SECRET), "a leak");
  for (const outcome of counts.keys()) {
    assert.ok([...seen, ...legal].includes(outcome), `came to ${outcome}`);
  }
}

/** The content, or the code of the refusal. */
async function outcomeOf(turn: number, context: unknown, asked: string): Promise<string> {
  try {
    const answer =
      turn % 4 < 2 ? await looseReadFile(context, asked) : looseReadFileSync(context, asked);
    return answer.content;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe("a swap by rename", { skip: noSymlinks || notPosix }, () => {
  /** Runs `body` while swap-worker.mjs plays its `attack`. */
  async function whileAttacked(ws: TestWorkspace, attack: string, body: () => Promise<void>) {
    const worker = new Worker(new URL("./support/swap-worker.mjs", import.meta.url), {
      workerData: { attack, base: ws.base },
    });
    await new Promise((resolve) => worker.once("message", resolve));
    try {
      await body();
    } finally {
      await worker.terminate();
    }
  }

  test(
    "a folder that makes way for a link to outside is read, refused or missing",
    LONG,
    inWorkspace(async (ws) => {
      ws.write("dir/a.txt", "inside\n");
      ws.writeOutside("a.txt");
      await whileAttacked(ws, "folder", () =>
        readsWhileSwapping(ws, "dir/a.txt", {
          seen: ["inside\n", "SANDBOX_VIOLATION"],
          legal: ["NOT_FOUND"],
        }),
      );
    }),
  );

  test(
    "a file that is replaced by a link to outside, and back, is read or refused, never missing",
    LONG,
    inWorkspace(async (ws) => {
      ws.write("a.txt", "inside\n");
      ws.writeOutside("a.txt");
      await whileAttacked(ws, "file", () =>
        readsWhileSwapping(ws, "a.txt", { seen: ["inside\n", "SANDBOX_VIOLATION"] }),
      );
    }),
  );

  test(
    "an absolute link that is turned from inside to outside is read or refused, never missing",
    LONG,
    inWorkspace(async (ws) => {
      ws.write("real/a.txt", "inside\n");
      ws.writeOutside("a.txt");
      ws.link("dir", ws.at("real"), "dir");
      await whileAttacked(ws, "link", () =>
        readsWhileSwapping(ws, "dir/a.txt", { seen: ["inside\n", "SANDBOX_VIOLATION"] }),
      );
    }),
  );
});

describe("a swap in which no name is ever missing", { skip: await noExchange() }, () => {
  /** Reads `asked` while `one` and `other` are exchanged. */
  async function readsWhileExchanging(
    ws: TestWorkspace,
    [one, other]: [string, string],
    asked: string,
    expected: { seen: string[]; legal?: string[] },
  ): Promise<void> {
    const swapper = exchange(ws.at(one), ws.at(other));
    await swapper.ready;
    try {
      await readsWhileSwapping(ws, asked, expected);
    } finally {
      await swapper.kill();
    }
  }

  for (const [name, target] of [
    ["an absolute", (ws: TestWorkspace) => ws.outside],
    ["a relative", () => "../outside"],
  ] as const) {
    test(
      `a folder exchanged with ${name} link to outside is read or refused`,
      LONG,
      inWorkspace(async (ws) => {
        ws.write("dir/a.txt", "inside\n");
        ws.writeOutside("a.txt");
        ws.link("link", target(ws), "dir");
        await readsWhileExchanging(ws, ["dir", "link"], "dir/a.txt", {
          seen: ["inside\n", "SANDBOX_VIOLATION"],
        });
      }),
    );
  }

  for (const [name, target] of [
    ["an absolute", (ws: TestWorkspace) => ws.at("real")],
    ["a relative", () => "real"],
  ] as const) {
    test(
      `a folder exchanged with ${name} link to another folder inside is read as one of them`,
      LONG,
      inWorkspace(async (ws) => {
        ws.write("dir/a.txt", "inside\n");
        ws.write("real/a.txt", "inside, too\n");
        ws.link("link", target(ws), "dir");
        await readsWhileExchanging(ws, ["dir", "link"], "dir/a.txt", {
          seen: ["inside\n", "inside, too\n"],
          // Of a name that keeps turning into a link, this says no more than that it did.
          legal: ["SANDBOX_VIOLATION"],
        });
      }),
    );
  }

  test(
    "a folder on the way of an absolute link, exchanged with a link to outside, is read or refused",
    LONG,
    inWorkspace(async (ws) => {
      ws.write("dir/sub/a.txt", "inside\n");
      ws.writeOutside("sub/a.txt");
      ws.link("link", ws.outside, "dir");
      ws.link("way", ws.at("dir/sub"), "dir");
      await readsWhileExchanging(ws, ["dir", "link"], "way/a.txt", {
        seen: ["inside\n", "SANDBOX_VIOLATION"],
      });
    }),
  );

  test(
    "a file exchanged with a link to outside is read or refused",
    LONG,
    inWorkspace(async (ws) => {
      ws.write("a.txt", "inside\n");
      ws.writeOutside("a.txt");
      fs.symlinkSync(path.join(ws.outside, "a.txt"), ws.at("link"));
      await readsWhileExchanging(ws, ["a.txt", "link"], "a.txt", {
        seen: ["inside\n", "SANDBOX_VIOLATION"],
      });
    }),
  );
});
