// Access rules (docs/contract.md §14) beside the matrix of rules-matrix.test.ts: folders that hold protected paths,
// walks, stores, exceptions, and wrong rules.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import {
  type AccessRules,
  applyPatch,
  createFile,
  DirectoryStore,
  deleteFile,
  editFile,
  findFiles,
  moveFile,
  nearMisses,
  readBytes,
  readFile,
  readFiles,
  readFileUri,
  readSourceDocument,
  searchFiles,
  tree,
  Workspace,
  workspaceSnapshot,
} from "../index.js";
import { v4a } from "./support/patch.ts";
import { noSymlinks } from "./support/platform.ts";
import { rejectionValue } from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const open = (ws: TestWorkspace, rules: AccessRules) =>
  Workspace.open(ws.root, { durability: "none", rules });

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  return ((await rejectionValue(() => call)) as { code?: unknown }).code;
}

const denied = async (call: Promise<unknown>) => assert.equal(await codeOf(call), "PATH_DENIED");

describe("a folder that holds a protected path", () => {
  const scene = (ws: TestWorkspace) => {
    ws.write("app/deep/.env", "token");
    ws.write("app/a.txt", "a");
    ws.write("app/generated/b.txt", "b");
  };
  const paths = (ws: TestWorkspace) => fs.readdirSync(ws.root, { recursive: true }).sort();
  for (const rules of [
    { deny: [".env"] },
    { read_only: ["generated/"] },
    { read_only: ["**/deep/*"] },
    { deny: ["/app/deep/"] },
  ]) {
    const shown = JSON.stringify(rules);
    test(
      `is neither deleted nor moved: ${shown}`,
      inWorkspace(async (ws) => {
        scene(ws);
        const before = paths(ws);
        const workspace = open(ws, rules);
        await denied(deleteFile(workspace, { path: "app", recursive: true }));
        await denied(deleteFile(workspace, { path: "app", recursive: true, dry_run: true }));
        await denied(deleteFile(workspace, { path: "app" }));
        await denied(moveFile(workspace, { path: "app", to: "moved" }));
        await denied(moveFile(workspace, { path: "app/", to: "new/moved", dry_run: true }));
        assert.deepEqual(paths(ws), before);
      }),
    );
  }

  test(
    "is neither deleted nor moved by a link to the folder above it",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      scene(ws);
      ws.link("link", ".");
      const workspace = open(ws, { read_only: ["/app/generated/"] });
      await denied(deleteFile(workspace, { path: "link/app", recursive: true }));
      await denied(moveFile(workspace, { path: "link/app", to: "link/moved" }));
    }),
  );

  test(
    "is not made by a move: nothing is put onto a protected path",
    inWorkspace(async (ws) => {
      ws.write("tools/hooks/post-commit", "run me");
      const workspace = open(ws, { read_only: ["/repo/hooks/", "/repo/config"] });
      await denied(moveFile(workspace, { path: "tools", to: "repo" }));
      await moveFile(workspace, { path: "tools", to: "other" });
      await denied(moveFile(workspace, { path: "other/hooks/post-commit", to: "repo/config" }));
      assert.ok(!fs.existsSync(ws.at("repo")));
    }),
  );

  test(
    "is all that is refused: a folder without one is moved and deleted",
    inWorkspace(async (ws) => {
      ws.write("app/a.txt", "a");
      ws.write("app/.env.example", "names");
      const workspace = open(ws, { deny: [".env", ".env.*", "!.env.example"] });
      await moveFile(workspace, { path: "app", to: "moved" });
      assert.equal(await codeOf(deleteFile(workspace, { path: "moved" })), "NOT_EMPTY");
      await deleteFile(workspace, { path: "moved", recursive: true });
      assert.deepEqual(fs.readdirSync(ws.root), []);
    }),
  );
});

