// `tree`: the folder tree as objects, and as the handler of a host that has such a tool. docs/contract.md §13.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import {
  isTreeError,
  type TreeError,
  type TreeNode,
  type TreeOptions,
  type TreeResult,
  tree,
  Workspace,
} from "../index.js";
import { callInChild } from "./support/child.ts";
import { type CatalogEntry, createSecureTool, type ToolContext } from "./support/host.ts";
import { ABORT_REASONS, hostileProxy, STRANGERS, withGetter } from "./support/hostile.ts";
import { exchange, noExchange } from "./support/linux.ts";
import {
  mkfifo,
  noFifos,
  noPermissions,
  noSymlinks,
  notLinux,
  UNPRIVILEGED,
} from "./support/platform.ts";
import { Random } from "./support/random.ts";
import { rejectionValue } from "./support/read.ts";
import { inWorkspace, SECRET, type TestWorkspace } from "./support/workspace.ts";

const NO_EXCHANGE = await noExchange();

/** `tree` without its types, for arguments that are wrong on purpose. */
const loose = tree as unknown as (...args: unknown[]) => Promise<TreeResult>;

const ALL = { entry_kind: "all", max_depth: 12, max_entries: 1_000 } as const;

/** Takes a tree with a plain context and with a Workspace: one answer, without an absolute path. */
async function grow(
  ws: TestWorkspace,
  given?: string | null,
  options?: TreeOptions,
): Promise<TreeResult> {
  const workspace = Workspace.open(ws.root);
  try {
    const answer = await tree(ws.context, given, options);
    assert.deepStrictEqual(await tree(workspace, given, options), answer);
    assert.deepEqual(Object.keys(answer), [
      "root",
      "limit_reached",
      "scanned_entries",
      "total_dirs",
      "total_files",
      "total_symlinks",
    ]);
    for (const secret of ws.hidden) assert.ok(!JSON.stringify(answer).includes(secret));
    return answer;
  } finally {
    workspace.close();
  }
}

/** The nodes, depth first: `a` of a file, `a/` of a folder, `a/…` of one that is truncated, `a@` of a link. */
function linesOf(answer: TreeResult): string[] {
  const lines: string[] = [];
  const visit = (node: TreeNode, depth: number) => {
    const { name, path: shown, kind, truncated, children } = node;
    const own = kind !== "directory" ? [] : truncated ? ["truncated"] : ["children"];
    assert.deepEqual(Object.keys(node), ["name", "path", "depth", "kind", ...own]);
    assert.equal(node.depth, depth);
    assert.equal(name, shown.split("/").at(-1));
    const end = { directory: truncated ? "/…" : "/", file: "", symlink: "@" }[kind];
    lines.push(shown + end);
    for (const child of children ?? []) visit(child, depth + 1);
  };
  visit(answer.root, 0);
  const ends = (end: RegExp) => lines.filter((line) => end.test(line)).length;
  assert.deepEqual(
    [answer.total_dirs, answer.total_files, answer.total_symlinks, answer.scanned_entries],
    [ends(/\/…?$/), ends(/[^/…@]$/), ends(/@$/), lines.length],
  );
  return lines;
}

async function lines(ws: TestWorkspace, given?: string, options?: TreeOptions): Promise<string[]> {
  return linesOf(await grow(ws, given, options));
}

async function refusal(ws: TestWorkspace, given: unknown, options?: unknown): Promise<TreeError> {
  const error = (await rejectionValue(() => loose(ws.context, given, options))) as TreeError;
  assert.ok(isTreeError(error), String(error));
  assert.deepEqual(Object.keys(error), ["code", "path"]);
  assert.ok(error.message.startsWith(`${error.code}: `), error.message);
  for (const secret of ws.hidden) assert.ok(!error.message.includes(secret), error.message);
  return error;
}

