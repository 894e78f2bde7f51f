// `applyPatch` and the disk: line ends against a model, modes, links, folders, limits, aborts, and calls side by side.
// docs/contract.md §9 to §11.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { describe, test } from "node:test";
import { type ApplyPatchError, applyPatch, Workspace } from "../index.js";
import { callInChild } from "./support/child.ts";
import { applied, contentsOf, lay, refused, sha256, text, v4a } from "./support/patch.ts";
import {
  mkfifo,
  noFifos,
  noPermissions,
  noSymlinks,
  notPosix,
  UNPRIVILEGED,
} from "./support/platform.ts";
import { ROOT } from "./support/program.ts";
import { Random } from "./support/random.ts";
import { treeOf } from "./support/tree.mjs";
import { inWorkspace } from "./support/workspace.ts";

const diff = (name: string, ...lines: string[]) => text(`--- a/${name}`, `+++ b/${name}`, ...lines);
const update = (name: string, ...lines: string[]) => v4a(`*** Update File: ${name}`, ...lines);
const B_TO_X = ["@@", "-b", "+x"];
const ABC = { "a.txt": "a\nb\nc\n" };
const modeOf = (absolute: string) => fs.statSync(absolute).mode & 0o7777;

/** A line with its end: LF, CRLF, or none at the end of a file. */
type Line = [text: string, end: "\n" | "\r\n" | ""];

/** Removes lines from one on, and adds others in their place. */
interface Change {
  at: number;
  removed: number;
  added: string[];
}

/**
 * The rule of docs/contract.md §10 and §11 for the ends of added lines, written down a second time: the i-th added line
 * gets the end of the i-th removed one; further ones that of the last removed one; without such an end, that of the line
 * before, of the line at this place, or LF. A line without an end that is followed by another gets one by the same rule.
 */
function model(lines: Line[], changes: Change[]): string {
  const endAround = (at: number): "\n" | "\r\n" => {
    const near = [...lines.slice(0, at).reverse(), ...lines.slice(at)];
    return near.map(([, end]) => end).find((end) => end !== "") || "\n";
  };
  const result: [text: string, end: string, ifFollowed: string][] = [];
  let at = 0;
  const keep = (until: number) => {
    for (; at < until; at += 1) {
      const [line, end] = lines[at] as Line;
      result.push([line, end, end || endAround(at)]);
    }
  };
  for (const change of changes) {
    keep(change.at);
    const removed = lines.slice(at, at + change.removed).map(([, end]) => end);
    let last: string = endAround(at + change.removed);
    const ends = change.added.map((_, i) => {
      last = removed[i] || (i < removed.length ? last : (removed.findLast((end) => end) ?? last));
      return last;
    });
    for (const [i, added] of change.added.entries()) {
      const end = ends[i] as string;
      result.push([added, end, end]);
    }
    at += change.removed;
  }
  keep(lines.length);
  return result
    .map(([line, end, followed], i) => line + (i + 1 < result.length ? followed : end))
    .join("");
}