describe("what walks tell", { skip: noSymlinks }, () => {
  const RULES: AccessRules = {
    deny: [".env", "vault/", "*.key", "/docs/private.md", ".gitignore"],
  };

  /** What stands in both workspaces. */
  function free(ws: TestWorkspace) {
    ws.write("docs/read.md", "word word\n");
    ws.write("docs/vaults/a.txt", "word\n");
    ws.write("src/main.ts", "word\n");
    ws.link("link", "docs");
    ws.link("to-vault", "vault");
  }

  /** What stands in one of them. */
  function protectedPaths(ws: TestWorkspace) {
    ws.write(".env", "word\n");
    ws.write(".gitignore", "main.ts\n");
    ws.write("docs/private.md", "word\n");
    ws.write("docs/server.KEY", "word\n");
    ws.write("vault/a.txt", "word\n");
    ws.write("src/vault/deep/b.txt", "word\n");
  }

  const CALLS: Record<string, (workspace: Workspace) => unknown> = {
    tree: (workspace) => tree(workspace, ".", { entry_kind: "all", include_hidden: true }),
    "tree with .gitignore files": (workspace) =>
      tree(workspace, ".", { entry_kind: "all", gitignore: true }),
    "tree of a link": (workspace) => tree(workspace, "link", { entry_kind: "all" }),
    findFiles: (workspace) => findFiles(workspace, { patterns: "**", kind: "all" }),
    "findFiles of a name": (workspace) => findFiles(workspace, { patterns: ["vault", ".env"] }),
    "findFiles beneath a link": (workspace) =>
      findFiles(workspace, { patterns: "**", root_path: "link" }),
    "findFiles by time": (workspace) => findFiles(workspace, { patterns: "**", sort: "mtime" }),
    searchFiles: (workspace) => searchFiles(workspace, { pattern: "word" }),
    "searchFiles beneath a link": (workspace) =>
      searchFiles(workspace, { pattern: "word", root_path: "link", output: "counts" }),
    workspaceSnapshot: (workspace) => workspaceSnapshot(workspace, { gitignore: true }),
    nearMisses: (workspace) => nearMisses(workspace, "docs/privat.md"),
    "nearMisses of a folder": (workspace) => nearMisses(workspace, "valt/a.txt"),
    "nearMisses of a protected path": (workspace) => nearMisses(workspace, "docs/private.md"),
  };

  const plain = (answer: unknown) =>
    JSON.stringify(answer, (key, value) => (/^(?:took_ms|mtime_ms)$/.test(key) ? 0 : value));

  for (const [name, call] of Object.entries(CALLS)) {
    test(
      `is the same without the protected paths: ${name}`,
      inWorkspace(async (ws) => {
        free(ws);
        const workspace = open(ws, RULES);
        const expected = plain(await call(workspace));
        protectedPaths(ws);
        const answer = plain(await call(workspace));
        assert.deepEqual(JSON.parse(answer), JSON.parse(expected));
        const unruled = plain(await call(Workspace.open(ws.root)));
        if (!name.startsWith("nearMisses of a p")) assert.notEqual(unruled, expected);
      }),
    );
  }
});

describe("documents", () => {
  test(
    "that are denied count as absent in a store",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write("keys/b.txt", "b");
      const store = DirectoryStore.open(ws.root, { rules: { deny: ["keys/"] } });
      assert.equal(await store.get("keys/b.txt"), null);
      assert.equal(Buffer.from((await store.get("a.txt"))?.bytes ?? []).toString(), "a");
      const ruled = open(ws, { deny: ["keys/"] });
      const of = (path: string) => readSourceDocument(path, { store: ruled });
      assert.deepEqual(
        { ...(await of("keys/b.txt")), path: "" },
        { ...(await of("keys/none.txt")), path: "" },
      );
    }),
  );

  test(
    "that are denied are PATH_DENIED by their URI, whether there or not",
    inWorkspace(async (ws) => {
      ws.write("keys/a b.txt", "b");
      const rules = { deny: ["keys/"] };
      for (const space of [open(ws, rules), { workspaceRoot: ws.root, rules }]) {
        for (const uri of ["file:///keys/a%20b.txt", "file:///KEYS/none", "file:///x/../keys/a"]) {
          await denied(readFileUri(uri, { space }));
        }
      }
    }),
  );
});

