// Access rules in `createAgentToolkit`: the default, the host's own, a Workspace that has some, and what a model is told.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import {
  createAgentToolkit,
  createSecureTool,
  defineTool,
  PATHS_THAT_RUN,
  patchFile,
  SECRET_PATHS,
  ToolCatalog,
  type ToolFailure,
  type ToolResult,
} from "../dist/index.js";
import { readFile, Workspace } from "../index.js";
import { published } from "./support/events.ts";
import { noSymlinks } from "./support/platform.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

type Toolkit = ReturnType<typeof createAgentToolkit>;

const SETTINGS = ".vscode/settings.json";

const said = (path: string) =>
  `The host's rules protect "${path}": do not try another way to it; go on without it, or ask the user.`;

/** The refusal, which must be one by rules. */
function denied(result: ToolResult): ToolFailure {
  assert.ok(result.status !== "success", JSON.stringify(result));
  const { status, reason, error } = result;
  assert.deepEqual(
    [status, reason, error.code, error.retriable, error.details.code],
    ["denied", "policy", "POLICY_DENIED", false, "PATH_DENIED"],
    JSON.stringify(result),
  );
  return result;
}

function succeeded(result: ToolResult): unknown {
  assert.equal(result.status, "success", JSON.stringify(result));
  return result.status === "success" && result.data;
}

/** A call of each tool that writes, to the paths that the rules protect by default. */
const WRITES: [name: string, path: string, call: (kit: Toolkit) => Promise<ToolResult>][] = [
  [
    "workspace_create_file",
    ".git/hooks/pre-commit",
    (kit) => kit.createFile({ path: ".git/hooks/pre-commit", content: "evil" }),
  ],
  [
    "workspace_create_file that replaces",
    SETTINGS,
    (kit) => kit.createFile({ path: SETTINGS, content: "evil", overwrite: true }),
  ],
  [
    "edit_file",
    SETTINGS,
    (kit) => kit.editFile({ path: SETTINGS, old_string: "{}", new_string: "[]" }),
  ],
  [
    "apply_patch",
    ".mcp.json",
    (kit) =>
      kit.applyPatch({ patch: "*** Begin Patch\n*** Add File: .mcp.json\n+{}\n*** End Patch\n" }),
  ],
  ["move_file", SETTINGS, (kit) => kit.moveFile({ path: SETTINGS, to: "a.json" })],
  ["move_file onto one", ".envrc", (kit) => kit.moveFile({ path: "free.txt", to: ".envrc" })],
  ["delete_file", SETTINGS, (kit) => kit.deleteFile({ path: SETTINGS })],
  [
    "delete_file of what holds one",
    "sub",
    (kit) => kit.deleteFile({ path: "sub", recursive: true }),
  ],
];

/** Files that the rules protect by default, and one that they do not. */
function fill(ws: TestWorkspace): void {
  ws.write(SETTINGS, "{}");
  ws.write("sub/.idea/run.xml", "<run/>");
  ws.write("free.txt", "free\n");
}

describe("by default", () => {
  for (const [name, path, write] of WRITES) {
    test(
      `what programs run unasked is not changed by ${name}, and the model is told so in one sentence`,
      inWorkspace(async (ws) => {
        fill(ws);
        const before = ws.texts();
        using kit = createAgentToolkit(ws.writable);
        const refused = denied(await write(kit));
        assert.equal(refused.message, said(path));
        assert.doesNotMatch(JSON.stringify(refused), /read_only|PATHS_THAT_RUN|approve/);
        assert.deepEqual(ws.texts(), before);
      }),
    );
  }

  test(
    "these paths are read, searched and listed",
    inWorkspace(async (ws) => {
      fill(ws);
      using kit = createAgentToolkit(ws.writable);
      succeeded(await kit.readFile(SETTINGS));
      const found = succeeded(await kit.findFiles({ patterns: "**/.idea/*" })) as { total: number };
      assert.equal(found.total, 1);
    }),
  );

  test(
    "everything else can be changed, in node_modules, too",
    inWorkspace(async (ws) => {
      using kit = createAgentToolkit(ws.writable);
      for (const path of ["package.json", ".github/workflows/ci.yml", "node_modules/p/.npmrc"]) {
        succeeded(await kit.createFile({ path, content: "" }));
      }
    }),
  );

  test(
    "a create that is refused has the payload of its specification",
    inWorkspace(async (ws) => {
      using kit = createAgentToolkit(ws.writable);
      const { error } = denied(await kit.createFile({ path: "./.husky//pre-commit", content: "" }));
      const { message, ...payload } = error.details.result as Record<string, unknown>;
      assert.match(String(message), /^PATH_DENIED: /);
      assert.deepEqual(payload, {
        success: false,
        path: ".husky/pre-commit",
        sizeBytes: 0,
        hash: "",
        created: false,
        overwritten: false,
        errorCode: "WriteFailed",
      });
    }),
  );

  test(
    "a folder of a link is protected as what it leads to",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      fill(ws);
      ws.link("editor", ".vscode", "dir");
      ws.link("notes.txt", SETTINGS, "file");
      using kit = createAgentToolkit(ws.writable);
      denied(await kit.createFile({ path: "editor/tasks.json", content: "{}" }));
      denied(await kit.createFile({ path: "notes.txt", content: "", overwrite: true }));
      assert.equal(fs.readFileSync(ws.at(SETTINGS), "utf8"), "{}");
    }),
  );
});