describe("the tree", () => {
  test(
    "is objects, folders first, with counts",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write("src/app/main.ts", "");
      ws.write("a.md", "");
      ws.folder("empty");
      ws.link("link", "src", "dir");
      assert.deepStrictEqual(await grow(ws, ".", { entry_kind: "all", max_depth: 2 }), {
        root: {
          name: ".",
          path: ".",
          depth: 0,
          kind: "directory",
          children: [
            { name: "empty", path: "empty", depth: 1, kind: "directory", children: [] },
            {
              name: "src",
              path: "src",
              depth: 1,
              kind: "directory",
              children: [
                { name: "app", path: "src/app", depth: 2, kind: "directory", truncated: true },
              ],
            },
            { name: "a.md", path: "a.md", depth: 1, kind: "file" },
            { name: "link", path: "link", depth: 1, kind: "symlink" },
          ],
        },
        limit_reached: false,
        scanned_entries: 6,
        total_dirs: 4,
        total_files: 1,
        total_symlinks: 1,
      });
    }),
  );

  test(
    "has folders alone, three levels and a hundred nodes without options, from the root without a path",
    inWorkspace(async (ws) => {
      ws.write("1/2/3/4/5.txt", "");
      const expected = ["./", "1/", "1/2/", "1/2/3/…"];
      for (const args of [[], [null], [undefined, null], [".", {}], ["", undefined].slice(1)]) {
        assert.deepEqual(linesOf(await loose(ws.context, ...args)), expected);
      }
      for (let i = 0; i < 120; i += 1) ws.folder(`f${i}`);
      const wide = await grow(ws);
      assert.deepEqual([wide.scanned_entries, wide.limit_reached], [100, true]);
    }),
  );

  test(
    "max_entries counts nodes depth first, and is reached only if more would come",
    inWorkspace(async (ws) => {
      for (const file of ["a/b/c", "a/d", "e", "node_modules/f"]) ws.write(file, "");
      const whole = await lines(ws, ".", ALL);
      assert.deepEqual(whole, ["./", "a/", "a/b/", "a/b/c", "a/d", "e"]);
      for (let max_entries = 1; max_entries <= 7; max_entries += 1) {
        const answer = await grow(ws, ".", { ...ALL, max_entries });
        assert.deepEqual(linesOf(answer), whole.slice(0, max_entries));
        assert.equal(answer.limit_reached, max_entries < 6);
      }
    }),
  );

  test(
    "names are ordered by UTF-16 code units, and hostile ones come as they are",
    { skip: notLinux },
    inWorkspace(async (ws) => {
      const names = [
        "B",
        "a",
        "a-b",
        "a.b",
        "é",
        "\u{ffee}",
        "😀",
        "x\ny",
        "z\u202e",
        "back\\slash",
      ];
      for (const name of names) fs.writeFileSync(`${ws.root}/${name}`, "");
      const bytes = Buffer.concat([Buffer.from(`${ws.root}/`), Buffer.from([0x62, 0xff])]);
      fs.writeFileSync(bytes, "");
      const { root } = await grow(ws, ".", ALL);
      assert.deepEqual(
        root.children?.map(({ name }) => name),
        [...names].sort(),
      );
    }),
  );

  test(
    "default excludes, .DS_Store and hidden names are left out, but not the folder that is named",
    inWorkspace(async (ws) => {
      for (const name of [".git", "node_modules", "dist", "build", "target", ".vscode"]) {
        ws.write(`${name}/x`, "");
      }
      for (const file of [".DS_Store", ".env", "sub/dist", "sub/.git", "dist/a/build/y"]) {
        ws.write(file, "");
      }
      assert.deepEqual(await lines(ws, ".", ALL), ["./", "sub/", "sub/dist"]);
      const hidden = { ...ALL, include_hidden: true };
      assert.deepEqual(await lines(ws, ".", hidden), ["./", "sub/", "sub/dist", ".env"]);
      const inDist = ["dist/", "dist/a/", "dist/a/build/", "dist/a/build/y", "dist/x"];
      assert.deepEqual(await lines(ws, "dist", ALL), inDist);
      assert.deepEqual(await lines(ws, ".git", ALL), [".git/", ".git/x"]);
    }),
  );

  test(
    "exclude is relative to the workspace, and .gitignore is heeded if asked",
    inWorkspace(async (ws) => {
      ws.write(".gitignore", "*.log\n");
      for (const file of ["src/a/x", "src/b/x", "src/y.log"]) ws.write(file, "");
      const all = ["src/", "src/a/", "src/a/x", "src/b/", "src/b/x", "src/y.log"];
      assert.deepEqual(await lines(ws, "src", { ...ALL, exclude: ["/a"] }), all);
      const without = all.filter((line) => !line.startsWith("src/a/"));
      for (const exclude of ["src/a", `${ws.root}/src/a`, "a/"]) {
        assert.deepEqual(await lines(ws, "src", { ...ALL, exclude: [exclude] }), without);
      }
      assert.deepEqual(await lines(ws, "src", { ...ALL, gitignore: true }), all.slice(0, -1));
    }),
  );

  test(
    "links are nodes and never entered, FIFOs are passed over",
    { skip: noSymlinks || noFifos, timeout: 10_000 },
    inWorkspace(async (ws) => {
      ws.writeOutside("secret.txt");
      ws.write("dir/a", "");
      ws.link("dir/up", "..", "dir");
      ws.link("in", "dir", "dir");
      ws.link("out", ws.outside, "dir");
      ws.link("self", "self");
      mkfifo(ws.at("pipe"));
      mkfifo(ws.at(".gitignore"));
      const expected = ["./", "dir/", "dir/a", "dir/up@", "in@", "out@", "self@"];
      assert.deepEqual(await lines(ws, ".", { ...ALL, gitignore: true }), expected);
      assert.deepEqual(await lines(ws, "in", ALL), ["in/", "in/a", "in/up@"]);
      assert.deepEqual(await lines(ws, "."), ["./", "dir/"]);
    }),
  );

  test(
    "a folder that may not be read is truncated, and refused if it is named",
    { skip: noPermissions },
    inWorkspace(async (ws) => {
      ws.write("a/b.txt", "");
      ws.write("locked/c.txt", "");
      ws.write("unsearchable/d/e.txt", "");
      fs.chmodSync(ws.base, 0o755);
      fs.chmodSync(ws.at("locked"), 0o000);
      fs.chmodSync(ws.at("unsearchable"), 0o444);
      try {
        const calls = [".", "locked"].map((given) => ({
          call: "tree",
          args: [ws.context, given, ALL],
        }));
        const [whole, named] = await callInChild({ calls, user: UNPRIVILEGED });
        assert.ok(whole && "answer" in whole, JSON.stringify(whole));
        const shown = linesOf(whole.answer as TreeResult);
        const expected = ["a/", "a/b.txt", "locked/…", "unsearchable/", "unsearchable/d/…"];
        assert.deepEqual(shown, ["./", ...expected]);
        assert.ok(named && "error" in named, JSON.stringify(named));
        assert.deepEqual([named.error.code, named.error.path], ["PERMISSION_DENIED", "locked"]);
      } finally {
        fs.chmodSync(ws.at("locked"), 0o755);
        fs.chmodSync(ws.at("unsearchable"), 0o755);
      }
    }),
  );
});

