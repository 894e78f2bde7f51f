// searchFiles: docs/contract.md §9 and §13. The rules of matching are tested in Rust, against a model, in
// src/regex/tests.rs and src/tools/search_files/tests.rs.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { createAgentToolkit } from "../dist/index.js";
import {
  type SearchFilesArguments,
  type SearchFilesError,
  type SearchFilesOutput,
  type SearchMatch,
  searchFiles,
  Workspace,
} from "../index.js";
import { type CatalogEntry, createSecureTool } from "./support/host.ts";
import { hostileProxy, STRANGERS, withGetter } from "./support/hostile.ts";
import { withClient } from "./support/mcp.ts";
import { noSymlinks, notPosix } from "./support/platform.ts";
import { ROOT } from "./support/program.ts";
import { rejectionValue } from "./support/read.ts";
import { inWorkspace, SECRET, type TestWorkspace } from "./support/workspace.ts";

/** The call without its types, for values of every kind. */
const looseSearch = searchFiles as unknown as (...args: unknown[]) => Promise<{
  items: SearchMatch[];
  truncated: boolean;
  next?: string;
  warnings: string[];
}>;

async function refusal(ws: TestWorkspace, ...args: unknown[]): Promise<SearchFilesError> {
  const error = (await rejectionValue(() => looseSearch(ws.context, ...args))) as SearchFilesError;
  assert.equal(error.name, "SearchFilesError", String(error));
  assert.ok(error.message.startsWith(`${error.code}: `), error.message);
  for (const hidden of ws.hidden) assert.ok(!error.message.includes(hidden), error.message);
  return error;
}

describe("the answer", () => {
  test(
    "has its keys in order, and optional ones only where they are asked for",
    inWorkspace(async (ws) => {
      ws.write("src/a.txt", "\uFEFFone\r\ntwo é fish\r\n");
      const answer = await searchFiles(ws.context, { pattern: "FISH", flags: "gi" });
      assert.deepEqual(Object.keys(answer), [
        "query",
        "root_path",
        "took_ms",
        "truncated",
        "scanned_files",
        "items",
        "warnings",
      ]);
      assert.deepEqual(
        { ...answer, took_ms: 0 },
        {
          query: { pattern: "FISH", flags: "gi" },
          root_path: ".",
          took_ms: 0,
          truncated: false,
          scanned_files: 1,
          items: [
            { path: "src/a.txt", line: 2, column: 7, match: "fish", line_text: "two é fish" },
          ],
          warnings: [],
        },
      );
      assert.ok(Number.isInteger(answer.took_ms));
      const all = { pattern: "fish", multiline: true, context_lines: 1 };
      const [item] = (await searchFiles(ws.context, all)).items;
      assert.deepEqual(Object.keys(item ?? {}), [
        "path",
        "line",
        "column",
        "match",
        "line_text",
        "end_line",
        "before",
        "after",
      ]);
      assert.deepEqual([item?.before, item?.after], [["one"], []]);
    }),
  );

  test(
    "a page says where the next one begins, and any `next` leads on from its place",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "x x\nx");
      ws.write("b.txt", "x");
      const first = await searchFiles(ws.context, { pattern: "x", max_results: 2 });
      assert.equal(first.next, "1:3:a.txt");
      const other = await searchFiles(ws.context, { pattern: "[xy]", after: first.next ?? "" });
      assert.deepEqual(
        other.items.map(({ path, line, column }) => [path, line, column]),
        [
          ["a.txt", 2, 1],
          ["b.txt", 1, 1],
        ],
      );
      const files = await searchFiles(ws.context, {
        ...{ pattern: "x", output: "files", max_results: 1 },
      });
      assert.deepEqual([files.items, files.next], [[{ path: "a.txt", matches: 3 }], ":a.txt"]);
    }),
  );

  test(
    "a long line is cut to a window around the match, and its column is that of the whole line",
    inWorkspace(async (ws) => {
      ws.write("a.js", `${"😀".repeat(500)}needle${"é".repeat(500)}`);
      const [item] = (await searchFiles(ws.context, { pattern: "needle", max_line_chars: 100 }))
        .items;
      assert.ok(item);
      assert.equal(item.column, 1001);
      assert.ok(item.line_text.length <= 100 && item.line_text.length >= 98);
      const offset = item.line_offset ?? assert.fail();
      assert.equal(item.line_text.slice(item.column - 1 - offset).slice(0, 6), "needle");
      assert.doesNotMatch(item.line_text, /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/);
    }),
  );
});

