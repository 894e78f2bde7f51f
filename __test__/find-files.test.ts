// `findFiles`: files and folders by glob. docs/contract.md §9 and §13.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import {
  type FindFilesArguments,
  type FindFilesError,
  type FindFilesResult,
  findFiles,
  isFindFilesError,
  Workspace,
} from "../index.js";
import { callInChild } from "./support/child.ts";
import { ABORT_REASONS, hostileProxy, STRANGERS, withGetter } from "./support/hostile.ts";
import { exchange, noExchange } from "./support/linux.ts";
import {
  isLinux,
  mkfifo,
  noFifos,
  noPermissions,
  noSymlinks,
  notLinux,
  notPosix,
  UNPRIVILEGED,
} from "./support/platform.ts";
import { ROOT } from "./support/program.ts";
import { Random } from "./support/random.ts";
import { rejectionValue } from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const LONG = { timeout: 60_000 };

/** A disk may take a minute to make a hundred thousand files. */
const IN_MEMORY = isLinux && fs.existsSync("/dev/shm") ? "/dev/shm" : undefined;

/** `findFiles` without its types, for arguments that are wrong on purpose. */
const loose = findFiles as unknown as (...args: unknown[]) => Promise<FindFilesResult>;

const NO_EXCHANGE = await noExchange();

const KEYS = [
  "patterns",
  "root_path",
  "took_ms",
  "truncated",
  "total",
  "scanned_entries",
  "items",
  "warnings",
];

/** Finds with a plain context and with a Workspace: one answer, without an absolute path. */
async function find(ws: TestWorkspace, args: FindFilesArguments): Promise<FindFilesResult> {
  const workspace = Workspace.open(ws.root);
  try {
    const answer = await findFiles(ws.context, args);
    const { took_ms } = answer;
    assert.deepStrictEqual({ ...(await findFiles(workspace, args)), took_ms }, answer);
    assert.deepEqual(Object.keys(answer), answer.next === undefined ? KEYS : [...KEYS, "next"]);
    assert.ok(Number.isInteger(took_ms) && took_ms >= 0);
    for (const item of answer.items) {
      assert.deepEqual(Object.keys(item), ["path", "kind", "size", "mtime_ms"]);
    }
    const { patterns: _asked, ...told } = answer;
    for (const secret of ws.hidden) assert.ok(!JSON.stringify(told).includes(secret));
    return answer;
  } finally {
    workspace.close();
  }
}

const pathsOf = ({ items }: FindFilesResult) => items.map((item) => item.path);

async function found(ws: TestWorkspace, args: FindFilesArguments): Promise<string[]> {
  return pathsOf(await find(ws, args));
}

/** The error of a refused call, by a plain context and by a Workspace: one error. */
async function refusal(ws: TestWorkspace, args: unknown): Promise<FindFilesError> {
  const workspace = Workspace.open(ws.root);
  try {
    const error = (await rejectionValue(() => loose(ws.context, args))) as FindFilesError;
    const other = (await rejectionValue(() => loose(workspace, args))) as FindFilesError;
    assert.ok(isFindFilesError(error), String(error));
    assert.deepEqual(Object.keys(error), ["code", "path"]);
    assert.deepEqual({ ...other, message: other.message }, { ...error, message: error.message });
    assert.ok(error.message.startsWith(`${error.code}: `), error.message);
    for (const secret of ws.hidden) assert.ok(!error.message.includes(secret), error.message);
    return error;
  } finally {
    workspace.close();
  }
}