/** The lines that a plain walk over paths gives. */
function modelOf(ws: TestWorkspace, { include_hidden, entry_kind, max_depth = 3 }: TreeOptions) {
  const excluded = [".git", "node_modules", "dist", "build", "target", ".vscode"];
  const rankOf = (entry: fs.Dirent) => (entry.isDirectory() ? 0 : entry.isSymbolicLink() ? 2 : 1);
  const visit = (folder: string, depth: number): string[] => {
    const entries = fs.readdirSync(ws.at(folder), { withFileTypes: true }).filter((entry) => {
      const { name } = entry;
      if (name === ".git" || (rankOf(entry) === 1 && name === ".DS_Store")) return false;
      if (rankOf(entry) === 0 && excluded.includes(name)) return false;
      return (include_hidden || !name.startsWith(".")) && (entry_kind === "all" || !rankOf(entry));
    });
    entries.sort((one, other) => rankOf(one) - rankOf(other) || (one.name < other.name ? -1 : 1));
    return entries.flatMap((entry) => {
      const inner = path.posix.join(folder, entry.name);
      if (rankOf(entry) === 2) return [`${inner}@`];
      if (rankOf(entry) === 1) return [inner];
      return depth === max_depth ? [`${inner}/…`] : [`${inner}/`, ...visit(inner, depth + 1)];
    });
  };
  return ["./", ...visit("", 1)];
}