describe("line ends", () => {
  const random = new Random(20261129);

  function randomFile(): Line[] {
    const style = random.pick(["\n", "\r\n", "mixed"] as const);
    const lines: Line[] = Array.from({ length: random.below(12) }, (_, n) => [
      random.pick([
        `line ${n}`,
        `\tline ${n}`,
        `é\u2028 ${n}`,
        `lone \r cr ${n}`,
        `trailing ${n}  `,
      ]),
      style === "mixed" ? random.pick(["\n", "\r\n"] as const) : style,
    ]);
    const last = lines.at(-1);
    if (last && random.below(3) === 0) last[1] = "";
    return lines;
  }

  function randomChanges(count: number): Change[] {
    const changes: Change[] = [];
    for (let at = random.below(3); at <= count; at += 2 + random.below(4)) {
      const removed = Math.min(random.below(3), count - at);
      const added = Array.from({ length: random.below(4) }, () => `new ${random.below(99)}`);
      if (removed + added.length > 0) changes.push({ at, removed, added });
      at += removed;
    }
    return changes;
  }

  /** The lines of hunks, each with so many lines of context as are free. */
  function hunksOf(lines: Line[], changes: Change[], width: number): string[][] {
    let free = 0;
    return changes.map(({ at, removed, added }, i) => {
      const next = changes[i + 1]?.at ?? lines.length;
      const [from, until] = [Math.max(free, at - width), Math.min(next, at + removed + width)];
      free = until;
      const old = (sign: string, from: number, until: number) =>
        lines.slice(from, until).map(([line]) => sign + line);
      return [
        `@@ -${from + Number(until > from)},${until - from} +1,${until - from - removed + added.length} @@`,
        ...old(" ", from, at),
        ...old("-", at, at + removed),
        ...added.map((line) => `+${line}`),
        ...old(" ", at + removed, until),
      ];
    });
  }

  test(
    "those of added lines are those of the lines that they replace, as a model says, in both formats",
    inWorkspace(async (ws) => {
      const context = { workspaceRoot: ws.root, durability: "none" as const };
      let compared = 0;
      for (let round = 0; round < 400; round += 1) {
        const lines = randomFile();
        const changes = randomChanges(lines.length);
        if (changes.length === 0) continue;
        const mark = random.below(4) === 0 ? "\ufeff" : "";
        const before = mark + lines.map(([line, end]) => line + end).join("");
        const after = mark + model(lines, changes);
        const hunks = hunksOf(lines, changes, 1 + random.below(3));
        // Additions alone need a number or an empty file.
        const isPlaced = hunks.every((hunk) => hunk.slice(1).some((line) => !line.startsWith("+")));
        const patches = [diff("a.txt", ...hunks.flat())];
        if (isPlaced)
          patches.push(update("a.txt", ...hunks.flatMap(([, ...rest]) => ["@@", ...rest])));
        for (const patch of patches) {
          ws.write("a.txt", before);
          await applyPatch(context, { patch });
          const now = fs.readFileSync(ws.at("a.txt"), "utf8");
          assert.equal(
            JSON.stringify(now),
            JSON.stringify(after),
            `${round}: ${JSON.stringify(before)}\n${patch}`,
          );
          compared += 1;
        }
      }
      assert.ok(compared > 500, String(compared));
    }),
  );

  for (const [name, before, patch, after] of [
    [
      "P-39: a CRLF patch of an LF file",
      "a\nb\n",
      update("a.txt", ...B_TO_X).replaceAll("\n", "\r\n"),
      "a\nx\n",
    ],
    ["P-39: an LF patch of a CRLF file", "a\r\nb\r\n", update("a.txt", ...B_TO_X), "a\r\nx\r\n"],
    [
      "D-24: a CRLF diff of an LF file",
      "a\nb\n",
      diff("a.txt", "@@ -2 +2 @@", "-b", "+x").replaceAll("\n", "\r\n"),
      "a\nx\n",
    ],
    [
      "D-24: an LF diff of a CRLF file",
      "a\r\nb\r\n",
      diff("a.txt", "@@ -2 +2 @@", "-b", "+x"),
      "a\r\nx\r\n",
    ],
    [
      "a diff with the CRs of the file's lines, as git writes it",
      "a\r\nb\r\n",
      diff("a.txt", "@@ -2 +2 @@", "-b\r", "+x\r"),
      "a\r\nx\r\n",
    ],
    [
      "a change of CRLF to LF, as git writes it",
      "a\r\nb\r\n",
      diff("a.txt", "@@ -2 +2 @@", "-b\r", "+b"),
      "a\r\nb\n",
    ],
    [
      "a CR in an added line belongs to the text where the headers end in LF",
      "a\nb\n",
      update("a.txt", "@@", "-b", "+x\r"),
      "a\nx\r\n",
    ],
    [
      "P-29: an added last line gets an end",
      "a\nb",
      update("a.txt", "@@", " a", "-b", "+x"),
      "a\nx\n",
    ],
    [
      "P-29: an untouched last line without an end stays so",
      "a\nb",
      update("a.txt", "@@", "-a", "+x", " b", "*** End of File"),
      "x\nb",
    ],
    [
      "P-29: a last line that is followed by another gets an end",
      "a\r\nb",
      update("a.txt", "@@", " b", "+x"),
      "a\r\nb\r\nx\r\n",
    ],
    [
      "P-41: a byte order mark, and a hunk on the first line",
      "\ufeffb\r\na\r\n",
      update("a.txt", ...B_TO_X),
      "\ufeffx\r\na\r\n",
    ],
    [
      "P-41: the byte order mark is in the patch, too",
      "\ufeffb\na\n",
      update("a.txt", "@@", "-\ufeffb", "+\ufeffx"),
      "\ufeffx\na\n",
    ],
    [
      "all lines of a file with a byte order mark are removed",
      "\ufeffb\n",
      update("a.txt", "@@", "-b"),
      "\ufeff",
    ],
    ["all lines are removed", "b\n", update("a.txt", "@@", "-b"), ""],
    [
      "U+2028, U+0085, VT, FF and a lone CR end no lines",
      "a\u2028\u0085\v\f\rz\nb\n",
      update("a.txt", "@@", " a\u2028\u0085\v\f\rz", "-b", "+x"),
      "a\u2028\u0085\v\f\rz\nx\n",
    ],
    [
      "a NUL far behind is text",
      `${"z".repeat(9000)}\0\nb\n`,
      update("a.txt", ...B_TO_X),
      `${"z".repeat(9000)}\0\nx\n`,
    ],
  ] as const) {
    test(
      name,
      inWorkspace(async (ws) => {
        lay(ws, { "a.txt": before });
        await applied(ws, patch, { "a.txt": after });
      }),
    );
  }
});