describe("the answer", () => {
  test(
    "has what was asked, counts and items, with keys in their order",
    inWorkspace(async (ws) => {
      ws.write("src/a.ts", "abc");
      ws.write("src/b.js", "");
      ws.write("README.md", "");
      fs.utimesSync(ws.at("src/a.ts"), 1, 1_700_000_000.5);
      const { took_ms: _, ...answer } = await find(ws, { patterns: "*.ts" });
      assert.deepStrictEqual(answer, {
        patterns: ["*.ts"],
        root_path: ".",
        truncated: false,
        total: 1,
        scanned_entries: 4,
        items: [{ path: "src/a.ts", kind: "file", size: 3, mtime_ms: 1_700_000_000_500 }],
        warnings: [],
      });
    }),
  );

  test(
    "paths are ordered by the UTF-16 code units of the whole path",
    inWorkspace(async (ws) => {
      const names = ["a/x", "a.txt", "a-b", "a0", "é", "\u{ffee}", "😀", "a/b/c", "a/b.c"];
      for (const name of names) ws.write(name, "");
      assert.deepEqual(await found(ws, { patterns: "*" }), [...names].sort());
    }),
  );

  test(
    "pages are the whole answer in order, with one total, and end truly",
    inWorkspace(async (ws) => {
      for (let i = 0; i < 10; i += 1) ws.write(`${i % 3}/${i}`, "");
      const whole = await found(ws, { patterns: "*" });
      for (const max_results of [1, 3, 5, 10]) {
        const seen: string[] = [];
        let after: string | undefined;
        do {
          const page = await find(ws, { patterns: "*", max_results, after: after ?? null });
          assert.equal(page.total, 10);
          assert.equal(page.truncated, page.next !== undefined);
          seen.push(...pathsOf(page));
          after = page.next;
        } while (after !== undefined);
        assert.deepEqual(seen, whole);
      }
    }),
  );

  test(
    "an after goes on behind its place in another query, and when its file is gone",
    inWorkspace(async (ws) => {
      for (const name of ["a.js", "b.ts", "c.js", "d.ts"]) ws.write(name, "");
      const { next } = await find(ws, { patterns: "*.ts", max_results: 1 });
      assert.ok(next !== undefined);
      fs.rmSync(ws.at("b.ts"));
      assert.deepEqual(await found(ws, { patterns: "*.js", after: next }), ["c.js"]);
      assert.deepEqual(await found(ws, { patterns: "*", after: next }), ["c.js", "d.ts"]);
    }),
  );

  test(
    "G-11, G-12: the newest come first of all, and those of one time by path",
    inWorkspace(async (ws) => {
      for (let i = 0; i < 300; i += 1) {
        ws.write(`${i % 7}/${i}`, "");
        fs.utimesSync(ws.at(`${i % 7}/${i}`), 1, 1_000 + ((i * 31) % 100));
      }
      const all = (await find(ws, { patterns: "*", max_results: 1_000 })).items;
      const expected = all.toSorted(
        (one, other) => other.mtime_ms - one.mtime_ms || (one.path < other.path ? -1 : 1),
      );
      const newest = await find(ws, { patterns: "*", sort: "mtime", max_results: 20 });
      assert.deepEqual(newest.items, expected.slice(0, 20));
      assert.deepEqual([newest.truncated, newest.total], [true, 300]);
      assert.ok(!("next" in newest));
      const error = await refusal(ws, { patterns: "*", sort: "mtime", after: ":a" });
      assert.equal(error.code, "INVALID_ARGUMENT");
    }),
  );
});

