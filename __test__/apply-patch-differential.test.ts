// `applyPatch` beside git, diff and patch: random changes of random files, as these programs write them down and make
// them. docs/contract.md §11. RINGFENCE_TEST_ROUNDS=20 plays twenty times as many rounds.
//
// Two differences are intended, and no random file has them: of a file with a byte order mark the mark is left aside, and
// an addition without context in a file with mixed line ends gets the end of the line before.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { type ApplyPatchOutput, applyPatch } from "../index.js";
import { contentsOf } from "./support/patch.ts";
import { isWindows, notPosix } from "./support/platform.ts";
import { Random, times } from "./support/random.ts";

const missing = (program: string) =>
  spawnSync(program, ["--version"]).error ? `${program} is missing` : false;
const noGit = missing("git");
const noDiff = notPosix || missing("diff");
const noPatch = notPosix || missing("patch");

/** Nothing of this machine's settings changes what git writes. */
const ENV = {
  ...process.env,
  ...{
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: os.devNull,
    GIT_CONFIG_SYSTEM: os.devNull,
    LC_ALL: "C",
  },
};

function run(program: string, args: string[], cwd: string, input = "", allowed = [0, 1]): string {
  const ended = spawnSync(program, args, { cwd, input, env: ENV, maxBuffer: 1 << 28 });
  assert.ok(allowed.includes(ended.status ?? -1), `${program}: ${ended.error ?? ended.stderr}`);
  return ended.stdout.toString("utf8");
}

type Eol = "\n" | "\r\n" | "mixed";

/** Texts of lines, with those that look like parts of a patch. */
const WORDS = [
  ...[
    "a",
    "b",
    "}",
    "",
    "foo",
    "  ind",
    "\ttab",
    "é",
    "trail  ",
    "u\u2028x",
    "lone\rcr",
    "-- x",
    "++ y",
  ],
  ...[
    "@@ -1 +1 @@",
    "--- a/q",
    "+++ b/q",
    "*** End Patch",
    "*** Update File: x",
    "\\ no",
    "diff --git a/x b/x",
  ],
];

class Generator {
  readonly random: Random;
  readonly #words: readonly string[];
  readonly #isUnique: boolean;
  #count = 0;

  constructor(seed: number, words: readonly string[], isUnique: boolean) {
    this.random = new Random(seed);
    this.#words = words;
    this.#isUnique = isUnique;
  }

  line(eol: Eol): string {
    const { random } = this;
    this.#count += 1;
    const number = this.#isUnique
      ? ` ${this.#count}`
      : random.below(3) === 0
        ? random.below(50)
        : "";
    return `${random.pick(this.#words)}${number}${eol === "mixed" ? random.pick(["\n", "\r\n"]) : eol}`;
  }

  file(eol: Eol): string {
    const lines = Array.from({ length: this.random.below(40) }, () => this.line(eol)).join("");
    return this.random.below(3) === 0 ? lines.replace(/\r?\n$/, "") : lines;
  }

  /** The file with some lines added, removed and replaced. */
  edited(file: string, eol: Eol): string {
    const { random } = this;
    const lines = file.split(/(?<=\n)/);
    for (let edits = 1 + random.below(4); edits > 0; edits -= 1) {
      const at = random.below(lines.length + 1);
      const kind = random.below(3);
      if (kind === 0) lines.splice(at, 0, this.line(eol));
      else if (kind === 1) lines.splice(at, 1 + random.below(2));
      else if (at < lines.length) {
        lines[at] = random.below(8) === 0 ? this.line(eol).trimEnd() : this.line(eol);
      }
    }
    return lines.join("");
  }
}

/** Two trees, `a` and `b`, of many rounds: each has a folder of its own, in which some files differ. */
class Trees {
  readonly base = fs.mkdtempSync(
    path.join(fs.realpathSync(os.tmpdir()), "ringfence-differential-"),
  );
  /** The rounds in which all files have LF. */
  readonly plain = new Set<string>();