describe("the link itself", { skip: noSymlinks }, () => {
  test(
    "to a protected file is moved, replaced and deleted, and the file stays",
    inWorkspace(async (ws) => {
      ws.write(".env", "token");
      for (const name of ["a", "b", "c"]) ws.link(name, ".env");
      ws.write("free.txt", "free");
      const workspace = open(ws, { deny: [".env"] });
      await moveFile(workspace, { path: "a", to: "moved" });
      await moveFile(workspace, { path: "free.txt", to: "b", overwrite: true });
      await deleteFile(workspace, { path: "moved" });
      await applyPatch(workspace, { patch: v4a("*** Delete File: c") });
      assert.deepEqual(fs.readdirSync(ws.root).sort(), [".env", "b"]);
      assert.equal(fs.readFileSync(ws.at(".env"), "utf8"), "token");
    }),
  );

  test(
    "at a protected path is protected, wherever it leads",
    inWorkspace(async (ws) => {
      ws.write("free.txt", "free");
      ws.link("keys/link", "../free.txt");
      const workspace = open(ws, { read_only: ["keys/"] });
      assert.equal((await readFile(workspace, "keys/link")).content, "free");
      await denied(editFile(workspace, { path: "keys/link", old_string: "free", new_string: "x" }));
      await denied(deleteFile(workspace, { path: "keys/link" }));
      await denied(moveFile(workspace, { path: "keys/link", to: "link" }));
    }),
  );

  test(
    "leads through a denied folder and out again: refused",
    inWorkspace(async (ws) => {
      ws.folder("keys/sub");
      ws.write("free.txt", "free");
      ws.link("link", "keys/sub/../../free.txt");
      ws.link("absent", "keys/none/../../free.txt");
      const workspace = open(ws, { deny: ["keys/"] });
      for (const path of ["link", "absent"]) await denied(readFile(workspace, path));
    }),
  );
});

describe("write_only", () => {
  test(
    "lets folders be made on the way, unless they are protected",
    inWorkspace(async (ws) => {
      const workspace = open(ws, {
        write_only: ["*.md", "out/"],
        read_only: ["/fixed/"],
        deny: ["/keys/"],
      });
      const create = (path: string) => createFile(workspace, { path, content: "x" });
      for (const path of ["a/b/c.md", "out/x.txt", "a.MD"]) {
        assert.equal((await create(path)).success, true, path);
      }
      for (const path of ["a.txt", "a/b/c.txt", "fixed/a.md", "keys/a.md"]) {
        const { success, errorCode, message } = await create(path);
        assert.deepEqual([success, errorCode], [false, "WriteFailed"], path);
        assert.match(message, /^PATH_DENIED: /);
      }
      assert.deepEqual(fs.readdirSync(ws.root).sort(), ["a", "a.MD", "out"]);
    }),
  );

  test(
    "holds for the files of a patch, and not for the names that it needs in between",
    inWorkspace(async (ws) => {
      ws.write("a.md", "a\n");
      ws.write("b.md", "b\n");
      const workspace = open(ws, { write_only: ["*.md"] });
      const exchange = v4a(
        "*** Update File: a.md",
        "*** Move to: c.md",
        "*** Update File: b.md",
        "*** Move to: a.md",
        "*** Update File: c.md",
        "*** Move to: b.md",
      );
      await applyPatch(workspace, { patch: exchange });
      assert.equal(fs.readFileSync(ws.at("a.md"), "utf8"), "b\n");
      await denied(applyPatch(workspace, { patch: exchange.replace("c.md", "c.txt") }));
      assert.deepEqual(fs.readdirSync(ws.root).sort(), ["a.md", "b.md"]);
    }),
  );
});