describe("patterns", () => {
  const FILES = [
    ".eslintrc.json",
    ".github/workflows/ci.yml",
    "README.md",
    "src/app/[id].tsx",
    "src/app/page.tsx",
    "src/main.test.ts",
    "src/main.ts",
    "src/ts",
  ];

  for (const [name, patterns, expected] of [
    ["without a slash match names at any depth", "*.ts", ["src/main.test.ts", "src/main.ts"]],
    ["with a slash are relative to the folder", "src/*.ts", ["src/main.test.ts", "src/main.ts"]],
    [
      "with a leading slash or dot are anchored",
      ["/README.*", "./src/ts"],
      ["README.md", "src/ts"],
    ],
    ["do not cross a slash by a star", "/*.ts", []],
    ["span folders by two stars", "src/**/*.tsx", ["src/app/[id].tsx", "src/app/page.tsx"]],
    ["zero folders by two stars, too", "**/README.md", ["README.md"]],
    ["G-06: find dotfiles that they name", [".eslintrc*", ".github/**"], FILES.slice(0, 2)],
    ["take back by an exclamation mark", ["*.ts", "!*.test.ts"], ["src/main.ts"]],
    [
      "of exclamation marks alone begin with all",
      ["!src/**", "!.*"],
      [".github/workflows/ci.yml", "README.md"],
    ],
    ["have alternatives", "*.{ts,tsx}", FILES.filter((file) => /\.tsx?$/.test(file))],
    ["have an empty alternative", "main{.test,}.ts", ["src/main.test.ts", "src/main.ts"]],
    [
      "S-72: are taken to the letter where brackets match nothing",
      "src/app/[id].tsx",
      ["src/app/[id].tsx"],
    ],
    ["to the letter at any depth", "[id].tsx", ["src/app/[id].tsx"]],
    ["with a final slash match no file", "ts/", []],
    ["that are absolute elsewhere are relative", "/etc/*", []],
  ] as const) {
    test(
      name,
      inWorkspace(async (ws) => {
        for (const file of FILES) {
          if (notPosix && /[[\]]/.test(file)) continue;
          ws.write(file, "");
        }
        assert.deepEqual(await found(ws, { patterns }), expected);
      }),
    );
  }

  test(
    "an absolute pattern finds the same wherever the walk begins, by each spelling of the root",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      for (const file of FILES) ws.write(file, "");
      const link = path.join(ws.base, "link");
      fs.symlinkSync(ws.root, link, "dir");
      const expected = ["src/main.test.ts", "src/main.ts"];
      for (const workspaceRoot of [ws.root, link]) {
        for (const root_path of [null, "src"]) {
          const patterns = `${workspaceRoot}/src/*.ts`;
          const answer = await findFiles({ workspaceRoot }, { patterns, root_path });
          assert.deepEqual(pathsOf(answer), expected, `${workspaceRoot} ${root_path}`);
          const all = await findFiles(
            { workspaceRoot },
            { patterns: "*.ts", root_path, exclude: patterns },
          );
          assert.deepEqual(pathsOf(all), []);
        }
      }
    }),
  );

  test(
    "ignore case if asked, beyond ASCII too",
    inWorkspace(async (ws) => {
      ws.write("Docs/README.MD", "");
      ws.write("Über.TXT", "");
      const args = { case_insensitive: true } as const;
      assert.deepEqual(await found(ws, { ...args, patterns: "docs/*.md" }), ["Docs/README.MD"]);
      assert.deepEqual(await found(ws, { ...args, patterns: "über.*" }), ["Über.TXT"]);
      assert.deepEqual(await found(ws, { patterns: ["docs/*", "über*"] }), []);
      assert.deepEqual(await found(ws, { ...args, patterns: "*", exclude: ["DOCS", "ÜBER*"] }), []);
    }),
  );

  test(
    "G-17: folders come only if they are asked for",
    inWorkspace(async (ws) => {
      ws.write("app/src/a", "");
      ws.write("src/b", "");
      const kinds = async (kind: "file" | "directory" | "all", patterns: string) =>
        (await find(ws, { patterns, kind })).items.map((item) => [item.path, item.kind, item.size]);
      const folders = [
        ["app/src", "directory", 0],
        ["src", "directory", 0],
      ];
      assert.deepEqual(await kinds("file", "src"), []);
      assert.deepEqual(await kinds("directory", "src"), folders);
      assert.deepEqual(await kinds("all", "src/"), folders);
      assert.deepEqual(await kinds("all", "/src/**"), [["src/b", "file", 0]]);
      assert.equal((await kinds("all", "*")).length, 5);
    }),
  );

  test(
    "exclude leaves out files, and folders with all they hold, without counting them",
    inWorkspace(async (ws) => {
      for (const file of ["a.ts", "lib/b.ts", "lib/deep/c.ts", "x/lib"]) ws.write(file, "");
      const answer = await find(ws, { patterns: "*", exclude: ["lib/", "a.*"] });
      assert.deepEqual([pathsOf(answer), answer.warnings], [["x/lib"], []]);
      assert.deepEqual(await found(ws, { patterns: "*", exclude: "!a.ts" }), [
        "a.ts",
        "lib/b.ts",
        "lib/deep/c.ts",
        "x/lib",
      ]);
    }),
  );
});