describe("the host's own rules", () => {
  test(
    "a read_only of its own takes the place of the default, and be it empty",
    inWorkspace(async (ws) => {
      using none = createAgentToolkit({ ...ws.writable, rules: { read_only: [] } });
      succeeded(await none.createFile({ path: ".vscode/a.json", content: "" }));
      using own = createAgentToolkit({ ...ws.writable, rules: { read_only: ["docs/"] } });
      succeeded(await own.createFile({ path: ".vscode/b.json", content: "" }));
      denied(await own.createFile({ path: "docs/a.md", content: "" }));
      const both = [...PATHS_THAT_RUN, "docs/"];
      using more = createAgentToolkit({ ...ws.writable, rules: { read_only: both } });
      denied(await more.createFile({ path: ".vscode/c.json", content: "" }));
      denied(await more.createFile({ path: "docs/a.md", content: "" }));
    }),
  );

  test(
    "deny and write_only stand beside the default",
    inWorkspace(async (ws) => {
      ws.write(".env", "KEY=1\n");
      const rules = { deny: SECRET_PATHS, write_only: ["src/"] };
      using kit = createAgentToolkit({ ...ws.writable, rules });
      denied(await kit.readFile(".env"));
      denied(await kit.createFile({ path: "a.txt", content: "" }));
      denied(await kit.createFile({ path: "src/.vscode/tasks.json", content: "" }));
      succeeded(await kit.createFile({ path: "src/a.txt", content: "" }));
    }),
  );

  test(
    "null, and lists that are null, are absent",
    inWorkspace(async (ws) => {
      for (const rules of [
        null,
        undefined,
        {},
        { deny: null, read_only: null, write_only: null },
      ]) {
        using kit = createAgentToolkit({ ...ws.writable, rules: rules as never });
        denied(await kit.createFile({ path: ".envrc", content: "" }));
        succeeded(await kit.createFile({ path: "a.txt", content: "", overwrite: true }));
      }
    }),
  );

  test(
    "a denied path is answered alike by every tool, whether it is there or not",
    inWorkspace(async (ws) => {
      ws.write("keys/a.pem", "secret");
      using kit = createAgentToolkit({
        ...ws.writable,
        space: ws.root,
        rules: { deny: ["keys/"] },
      });
      for (const path of ["keys/a.pem", "keys/gone.pem"]) {
        const patch = `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-secret\n+public\n`;
        const calls = [
          kit.readFile(path),
          kit.searchFiles({ pattern: "secret", root_path: path }),
          kit.createFile({ path, content: "", overwrite: true }),
          kit.editFile({ path, old_string: "secret", new_string: "public" }),
          kit.applyPatch({ patch }),
          kit.moveFile({ path, to: "b" }),
          kit.deleteFile({ path }),
        ];
        for (const refused of (await Promise.all(calls)).map(denied)) {
          assert.equal(refused.message, said(path));
        }
        assert.match(denied(await kit.read({ uri: `file:///${path}` })).message, /protect/);
      }
      denied(await kit.tree("keys"));
      denied(await kit.findFiles({ patterns: "*", root_path: "keys" }));
      assert.deepEqual(ws.texts(), { "keys/a.pem": "secret" });
    }),
  );

  test(
    "a denied path is not listed, found or hinted at",
    inWorkspace(async (ws) => {
      ws.write("keys/main.pem", "secret");
      ws.write("src/main.ts", "secret");
      using kit = createAgentToolkit({ ...ws.writable, rules: { deny: ["keys/"] } });
      const answers = [
        await kit.searchFiles({ pattern: "secret" }),
        await kit.findFiles({ patterns: "main*" }),
        await kit.tree(".", { entry_kind: "all" }),
        await kit.readFile("key/main.pem"),
        await kit.readFile("main.pem"),
      ];
      for (const answer of answers) {
        const text = JSON.stringify(answer)
          .replaceAll("key/main.pem", "")
          .replaceAll(": main.pem", "");
        assert.doesNotMatch(text, /keys|main\.pem/);
      }
    }),
  );

  test(
    "read_files reads the others, and says what to do about those that are denied",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write(".env", "KEY=1");
      using kit = createAgentToolkit({ ...ws.writable, rules: { deny: [".env"] } });
      const result = await kit.readFiles({ files: ["a.txt", ".env"] });
      const { items } = succeeded(result) as {
        items: { output: { content: string } | null; error: { code: string } | null }[];
      };
      assert.equal(items[0]?.output?.content, "a");
      assert.deepEqual([items[1]?.output, items[1]?.error?.code], [null, "PATH_DENIED"]);
      assert.match((result as { hint?: string }).hint ?? "", /do not try another way to them/);
    }),
  );

  test(
    "they hold for the directories of space, chat and store that the toolkit opens",
    inWorkspace(async (ws) => {
      ws.write(".env", "KEY=1");
      ws.write("files/.env", "KEY=1");
      ws.write("a.md", "a");
      const rules = { deny: [".env"] };
      for (const store of [ws.root, { workspaceRoot: ws.root }]) {
        using kit = createAgentToolkit({
          ...ws.writable,
          // The same folder in another spelling.
          space: ws.at("."),
          chat: { workspaceRoot: `${ws.root}/` },
          store,
          rules,
        });
        denied(await kit.read({ uri: "file:///.env" }));
        denied(await kit.read({ uri: "file:.env" }));
        succeeded(await kit.read({ uri: "file:///a.md" }));
        const absent = await kit.readSourceDocument({ path: ".env" });
        assert.equal(absent.status !== "success" && absent.error.details.code, "NOT_FOUND");
        succeeded(await kit.readSourceDocument({ path: "a.md" }));
      }
    }),
  );

  test(
    "a space with rules of its own has these",
    inWorkspace(async (ws) => {
      ws.write("a.md", "a");
      ws.write("b.md", "b");
      using kit = createAgentToolkit({
        space: { workspaceRoot: ws.root, rules: { deny: ["a.md"] } },
        rules: { deny: ["b.md"] },
      });
      denied(await kit.read({ uri: "file:///a.md" }));
      succeeded(await kit.read({ uri: "file:///b.md" }));
    }),
  );

  test(
    "they are read when the toolkit is made; later changes by the host have no effect",
    inWorkspace(async (ws) => {
      ws.write(".env", "KEY=1");
      const deny = [".env"];
      const context = { ...ws.writable, rules: { deny } };
      using kit = createAgentToolkit(context);
      deny.pop();
      context.rules = { deny: [] };
      denied(await kit.readFile(".env"));
    }),
  );

  const WRONG: [name: string, rules: unknown, said: RegExp][] = [
    ["a text", ".env", /rules must be a plain object/],
    ["an array", [".env"], /rules must be a plain object/],
    ["a promise", Promise.resolve({ deny: [".env"] }), /rules must be a plain object/],
    ["a list that is a text", { deny: ".env" }, /rules\.deny/],
    ["a list with a number", { deny: [".env", 5] }, /rules\.deny\[1\]/],
    ["an empty pattern", { read_only: [""] }, /rules\.read_only\[0\]/],
    ["a comment", { write_only: ["# all"] }, /rules\.write_only\[0\]/],
    ["a pattern that leads out", { deny: ["a", "../b"] }, /rules\.deny\[1\]/],
    ["a mistyped list", { readOnly: [] }, /"readOnly".*deny, read_only and write_only/],
  ];
  for (const [name, rules, refusal] of WRONG) {
    test(
      `${name} is refused when the toolkit is made`,
      inWorkspace((ws) => {
        assert.throws(() => createAgentToolkit({ ...ws.writable, rules } as never), refusal);
      }),
    );
  }

  test(
    "policy and write scope come first",
    inWorkspace(async (ws) => {
      using kit = createAgentToolkit({ ...ws.context, policy: { tools: { edit_file: "deny" } } });
      const args = { path: SETTINGS, old_string: "a", new_string: "b" };
      const byPolicy = await kit.editFile(args);
      assert.match(byPolicy.status === "success" ? "" : byPolicy.message, /policy/);
      using reading = createAgentToolkit(ws.context);
      const byScope = await reading.editFile(args);
      assert.match(byScope.status === "success" ? "" : byScope.message, /read-only/);
    }),
  );
});