describe("modes, links and folders", () => {
  for (const mode of [0o755, 0o600, 0o640]) {
    test(
      `a file with mode ${mode.toString(8)} keeps it when it is changed, moved, or both`,
      { skip: notPosix },
      inWorkspace(async (ws) => {
        lay(ws, { a: "b\n", c: "b\n", e: "b\n" });
        for (const name of ["a", "c", "e"]) fs.chmodSync(ws.at(name), mode);
        const patch = v4a(
          ...["*** Update File: a", ...B_TO_X, "*** Update File: c", "*** Move to: d"],
          ...["*** Update File: e", "*** Move to: f", ...B_TO_X],
        );
        await applied(ws, patch, { a: "x\n", c: null, d: "b\n", e: null, f: "x\n" });
        assert.deepEqual(
          ["a", "d", "f"].map((name) => modeOf(ws.at(name))),
          [mode, mode, mode],
        );
      }),
    );
  }

  test(
    "D-19: execute bits are set and cleared, alone and with hunks, where there are read bits",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      lay(ws, { on: "b\n", off: "b\n", both: "b\n", gone: "b\n" });
      fs.chmodSync(ws.at("on"), 0o640);
      fs.chmodSync(ws.at("off"), 0o755);
      fs.chmodSync(ws.at("both"), 0o644);
      const git = (name: string, ...lines: string[]) =>
        text(`diff --git a/${name} b/${name}`, ...lines);
      const patch =
        git("on", "old mode 100644", "new mode 100755") +
        git("off", "old mode 100755", "new mode 100644") +
        git(
          "both",
          "old mode 100644",
          "new mode 100755",
          "--- a/both",
          "+++ b/both",
          "@@ -1 +1 @@",
          "-b",
          "+x",
        ) +
        git(
          "new",
          "new file mode 100755",
          "--- /dev/null",
          "+++ b/new",
          "@@ -0,0 +1 @@",
          "+#!/bin/sh",
        ) +
        git(
          "plain",
          "new file mode 100644",
          "--- /dev/null",
          "+++ b/plain",
          "@@ -0,0 +1 @@",
          "+x",
        ) +
        git(
          "gone",
          "deleted file mode 100755",
          "--- a/gone",
          "+++ /dev/null",
          "@@ -1 +0,0 @@",
          "-b",
        );
      const changes = { both: "x\n", new: "#!/bin/sh\n", plain: "x\n", gone: null };
      const before = fs.statSync(ws.at("on")).mtimeMs;
      await applied(ws, patch, changes);
      assert.ok(before > 0);
      const executable = (name: string) => modeOf(ws.at(name)) & 0o111;
      assert.equal(modeOf(ws.at("on")), 0o750);
      assert.equal(modeOf(ws.at("off")), 0o644);
      assert.equal(modeOf(ws.at("both")), 0o755);
      assert.equal(executable("new"), 0o111 & ~process.umask());
      assert.equal(executable("plain"), 0);
    }),
  );

  test(
    "a dry run sets no execute bits",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      lay(ws, { a: "b\n" });
      fs.chmodSync(ws.at("a"), 0o644);
      const before = treeOf(ws.base);
      const patch = text("diff --git a/a b/a", "old mode 100644", "new mode 100755");
      await applyPatch(ws.writable, { patch, dry_run: true });
      assert.deepEqual(treeOf(ws.base), before);
    }),
  );

  test(
    "a link stays a link when its file is changed",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      lay(ws, { "real.txt": "b\n" });
      ws.link("link.txt", "real.txt");
      await applyPatch(ws.writable, { patch: update("link.txt", ...B_TO_X) });
      assert.deepEqual(contentsOf(ws.root), { "link.txt": "→ real.txt", "real.txt": "x\n" });
    }),
  );

  test(
    "deleting a link removes the link, and moving one moves it; what they lead to stays, even outside",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.writeOutside("kept.txt");
      lay(ws, { "real.txt": "b\n" });
      ws.link("one", "real.txt");
      ws.link("dangling", "nothing");
      ws.link("out", ws.outside);
      ws.link("moved", "real.txt");
      const patch = v4a(
        ...["*** Delete File: one", "*** Delete File: dangling", "*** Delete File: out"],
        ...["*** Update File: moved", "*** Move to: dir/moved"],
      );
      const answer = await applyPatch(ws.writable, { patch });
      const hashes = answer.files.map((file) => [file.action, file.before_sha256, file.sha256]);
      const gone = ["delete", null, null];
      assert.deepEqual(hashes, [gone, gone, gone, ["move", null, null]]);
      assert.deepEqual(contentsOf(ws.root), {
        "dir/": "",
        "dir/moved": "→ real.txt",
        "real.txt": "b\n",
      });
      assert.deepEqual(fs.readdirSync(ws.outside), ["kept.txt"]);
    }),
  );

  test(
    "paths through a link that leads out are SANDBOX_VIOLATION, for every kind of section",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.writeOutside("b.txt", "b\n");
      lay(ws, ABC);
      ws.link("out", ws.outside);
      ws.link("file", `${ws.outside}/b.txt`);
      for (const lines of [
        ["*** Update File: out/b.txt", ...B_TO_X],
        ["*** Update File: file", ...B_TO_X],
        ["*** Add File: out/n.txt", "+x"],
        ["*** Add File: out/new/n.txt", "+x"],
        ["*** Delete File: out/b.txt"],
        ["*** Update File: a.txt", "*** Move to: out/a.txt"],
        ["*** Update File: out/b.txt", "*** Move to: b.txt"],
      ]) {
        const error = await refused(ws, { patch: v4a(...lines) });
        assert.equal(error.code, "SANDBOX_VIOLATION", lines.join("\n"));
      }
    }),
  );

  test(
    "one file under two names, of a link or a hard link, is refused whole",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      lay(ws, { "real.txt": "a\nb\nc\n" });
      ws.link("link.txt", "real.txt");
      fs.linkSync(ws.at("real.txt"), ws.at("hard.txt"));
      for (const other of ["link.txt", "hard.txt"]) {
        const patch = v4a(
          "*** Update File: real.txt",
          ...B_TO_X,
          `*** Update File: ${other}`,
          "@@",
          "-c",
          "+y",
        );
        const error = await refused(ws, { patch });
        assert.equal(error.code, "PATCH_INVALID");
        assert.match(error.message, new RegExp(`"real\\.txt" and as "${other}"`));
      }
    }),
  );

  test(
    "a FIFO is NOT_FILE in an update and a deletion, and ALREADY_EXISTS in an addition, at once",
    { skip: noFifos, timeout: 5_000 },
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      mkfifo(ws.at("fifo"));
      for (const [code, ...lines] of [
        ["NOT_FILE", "*** Update File: fifo", ...B_TO_X],
        ["NOT_FILE", "*** Delete File: fifo"],
        ["NOT_FILE", "*** Update File: fifo", "*** Move to: x"],
        ["ALREADY_EXISTS", "*** Add File: fifo", "+x"],
        ["ALREADY_EXISTS", "*** Update File: a.txt", "*** Move to: fifo"],
      ]) {
        assert.equal((await refused(ws, { patch: v4a(...lines) })).code, code, lines.join("\n"));
      }
    }),
  );

  test(
    "nothing is added at or moved to a folder",
    inWorkspace(async (ws) => {
      lay(ws, { ...ABC, "dir/b.txt": "b\n" });
      for (const lines of [
        ["*** Add File: dir", "+x"],
        ["*** Update File: a.txt", "*** Move to: dir"],
        ["*** Update File: a.txt", "*** Move to: dir", ...B_TO_X],
      ]) {
        const error = await refused(ws, { patch: v4a(...lines) });
        assert.deepEqual([error.code, error.path], ["ALREADY_EXISTS", "dir"], lines.join("\n"));
      }
    }),
  );

  test(
    "P-57: one file without write permission, and nothing changes, folders neither",
    { skip: noPermissions },
    inWorkspace(async (ws) => {
      lay(ws, { "a.txt": "b\n", "ro.txt": "b\n", "closed/c.txt": "b\n" });
      fs.chmodSync(ws.at("ro.txt"), 0o444);
      for (const [path, mode] of [
        [ws.base, 0o777],
        [ws.root, 0o777],
        [ws.at("a.txt"), 0o666],
        [ws.at("closed"), 0o555],
      ] as const) {
        fs.chmodSync(path, mode);
      }
      const before = treeOf(ws.base);
      const first = ["*** Update File: a.txt", ...B_TO_X, "*** Add File: new/x.txt", "+x"];
      const calls = [
        ["*** Update File: ro.txt", ...B_TO_X],
        ["*** Delete File: closed/c.txt"],
        ["*** Update File: closed/c.txt", "*** Move to: d.txt"],
        ["*** Update File: a.txt", "*** Move to: closed/a.txt"],
        ["*** Add File: closed/n.txt", "+x"],
        ["*** Add File: closed/new/n.txt", "+x"],
      ].flatMap((lines) =>
        [false, true].map((dry_run) => ({
          call: "applyPatch",
          args: [ws.writable, { patch: v4a(...first, ...lines), dry_run }],
        })),
      );
      for (const outcome of await callInChild({ calls, user: UNPRIVILEGED })) {
        assert.ok("error" in outcome, JSON.stringify(outcome));
        assert.equal(outcome.error.code, "PERMISSION_DENIED", outcome.error.message);
      }
      assert.deepEqual(treeOf(ws.base), before);
      fs.chmodSync(ws.at("closed"), 0o755);
    }),
  );
});