describe("pages and lines", () => {
  test(
    "names that hold what no path may be spelled with have their page",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const names = ["\\\\srv\\x", "a\\b", "\u2028"];
      for (const name of names) fs.writeFileSync(`${ws.root}/${name}`, "hit");
      const found: string[] = [];
      for (let after: string | undefined, more = true; more; ) {
        const page: SearchFilesOutput = await searchFiles(ws.context, {
          ...{ pattern: "hit", max_results: 1, after },
        });
        found.push(...page.items.map(({ path }) => path));
        after = page.next;
        more = page.truncated;
      }
      assert.deepEqual(found, names);
    }),
  );

  test(
    "a name that is not UTF-8 is counted on one page",
    { skip: process.platform !== "linux" && "only Linux has such names" },
    inWorkspace(async (ws) => {
      ws.write("a한", "hit");
      ws.write("b", "hit");
      fs.writeFileSync(Buffer.concat([Buffer.from(ws.at("a")), Buffer.from([0xe9])]), "hit");
      const first = await searchFiles(ws.context, { pattern: "hit", max_results: 1 });
      const second = await searchFiles(ws.context, { pattern: "hit", after: first.next });
      const warnings = [...first.warnings, ...second.warnings];
      assert.deepEqual(warnings, ["skipped_unreadable=1"]);
    }),
  );

  test(
    "a line that readFile does not count has no match and is no context",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\n\n");
      ws.write("empty.txt", "");
      const around = await searchFiles(ws.context, { pattern: "^$", context_lines: 2 });
      assert.deepEqual(
        around.items.map(({ path, line, after }) => [path, line, after]),
        [["a.txt", 2, []]],
      );
      const all = { pattern: "x*", multiline: true, flags: "m" };
      const { items } = await searchFiles(ws.context, all);
      assert.deepEqual(
        items.map(({ path, line }) => [path, line]),
        [
          ["a.txt", 1],
          ["a.txt", 2],
        ],
      );
    }),
  );

  test(
    "a place beyond the file that root_path names gives no items",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "foo");
      const search = { pattern: "foo", root_path: "a.txt" };
      assert.equal(
        (await searchFiles(ws.context, { ...search, after: "1:1:z.txt" })).items.length,
        0,
      );
      assert.equal((await searchFiles(ws.context, { ...search, after: ":Z.txt" })).items.length, 1);
    }),
  );

  test(
    "a folder is searched although a rule ignores it and everything in it",
    inWorkspace(async (ws) => {
      ws.write(".gitignore", "*\n");
      ws.write("foo/a.txt", "hit");
      ws.write("foo/.gitignore", "b.txt\n");
      ws.write("foo/b.txt", "hit");
      const { items } = await searchFiles(ws.context, { pattern: "hit", root_path: "foo" });
      assert.deepEqual(
        items.map(({ path }) => path),
        ["foo/a.txt"],
      );
    }),
  );

  test(
    "hostile globs and patterns are refused before they cost time",
    { timeout: 30_000 },
    inWorkspace(async (ws) => {
      const globs = Array.from({ length: 1_000 }, (_, i) => `${"*a".repeat(2_000)}${i}`);
      const error = await refusal(ws, { pattern: "hit", include: globs });
      assert.match(error.message, /include must not have more than 64 KiB/);
      assert.equal((await refusal(ws, { pattern: "\\w".repeat(30_000) })).code, "INVALID_REGEX");
    }),
  );
});