describe("what is left out is said", () => {
  test(
    "one text for each kind, in the order of the contract",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write(".gitignore", "*.log\n/out/\n");
      for (const file of ["a.log", "out/b", "node_modules/c", "x/dist/d", ".e", "f"])
        ws.write(file, "");
      ws.write(".git", "gitdir: elsewhere");
      ws.link("g", "f");
      const all = await find(ws, { patterns: "*", include_hidden: false });
      assert.deepEqual(pathsOf(all), ["f"]);
      assert.deepEqual(all.warnings, [
        "skipped_default_excludes=3",
        "skipped_ignored_entries=2",
        "skipped_hidden_entries=2",
        "skipped_links=1",
      ]);
      const none = await find(ws, { patterns: "*", gitignore: false, default_excludes: false });
      assert.deepEqual(none.warnings, ["skipped_links=1"]);
      assert.deepEqual(pathsOf(none), [
        ".e",
        ".git",
        ".gitignore",
        "a.log",
        "f",
        "node_modules/c",
        "out/b",
        "x/dist/d",
      ]);
    }),
  );

  test(
    "default excludes do not hold in one, and an ignored folder that is named is looked in (G-24)",
    inWorkspace(async (ws) => {
      ws.write(".gitignore", "/out/\n");
      for (const file of ["node_modules/a/dist/b.ts", "out/c.ts"]) ws.write(file, "");
      assert.deepEqual(await found(ws, { patterns: "*.ts" }), []);
      for (const [root_path, expected] of [
        ["node_modules", "node_modules/a/dist/b.ts"],
        ["node_modules/a", "node_modules/a/dist/b.ts"],
        ["out", "out/c.ts"],
      ] as const) {
        const answer = await find(ws, { patterns: "*.ts", root_path });
        assert.deepEqual([answer.root_path, pathsOf(answer)], [root_path, [expected]]);
      }
    }),
  );

  test(
    "G-14: links that dangle, loop or lead out fail nothing and are not followed",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.writeOutside("secret.ts");
      ws.write("dir/a.ts", "");
      ws.link("dangling.ts", "nowhere");
      ws.link("self", "self");
      ws.link("dir/up", "..", "dir");
      ws.link("out", ws.outside, "dir");
      const answer = await find(ws, { patterns: "*", kind: "all" });
      assert.deepEqual(pathsOf(answer), ["dir", "dir/a.ts"]);
      assert.deepEqual(answer.warnings, ["skipped_links=4"]);
    }),
  );

  test(
    "FIFOs are passed over and not waited on, not even one called .gitignore",
    { skip: noFifos, timeout: 10_000 },
    inWorkspace(async (ws) => {
      ws.write("a", "");
      mkfifo(ws.at("pipe"));
      mkfifo(ws.at(".gitignore"));
      const answer = await find(ws, { patterns: "*", kind: "all" });
      assert.deepEqual([pathsOf(answer), answer.warnings], [["a"], []]);
    }),
  );

  test(
    "G-21: names that are not UTF-8 are counted, hostile ones come as they are",
    { skip: notLinux },
    inWorkspace(async (ws) => {
      const root = Buffer.from(`${ws.root}/`);
      fs.writeFileSync(Buffer.concat([root, Buffer.from([0x62, 0xff])]), "");
      const names = ["a\nb", "c\u202etxt", "d\u001b[2J", "nfc-é", "nfd-e\u0301", "back\\slash"];
      for (const name of names) fs.writeFileSync(`${ws.root}/${name}`, "");
      const answer = await find(ws, { patterns: "*" });
      assert.deepEqual(pathsOf(answer), [...names].sort());
      assert.deepEqual(answer.warnings, ["skipped_unreadable=1"]);
      const one = await find(ws, { patterns: "*", max_results: 1 });
      assert.deepEqual(
        await found(ws, { patterns: "*", after: one.next ?? null }),
        [...names].sort().slice(1),
      );
    }),
  );

  test(
    "a folder that may not be read is counted, and a root_path that may not is PERMISSION_DENIED",
    { skip: noPermissions },
    inWorkspace(async (ws) => {
      ws.write("a/b.txt", "");
      ws.write("locked/c.txt", "");
      ws.write("unsearchable/d.txt", "");
      fs.chmodSync(ws.base, 0o755);
      fs.chmodSync(ws.at("locked"), 0o000);
      fs.chmodSync(ws.at("unsearchable"), 0o444);
      try {
        const call = (args: object) => ({ call: "findFiles", args: [ws.context, args] });
        const calls = [call({ patterns: "*" }), call({ patterns: "*", root_path: "locked" })];
        const [whole, named] = await callInChild({ calls, user: UNPRIVILEGED });
        assert.ok(whole && "answer" in whole, JSON.stringify(whole));
        const answer = whole.answer as FindFilesResult;
        assert.deepEqual([pathsOf(answer), answer.total], [["a/b.txt"], 2]);
        assert.deepEqual(answer.warnings, ["skipped_unreadable=2"]);
        assert.ok(named && "error" in named, JSON.stringify(named));
        assert.deepEqual([named.error.code, named.error.path], ["PERMISSION_DENIED", "locked"]);
      } finally {
        fs.chmodSync(ws.at("locked"), 0o755);
        fs.chmodSync(ws.at("unsearchable"), 0o755);
      }
    }),
  );

  test(
    "files that may be listed and not looked at are counted on their page, however large the tree",
    { skip: noPermissions },
    inWorkspace(async (ws) => {
      for (const name of ["a", "m1", "m2", "m3", "z"]) ws.write(`found/${name}.ts`, "");
      for (const name of ["b", "k", "x"]) ws.write(`found/m/${name}.ts`, "");
      for (let i = 0; i < 1_200; i += 1) ws.write(`others/${i % 30}/${i}`, "");
      fs.chmodSync(ws.base, 0o755);
      fs.chmodSync(ws.at("found/m"), 0o444);
      try {
        const pagesOf = async (root_path: string, patterns: string[] | string, max: number) => {
          const pages: unknown[] = [];
          let after: string | null = null;
          do {
            const args = { patterns, root_path, max_results: max, after };
            const calls = [{ call: "findFiles", args: [ws.context, args] }];
            const [outcome] = await callInChild({ calls, user: UNPRIVILEGED });
            assert.ok(outcome && "answer" in outcome, JSON.stringify(outcome));
            const page = outcome.answer as FindFilesResult;
            pages.push([pathsOf(page), page.total, page.truncated, page.warnings]);
            after = page.next ?? null;
          } while (after !== null);
          return pages;
        };
        const small = await pagesOf("found", "*.ts", 2);
        assert.deepEqual(small, [
          [["found/a.ts", "found/m1.ts"], 8, true, ["skipped_unreadable=3"]],
          [["found/m2.ts", "found/m3.ts"], 8, true, []],
          [["found/z.ts"], 8, false, []],
        ]);
        // The whole tree is large, so that threads share it.
        assert.deepEqual(await pagesOf(".", "*.ts", 2), small);
        // No page follows for entries that cannot be items.
        const last = [[["found/a.ts"], 2, false, ["skipped_unreadable=1"]]];
        assert.deepEqual(await pagesOf("found", ["a.ts", "b.ts"], 1), last);
        assert.deepEqual(await pagesOf(".", ["a.ts", "b.ts"], 1), last);
      } finally {
        fs.chmodSync(ws.at("found/m"), 0o755);
      }
    }),
  );

  test(
    "a `.gitignore` of 10 MB is heeded within the time, or said",
    LONG,
    inWorkspace(async (ws) => {
      ws.write(".gitignore", `${"*x?y[z]{a,b}*\n".repeat(700_000)}*.log\n`);
      ws.write("a.log", "");
      ws.write("b", "");
      const answer = await findFiles(ws.context, { patterns: ["a.log", "b"], timeout_ms: 30_000 });
      assert.deepEqual(pathsOf(answer), ["b"]);
      const warnings = ["skipped_ignored_entries=1", "unheeded_gitignore_files=1"];
      assert.deepEqual(answer.warnings, warnings);
    }),
  );
});