describe("a pattern", () => {
  test(
    "with a final slash leaves files of that name alone",
    inWorkspace(async (ws) => {
      ws.write("notes/keys", "a file");
      ws.write("keys/a.txt", "token");
      const workspace = open(ws, { deny: ["keys/"] });
      assert.equal((await readFile(workspace, "notes/keys")).content, "a file");
      await editFile(workspace, { path: "notes/keys", old_string: "a file", new_string: "x" });
      await deleteFile(workspace, { path: "notes/keys" });
      for (const path of ["notes/keys", "keys", "none/keys"])
        await denied(readFile(workspace, path));
    }),
  );

  test(
    "that takes folders back leaves them to be listed",
    inWorkspace(async (ws) => {
      ws.write("docs/a.md", "a");
      ws.write("docs/b.txt", "b");
      const workspace = open(ws, { deny: ["*", "!*/", "!*.md"] });
      const { items } = await findFiles(workspace, { patterns: "**", root_path: "docs" });
      assert.deepEqual(
        items.map(({ path }) => path),
        ["docs/a.md"],
      );
      await denied(readFile(workspace, "docs/b.txt"));
      await denied(readFile(workspace, "docs/none.txt"));
    }),
  );

  test(
    "is read in order: the last one that matches decides",
    inWorkspace(async (ws) => {
      ws.write(".env.example", "names");
      ws.write(".env.local", "token");
      const workspace = open(ws, { deny: [".env*", "!.env.example"] });
      assert.equal((await readFile(workspace, ".env.example")).content, "names");
      await denied(readFile(workspace, ".env.local"));
    }),
  );
});

describe("reading", () => {
  test(
    "of what is only protected from changes goes on",
    inWorkspace(async (ws) => {
      ws.write("gen/a.txt", "word\n");
      const workspace = open(ws, { read_only: ["gen/"], write_only: ["src/"] });
      assert.equal((await readFile(workspace, "gen/a.txt")).content, "word\n");
      assert.equal((await readBytes(workspace, "gen/a.txt")).byte_length, 5);
      assert.equal((await searchFiles(workspace, { pattern: "word" })).items.length, 1);
    }),
  );

  test(
    "of several files refuses the protected ones alone",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write(".env", "token");
      const { items } = await readFiles(open(ws, { deny: [".env"] }), { files: [".env", "a.txt"] });
      assert.deepEqual(
        items.map(({ output, error }) => output?.content ?? error?.code),
        ["PATH_DENIED", "a"],
      );
    }),
  );
});

describe("the order of codes", () => {
  test(
    "spelling and write scope come before the rules, and the rules before the disk",
    inWorkspace(async (ws) => {
      const workspace = open(ws, { deny: ["keys/"] });
      assert.equal(await codeOf(readFile(workspace, "../keys/a")), "SANDBOX_VIOLATION");
      assert.equal(
        await codeOf(moveFile(workspace, { path: "keys/a", to: "../a" })),
        "SANDBOX_VIOLATION",
      );
      assert.equal(
        await codeOf(moveFile(workspace, { path: "none", to: "keys/a" })),
        "PATH_DENIED",
      );
      const readOnly = Workspace.open(ws.root, {
        writeScope: "read-only",
        rules: { deny: ["keys/"] },
      });
      assert.equal(await codeOf(deleteFile(readOnly, { path: "keys/a" })), "READ_ONLY");
      const patch = v4a("*** Update File: none", "-a", "+b", "*** Delete File: keys/a");
      const error = (await rejectionValue(() => applyPatch(workspace, { patch }))) as {
        code: string;
        path: string;
      };
      assert.deepEqual([error.code, error.path], ["PATH_DENIED", "keys/a"]);
    }),
  );
});

