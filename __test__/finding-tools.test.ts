// The tools `find_files` and `tree` in the toolkit and through MCP: names of arguments that models send, hints,
// results, and the types of a model API. docs/contract.md §8, §9 and §13.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type OpenAI from "openai";
import {
  createAgentToolkit,
  createSecureTool,
  readArguments,
  ToolCatalog,
  toMcpToolResult,
  toOpenAITools,
} from "../dist/index.js";
import { findFiles } from "../index.js";
import { published } from "./support/events.ts";
import { callThrough, failureIn, withClient } from "./support/mcp.ts";
import { noSymlinks } from "./support/platform.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** The arguments that a tool reads from those that a model sent. */
function readBy(name: "find_files" | "tree", sent: unknown): unknown {
  const read = readArguments(name, sent);
  assert.ok(read.ok, JSON.stringify(read));
  assert.equal(read.ignored, null);
  return { ...read.args };
}

function project(ws: TestWorkspace): void {
  ws.write(".gitignore", "*.log\n");
  for (const file of ["src/app/[id].tsx", "src/main.ts", "src/main.log", "node_modules/a/b.ts"]) {
    ws.write(file, "");
  }
}

describe("names of arguments that models send", () => {
  test("find_files knows those of other tools", () => {
    for (const [sent, expected] of [
      [{ pattern: "*.ts" }, { patterns: ["*.ts"] }],
      [
        { glob: "*.ts", path: "src" },
        { patterns: ["*.ts"], root_path: "src" },
      ],
      [{ include_pattern: "[id].tsx" }, { patterns: ["[id].tsx"] }],
      [{ query: '["a", "b"]' }, { patterns: ["a", "b"] }],
      [
        { patterns: "*.ts", head_limit: "5" },
        { patterns: ["*.ts"], max_results: 5 },
      ],
      [
        { patterns: ["a"], exclude: "b" },
        { patterns: ["a"], exclude: ["b"] },
      ],
      [
        { patterns: ["a"], ignore: '["b"]' },
        { patterns: ["a"], exclude: ["b"] },
      ],
      [
        { patterns: ["a"], type: "d" },
        { patterns: ["a"], kind: "directory" },
      ],
      [
        { patterns: ["a"], "-i": true },
        { patterns: ["a"], case_insensitive: true },
      ],
      [{ patterns: ["a"], root_path: "", after: "" }, { patterns: ["a"] }],
      [{ patterns: ["a"], root_path: null, sort: null }, { patterns: ["a"] }],
      [{ input: { pattern: "*.ts", dir: "src" } }, { patterns: ["*.ts"], root_path: "src" }],
      ['{"pattern":"*.ts","limit":3}', { patterns: ["*.ts"], max_results: 3 }],
    ] as const) {
      assert.deepEqual(readBy("find_files", sent), expected);
    }
  });

  test("tree knows those of other tools", () => {
    for (const [sent, expected] of [
      [
        { file_path: "src", depth: "2" },
        { path: "src", max_depth: 2 },
      ],
      [
        { directory: "src", limit: 9 },
        { path: "src", max_entries: 9 },
      ],
      [
        { root_path: "src", ignore: "*.md" },
        { path: "src", exclude: ["*.md"] },
      ],
      [{ path: "", include_hidden: "true" }, { include_hidden: true }],
      [{ input: '{"path":"src"}' }, { path: "src" }],
      [{}, {}],
    ] as const) {
      assert.deepEqual(readBy("tree", sent), expected);
    }
  });

  test("the functions themselves know the contract's names alone", async () => {
    const context = { workspaceRoot: process.cwd() };
    const asked = findFiles(context, { pattern: "*.ts" } as never);
    await assert.rejects(asked, /^FindFilesError: INVALID_ARGUMENT: patterns must be a pattern/);
  });
});