describe("a Workspace that the host gives", () => {
  test(
    "gets the default in the toolkit alone, and stays as it is and open for the host",
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root);
      for (const context of [workspace, { workspace }]) {
        const kit = createAgentToolkit(context);
        denied(await kit.createFile({ path: ".envrc", content: "" }));
        kit.close();
        const after = await kit.readFile("a");
        assert.equal(after.status !== "success" && after.error.details.code, "CLOSED");
      }
      assert.equal(workspace.rules, null);
      const { handler } = ToolCatalog.workspace_create_file;
      const made = await handler({ workspace }, { path: ".envrc", content: "" });
      assert.equal(made.errorCode, null);
      workspace.close();
    }),
  );

  test(
    "brings its own rules; a read_only among them takes the place of the default",
    inWorkspace(async (ws) => {
      ws.write(".env", "KEY=1");
      const denying = Workspace.open(ws.root, { rules: { deny: [".env"] } });
      using kit = createAgentToolkit(denying);
      denied(await kit.readFile(".env"));
      denied(await kit.createFile({ path: ".envrc", content: "" }));
      const free = Workspace.open(ws.root, { rules: { deny: [".env"], read_only: ["docs/"] } });
      using open = createAgentToolkit({ workspace: free });
      denied(await open.readFile(".env"));
      denied(await open.createFile({ path: "docs/a.md", content: "" }));
      succeeded(await open.createFile({ path: ".envrc", content: "" }));
      denying.close();
      free.close();
    }),
  );

  test(
    "is shared by toolkits with rules of their own",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write("b.txt", "b");
      const workspace = Workspace.open(ws.root);
      using a = createAgentToolkit({ workspace, rules: { deny: ["a.txt"] } });
      using b = createAgentToolkit({ workspace, rules: { deny: ["b.txt"], read_only: [] } });
      denied(await a.readFile("a.txt"));
      succeeded(await a.readFile("b.txt"));
      denied(await b.readFile("b.txt"));
      succeeded(await b.createFile({ path: ".envrc", content: "" }));
      denied(await a.createFile({ path: ".envrc", content: "" }));
      succeeded((await createAgentToolkit(workspace).readFile("a.txt")) as ToolResult);
      workspace.close();
    }),
  );

  test(
    "keeps each of its lists beside those of the context, and none is given twice",
    inWorkspace(async (ws) => {
      ws.write(".env", "KEY=1");
      const workspace = Workspace.open(ws.root, { rules: { deny: [".env"] } });
      using kit = createAgentToolkit({ workspace, rules: { read_only: ["docs/"] } });
      denied(await kit.readFile(".env"));
      denied(await kit.createFile({ path: "docs/a.md", content: "" }));
      succeeded(await kit.createFile({ path: ".envrc", content: "" }));
      using without = createAgentToolkit({ workspace, rules: { read_only: [] } });
      succeeded(await without.createFile({ path: "docs/b.md", content: "" }));
      const twice = { workspace, rules: { deny: ["b"] } };
      assert.throws(() => createAgentToolkit(twice), /rules\.deny: the Workspace has such a list/);
      workspace.close();
    }),
  );

  test(
    "a renamed root is the same root with and without the default",
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root);
      using kit = createAgentToolkit({ workspace, approve: () => "allow" });
      fs.renameSync(ws.root, `${ws.base}/moved`);
      fs.mkdirSync(ws.root);
      succeeded(await kit.createFile({ path: "a.txt", content: "" }));
      succeeded(await kit.createFile({ path: ".envrc", content: "" }));
      assert.deepEqual(fs.readdirSync(ws.root), []);
      assert.deepEqual(fs.readdirSync(`${ws.base}/moved`).sort(), [".envrc", "a.txt"]);
      workspace.close();
    }),
  );
});