describe("rules that are wrong", () => {
  const WRONG: [unknown, RegExp][] = [
    ["x", /rules must be an object, got a string/],
    [[], /rules must be an object, got an array/],
    [{ deny: "x" }, /rules\.deny must be an array of strings, got a string/],
    [{ deny: ["ok", 1] }, /rules\.deny\[1\] must be a string, got 1/],
    [{ deny: [""] }, /rules\.deny\[0\] must be a pattern of 1 to 4,096 bytes/],
    [{ read_only: ["#x"] }, /rules\.read_only\[0\] must not begin with `#`/],
    [{ read_only: ["../x"] }, /rules\.read_only\[0\] must not lead out of the workspace/],
    [{ write_only: ["ok", "[a"] }, /rules\.write_only\[1\] must be a pattern that parses/],
    [{ readOnly: ["x"] }, /rules must have no keys but deny, read_only and write_only/],
    [{ denied: ["x"], deny: ["y"] }, /rules must have no keys but deny/],
    [{ deny: new Array(1001).fill("x") }, /rules\.deny must have no more than 1000 elements/],
  ];

  for (const [rules, message] of WRONG) {
    test(
      `are named by each function: ${JSON.stringify(rules).slice(0, 40)}`,
      inWorkspace(async (ws) => {
        const context = { workspaceRoot: ws.root, rules } as never;
        assert.throws(() => Workspace.open(ws.root, { rules } as never), message);
        assert.throws(
          () => DirectoryStore.open(ws.root, { rules } as never),
          (error: Error) => message.test(error.message),
        );
        const calls = [
          () => readFile(context, "a"),
          () => readBytes(context, "a"),
          () => readFiles(context, { files: ["a"] }),
          () => findFiles(context, { patterns: "a" }),
          () => searchFiles(context, { pattern: "a" }),
          () => tree(context, "."),
          () => workspaceSnapshot(context),
          () => nearMisses(context, "a"),
          () => readFileUri("file:///a", { space: context }),
          () => editFile(context, { path: "a", old_string: "a", new_string: "b" }),
          () => applyPatch(context, { patch: v4a("*** Delete File: a") }),
          () => moveFile(context, { path: "a", to: "b" }),
          () => deleteFile(context, { path: "a" }),
        ];
        for (const call of calls) {
          const error = (await rejectionValue(call)) as Error & { code: string };
          assert.equal(error.code, "INVALID_ARGUMENT");
          assert.match(error.message, message);
        }
        const answer = await createFile(context, { path: "a", content: "" });
        assert.deepEqual([answer.success, answer.errorCode], [false, "UnhandledException"]);
      }),
    );
  }

  test(
    "are absent where they are null, undefined or have no list",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      for (const rules of [null, undefined, {}, { deny: null }]) {
        assert.equal(Workspace.open(ws.root, { rules }).rules, null);
        const context = { workspaceRoot: ws.root, rules };
        assert.equal((await readFile(context, "a.txt")).content, "a");
      }
    }),
  );
});

describe("a Workspace", () => {
  test(
    "tells its rules, and gives another with other rules on the same root",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const workspace = open(ws, { deny: ["a.txt"], write_only: [] });
      assert.deepEqual({ ...workspace.rules }, { deny: ["a.txt"], write_only: [] });
      await denied(readFile(workspace, "a.txt"));
      const free = workspace.withRules(null);
      assert.equal(free.rules, null);
      fs.renameSync(ws.root, `${ws.root}-renamed`);
      assert.equal((await readFile(free, "a.txt")).content, "a");
      assert.throws(() => free.withRules({ deny: ["["] }), /rules\.deny\[0\]/);
      workspace.close();
      assert.throws(() => workspace.withRules(null), /is a Workspace that was closed/);
      await assert.rejects(readFile(free, "a.txt"), /is a Workspace that was closed/);
      free.close();
      fs.renameSync(`${ws.root}-renamed`, ws.root);
    }),
  );
});