for (let seed = 1; seed <= 8; seed += 1) {
  test(
    `a random tree has the nodes that node:fs finds, seed ${seed}`,
    inWorkspace(async (ws) => {
      const random = new Random(seed);
      const names = [
        "a",
        "b",
        "A",
        "a.b",
        "a-b",
        "ä",
        "日本",
        "dist",
        ".git",
        ".x",
        ".DS_Store",
        "~",
      ];
      const folders = [""];
      for (let i = 0; i < 150; i += 1) {
        const relative = path.posix.join(random.pick(folders), random.pick(names));
        if (fs.lstatSync(ws.at(relative), { throwIfNoEntry: false })) continue;
        const dice = random.below(10);
        if (dice < 4) {
          ws.folder(relative);
          folders.push(relative);
        } else if (dice === 4 && !noSymlinks) {
          ws.link(relative, random.pick(["..", "/", "nowhere", ws.root]), "dir");
        } else {
          ws.write(relative, "");
        }
      }
      for (const entry_kind of ["directory", "all"] as const) {
        for (const max_depth of [1, 2, 3, 12]) {
          const options = { entry_kind, max_depth, include_hidden: random.below(2) === 0 };
          const expected = modelOf(ws, options);
          const max_entries = 1 + random.below(200);
          const answer = await grow(ws, ".", { ...options, max_entries });
          assert.deepEqual(linesOf(answer), expected.slice(0, max_entries));
          assert.equal(answer.limit_reached, expected.length > max_entries);
        }
      }
    }),
  );
}