describe("in a toolkit", () => {
  test(
    "both stand beside the tools, and give what the functions give",
    inWorkspace(async (ws) => {
      project(ws);
      using kit = createAgentToolkit(ws.context);
      const found = await kit.findFiles({ patterns: "*.ts", root_path: "src" });
      assert.ok(found.status === "success", JSON.stringify(found));
      assert.deepEqual(
        found.data.items.map((item) => item.path),
        ["src/main.ts"],
      );
      for (const shown of [
        await kit.tree("src", { entry_kind: "all" }),
        await kit.invoke("tree", { path: "src", entry_kind: "all" }),
        await kit.tools.tree({ path: "src", entry_kind: "all" }),
      ]) {
        assert.ok(shown.status === "success", JSON.stringify(shown));
        assert.equal(shown.data.total_files, 3);
        assert.equal(shown.data.root.path, "src");
      }
    }),
  );

  test(
    "hints lead to the next page, and say why nothing was found",
    inWorkspace(async (ws) => {
      project(ws);
      using kit = createAgentToolkit(ws.context);
      const hintOf = async (args: object) => {
        const result = await kit.invoke("find_files" as string, args);
        assert.ok(result.status === "success", JSON.stringify(result));
        return result.hint;
      };
      const first = await hintOf({ patterns: ["src/**"], max_results: 1 });
      const next = /^There are more: call find_files with (.*)\.$/.exec(first ?? "")?.[1];
      const second = await kit.invoke("find_files", next ?? "");
      assert.ok(second.status === "success", JSON.stringify(second));
      assert.deepEqual(
        second.data.items.map((item) => item.path),
        ["src/main.ts"],
      );
      assert.equal(await hintOf({ patterns: "*.ts" }), undefined);
      for (const [args, said] of [
        [{ patterns: "src/" }, /set kind to "directory"/],
        [{ patterns: "src/*.ts", root_path: "src" }, /relative to root_path: leave src\/ out/],
        [
          { patterns: "*.log" },
          /to look there, too, set default_excludes to false and gitignore to false/,
        ],
        [{ patterns: "*.none", root_path: "src/app" }, /^$/],
      ] as const) {
        assert.match((await hintOf(args)) ?? "", said);
      }
      const cut = await kit.tree(".", { entry_kind: "all", max_entries: 2 });
      assert.match((cut.status === "success" && cut.hint) || "", /larger max_entries/);
    }),
  );

  test(
    "refusals are results: of the sandbox, of the policy, and of arguments with a repair",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      project(ws);
      ws.link("out", ws.outside, "dir");
      using kit = createAgentToolkit(ws.context);
      for (const [name, args, code, domain] of [
        ["find_files", { patterns: "*", path: "out" }, "SANDBOX_VIOLATION", "SANDBOX_VIOLATION"],
        ["find_files", { patterns: "*", path: "none" }, "RUNTIME_ERROR", "NOT_FOUND"],
        ["find_files", { patterns: "[a-" }, "RUNTIME_ERROR", "INVALID_ARGUMENT"],
        ["find_files", {}, "RUNTIME_ERROR", "INVALID_ARGUMENT"],
        ["tree", { path: "out" }, "SANDBOX_VIOLATION", "SANDBOX_VIOLATION"],
        ["tree", { path: "../x" }, "SANDBOX_VIOLATION", "SANDBOX_VIOLATION"],
        ["tree", { path: "src/main.ts" }, "RUNTIME_ERROR", "NOT_DIRECTORY"],
        ["tree", { max_depth: 13 }, "RUNTIME_ERROR", "INVALID_ARGUMENT"],
      ] as const) {
        const result = await kit.invoke(name as string, args);
        assert.ok(result.status !== "success");
        assert.deepEqual([result.error.code, result.error.details.code], [code, domain]);
        assert.equal(result.error.retriable, false);
        assert.ok(!JSON.stringify(result).includes(ws.base));
      }
      const policy = { tools: { tree: "deny" }, defaultPolicy: "allow" } as const;
      using guarded = createAgentToolkit({ ...ws.context, policy });
      assert.equal((await guarded.tree()).status, "denied");
      assert.ok(!guarded.getAllowedTools().includes("tree"));
    }),
  );

  test(
    "the catalog's handlers work behind a secure tool and publish events of their own",
    inWorkspace(async (ws) => {
      project(ws);
      const messages = await published(async () => {
        const tool = createSecureTool(ToolCatalog.tree.metadata, ToolCatalog.tree.handler);
        const shown = await tool(ws.context, "src");
        assert.ok(shown.status === "success" && shown.data.root.path === "src");
        const { metadata, handler } = ToolCatalog.find_files;
        const find = createSecureTool(metadata, handler);
        assert.equal((await find(ws.context, { patterns: ["*"] })).status, "success");
      });
      assert.deepEqual(
        messages.map(({ event }) => event),
        ["Tool.Tree.Executed", "Tool.FindFiles.Executed"],
      );
    }),
  );

  test(
    "an aborted call rejects with the reason, by the call's signal and by the context's",
    inWorkspace(async (ws) => {
      const signal = AbortSignal.abort("enough");
      using kit = createAgentToolkit(ws.context);
      await assert.rejects(kit.findFiles({ patterns: "*" }, { signal }), /enough|^enough/);
      await assert.rejects(kit.tree(".", { signal }), /enough|^enough/);
      for (const name of ["find_files", "tree"] as const) {
        const { handler } = ToolCatalog[name];
        const call = handler as (...args: unknown[]) => Promise<unknown>;
        const aborted = call({ ...ws.context, signal }, name === "tree" ? "." : { patterns: "*" });
        assert.equal(await aborted.catch((reason) => reason), "enough");
      }
    }),
  );
});