// A refusal must not tell which kind of entry stands at a denied name.
describe("patterns about folders or files alone", { skip: noSymlinks }, () => {
  const ONLY_MARKDOWN = { deny: ["*", "!*/", "!*.md"] };

  test(
    "do not tell whether a denied file stands in the place of a folder",
    inWorkspace(async (ws) => {
      ws.write("docs/a.md", "a");
      ws.link("link", "secret.txt");
      const workspace = open(ws, ONLY_MARKDOWN);
      const calls = [
        () => readFile(workspace, "secret.txt/a.md"),
        () => readFile(workspace, "link/a.md"),
        () => editFile(workspace, { path: "secret.txt/a.md", old_string: "a", new_string: "b" }),
        () => moveFile(workspace, { path: "docs/a.md", to: "secret.txt/b.md" }),
        () => deleteFile(workspace, { path: "secret.txt/a.md" }),
        () => tree(workspace, "secret.txt"),
      ];
      for (const stands of [false, true]) {
        if (stands) ws.write("secret.txt", "token");
        for (const call of calls) await denied(call());
        const made = await createFile(workspace, { path: "secret.txt/a.md", content: "x" });
        assert.match(made.message, /^PATH_DENIED: /);
      }
      assert.equal((await readFile(workspace, "docs/a.md")).content, "a");
    }),
  );

  test(
    "hide a link that is denied as a file, also on the way to a folder",
    inWorkspace(async (ws) => {
      ws.write("docs/a.md", "a");
      ws.link("link", "docs");
      const workspace = open(ws, ONLY_MARKDOWN);
      await denied(readFile(workspace, "link/a.md"));
      await denied(tree(workspace, "link"));
      await denied(searchFiles(workspace, { pattern: "a", root_path: "link" }));
    }),
  );

  test(
    "hold for a folder that a chain of links leads through",
    inWorkspace(async (ws) => {
      ws.write("real/a.txt", "token");
      ws.link("two", "real");
      ws.link("one", "two");
      const workspace = open(ws, { deny: ["two/"] });
      await denied(readFile(workspace, "one/a.txt"));
      await denied(tree(workspace, "one", { entry_kind: "all" }));
      await denied(findFiles(workspace, { patterns: "**", root_path: "one" }));
      await denied(searchFiles(workspace, { pattern: "token", root_path: "one" }));
    }),
  );

  test(
    "leave a file of that name to be searched, and changed by a link to its folder",
    inWorkspace(async (ws) => {
      ws.write("dir/keys", "word\n");
      ws.link("link", "dir");
      const workspace = open(ws, { deny: ["dir/keys/"] });
      const { items } = await searchFiles(workspace, { pattern: "word", root_path: "dir/keys" });
      assert.equal(items.length, 1);
      await editFile(workspace, { path: "link/keys", old_string: "word", new_string: "other" });
      await deleteFile(workspace, { path: "link/keys" });
      await denied(deleteFile(workspace, { path: "link/keys" }));
    }),
  );

  test(
    "let a folder come to a name that only files must not have",
    inWorkspace(async (ws) => {
      ws.write("one/a.md", "a");
      const workspace = open(ws, { read_only: ["*", "!*/", "!*.md"] });
      await moveFile(workspace, { path: "one", to: "two" });
      assert.deepEqual(fs.readdirSync(ws.root), ["two"]);
    }),
  );

  test(
    "of write_only let change what they match, by its kind",
    inWorkspace(async (ws) => {
      ws.write("out", "a file");
      ws.folder("empty");
      const edit = { path: "out", old_string: "a", new_string: "b" };
      await denied(editFile(open(ws, { write_only: ["out/"] }), edit));
      await denied(deleteFile(open(ws, { write_only: ["*", "!*/"] }), { path: "empty" }));
      await editFile(open(ws, { write_only: ["*", "!*/"] }), edit);
    }),
  );
});

test(
  "a denied .git changes no search: the .gitignore files above hold beneath it",
  inWorkspace(async (ws) => {
    ws.write(".gitignore", "*.log\n");
    ws.write("sub/.gitignore", "none\n");
    ws.write("sub/a.log", "word\n");
    const workspace = open(ws, { deny: [".git/"] });
    const search = async () => {
      const { took_ms, ...answer } = await searchFiles(workspace, { pattern: "word" });
      return answer;
    };
    const expected = await search();
    ws.folder("sub/.git");
    assert.deepEqual(await search(), expected);
    assert.deepEqual(expected.items, []);
  }),
);

test(
  "a diff that deletes a link to a read-only file compares the file and removes the link",
  { skip: noSymlinks },
  inWorkspace(async (ws) => {
    ws.write("fixed.txt", "a\n");
    ws.link("link", "fixed.txt");
    const workspace = open(ws, { read_only: ["fixed.txt"] });
    await applyPatch(workspace, { patch: "--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n" });
    assert.deepEqual(fs.readdirSync(ws.root), ["fixed.txt"]);
  }),
);

test(
  "a pattern may begin with the absolute path of the root",
  inWorkspace(async (ws) => {
    ws.write("src/.env", "token");
    for (const pattern of [ws.at("src/.env"), ws.at("src")]) {
      await denied(readFile(open(ws, { deny: [pattern] }), "src/.env"));
    }
    const excepting = { deny: ["/*", `!${ws.at("src")}`] };
    const context = { workspaceRoot: ws.root, rules: excepting };
    assert.equal((await readFile(context, "src/.env")).content, "token");
    for (const root of [ws.root, `${ws.root}/`]) {
      assert.throws(
        () => open(ws, { deny: [root] }),
        /rules\.deny\[0\] must name something beneath/,
      );
    }
  }),
);

