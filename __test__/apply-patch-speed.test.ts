// How long `applyPatch` takes with long and hostile patches, and how soon it heeds an abort. The bounds are wide, since
// a debug build on a busy machine must stay below them; what they catch is work that grows with the square of the text.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { applyPatch } from "../index.js";
import { text, v4a } from "./support/patch.ts";
import { times } from "./support/random.ts";
import { inWorkspace } from "./support/workspace.ts";

const diff = (name: string, ...lines: string[]) => text(`--- a/${name}`, `+++ b/${name}`, ...lines);
const update = (name: string, ...lines: string[]) => v4a(`*** Update File: ${name}`, ...lines);
const contextOf = (root: string) => ({ workspaceRoot: root, durability: "none" as const });

test(
  "P-54: 2,000 hunks of a 1 MiB file are applied in seconds, in both formats",
  { timeout: 60_000 },
  inWorkspace(async (ws) => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n} ${"z".repeat(40)}`);
    const changes = Array.from({ length: 2_000 }, (_, n) => 10 * n + 4);
    const after = lines.map((line, n) => (n % 10 === 4 ? `changed ${n}` : line));
    const hunk = (at: number) => [
      ...[` ${lines[at - 1]}`, `-${lines[at]}`, `+changed ${at}`, ` ${lines[at + 1]}`],
    ];
    const patches = [
      update("a.txt", ...changes.flatMap((at) => ["@@", ...hunk(at)])),
      diff("a.txt", ...changes.flatMap((at) => [`@@ -${at},3 +${at},3 @@`, ...hunk(at)])),
      diff("a.txt", ...changes.flatMap((at) => [`@@ -${at + 9},9 +1,9 @@`, ...hunk(at)])),
    ];
    for (const patch of patches) {
      assert.ok(patch.length > 300 * 1024);
      ws.write("a.txt", text(...lines));
      const begun = performance.now();
      await applyPatch(contextOf(ws.root), { patch });
      assert.ok(performance.now() - begun < 10_000);
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), text(...after));
    }
  }),
);

// An eighth of the longest patch and of the largest file; all of it with RINGFENCE_TEST_ROUNDS=8.
const part = Math.min(8, times(1)) / 8;
const size = Math.floor((4 * 1024 * 1024 - 200) * part);
const fill = (lines: string) => lines.repeat(Math.floor(size / lines.length)).trimEnd();
const file = (lines: string) => lines.repeat(Math.floor((10 * 1024 * 1024 * part) / lines.length));
const HOSTILE: [name: string, file: string, patch: string][] = [
  ["one line repeated, as one hunk", file("a\n"), update("a.txt", "@@", fill("-a\n"), "+b")],
  ["one line repeated, in many hunks", file("a\n"), update("a.txt", fill("@@\n-a\n+b\n"))],
  [
    "one line repeated, at the stated lines",
    file("a\n"),
    diff("a.txt", fill("@@ -1 +1 @@\n-a\n+b\n")),
  ],
  ["two lines by turns", file("a\nb\n"), update("a.txt", fill("@@\n a\n-b\n+c\n"))],
  [
    "two lines by turns, stated far away",
    file("a\nb\n"),
    diff("a.txt", fill("@@ -9999999 +1 @@\n-b\n a\n-b\n+c\n")),
  ],
  [
    "a long run that almost stands",
    `${file("a\n")}c\n`,
    update("a.txt", "@@", fill(" a\n"), "-b", "+c"),
  ],
  ["additions alone at one line", "a\n", diff("a.txt", fill("@@ -1,0 +2 @@\n+b\n"))],
  ["many @@ lines", file("a\n"), update("a.txt", fill("@@ a\n"), "-b", "+c")],
  ["an @@ line before each hunk", file("a\n"), update("a.txt", fill("@@ a\n-a\n+b\n"))],
  ["looser grades only", file("a \n"), update("a.txt", fill("@@\n-a\n a\n+b\n"))],
  [
    "the same hunk before the one before",
    `${file("a\nb\n")}z\n`,
    update("a.txt", "@@", "-z", "+y", fill("@@\n-a\n-a\n+b\n")),
  ],
  ["marks of missing ends", "a\n", diff("a.txt", "@@ -1 +1 @@", "-a", "+b", fill("\\ x\n"))],
  ["headers alone", "a\n", fill("--- a\n+++ b\n")],
  ["empty lines", "a\n", update("a.txt", "@@", fill("\n"), "-a", "+b")],
  ["spaces before markers", "a\n", update("a.txt", "@@", fill(" *** End Patch\n"), "-a", "+b")],
  [
    "empty lines between markers",
    "a\n",
    update("a.txt", "@@", "-a", "+b", fill(" *** Update File: a\n\n")),
  ],
  ["fences", "a\n", `${fill("```\n")}\n${update("a.txt", "@@", "-a", "+b")}`],
  [
    "lines that no hunk has, up to the end",
    "a\n",
    diff("a.txt", "@@ -1 +1 @@", "-a", "+b", fill("x\n"), "-a"),
  ],
];

describe("a hostile patch", () => {
  for (const [name, before, patch] of HOSTILE) {
    const args = { patch, dry_run: true };
    test(
      `ends in seconds: ${name}`,
      { timeout: 120_000 },
      inWorkspace(async (ws) => {
        ws.write("a.txt", before);
        const begun = performance.now();
        await applyPatch(contextOf(ws.root), args).catch((error) => {
          assert.equal(error.name, "ApplyPatchError", String(error));
        });
        const total = performance.now() - begun;
        assert.ok(total < 20_000, `${total} ms`);
      }),
    );
  }
});

describe("an abort is heeded in a fraction of the time", () => {
  for (const [name, before, patch] of HOSTILE) {
    test(
      name,
      { timeout: 120_000 },
      inWorkspace(async (ws) => {
        ws.write("a.txt", before);
        const args = { patch, dry_run: true };
        const begun = performance.now();
        await applyPatch(contextOf(ws.root), args).catch(() => {});
        const total = performance.now() - begun;
        const waitAfter = async (share: number) => {
          const controller = new AbortController();
          const options = { signal: controller.signal };
          const call = applyPatch(contextOf(ws.root), args, options).catch(() => {});
          await new Promise((resolve) => setTimeout(resolve, total * share));
          const aborted = performance.now();
          controller.abort();
          await call;
          return performance.now() - aborted;
        };
        // A debug build takes some tenths of a second for each step that is not broken off: the parser, an index.
        const most = Math.max(400, (total * 2) / 3);
        for (const share of [0.1, 0.5, 0.9]) {
          // A busy machine can hold one call up, and an abort that is not heeded holds up all of them.
          const waits: number[] = [];
          while (waits.length < 4 && !waits.some((waited) => waited < most)) {
            waits.push(await waitAfter(share));
          }
          assert.ok(Math.min(...waits) < most, `${waits} of ${total} ms at ${share}`);
        }
      }),
    );
  }
});

test(
  "files that exchange their names wait for no lock of the patch itself",
  inWorkspace(async (ws) => {
    ws.write("a.txt", "a\n");
    ws.write("b.txt", "b\n");
    const moves = [
      ["a.txt", "c.txt"],
      ["b.txt", "a.txt"],
      ["c.txt", "b.txt"],
    ];
    const patch = v4a(
      ...moves.flatMap(([from, to]) => [`*** Update File: ${from}`, `*** Move to: ${to}`]),
    );
    const begun = performance.now();
    await applyPatch(contextOf(ws.root), { patch });
    assert.ok(performance.now() - begun < 900);
    assert.equal(fs.readFileSync(ws.at("b.txt"), "utf8"), "a\n");
  }),
);