describe("arguments", () => {
  test(
    "of a wrong type are refused by their name and rule, and nothing is coerced",
    inWorkspace(async (ws) => {
      const rules: Record<keyof SearchFilesArguments, RegExp> = {
        pattern: /^pattern must be a string/,
        flags: /^flags must be a string/,
        literal: /^literal must be true or false/,
        word: /^word must be true or false/,
        multiline: /^multiline must be true or false/,
        root_path: /^root_path must be a string/,
        include: /^include must be a string or an array of strings/,
        exclude: /^exclude must be a string or an array of strings/,
        gitignore: /^gitignore must be true or false/,
        include_hidden: /^include_hidden must be true or false/,
        default_excludes: /^default_excludes must be true or false/,
        output: /^output must be "matches" or "files" or "counts"/,
        context_lines: /^context_lines must be an integer >= 0 and <= 20/,
        max_results: /^max_results must be an integer >= 1 and <= 500/,
        after: /^after must be a string/,
        max_line_chars: /^max_line_chars must be an integer >= 100 and <= 10000/,
        max_file_size_bytes: /^max_file_size_bytes must be an integer >= 1 and <= 67108864/,
        timeout_ms: /^timeout_ms must be an integer >= 1 and <= 30000/,
      };
      for (const [key, rule] of Object.entries(rules)) {
        for (const [what, value] of STRANGERS) {
          const takesIt = what === "true" && String(rule).includes("true or false");
          const isList = what === "an array" && String(rule).includes("array");
          if (takesIt || isList) continue;
          const error = await refusal(ws, { pattern: "x", [key]: value });
          assert.equal(error.code, "INVALID_ARGUMENT", `${key}: ${what}`);
          assert.match(error.message.slice("INVALID_ARGUMENT: ".length), rule, `${key}: ${what}`);
        }
        if (key === "pattern") continue;
        await searchFiles(ws.context, { pattern: "x", [key]: null });
      }
    }),
  );

  test(
    "numbers outside of their ranges are refused",
    inWorkspace(async (ws) => {
      for (const [key, values] of Object.entries({
        context_lines: [-1, 21, 1.5, Number.NaN],
        max_results: [0, 501, -1, 2 ** 32 + 1],
        max_line_chars: [99, 10_001],
        max_file_size_bytes: [0, 64 * 1024 * 1024 + 1],
        timeout_ms: [0, 30_001, Number.POSITIVE_INFINITY],
      })) {
        for (const value of values) {
          const error = await refusal(ws, { pattern: "x", [key]: value });
          assert.equal(error.code, "INVALID_ARGUMENT");
          assert.match(error.message, new RegExp(`${key} must be an integer .* got `));
        }
      }
    }),
  );

  const REFUSED: [what: string, args: Record<string, unknown>, code: string, message: RegExp][] = [
    ["no pattern", {}, "INVALID_ARGUMENT", /pattern is missing/],
    ["an empty pattern", { pattern: "" }, "INVALID_ARGUMENT", /pattern must not be empty/],
    ["a huge pattern", { pattern: "a".repeat(2 ** 20) }, "INVALID_ARGUMENT", /longer than 64 KiB/],
    ["a lone surrogate", { pattern: "\ud800" }, "INVALID_ARGUMENT", /well-formed Unicode/],
    ["a flag twice", { pattern: "x", flags: "ii" }, "INVALID_ARGUMENT", /flags must be/],
    ["an unknown flag", { pattern: "x", flags: "y" }, "INVALID_ARGUMENT", /flags must be/],
    ["no next", { pattern: "x", after: "7" }, "INVALID_ARGUMENT", /after must be the `next`/],
    ["an open group", { pattern: "f(" }, "INVALID_REGEX", /unclosed group.*literal to true/],
    ["a line feed", { pattern: "a\\nb" }, "INVALID_REGEX", /multiline to true/],
    ["a large pattern", { pattern: "(\\w{1000}){1000}" }, "INVALID_REGEX", /1 MiB/],
    ["deep groups", { pattern: `${"(".repeat(300)}a${")".repeat(300)}` }, "INVALID_REGEX", /nest/],
    [
      "a glob that leads out",
      { pattern: "x", include: "../a" },
      "SANDBOX_VIOLATION",
      /include\[0\]/,
    ],
    [
      "a glob that does not parse",
      { pattern: "x", exclude: ["a", "[b"] },
      "INVALID_ARGUMENT",
      /exclude\[1\]/,
    ],
    [
      "a root outside",
      { pattern: "x", root_path: "../outside" },
      "SANDBOX_VIOLATION",
      /root_path leaves/,
    ],
    [
      "an absolute root",
      { pattern: "x", root_path: "/etc" },
      "SANDBOX_VIOLATION",
      /root_path is absolute/,
    ],
    [
      "a blank root",
      { pattern: "x", root_path: " " },
      "INVALID_ARGUMENT",
      /root_path must not be empty/,
    ],
    ["an absent root", { pattern: "x", root_path: "scr" }, "NOT_FOUND", /did you mean "src\/"\?/],
  ];
  for (const [what, args, code, message] of REFUSED) {
    test(
      `${what} is ${code}`,
      inWorkspace(async (ws) => {
        ws.folder("src");
        const error = await refusal(ws, args);
        assert.equal(error.code, code);
        assert.match(error.message, message);
        assert.equal(typeof error.path, "string");
      }),
    );
  }

  test(
    "the offset of a flaw counts UTF-16 units",
    inWorkspace(async (ws) => {
      const error = await refusal(ws, { pattern: "😀[z-a]" });
      assert.deepEqual([error.code, error.offset, error.path], ["INVALID_REGEX", 3, "."]);
    }),
  );

  test(
    "hostile objects are refused or read, and never end the process",
    inWorkspace(async (ws) => {
      for (const args of [undefined, null, 5, "x", [], hostileProxy(), () => "x"]) {
        assert.equal((await refusal(ws, args)).code, "INVALID_ARGUMENT");
      }
      assert.equal((await refusal(ws, withGetter("pattern"))).code, "INVALID_ARGUMENT");
      const inherited = Object.create({ pattern: "x" });
      assert.match((await refusal(ws, inherited)).message, /pattern is missing/);
      const onProgress = await refusal(ws, { pattern: "x" }, { onProgress: 5 });
      assert.match(onProgress.message, /onProgress must be a function, got 5/);
    }),
  );
});