describe("handlers", () => {
  test(
    "a tool of the host's own gets the root with the rules, and its refusals are told alike",
    inWorkspace(async (ws) => {
      ws.write(".env", "KEY=1");
      const own = defineTool({
        name: "own_read",
        description: "Reads.",
        parameters: {
          type: "object",
          properties: { path: { type: "string" } },
          required: ["path"],
        },
        isWriteOp: false,
        async handler({ workspace }, { path }: { path: string }) {
          assert.ok(workspace);
          return readFile(workspace, path);
        },
      });
      const context = { ...ws.writable, rules: { deny: [".env"] } };
      using kit = createAgentToolkit(context, { tools: [own] });
      assert.equal(denied(await kit.invoke("own_read", { path: ".env" })).message, said(".env"));
    }),
  );

  test(
    "a secure tool has the rules of its context, and no default",
    inWorkspace(async (ws) => {
      ws.write(".env", "KEY=1");
      const read = createSecureTool({ name: "read_file", isWriteOp: false }, readFile);
      const { metadata, handler } = ToolCatalog.workspace_create_file;
      const create = createSecureTool(metadata, handler);
      const context = { ...ws.writable, rules: { deny: [".env"] } };
      assert.equal(denied(await read(context, ".env")).message, said(".env"));
      const refused = denied(await create(context, { path: ".env", content: "" }));
      assert.equal(
        (refused.error.details.result as { errorCode: string }).errorCode,
        "WriteFailed",
      );
      succeeded(await create(context, { path: ".envrc", content: "" }));
    }),
  );

  test(
    "rules beside a Workspace, which would be overlooked, are refused",
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root);
      const context = { workspace, rules: { deny: [".env"] } };
      const tool = createSecureTool({ name: "create", isWriteOp: true }, (given, args: never) =>
        ToolCatalog.workspace_create_file.handler(given as never, args),
      );
      const result = await tool(context as never, { path: ".env", content: "" } as never);
      assert.match(result.status === "success" ? "" : result.message, /rules stand beside/);
      assert.deepEqual(fs.readdirSync(ws.root), []);
      workspace.close();
    }),
  );

  test(
    "patchFile has a code of its own for a path that rules protect",
    inWorkspace(async (ws) => {
      ws.write("docs/a.md", "a\n");
      const patch = "--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1 @@\n-a\n+b\n";
      for (const rules of [{ deny: ["docs/"] }, { read_only: ["docs/"] }]) {
        const apply = createSecureTool({ name: "apply_patch", isWriteOp: true }, patchFile);
        const refused = denied(await apply({ ...ws.writable, rules }, "docs/a.md", patch));
        assert.equal(refused.message, said("docs/a.md"));
      }
      assert.deepEqual(ws.texts(), { "docs/a.md": "a\n" });
    }),
  );
});