describe("limits", () => {
  const LIMIT = 10 * 1024 * 1024;

  test(
    "a file has at most 10 MiB before",
    inWorkspace(async (ws) => {
      const line = `${"z".repeat(1023)}\n`;
      const full = `b\n${line.repeat(LIMIT / 1024)}`.slice(0, LIMIT - 1);
      ws.write("a.txt", `${full}\n`);
      const patch = update("a.txt", ...B_TO_X);
      await applyPatch(ws.writable, { patch, dry_run: true });
      ws.write("a.txt", `${full}\n\n`);
      const error = await refused(ws, { patch });
      assert.deepEqual([error.code, error.path], ["SIZE_LIMIT_EXCEEDED", "a.txt"]);
      // Without hunks its bytes are not needed.
      await applyPatch(ws.writable, { patch: v4a("*** Delete File: a.txt"), dry_run: true });
      await applyPatch(ws.writable, {
        patch: v4a("*** Update File: a.txt", "*** Move to: b.txt"),
        dry_run: true,
      });
    }),
  );

  test(
    "and at most 10 MiB after",
    inWorkspace(async (ws) => {
      ws.write("a.txt", `b\n${"z".repeat(LIMIT - 3)}\n`);
      await applyPatch(ws.writable, { patch: update("a.txt", "@@", "-b", "+x"), dry_run: true });
      const error = await refused(ws, { patch: update("a.txt", "@@", "-b", "+xx") });
      assert.deepEqual([error.code, error.path], ["SIZE_LIMIT_EXCEEDED", "a.txt"]);
    }),
  );

  test(
    "sections of one file work through 256 MiB at most",
    inWorkspace(async (ws) => {
      const size = 8 * 1024 * 1024;
      ws.write("a.txt", `10\n${"z".repeat(size - 4)}\n`);
      const sections = Array.from({ length: 33 }, (_, turn) => [
        "*** Update File: a.txt",
        ...["@@", `-${10 + turn}`, `+${11 + turn}`],
      ]);
      const error = await refused(ws, { patch: v4a(...sections.flat()) });
      assert.deepEqual([error.code, error.path], ["SIZE_LIMIT_EXCEEDED", "a.txt"]);
      assert.match(error.message, /one section/);
    }),
  );
});