test(
  "a path of tens of thousands of folders is refused in a moment",
  { timeout: 20_000 },
  inWorkspace(async (ws) => {
    const workspace = open(ws, { deny: [".env", "*.pem", "**/secrets/**", "[a-c]*.key"] });
    const begun = performance.now();
    const call = readFile(workspace, `${"a/".repeat(32_000)}x`);
    assert.ok(performance.now() - begun < 500);
    assert.equal(await codeOf(call), "NOT_FOUND");
    await denied(readFile(workspace, `secrets/x/${"a/".repeat(32_000)}x`));
    assert.ok(performance.now() - begun < 5_000);
  }),
);

describe("calls side by side", () => {
  const fish = ".config/fish/config.fish";
  const rules = { read_only: ["**/.config/fish"] };

  test(
    "a folder is not moved to a protected path with what another call puts into it meanwhile",
    inWorkspace(async (ws) => {
      for (let round = 0; round < 150; round++) {
        ws.write("x/a", "a");
        const workspace = open(ws, rules);
        const create = () => createFile(workspace, { path: "x/fish/config.fish", content: "evil" });
        const move = () => moveFile(workspace, { path: "x", to: ".config" }).catch(() => null);
        const [first, second] = round % 2 === 0 ? [create, move] : [move, create];
        await Promise.all([first(), second()]);
        assert.ok(!fs.existsSync(ws.at(fish)), `round ${round}`);
        workspace.close();
        for (const name of ["x", ".config"])
          fs.rmSync(ws.at(name), { recursive: true, force: true });
      }
    }),
  );
});

describe("absolute patterns", () => {
  test(
    "may begin with any path of the root, also through a link, and however the root is spelled",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write("root/secret.txt", "secret");
      ws.folder("root/c");
      ws.link("link", "root", "dir");
      ws.folder("beside");
      ws.link("beside/link", "../link", "dir");
      for (const named of ["root", "link", "beside/link"]) {
        const deny = [ws.at(`${named}/secret.txt`)];
        for (const workspaceRoot of [ws.at("link"), `${ws.at("root")}/c/..`, ws.at("root")]) {
          await denied(readFile({ workspaceRoot, rules: { deny } }, "secret.txt"));
          const workspace = Workspace.open(workspaceRoot, { rules: { deny } });
          await denied(readFile(workspace, "secret.txt"));
          await denied(readFile(workspace.withRules({ deny }), "secret.txt"));
          workspace.close();
        }
      }
    }),
  );
});

describe("rules that would protect nothing", () => {
  const values: [string, unknown][] = [
    ["a promise", Promise.resolve({ deny: ["a"] })],
    ["a Map", new Map([["deny", ["a"]]])],
    ["an alternative that begins with a slash", { deny: ["{/a,b}"] }],
    ["a pattern of a file with CRLF", { deny: ["a\r"] }],
    ["a pattern with a line end", { deny: ["a\n"] }],
    ["a pattern with a tab at its end", { deny: ["a\t"] }],
    ["an exception with two slashes", { deny: ["*", "!//a"] }],
    ["an exception with an unknown class", { deny: ["*", "![a[[:foo:]]"] }],
  ];
  for (const [name, rules] of values) {
    test(
      `are refused: ${name}`,
      inWorkspace(async (ws) => {
        ws.write("a", "a");
        const context = { workspaceRoot: ws.root, rules: rules as AccessRules };
        assert.equal(await codeOf(readFile(context, "a")), "INVALID_ARGUMENT");
      }),
    );
  }
});

test(
  "a patch tells of a folder only that it is none of its files, whatever the folder holds",
  inWorkspace(async (ws) => {
    ws.write("d/a", "a");
    ws.write("e/.env", "token");
    for (const path of ["d", "e"]) {
      const patch = `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch\n`;
      assert.equal(await codeOf(applyPatch(open(ws, { deny: [".env"] }), { patch })), "NOT_FILE");
    }
  }),
);