describe("refusals", () => {
  test(
    "a path that is no folder inside is refused by its spelling, or by what stands there",
    { skip: noSymlinks || noFifos, timeout: 10_000 },
    inWorkspace(async (ws) => {
      ws.write("src/a.ts", "");
      mkfifo(ws.at("pipe"));
      ws.link("out", ws.outside, "dir");
      ws.link("dangling", "nowhere");
      for (const [given, code, shown] of [
        ["src/a.ts", "NOT_DIRECTORY", "src/a.ts"],
        ["pipe", "NOT_DIRECTORY", "pipe"],
        ["absent", "NOT_FOUND", "absent"],
        ["src/a.ts/x", "NOT_FOUND", "src/a.ts/x"],
        ["dangling", "NOT_FOUND", "dangling"],
        ["out", "SANDBOX_VIOLATION", "out"],
        ["../x", "SANDBOX_VIOLATION", "../x"],
        ["/etc", "SANDBOX_VIOLATION", "…/etc"],
        ["", "INVALID_ARGUMENT", ""],
        ["a\0", "INVALID_ARGUMENT", "a\0"],
        [5, "INVALID_ARGUMENT", "."],
        ["a\ud800", "INVALID_ARGUMENT", "."],
      ] as const) {
        for (const max_depth of [0, 3]) {
          const error = await refusal(ws, given, { max_depth });
          assert.deepEqual([error.code, error.path], [code, shown], error.message);
        }
      }
      assert.match((await refusal(ws, "SRC")).message, /did you mean "src\/"\?/);
    }),
  );

  for (const [key, rule, wrong] of [
    ["entry_kind", 'must be "directory" or "all"', ["file", 1]],
    ["max_depth", "must be an integer >= 0 and <= 12", [-1, 13, 1.5, "3", NaN]],
    ["max_entries", "must be an integer >= 1 and <= 1000", [0, 1001, 1.5, "3"]],
    ["include_hidden", "must be true or false", ["true", 1]],
    ["gitignore", "must be true or false", ["true", 1]],
    ["exclude", "must be an array of strings", ["a", 1]],
  ] as const) {
    test(
      `${key} is checked and never coerced`,
      inWorkspace(async (ws) => {
        ws.folder("src");
        const legal =
          rule === "must be true or false" ? "true" : /array/.test(rule) ? "an array" : "";
        const strangers = STRANGERS.filter(([name]) => name !== legal).map(([, value]) => value);
        for (const value of [...wrong, ...strangers]) {
          const error = await refusal(ws, ws.at("src"), { [key]: value });
          assert.deepEqual([error.code, error.path], ["INVALID_ARGUMENT", "src"], error.message);
          assert.ok(error.message.includes(`${key} ${rule}`), error.message);
        }
      }),
    );
  }

  test(
    "globs that do not parse or lead out, and options that are no object, are refused",
    inWorkspace(async (ws) => {
      const globs = (...exclude: string[]) => refusal(ws, ".", { exclude });
      assert.match((await globs("a", "[a-")).message, /^INVALID_ARGUMENT: exclude\[1\] .*got \[a-/);
      assert.equal((await globs("../x")).code, "SANDBOX_VIOLATION");
      for (const options of [5, "x", [], hostileProxy(), withGetter("max_depth")]) {
        assert.equal((await refusal(ws, ".", options)).code, "INVALID_ARGUMENT");
      }
    }),
  );

  for (const [name, reason] of ABORT_REASONS) {
    test(
      `a signal that is aborted with ${name} rejects with that very thing`,
      inWorkspace(async (ws) => {
        const options = { signal: AbortSignal.abort(reason) };
        assert.equal(await rejectionValue(() => tree(ws.context, ".", options)), reason);
        assert.equal(await rejectionValue(() => tree({ ...ws.context, ...options })), reason);
      }),
    );
  }
});

test(
  "a folder that is exchanged with a link to outside shows nothing of the outside",
  { skip: NO_EXCHANGE, timeout: 30_000 },
  inWorkspace(async (ws) => {
    ws.writeOutside("secret.txt");
    ws.writeOutside("deep/secret.txt");
    ws.write("dir/deep/inside.txt", "");
    ws.link("link", "../outside", "dir");
    const swapper = exchange(ws.at("dir"), ws.at("link"));
    await swapper.ready;
    try {
      const seen = new Set<string>();
      const begun = performance.now();
      const enough = () => seen.has("folder") && seen.has("link") && seen.has("refused");
      for (let i = 0; i < 2000 || !enough(); i += 1) {
        assert.ok(performance.now() - begun < 25_000, `no race: ${[...seen]}`);
        const asked = tree(ws.context, i % 2 === 0 ? "." : "dir", ALL);
        const outcome = await asked.catch((error: TreeError) => error);
        assert.ok(!JSON.stringify(outcome).includes("secret"), JSON.stringify(outcome));
        if ("code" in outcome) {
          assert.equal(outcome.code, "SANDBOX_VIOLATION", outcome.message);
          seen.add("refused");
        } else {
          const shown = linesOf(outcome);
          if (shown.includes("dir/deep/inside.txt")) seen.add("folder");
          if (shown.includes("dir@")) seen.add("link");
        }
      }
    } finally {
      await swapper.kill();
    }
  }),
);

// A host that has a tool `tree` of its own: its handler is exchanged for the exported function.
describe("as the handler of a secure-tool host", () => {
  const METADATA = { name: "tree", isWriteOp: false };
  const guarded = createSecureTool(METADATA, tree);
  const ToolCatalog = {
    tree: { metadata: { ...METADATA, description: "Shows folders." }, handler: guarded },
  } satisfies Record<string, CatalogEntry<[(string | null)?, (TreeOptions | null)?], TreeResult>>;

  const hostContext = (ws: TestWorkspace): ToolContext => ({
    workspaceRoot: ws.root,
    writeScope: "read-only",
    policy: { tools: {}, defaultPolicy: "allow" },
    env: {},
  });

  test(
    "the absolute path of the wrapper is the folder, and nodes are relative to the workspace",
    inWorkspace(async (ws) => {
      ws.write("src/app/a.ts", "");
      const { handler } = ToolCatalog.tree;
      for (const given of ["src", "src/", ".\\src", "./src/app/.."]) {
        const envelope = await handler(hostContext(ws), given, { entry_kind: "all" });
        assert.ok(envelope.status === "success", JSON.stringify(envelope));
        assert.deepEqual(linesOf(envelope.data), ["src/", "src/app/", "src/app/a.ts"]);
      }
      const whole = await handler(hostContext(ws), ".");
      assert.ok(whole.status === "success");
      assert.equal(whole.data.root.path, ".");
    }),
  );

  test(
    "the link that the wrapper lets through is refused, with a code in the message",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.writeOutside("secret.txt");
      ws.write("file", SECRET);
      ws.link("out", ws.outside, "dir");
      for (const [given, message] of [
        ["out", /^SANDBOX_VIOLATION: .*: out$/],
        ["none", /^NOT_FOUND: .*: none$/],
        ["file", /^NOT_DIRECTORY: .*: file$/],
      ] as const) {
        const envelope = await guarded(hostContext(ws), given);
        assert.ok(envelope.status === "failure", JSON.stringify(envelope));
        assert.match(envelope.message, message);
        assert.ok(!envelope.message.includes(ws.base));
      }
    }),
  );
});