test(
  "a call that is aborted on its way has written every file, or rejects with the reason and has written none",
  inWorkspace(async (ws) => {
    const files = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`${n}.txt`, `b\n${"some text\n".repeat(20_000)}`]),
    );
    const patch = v4a(
      ...Object.keys(files).flatMap((name) => [`*** Update File: ${name}`, ...B_TO_X]),
      ...["*** Add File: new/x.txt", "+x"],
    );
    const context = { workspaceRoot: ws.root, durability: "none" as const };
    const seen = new Set<unknown>();
    for (const delay of [0, 0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 5_000]) {
      fs.rmSync(ws.root, { recursive: true });
      fs.mkdirSync(ws.root);
      lay(ws, files);
      const before = contentsOf(ws.root);
      const controller = new AbortController();
      const call = applyPatch(context, { patch }, { signal: controller.signal });
      const timer = setTimeout(() => controller.abort("enough"), delay);
      const outcome = await call.then(
        () => "written",
        (reason) => reason,
      );
      clearTimeout(timer);
      // An aborted call may still be at work on its worker for a moment.
      let now = contentsOf(ws.root);
      const isOld = () => JSON.stringify(now) === JSON.stringify(before);
      for (let wait = 0; wait < 100 && outcome === "enough" && !isOld(); wait += 1) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        now = contentsOf(ws.root);
      }
      if (outcome === "enough") assert.ok(isOld(), Object.keys(now).join(" "));
      else assert.equal(now["11.txt"]?.slice(0, 2), "x\n");
      seen.add(outcome);
    }
    assert.deepEqual([...seen].sort(), ["enough", "written"]);
  }),
);

