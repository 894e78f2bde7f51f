// The lists of paths in `ringfence/definitions`, as the core reads them, and the tables of docs/rules.md.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { PATHS_THAT_RUN, SECRET_PATHS } from "../dist/definitions/index.js";
import { type AccessRules, deleteFile, moveFile, readFile, Workspace } from "../index.js";
import { textOf } from "./support/markdown.ts";
import { noSymlinks } from "./support/platform.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** A path that a pattern is meant for. */
function exampleOf(pattern: string): string {
  const path = pattern.replace("**/", "").replaceAll("*", "x");
  return path.endsWith("/") ? `${path}inside` : path;
}

/** Patterns that protect, and those that take back. */
const protecting = (list: readonly string[]) => list.filter((pattern) => !pattern.startsWith("!"));

/** The code with which a call fails that changes, or reads, what stands nowhere. */
async function codeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
    return null;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

type Ask = (path: string) => Promise<boolean>;

/** Whether the list protects a path from being changed, or denies it. */
function asking(ws: TestWorkspace, rules: AccessRules): Ask {
  const workspace = Workspace.open(ws.root, { rules });
  return async (path) => {
    const code = rules.deny
      ? await codeOf(readFile(workspace, path))
      : await codeOf(deleteFile(workspace, { path, dry_run: true }));
    assert.ok(code === "PATH_DENIED" || code === "NOT_FOUND", `${path}: ${code}`);
    return code === "PATH_DENIED";
  };
}

const LISTS = [
  ["SECRET_PATHS", SECRET_PATHS, (deny: readonly string[]) => ({ deny })],
  ["PATHS_THAT_RUN", PATHS_THAT_RUN, (read_only: readonly string[]) => ({ read_only })],
] as const;