describe("for models", () => {
  test(
    "the official MCP client lists and calls both, and finds that answers fit their schemas",
    inWorkspace(async (ws) => {
      project(ws);
      await withClient(["--root", ws.root], async (client) => {
        await client.listTools();
        const found = await callThrough(client, "find_files", { patterns: ["[id].tsx"] });
        const { items, total } = found.structuredContent as { items: unknown[]; total: number };
        assert.deepEqual([items.length, total], [1, 1]);
        const page = await callThrough(client, "find_files", { pattern: "*", max_results: 1 });
        assert.match(JSON.stringify(page.structuredContent), /"next":":.*"hint":"There are more/);
        const shown = await callThrough(client, "tree", { entry_kind: "all", max_depth: 3 });
        assert.equal(shown.structuredContent?.scanned_entries, 6);
        const failure = failureIn(await callThrough(client, "tree", { path: "none" }));
        assert.equal(failure.error.details.code, "NOT_FOUND");
      });
    }),
  );

  test(
    "text for clients that show no data has a line for each item",
    inWorkspace(async (ws) => {
      project(ws);
      using kit = createAgentToolkit(ws.context);
      const textOf = async (name: string, args: object) =>
        toMcpToolResult(await kit.invoke(name, args)).content.map(({ text }) => text);
      assert.deepEqual(await textOf("find_files", { patterns: ["src/**"], kind: "all" }), [
        "src/app/\nsrc/app/[id].tsx\nsrc/main.ts",
        "3 of 3 matches. Left out: skipped_default_excludes=1, skipped_ignored_entries=1.",
      ]);
      assert.deepEqual(await textOf("find_files", { patterns: ["none"], root_path: "src/app" }), [
        "0 of 0 matches.",
      ]);
      assert.deepEqual(await textOf("tree", { path: "src", entry_kind: "all", max_depth: 1 }), [
        "src/\n  app/ …\n  main.log\n  main.ts",
        "4 nodes.",
      ]);
    }),
  );

  test("the definitions fit the types of OpenAI, strict ones, too", () => {
    const tools: OpenAI.Chat.Completions.ChatCompletionTool[] = toOpenAITools({
      tools: ["find_files", "tree"],
      strict: true,
    });
    const [find] = tools;
    assert.ok(find?.type === "function");
    const { properties, required } = find.function.parameters as {
      properties: Record<string, { type: unknown; enum?: unknown }>;
      required: string[];
    };
    assert.deepEqual(properties.patterns?.type, "array");
    assert.deepEqual(properties.kind?.enum, ["file", "directory", "all", null]);
    assert.deepEqual(required, Object.keys(properties));
  });
});