  at(...names: string[]): string {
    return path.join(this.base, ...names);
  }

  write(tree: string, name: string, content: string): void {
    fs.mkdirSync(path.dirname(this.at(tree, name)), { recursive: true });
    fs.writeFileSync(this.at(tree, name), content);
  }

  copy(from: string, to: string): string {
    fs.cpSync(this.at(from), this.at(to), { recursive: true });
    return this.at(to);
  }

  files(tree: string): Record<string, string> {
    const all = Object.entries(contentsOf(this.at(tree)));
    return Object.fromEntries(all.filter(([name]) => !name.endsWith("/")));
  }

  /** Demands that two trees have the same files, and shows the patch of the first one that differs. */
  assertSame(
    tree: string,
    expected: string,
    patches: Map<string, string>,
    rounds?: Set<string>,
  ): void {
    const [found, wanted] = [this.files(tree), this.files(expected)];
    for (const name of new Set([...Object.keys(found), ...Object.keys(wanted)])) {
      const round = name.split("/")[0] ?? "";
      if (found[name] === wanted[name] || (rounds && !rounds.has(round))) continue;
      assert.fail(
        `${tree}: ${name}\nfound    ${JSON.stringify(found[name])}\nexpected ${JSON.stringify(wanted[name])}\n` +
          `${JSON.stringify(patches.get(round))}\n${patches.get(round)}`,
      );
    }
  }

  remove(): void {
    fs.rmSync(this.base, { recursive: true, force: true });
  }
}

const NAMES = ["x y", "n", "spé", "dir/n", ...(isWindows ? [] : ['q"t'])];

function randomTrees(
  generator: Generator,
  rounds: number,
  eols: readonly Eol[],
  hasOneSided: boolean,
): Trees {
  const { random } = generator;
  const trees = new Trees();
  for (const tree of ["a", "b"]) fs.mkdirSync(trees.at(tree));
  for (let round = 0; round < rounds; round += 1) {
    const name = `r${round}`;
    const eol = random.pick(eols);
    if (eol === "\n") trees.plain.add(name);
    for (let n = random.below(3); n >= 0; n -= 1) {
      const file = `${name}/${random.pick(NAMES)}${n}`;
      const kind = hasOneSided ? random.below(8) : 7;
      const before = generator.file(eol);
      if (kind !== 1) trees.write("a", file, before);
      if (kind !== 0) trees.write("b", file, generator.edited(before, eol));
    }
  }
  return trees;
}

/** The parts of a diff of all rounds, by the round. */
function byRound(diff: string, header: RegExp): Map<string, string> {
  const patches = new Map<string, string>();
  for (const section of diff.split(header).filter((part) => part !== "")) {
    const round = /[ab]\/(r\d+)\//.exec(section)?.[1];
    assert.ok(round, section);
    patches.set(round, (patches.get(round) ?? "") + section);
  }
  return patches;
}

function gitDiff(trees: Trees, context: number): Map<string, string> {
  const args = ["diff", "--no-index", "--no-color", "--no-renames", "--text", `-U${context}`];
  const diff = run("git", [...args, "--src-prefix=", "--dst-prefix=", "a", "b"], trees.base);
  // Of a file on one side alone, its line has that side twice.
  const repaired = diff.replace(/^diff --git (.*)$/gm, (_, names: string) => {
    const middle = (names.length - 1) / 2;
    const [one, other] = [names.slice(0, middle), names.slice(middle + 1)];
    return `diff --git ${one.replace(/^("?)b\//, "$1a/")} ${other.replace(/^("?)a\//, "$1b/")}`;
  });
  return byRound(repaired, /^(?=diff --git )/m);
}

type Spoil = "nothing" | "counts" | "counts and numbers";

function spoilt(patch: string, spoil: Spoil, random: Random): string {
  if (spoil === "nothing") return patch;
  return patch.replace(
    /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/gm,
    (_, old: string, now: string) => {
      const moved = () => (spoil === "counts" ? 0 : random.below(30));
      return `@@ -${Number(old) + moved()},${random.below(9)} +${Number(now) + moved()},${random.below(9)} @@`;
    },
  );
}