describe("what is searched", () => {
  test(
    "a root_path is spelled in every way that leads to it",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write("src/a.txt", "x");
      ws.write("node_modules/b/dist/c.txt", "x");
      ws.link("link", "src");
      const paths = async (root_path: string) => {
        const { items, root_path: shown } = await searchFiles(ws.context, {
          pattern: "x",
          root_path,
        });
        return [shown, ...items.map(({ path }) => path)];
      };
      assert.deepEqual(await paths("./src/"), ["src", "src/a.txt"]);
      assert.deepEqual(await paths(ws.at("src")), ["src", "src/a.txt"]);
      assert.deepEqual(await paths("link"), ["link", "link/a.txt"]);
      assert.deepEqual(await paths("src/a.txt"), ["src/a.txt", "src/a.txt"]);
      const inside = "node_modules/b";
      assert.deepEqual(await paths(inside), [inside, "node_modules/b/dist/c.txt"]);
      assert.deepEqual(await paths("."), [".", "src/a.txt"]);
    }),
  );

  test(
    "links out are neither followed nor searched, and one that is named is refused",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.writeOutside("a.txt");
      ws.link("folder", ws.outside);
      ws.link("file", path.join(ws.outside, "a.txt"));
      const answer = await searchFiles(ws.context, { pattern: "." });
      assert.deepEqual([answer.items, answer.warnings], [[], ["skipped_links=2"]]);
      for (const root_path of ["folder", "file", "folder/a.txt"]) {
        assert.equal((await refusal(ws, { pattern: ".", root_path })).code, "SANDBOX_VIOLATION");
      }
    }),
  );

  test(
    "a FIFO is never waited on, in the tree, as .gitignore and as root_path",
    { skip: notPosix, timeout: 20_000 },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "x");
      execFileSync("mkfifo", [ws.at("fifo"), ws.at(".gitignore")]);
      const answer = await searchFiles(ws.context, { pattern: "x" });
      assert.equal(answer.items.length, 1);
      const error = await refusal(ws, { pattern: "x", root_path: "fifo" });
      assert.equal(error.code, "NOT_DIRECTORY");
    }),
  );

  test(
    "names that are not UTF-8 are counted as unreadable",
    { skip: process.platform !== "linux" && "only Linux has such names" },
    inWorkspace(async (ws) => {
      fs.writeFileSync(Buffer.concat([Buffer.from(ws.at("a")), Buffer.from([0xff])]), "x");
      const answer = await searchFiles(ws.context, { pattern: "x" });
      assert.deepEqual([answer.items, answer.warnings], [[], ["skipped_unreadable=1"]]);
    }),
  );
});