describe("calls side by side", () => {
  test(
    "P-56: patches of one file, by several spellings and a link, all land",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write("dir/a.txt", Array.from({ length: 40 }, (_, line) => `line ${line}: 0\n`).join(""));
      const workspace = Workspace.open(ws.root, { durability: "none" });
      ws.link("link.txt", "dir/a.txt");
      const paths = [
        "dir/a.txt",
        "./dir/a.txt",
        "dir/../dir/a.txt",
        ws.at("dir/a.txt"),
        "link.txt",
      ];
      const patches = Array.from({ length: 40 }, (_, line) =>
        update(paths[line % paths.length] as string, "@@", `-line ${line}: 0`, `+line ${line}: 1`),
      );
      await Promise.all(patches.map((patch) => applyPatch(workspace, { patch })));
      const expected = Array.from({ length: 40 }, (_, line) => `line ${line}: 1\n`).join("");
      assert.equal(fs.readFileSync(ws.at("dir/a.txt"), "utf8"), expected);
    }),
  );

  test(
    "patches of two files in opposite orders do not wait for each other for ever",
    { timeout: 30_000 },
    inWorkspace(async (ws) => {
      const lines = (n: number) => Array.from({ length: 20 }, (_, line) => `line ${line}: ${n}`);
      lay(ws, { "a.txt": text(...lines(0)), "b.txt": text(...lines(0)) });
      const workspace = Workspace.open(ws.root, { durability: "none" });
      const patches = Array.from({ length: 20 }, (_, line) => {
        const names = line % 2 === 0 ? ["a.txt", "b.txt"] : ["b.txt", "a.txt"];
        return v4a(
          ...names.flatMap((name) => [
            `*** Update File: ${name}`,
            ...["@@", `-line ${line}: 0`, `+line ${line}: 1`],
          ]),
        );
      });
      await Promise.all(patches.map((patch) => applyPatch(workspace, { patch })));
      assert.deepEqual(contentsOf(ws.root), {
        "a.txt": text(...lines(1)),
        "b.txt": text(...lines(1)),
      });
    }),
  );

  test(
    "patches of 8 processes that change different lines of one file all land",
    { timeout: 120_000 },
    inWorkspace(async (ws) => {
      const [processes, patches] = [8, 15];
      const lines = (n: number) =>
        Array.from({ length: processes }, (_, line) => `line ${line}: ${n}\n`).join("");
      ws.write("a.txt", lines(0));
      const program = `
        const { applyPatch } = require(${JSON.stringify(ROOT)});
        const context = { workspaceRoot: ${JSON.stringify(ws.root)}, durability: "none" };
        (async () => {
          const line = process.argv[1];
          for (let n = 0; n < ${patches}; n += 1) {
            const patch = [
              "*** Begin Patch", "*** Update File: a.txt", "@@",
              \`-line \${line}: \${n}\`, \`+line \${line}: \${n + 1}\`, "*** End Patch",
            ].join("\\n");
            await applyPatch(context, { patch });
          }
        })();`;
      const codes = Array.from({ length: processes }, async (_, line) => {
        const child = spawn(process.execPath, ["-e", program, String(line)], { stdio: "inherit" });
        return new Promise((resolve) => child.on("exit", resolve));
      });
      assert.deepEqual(await Promise.all(codes), Array(processes).fill(0));
      assert.deepEqual(contentsOf(ws.root), { "a.txt": lines(patches) });
    }),
  );

  test(
    "of calls that add one file, one has made it and the others are ALREADY_EXISTS",
    inWorkspace(async (ws) => {
      const calls = Array.from({ length: 10 }, (_, n) =>
        applyPatch(ws.writable, { patch: v4a("*** Add File: d/a.txt", `+${n}`) }),
      );
      const outcomes = await Promise.allSettled(calls);
      const made = outcomes.findIndex((outcome) => outcome.status === "fulfilled");
      assert.deepEqual(contentsOf(ws.root), { "d/": "", "d/a.txt": `${made}\n` });
      for (const [n, outcome] of outcomes.entries()) {
        if (n === made) continue;
        assert.ok(outcome.status === "rejected");
        assert.equal((outcome.reason as ApplyPatchError).code, "ALREADY_EXISTS");
      }
    }),
  );

  test(
    "of calls with the hash of one text, one lands and the others are STALE",
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      const expected_hashes = { "a.txt": sha256(ABC["a.txt"]) };
      const calls = Array.from({ length: 10 }, (_, n) =>
        applyPatch(ws.writable, { patch: update("a.txt", "@@", "-b", `+${n}`), expected_hashes }),
      );
      const outcomes = await Promise.allSettled(calls);
      const codes = outcomes.map((o) => (o.status === "rejected" ? o.reason.code : "done")).sort();
      assert.deepEqual(codes, [...Array(9).fill("STALE"), "done"]);
    }),
  );
});