/** Applies the patch of each round, and gives the diffs of the answers. */
async function applyEach(root: string, patches: Map<string, string>): Promise<Map<string, string>> {
  const printed = new Map<string, string>();
  for (const [round, patch] of patches) {
    let answer: ApplyPatchOutput;
    try {
      answer = await applyPatch({ workspaceRoot: root, durability: "none" }, { patch });
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${JSON.stringify(patch)}\n${patch}`);
    }
    if (!answer.diff_truncated) printed.set(round, answer.diff);
  }
  return printed;
}

const joined = (patches: Map<string, string>, rounds?: Set<string>) =>
  [...patches]
    .filter(([round]) => rounds?.has(round) ?? true)
    .map(([, patch]) => patch)
    .join("");

/** Demands that the printed diffs make the same bytes again: here, and by git and patch where all files have LF. */
async function takesBack(
  trees: Trees,
  printed: Map<string, string>,
  expected: string,
): Promise<void> {
  await applyEach(trees.copy("a", "back"), printed);
  trees.assertSame("back", expected, printed, new Set(printed.keys()));
  const plain = new Set([...printed.keys()].filter((round) => trees.plain.has(round)));
  const patch = joined(printed, plain);
  if (!noGit && patch !== "") {
    const args = ["apply", "--unidiff-zero", "--whitespace=nowarn", "-"];
    run("git", args, trees.copy("a", "git-back"), patch, [0]);
    trees.assertSame("git-back", expected, printed, plain);
  }
  if (!noPatch && patch !== "") {
    const args = ["-p1", "--silent", "--no-backup-if-mismatch", "--force"];
    run("patch", args, trees.copy("a", "patch-back"), patch, [0]);
    trees.assertSame("patch-back", expected, printed, plain);
  }
}

describe("what git diff writes is applied as git apply does it", { skip: noGit }, () => {
  for (const context of [0, 1, 3]) {
    for (const spoil of ["nothing", "counts", "counts and numbers"] as const) {
      // Without context, the numbers say where lines are added.
      if (context === 0 && spoil !== "nothing") continue;
      test(`-U${context}, spoilt: ${spoil}`, { timeout: 600_000 }, async () => {
        const generator = new Generator(
          context * 10 + spoil.length,
          WORDS,
          spoil === "counts and numbers",
        );
        const eols = ["\n", "\n", "\r\n", ...(context === 0 ? [] : (["mixed"] as const))] as const;
        const trees = randomTrees(generator, times(40), eols, true);
        try {
          const written = gitDiff(trees, context);
          const patches = new Map(
            [...written].map(([round, patch]) => [round, spoilt(patch, spoil, generator.random)]),
          );
          const printed = await applyEach(trees.copy("a", "ours"), patches);
          trees.assertSame("ours", "b", patches);
          // git gives up some of the spoilt hunks, and says so.
          const args = ["apply", "--recount", "--unidiff-zero", "--whitespace=nowarn"];
          const inGit = trees.copy("a", "git");
          const rejected = spoil === "nothing" ? [] : ["--reject"];
          run(
            "git",
            [...args, ...rejected, "-"],
            inGit,
            joined(patches),
            spoil === "nothing" ? [0] : [0, 1],
          );
          const unsure = new Set(
            Object.keys(trees.files("git"))
              .filter((name) => name.endsWith(".rej"))
              .map((name) => name.split("/")[0]),
          );
          const sure = new Set([...patches.keys()].filter((round) => !unsure.has(round)));
          if (spoil === "nothing") trees.assertSame("git", "ours", patches, sure);
          assert.ok(
            sure.size > patches.size / 2,
            `git has applied ${sure.size} of ${patches.size}`,
          );
          await takesBack(trees, printed, "b");
        } finally {
          trees.remove();
        }
      });
    }
  }
});

describe("what diff -u writes is applied", { skip: noDiff }, () => {
  // A removed `-- x`, an added `++ y` and the next hunk in a row are a header, by the contract.
  const words = WORDS.filter((word) => !word.startsWith("++"));
  for (const context of [0, 1, 3]) {
    test(`-U${context}`, { timeout: 600_000 }, async () => {
      const generator = new Generator(500 + context, words, false);
      const eols = ["\n", "\n", "\r\n", ...(context === 0 ? [] : (["mixed"] as const))] as const;
      const trees = randomTrees(generator, times(40), eols, false);
      try {
        const diff = run("diff", ["-r", "-a", `-U${context}`, "a", "b"], trees.base);
        const patches = byRound(diff, /^(?=diff -r )/m);
        const printed = await applyEach(trees.copy("a", "ours"), patches);
        trees.assertSame("ours", "b", patches);
        await takesBack(trees, printed, "b");
      } finally {
        trees.remove();
      }
    });
  }
});

describe("what git diff writes in a repository is applied as one patch", {
  skip: noGit || notPosix,
}, () => {
  for (const context of [0, 1, 3]) {
    test(`renames, new, removed and executable files, -U${context}`, {
      timeout: 600_000,
    }, async () => {
      for (let round = 0; round < times(2); round += 1) {
        const generator = new Generator(1_000 * round + context, WORDS, true);
        const { random } = generator;
        const trees = new Trees();
        const eol = random.pick(["\n", "\n", "\r\n"] as const);
        try {
          for (const tree of ["a", "b"]) fs.mkdirSync(trees.at(tree));
          for (let n = 0; n < 40; n += 1) {
            const name = `r0/${random.pick(NAMES)}${n}`;
            const kind = random.below(8);
            const before = `${generator.file(eol)}${Array.from({ length: 6 }, () => generator.line(eol)).join("")}`;
            const [wasExecutable, isExecutable] = [random.below(4) === 0, random.below(4) === 0];
            const after = random.below(3) === 0 ? before : generator.edited(before, eol);
            if (kind !== 0) trees.write("a", name, before);
            const to = kind === 2 ? `r0/moved/${random.pick(NAMES)}${n}` : name;
            if (kind !== 1) trees.write("b", to, after);
            if (kind !== 0 && wasExecutable) fs.chmodSync(trees.at("a", name), 0o755);
            if (kind !== 1 && isExecutable) fs.chmodSync(trees.at("b", to), 0o755);
          }
          const repository = trees.copy("a", "repository");
          const git = (...args: string[]) => run("git", args, repository, "", [0]);
          git("init", "-q");
          git("-c", "core.autocrlf=false", "add", "-A");
          git(...["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "x"]);
          fs.rmSync(trees.at("repository", "r0"), { recursive: true });
          trees.copy("b", "repository");
          git("-c", "core.autocrlf=false", "add", "-A");
          const patch = git("diff", "--cached", "-M", "--text", `-U${context}`, "HEAD");
          const all = new Map([["r0", patch]]);
          const modes = (tree: string) =>
            Object.keys(trees.files(tree)).map((name) => [
              name,
              fs.statSync(trees.at(tree, name)).mode & 0o111,
            ]);
          const printed = await applyEach(trees.copy("a", "ours"), all);
          trees.assertSame("ours", "b", all);
          assert.deepEqual(modes("ours"), modes("b"));
          run(
            "git",
            ["apply", "--unidiff-zero", "--whitespace=nowarn", "-"],
            trees.copy("a", "git"),
            patch,
            [0],
          );
          trees.assertSame("git", "ours", all);
          assert.deepEqual(modes("git"), modes("ours"));
          if (printed.size === 0) continue;
          await applyEach(trees.copy("a", "back"), printed);
          trees.assertSame("back", "b", printed);
          assert.deepEqual(modes("back"), modes("b"));
        } finally {
          trees.remove();
        }
      }
    });
  }
});