describe("signals and progress", () => {
  const BOMB = "([ab]+)*(?=c)c";

  test(
    "an abort comes at once, with its reason",
    inWorkspace(async (ws) => {
      for (let i = 0; i < 400; i++) ws.write(`${i}.txt`, `${"ab".repeat(2_000)}!c`);
      const controller = new AbortController();
      // Takes some seconds, and no place of a text takes too many steps.
      const search = { pattern: "(?=([ab]+))\\1c", timeout_ms: 30_000 };
      const call = searchFiles(ws.context, search, { signal: controller.signal });
      const begun = performance.now();
      setTimeout(() => controller.abort("enough"), 20);
      assert.equal(await rejectionValue(() => call), "enough");
      assert.ok(performance.now() - begun < 5_000);
      const again = () => searchFiles({ ...ws.context, signal: controller.signal }, search);
      assert.equal(await rejectionValue(again), "enough");
    }),
  );

  test(
    "a search that takes too long is a TIMEOUT without an answer",
    inWorkspace(async (ws) => {
      ws.write("a.txt", `${"ab".repeat(400_000)}!c`);
      const error = await refusal(ws, { pattern: BOMB, timeout_ms: 50 });
      assert.equal(error.code, "TIMEOUT");
      assert.match(error.message, /root_path or include/);
    }),
  );

  test(
    "progress is told during a long search, and what the host throws is ignored",
    inWorkspace(async (ws) => {
      for (let i = 0; i < 40; i++)
        ws.write(`${String(i).padStart(2, "0")}.txt`, "ab".repeat(2_000));
      const told: { scanned_files: number; items: number }[] = [];
      const search = { pattern: "(?=([ab]+))\\1c", timeout_ms: 30_000 };
      await searchFiles(ws.context, search, {
        onProgress(progress) {
          told.push(progress);
          throw new Error("of the host");
        },
      }).catch((error) => assert.equal(error.code, "TIMEOUT"));
      const ended = told.length;
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.equal(told.length, ended, "nothing is told after the answer");
      for (const progress of told)
        assert.deepEqual(Object.keys(progress), ["scanned_files", "items"]);
      const scanned = told.map(({ scanned_files }) => scanned_files);
      assert.deepEqual(
        scanned,
        [...scanned].sort((one, other) => one - other),
      );
    }),
  );
});

describe("hosts", () => {
  test(
    "the function is the handler of a host whose regexp_search takes (context, input)",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      const metadata = { name: "regexp_search", isWriteOp: false, description: "Searches." };
      const handler = createSecureTool(metadata, searchFiles);
      const catalog = { regexp_search: { metadata, handler } } satisfies Record<
        string,
        CatalogEntry<[SearchFilesArguments], unknown>
      >;
      const context = { ...ws.context, policy: { tools: {}, defaultPolicy: "allow" as const } };
      const answer = await catalog.regexp_search.handler(context as never, { pattern: "o" });
      assert.equal(answer.status, "success");
    }),
  );

  test(
    "the toolkit folds what models send: grep's switches, other names, and wrapped input",
    inWorkspace(async (ws) => {
      ws.write("src/a.ts", "zero\nONE\ntwo\n");
      ws.write("src/b.js", "one\n");
      const kit = createAgentToolkit(ws.context);
      const BOTH = ["src/a.ts", "src/b.js"];
      const sent: [unknown, string[]][] = [
        [{ query: "one", "-i": true, glob: "*.ts", "-C": 1, "-n": true }, ["src/a.ts"]],
        [{ regex: "one", path: "src", output_mode: "files_with_matches" }, ["src/b.js"]],
        ['{"input": {"pattern": "one", "include": "[\\"*.js\\"]"}}', ["src/b.js"]],
        [{ pattern: "one", flags: "i", head_limit: "1" }, ["src/a.ts"]],
        [{ pattern: "one", path: "", after: "", include: "", "-i": "True", head_limit: 0 }, BOTH],
        [{ pattern: "one", ignore_case: true }, BOTH],
      ];
      for (const [args, paths] of sent) {
        const result = await kit.invoke("regexp_search", args as never);
        assert.ok(result.status === "success", JSON.stringify(result));
        assert.deepEqual(
          result.data.items.map(({ path }) => path),
          paths,
        );
        assert.doesNotMatch(result.hint ?? "", /ignored/);
      }
      const odd = await kit.invoke("regexp_search", { pattern: "one", "-A": "x" } as never);
      assert.match(odd.status === "success" ? (odd.hint ?? "") : "", /ignored: /);
      const page = await kit.searchFiles({ pattern: "o", flags: "i", max_results: 1 });
      assert.ok(page.status === "success");
      assert.match(
        page.hint ?? "",
        /There are more: call regexp_search with .*"after":"1:4:src\/a.ts"/,
      );
      kit.close();
    }),
  );

  test(
    "a policy that denies it, and a pattern with a flaw, are told as the toolkit tells them",
    inWorkspace(async (ws) => {
      const policy = { tools: { regexp_search: "deny" }, defaultPolicy: "allow" } as const;
      const kit = createAgentToolkit({ ...ws.context, policy });
      const denied = await kit.searchFiles({ pattern: "x" });
      assert.equal(denied.status, "denied");
      const other = createAgentToolkit(ws.context);
      const failed = await other.searchFiles({ pattern: "(" });
      assert.ok(failed.status === "failure");
      assert.equal(failed.error.details.code, "INVALID_REGEX");
      kit.close();
      other.close();
    }),
  );

  test(
    "the official MCP client searches, and gets the hint to the next page",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "x\nx\n");
      await withClient(["--root", ws.root], async (client) => {
        const call = { name: "regexp_search", arguments: { pattern: "x", max_results: 1 } };
        const progress: number[] = [];
        const answer = await client.callTool(call, undefined, {
          onprogress: (report) => progress.push(report.progress),
        });
        const { items } = answer.structuredContent as { items: SearchMatch[] };
        assert.equal(items[0]?.path, "a.txt");
        assert.match(JSON.stringify(answer.content), /call regexp_search with/);
        assert.deepEqual(
          progress,
          [...progress].sort((one, other) => one - other),
        );
      });
    }),
  );
});