describe("root_path", () => {
  test(
    "every spelling of a folder inside is that folder",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write("src/app/a.ts", "");
      ws.link("in", "src", "dir");
      for (const root_path of ["src", "src/", "./src", "src\\app\\..", "x/../src", ws.at("src")]) {
        const answer = await find(ws, { patterns: "*.ts", root_path });
        assert.deepEqual([answer.root_path, pathsOf(answer)], ["src", ["src/app/a.ts"]], root_path);
      }
      for (const root_path of [".", "./", ws.root, `${ws.root}/`]) {
        assert.equal((await find(ws, { patterns: "*", root_path })).root_path, ".");
      }
      const linked = await find(ws, { patterns: "app/*.ts", root_path: "in" });
      assert.deepEqual([linked.root_path, pathsOf(linked)], ["in", ["in/app/a.ts"]]);
    }),
  );

  test(
    "G-19: a path that is no folder is refused by what stands there",
    { skip: noSymlinks || noFifos, timeout: 10_000 },
    inWorkspace(async (ws) => {
      ws.write("src/a.ts", "");
      mkfifo(ws.at("pipe"));
      ws.link("out", ws.outside, "dir");
      ws.link("dangling", "nowhere");
      ws.link("self", "self");
      for (const [root_path, code, shown] of [
        ["src/a.ts", "NOT_DIRECTORY", "src/a.ts"],
        ["src/a.ts/", "NOT_DIRECTORY", "src/a.ts"],
        ["pipe", "NOT_DIRECTORY", "pipe"],
        ["absent", "NOT_FOUND", "absent"],
        ["src/a.ts/x", "NOT_FOUND", "src/a.ts/x"],
        ["dangling", "NOT_FOUND", "dangling"],
        ["x".repeat(300), "NOT_FOUND", "x".repeat(300)],
        ["out", "SANDBOX_VIOLATION", "out"],
        ["self", "SANDBOX_VIOLATION", "self"],
        ["..", "SANDBOX_VIOLATION", ".."],
        ["/etc", "SANDBOX_VIOLATION", "…/etc"],
        ["C:\\x", "SANDBOX_VIOLATION", "…/x"],
        ["", "INVALID_ARGUMENT", ""],
        [" ", "INVALID_ARGUMENT", " "],
        ["a\0", "INVALID_ARGUMENT", "a\0"],
      ] as const) {
        const error = await refusal(ws, { patterns: "*", root_path });
        assert.deepEqual([error.code, error.path], [code, shown], error.message);
      }
      assert.match(
        (await refusal(ws, { patterns: "*", root_path: "SRC" })).message,
        /did you mean "src\/"\?/,
      );
    }),
  );

  test(
    "a root that is gone, relative or no directory is INVALID_ARGUMENT and not shown",
    inWorkspace(async (ws) => {
      ws.write("file", "");
      for (const workspaceRoot of [ws.at("gone"), ws.at("file"), "relative", 5, undefined]) {
        const error = (await rejectionValue(() =>
          loose({ workspaceRoot }, { patterns: "*" }),
        )) as FindFilesError;
        assert.deepEqual(
          [error.name, error.code, error.path],
          ["FindFilesError", "INVALID_ARGUMENT", "."],
        );
        assert.match(error.message, /workspaceRoot/);
        assert.ok(!error.message.includes(ws.base));
      }
    }),
  );
});