for (const [name, list, rulesOf] of LISTS) {
  describe(name, () => {
    test("cannot be changed by a host, and has no pattern twice", () => {
      assert.ok(Object.isFrozen(list));
      assert.deepEqual([...new Set(list)], [...list]);
    });

    test(
      "each pattern protects by itself what it is meant for, and the whole list protects it, too, at any depth",
      inWorkspace(async (ws) => {
        const isProtected = asking(ws, rulesOf(list));
        for (const pattern of protecting(list)) {
          const example = exampleOf(pattern);
          assert.ok(await asking(ws, rulesOf([pattern]))(example), pattern);
          const spellings = [example, `${example}/inside`, `a/b/${example}`, example.toUpperCase()];
          for (const path of spellings) {
            assert.ok(await isProtected(path), `${pattern}: ${path}`);
          }
        }
      }),
    );

    test("docs/rules.md has the patterns in their order, with a reason for each group", () => {
      const [, section = ""] = textOf("docs/rules.md").split(new RegExp(`^### \`${name}\`$`, "m"));
      const [table = ""] = section.split(/^#/m);
      const rows = [...table.matchAll(/^\| (`.*`) \| (.*) \|$/gm)];
      const patterns = rows.flatMap(([, cell = ""]) =>
        [...cell.matchAll(/`([^`]+)`/g)].map(([, pattern]) => pattern),
      );
      assert.deepEqual(patterns, [...list]);
      for (const [, , reason = ""] of rows) assert.ok(reason.length > 15, reason);
    });
  });
}

describe("SECRET_PATHS", () => {
  test(
    "denies variables in all their files, and no example of them",
    inWorkspace(async (ws) => {
      const isDenied = asking(ws, { deny: SECRET_PATHS });
      const secret = [".env", ".env.local", "app/.env.production", "prod.env", ".envrc", ".Env"];
      for (const path of secret) assert.ok(await isDenied(path), path);
      const kinds = ["example", "sample", "template"];
      const examples = kinds.flatMap((kind) => [
        `.env.${kind}`,
        `app/.env.local.${kind}`,
        `${kind}.env`,
      ]);
      for (const path of examples) assert.ok(!(await isDenied(path)), path);
    }),
  );

  test(
    "leaves files alone that only sound like secrets",
    inWorkspace(async (ws) => {
      const isDenied = asking(ws, { deny: SECRET_PATHS });
      const open = [
        "env.ts",
        "src/environment.ts",
        "id_rsa.pub",
        "src/keys.ts",
        "src/secrets.ts",
        "pkg/kubeconfig/kubeconfig.go",
        "locales/en/auth.json",
        ".docker/Dockerfile",
        ".config/app.json",
        ".git/HEAD",
        "main.tf",
        "history.md",
      ];
      for (const path of open) assert.ok(!(await isDenied(path)), path);
    }),
  );
});

describe("PATHS_THAT_RUN", () => {
  test(
    "protects .git as a file, too, and names in any case",
    inWorkspace(async (ws) => {
      ws.write("sub/.git", "gitdir: ../elsewhere\n");
      const isProtected = asking(ws, { read_only: PATHS_THAT_RUN });
      const run = ["sub/.git", ".GIT/hooks/pre-commit", ".VSCode/tasks.json", ".MCP.json"];
      for (const path of run) assert.ok(await isProtected(path), path);
    }),
  );

  test(
    "protects a link under one of its names: replaced, it would lead programs to other files",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.folder("config");
      ws.folder("other");
      ws.link(".vscode", "config", "dir");
      ws.link("link", "other", "dir");
      const workspace = Workspace.open(ws.root, { rules: { read_only: PATHS_THAT_RUN } });
      const changes = [
        () => deleteFile(workspace, { path: ".vscode" }),
        () => moveFile(workspace, { path: ".vscode", to: "a" }),
        () => moveFile(workspace, { path: "link", to: ".vscode", overwrite: true }),
      ];
      for (const change of changes) assert.equal(await codeOf(change()), "PATH_DENIED");
      assert.equal(fs.readlinkSync(ws.at(".vscode")), "config");
    }),
  );

  test(
    "leaves alone what agents are asked to change",
    inWorkspace(async (ws) => {
      const isProtected = asking(ws, { read_only: PATHS_THAT_RUN });
      const asked = [
        "package.json",
        ".github/workflows/ci.yml",
        ".gitignore",
        ".gitattributes",
        ".editorconfig",
        "AGENTS.md",
        "CLAUDE.md",
        ".cursorrules",
        ".clinerules/style.md",
        "Makefile",
        "eslint.config.js",
        "tsconfig.json",
        "Cargo.toml",
        ".config/app.json",
        ".yarn/patches/a.patch",
        "src/profile.ts",
        "flake.nix",
      ];
      for (const path of asked) assert.ok(!(await isProtected(path)), path);
    }),
  );

  test(
    "does not reach into node_modules, wherever it is; beside it everything stays protected",
    inWorkspace(async (ws) => {
      const isProtected = asking(ws, { read_only: PATHS_THAT_RUN });
      for (const pattern of protecting(PATHS_THAT_RUN)) {
        const example = exampleOf(pattern);
        for (const at of ["node_modules/", "node_modules/p/", "apps/a/node_modules/@s/p/"]) {
          assert.ok(!(await isProtected(at + example)), at + example);
        }
      }
      for (const path of [
        ".vscode/node_modules/a",
        ".git/node_modules/a",
        "my_node_modules/.git",
      ]) {
        assert.ok(await isProtected(path), path);
      }
    }),
  );

  test(
    "lets node_modules be deleted with all that packages bring along",
    inWorkspace(async (ws) => {
      ws.write("node_modules/p/.vscode/settings.json", "{}");
      ws.write("node_modules/p/.npmrc", "");
      const workspace = Workspace.open(ws.root, { rules: { read_only: PATHS_THAT_RUN } });
      await deleteFile(workspace, { path: "node_modules", recursive: true });
      assert.deepEqual(fs.readdirSync(ws.root), []);
    }),
  );
});