test(
  "a folder that is exchanged with a link outward while it is searched gives nothing from outside",
  { skip: noSymlinks, timeout: 60_000 },
  inWorkspace(async (ws) => {
    ws.writeOutside("a.txt");
    ws.write("dir/a.txt", "inside\n");
    const script = new URL("./support/swap-worker.mjs", import.meta.url);
    const worker = new Worker(script, { workerData: { attack: "folder", base: ws.base } });
    try {
      await new Promise((resolve) => worker.once("message", resolve));
      const workspace = Workspace.open(ws.root);
      const seen = new Set<string>();
      for (let i = 0; i < 2_000; i++) {
        const root_path = i % 2 === 0 ? "." : "dir";
        const answer = await searchFiles(workspace, { pattern: ".+", root_path }).catch(
          ({ code }) => ({ items: [], code }),
        );
        for (const { match } of answer.items) seen.add(match);
      }
      workspace.close();
      assert.ok(!seen.has(SECRET.trimEnd()), "a leak");
      assert.ok(seen.has("inside"));
    } finally {
      await worker.terminate();
    }
  }),
);

const noRipgrep = spawnSync("rg", ["--version"]).status !== 0 && "rg is missing";

test("the files that match are those of rg, on the files of this project", {
  skip: noRipgrep,
}, async () => {
  const ours = async (args: SearchFilesArguments<"counts">) => {
    const found: [string, number][] = [];
    let after: string | null = null;
    for (let more = true; more; ) {
      const page: SearchFilesOutput<"counts"> = await searchFiles(
        { workspaceRoot: ROOT },
        { ...args, output: "counts", max_results: 500, after, timeout_ms: 30_000 },
      );
      found.push(
        ...page.items.map(({ path, matching_lines }) => [path, matching_lines] as [string, number]),
      );
      after = page.next ?? null;
      more = page.truncated;
    }
    return found;
  };
  const rg = (...args: string[]) => {
    const excludes = ["node_modules", "dist", "build", "target", ".vscode"];
    const { stdout } = spawnSync(
      "rg",
      [
        ...["--count", "--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-parent"],
        ...["--no-ignore-dot", "--no-ignore-exclude", "--max-filesize", "1M", "-g", "!.git"],
        ...excludes.flatMap((name) => ["-g", `!${name}/`]),
        ...args,
      ],
      { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28 },
    );
    const lines = stdout.trim().split("\n").filter(Boolean);
    return lines
      .map((line): [string, number] => {
        const at = line.lastIndexOf(":");
        return [line.slice(0, at), Number(line.slice(at + 1))];
      })
      .sort(([one], [other]) => (one < other ? -1 : 1));
  };
  for (const [pattern, flags] of [
    ["fn \\w+\\(", ""],
    ["workspace", "i"],
    ["^use ", ""],
    ["[0-9]{3,}$", ""],
    ["\\bpath\\b", ""],
  ] as const) {
    const expected = rg(...(flags === "i" ? ["-i"] : []), "-e", pattern, ".").map(
      ([name, count]): [string, number] => [name.replace(/^\.\//, ""), count],
    );
    assert.deepEqual(await ours({ pattern, flags }), expected, pattern);
  }
});