describe("arguments", () => {
  test(
    "null and undefined are absent, and unknown keys are ignored",
    inWorkspace(async (ws) => {
      ws.write("a", "");
      const nothing = Object.fromEntries(
        ["root_path", "exclude", "kind", "case_insensitive", "gitignore", "include_hidden"]
          .concat("default_excludes", "sort", "max_results", "after", "timeout_ms")
          .flatMap((key) => [[key, null]]),
      );
      for (const more of [nothing, { kind: undefined }, { hostKey: 1, startLine: 2 }]) {
        const answer = await loose(ws.context, { patterns: ["a"], ...more }, null);
        assert.deepEqual(pathsOf(answer), ["a"]);
      }
    }),
  );

  for (const [key, rule, wrong] of [
    ["patterns", "must be a string or an array of strings", [5, true, {}]],
    ["exclude", "must be a string or an array of strings", [5, true, {}]],
    ["root_path", "must be a string", [5, true, [], {}]],
    ["kind", 'must be "file" or "directory" or "all"', ["folder", 1, []]],
    ["sort", 'must be "path" or "mtime"', ["size", 1, []]],
    ["case_insensitive", "must be true or false", ["true", 1, []]],
    ["gitignore", "must be true or false", ["true", 1, []]],
    ["include_hidden", "must be true or false", ["true", 0, []]],
    ["default_excludes", "must be true or false", ["false", 0, []]],
    ["max_results", "must be an integer >= 1 and <= 1000", [0, -1, 1001, 2.5, 1e9, "10", NaN]],
    ["timeout_ms", "must be an integer >= 1 and <= 30000", [0, 30_001, "5", Infinity]],
    ["after", "must be a string", [5, [], true]],
  ] as const) {
    test(
      `${key} is checked and never coerced`,
      inWorkspace(async (ws) => {
        ws.folder("src");
        const legal =
          rule === "must be true or false" ? "true" : /array/.test(rule) ? "an array" : "";
        const strangers = STRANGERS.filter(([name]) => name !== legal).map(([, value]) => value);
        for (const value of [...wrong, ...strangers]) {
          const error = await refusal(ws, { patterns: "*", root_path: "src", [key]: value });
          assert.equal(error.code, "INVALID_ARGUMENT", error.message);
          assert.ok(error.message.includes(`${key} ${rule}`), error.message);
          assert.equal(error.path, key === "root_path" ? "." : "src");
        }
      }),
    );
  }

  test(
    "S-69: a pattern that does not parse is named, with what is wrong",
    inWorkspace(async (ws) => {
      for (const [patterns, said] of [
        [["a", "[a-"], /patterns\[1\] must be a pattern that parses: `\[` without `\]`, got \[a-/],
        [["*.{py"], /patterns\[0\] must be a pattern that parses: `\{` without `\}`, got \*\.\{py/],
        ["[z-a]", /patterns\[0\] .*runs backwards, got \[z-a\]/],
        ["[é]", /patterns\[0\] must not have a class of characters beyond ASCII/],
        ["a//b", /patterns\[0\] must not hold/],
        ["", /patterns\[0\] must be a pattern of 1 to 4,096 bytes/],
        ["x".repeat(4097), /patterns\[0\] must be a pattern of 1 to 4,096 bytes/],
        [[], /patterns must have at least one pattern/],
        ["a\ud800", /patterns must be well-formed Unicode/],
        [Array(1001).fill("a"), /patterns must have no more than 1000 elements/],
        [["a", 5], /patterns\[1\] must be a string/],
      ] as const) {
        const error = await refusal(ws, { patterns });
        assert.equal(error.code, "INVALID_ARGUMENT", error.message);
        assert.match(error.message, said);
      }
      for (const args of [{ patterns: "../x" }, { patterns: "*", exclude: ["a", "!../x"] }]) {
        assert.equal((await refusal(ws, args)).code, "SANDBOX_VIOLATION");
      }
      assert.match((await refusal(ws, { patterns: "*", exclude: "[a" })).message, /exclude\[0\]/);
    }),
  );

  test(
    "an after that was no next, no arguments, and hostile objects are INVALID_ARGUMENT",
    inWorkspace(async (ws) => {
      for (const after of ["", "a", "src/a.ts", "1:2:a", ":", ":../x", "page2"]) {
        const error = await refusal(ws, { patterns: "*", after });
        assert.match(error.message, /^INVALID_ARGUMENT: after must be the `next` of an answer/);
      }
      for (const args of [
        undefined,
        null,
        "*",
        5,
        [],
        hostileProxy(),
        withGetter("patterns"),
        {},
      ]) {
        assert.equal((await refusal(ws, args)).code, "INVALID_ARGUMENT");
      }
    }),
  );
});

describe("abort and time", () => {
  for (const [name, reason] of ABORT_REASONS) {
    test(
      `a signal that is aborted with ${name} rejects with that very thing`,
      inWorkspace(async (ws) => {
        const options = { signal: AbortSignal.abort(reason) };
        const args = { patterns: "*" };
        assert.equal(await rejectionValue(() => findFiles(ws.context, args, options)), reason);
        const context = { ...ws.context, ...options };
        assert.equal(await rejectionValue(() => findFiles(context, args)), reason);
      }),
    );
  }

  test(
    "a large folder is aborted under way, and times out without an answer",
    LONG,
    inWorkspace(async (ws) => {
      for (let i = 0; i < 40; i += 1) {
        ws.folder(`${i}`);
        for (let j = 0; j < 500; j += 1) fs.closeSync(fs.openSync(ws.at(`${i}/${j}`), "w"));
      }
      const controller = new AbortController();
      const options = { signal: controller.signal };
      const aborted = rejectionValue(() => findFiles(ws.context, { patterns: "*" }, options));
      setTimeout(() => controller.abort("enough"), 1);
      assert.equal(await aborted, "enough");
      const error = await refusal(ws, { patterns: "*", timeout_ms: 1 });
      assert.deepEqual([error.code, error.path], ["TIMEOUT", "."]);
      assert.equal((await find(ws, { patterns: "*" })).total, 20_000);
    }, IN_MEMORY),
  );
});

describe("a tree that changes", () => {
  test(
    "files that come and go fail nothing, and each item is whole",
    { timeout: 30_000 },
    inWorkspace(async (ws) => {
      for (let i = 0; i < 50; i += 1) ws.write(`kept/${i}`, "kept");
      for (let round = 0; round < 150; round += 1) {
        const sort = round % 2 === 0 ? "path" : "mtime";
        const finding = findFiles(ws.context, { patterns: "*", kind: "all", sort });
        fs.rmSync(ws.at("gone"), { recursive: true, force: true });
        for (let i = 0; i < 20; i += 1) ws.write(`gone/${i}/x`, "gone");
        const { items, total } = await finding;
        assert.equal(items.filter(({ path }) => path.startsWith("kept/")).length, 50);
        assert.equal(items.length, Math.min(100, total));
      }
    }),
  );

  for (const [size, others, rounds] of [
    ["small", 0, 2000],
    ["large, which several threads share", 1500, 400],
  ] as const) {
    test(
      `a folder that is exchanged with a link to outside shows nothing of the outside, in a tree that is ${size}`,
      { skip: NO_EXCHANGE, timeout: 60_000 },
      inWorkspace(async (ws) => {
        ws.writeOutside("secret.txt", "secret");
        ws.writeOutside("deep/secret.txt", "secret");
        for (let i = 0; i < others; i += 1) ws.write(`others/${i % 40}/${i}`, "");
        ws.write("dir/deep/inside.txt", "");
        ws.link("link", "../outside", "dir");
        const swapper = exchange(ws.at("dir"), ws.at("link"));
        await swapper.ready;
        try {
          const seen = new Set<string>();
          const begun = performance.now();
          const enough = () => seen.has("inside") && seen.has("nothing") && seen.has("refused");
          for (let i = 0; i < rounds || !enough(); i += 1) {
            assert.ok(performance.now() - begun < 50_000, `no race: ${[...seen]}`);
            const args: FindFilesArguments = {
              patterns: "*.txt",
              root_path: i % 2 === 0 ? null : "dir",
              sort: i % 3 === 0 ? "mtime" : "path",
            };
            const outcome = await findFiles(ws.context, args).catch(
              (error: FindFilesError) => error,
            );
            assert.ok(!JSON.stringify(outcome).includes("secret"), JSON.stringify(outcome));
            if ("code" in outcome) {
              assert.equal(outcome.code, "SANDBOX_VIOLATION", outcome.message);
              seen.add("refused");
            } else {
              assert.ok(outcome.items.every(({ size }) => size === 0));
              seen.add(outcome.total === 0 ? "nothing" : "inside");
            }
          }
        } finally {
          await swapper.kill();
        }
      }),
    );
  }
});

const noRipgrep = (() => {
  try {
    execFileSync("rg", ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return "ripgrep is not installed";
  }
})();

/** What `rg --files` lists in a folder, in the order of `findFiles`. */
function ripgrep(folder: string, ...flags: string[]): string[] {
  const fixed = ["--files", "--hidden", "--null", "--no-config", "--no-messages"];
  const { stdout, status } = spawnRipgrep(folder, [...fixed, ...flags]);
  assert.ok(status === 0 || status === 1, stdout);
  return stdout
    .split("\0")
    .filter((file) => file !== "")
    .sort();
}

function spawnRipgrep(cwd: string, args: string[]): { stdout: string; status: number } {
  try {
    const stdout = execFileSync("rg", args, { cwd, encoding: "utf8", maxBuffer: 1 << 28 });
    return { stdout, status: 0 };
  } catch (error) {
    return error as { stdout: string; status: number };
  }
}

async function everything(
  context: { workspaceRoot: string },
  args: FindFilesArguments,
): Promise<string[]> {
  const paths: string[] = [];
  let after: string | null = null;
  do {
    const page: FindFilesResult = await findFiles(context, { ...args, max_results: 1_000, after });
    paths.push(...pathsOf(page));
    after = page.next ?? null;
  } while (after !== null);
  return paths;
}

describe("against rg --files", { skip: noRipgrep || notPosix }, () => {
  const NAMES = ["a", "b", "a.ts", "b.ts", "a.js", "A.ts", ".x", "a-b", "ä", "dist", "[a]", "x y"];
  const PARTS = [
    "*",
    "**",
    "*.ts",
    "a*",
    "?",
    "[ab]",
    "[!a]*",
    "{a,b}",
    "a",
    "dist",
    "*.{ts,js}",
    "ä",
    ".*",
  ];
  const LINES = ["*.ts", "/a", "b/", "!a.ts", "a/*.js", "**/dist", "*-b", "!b.ts", "a/**/b"];

  /** Makes some files and folders beneath a folder, and gives the folders. */
  function grow(ws: TestWorkspace, root: string, random: Random): string[] {
    const folders = [ws.folder(root)];
    for (let i = 0; i < 120; i += 1) {
      const absolute = path.join(random.pick(folders), random.pick(NAMES));
      if (fs.existsSync(absolute) || absolute.split("/").length > ws.root.split("/").length + 6)
        continue;
      if (random.below(10) < 4) {
        fs.mkdirSync(absolute);
        folders.push(absolute);
      } else {
        fs.writeFileSync(absolute, "");
      }
    }
    return folders;
  }

  for (let seed = 1; seed <= 6; seed += 1) {
    test(
      `random globs select the files that rg -g selects, seed ${seed}`,
      LONG,
      inWorkspace(async (ws) => {
        const random = new Random(seed);
        grow(ws, ".", random);
        for (let round = 0; round < 40; round += 1) {
          const glob = () => {
            const parts = Array.from({ length: 1 + random.below(3) }, () => random.pick(PARTS));
            return random.pick(["", "", "", "/"]) + parts.join("/");
          };
          const patterns = Array.from({ length: 1 + random.below(3) }, glob);
          const exclude = random.below(2) === 0 ? [] : [glob()];
          const asked = { patterns, exclude, gitignore: false, default_excludes: false };
          const flags = patterns
            .concat(exclude.map((one) => `!${one}`))
            .flatMap((one) => ["-g", one]);
          const expected = ripgrep(ws.root, "--no-ignore", ...flags);
          // A bracket that matches nothing is taken to the letter here, and not by rg.
          const isLiteral = patterns.some((one) => one.includes("["));
          const given = await everything(ws.context, asked);
          if (isLiteral)
            assert.deepEqual(
              given.filter((one) => expected.includes(one)),
              expected,
            );
          else assert.deepEqual(given, expected, JSON.stringify(asked));
        }
      }),
    );

    test(
      `random .gitignore files leave out what rg leaves out, seed ${seed}`,
      LONG,
      inWorkspace(async (ws) => {
        const random = new Random(seed + 100);
        for (let round = 0; round < 8; round += 1) {
          const workspaceRoot = ws.at(`${round}`);
          for (const folder of grow(ws, `${round}`, random)) {
            if (random.below(3) !== 0) continue;
            const lines = Array.from({ length: 1 + random.below(3) }, () => random.pick(LINES));
            fs.writeFileSync(path.join(folder, ".gitignore"), lines.join("\n"));
          }
          const rules = ["--no-require-git", "--no-ignore-global", "--no-ignore-exclude"];
          const expected = ripgrep(
            workspaceRoot,
            ...rules,
            "--no-ignore-parent",
            "--no-ignore-dot",
          );
          const asked = { patterns: "*", default_excludes: false };
          assert.deepEqual(await everything({ workspaceRoot }, asked), expected);
        }
      }),
    );
  }

  test("the dependencies of this repository are the files that rg lists", LONG, async () => {
    const workspaceRoot = path.join(ROOT, "node_modules");
    for (const glob of ["*.ts", "**/*.d.{ts,mts}", "/*/package.json", "README*", "**/src/**"]) {
      const flags = ["--no-ignore", "-g", glob, "-g", "!**/.git"];
      const expected = ripgrep(workspaceRoot, ...flags);
      const asked = {
        patterns: glob,
        gitignore: false,
        default_excludes: false,
        exclude: "**/.git",
      };
      const given = await everything({ workspaceRoot }, asked);
      assert.equal(given.length, expected.length);
      assert.deepEqual(given, expected);
    }
  });
});