test(
  "a patch of 1,000 files of every kind is applied",
  { timeout: 120_000 },
  inWorkspace((ws) => {
    // In a process of its own, whose end this test would tell.
    const program = `
      const { applyPatch } = require(${JSON.stringify(ROOT)});
      const fs = require("node:fs");
      const root = ${JSON.stringify(ws.root)};
      const sections = [];
      for (let n = 0; n < 250; n += 1) {
        for (const kind of ["u", "d", "m"]) fs.writeFileSync(root + "/" + kind + n, "b\\n");
        sections.push("*** Add File: a" + n, "+x", "*** Update File: u" + n, "@@", "-b", "+x");
        sections.push("*** Delete File: d" + n, "*** Update File: m" + n, "*** Move to: n" + n, "@@", "-b", "+x");
      }
      const patch = ["*** Begin Patch", ...sections, "*** End Patch"].join("\\n");
      applyPatch({ workspaceRoot: root, durability: "none" }, { patch }).then(
        () => process.stdout.write("applied"),
        (error) => process.stdout.write(error.message),
      );`;
    const child = spawnSync(process.execPath, ["-e", program], { encoding: "utf8" });
    assert.deepEqual([child.signal, child.stdout], [null, "applied"]);
    const left = contentsOf(ws.root);
    assert.equal(Object.keys(left).length, 750);
    assert.ok(
      Object.entries(left).every(([name, bytes]) => /^[aun]\d+$/.test(name) && bytes === "x\n"),
    );
  }),
);