describe("events", () => {
  test(
    "tell a refusal by the host's rules from one by the default",
    inWorkspace(async (ws) => {
      fill(ws);
      ws.write(".env", "");
      using kit = createAgentToolkit({ ...ws.writable, rules: { deny: [".env"] } });
      const events = await published(async () => {
        await kit.readFile("free.txt");
        await kit.readFile("gone.txt");
        await kit.readFile(".env");
        await kit.createFile({ path: ".env", content: "" });
        await kit.createFile({ path: ".envrc", content: "" });
        await kit.editFile({ path: SETTINGS, old_string: "gone", new_string: "" });
      });
      const told = events.map(({ DeniedBy, ErrorCode }) => [DeniedBy, ErrorCode]);
      assert.deepEqual(told, [
        [undefined, null],
        [undefined, "NOT_FOUND"],
        ["rules", "PATH_DENIED"],
        ["rules", "WriteFailed"],
        ["PATHS_THAT_RUN", "WriteFailed"],
        ["PATHS_THAT_RUN", "PATH_DENIED"],
      ]);
    }),
  );

  test(
    "a refusal by both counts as one by the host's rules",
    inWorkspace(async (ws) => {
      using kit = createAgentToolkit({ ...ws.writable, rules: { write_only: ["src/"] } });
      const [event] = await published(() => kit.createFile({ path: ".envrc", content: "" }));
      assert.equal(event?.DeniedBy, "rules");
    }),
  );
});
