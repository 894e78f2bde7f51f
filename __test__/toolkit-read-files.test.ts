// The tool `read_files`: what models send, the hints, policy, events, and MCP. docs/contract.md §8 and §13.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type OpenAI from "openai";
import {
  createAgentToolkit,
  ToolCatalog,
  type ToolContext,
  type ToolResults,
  type ToolSuccess,
  toOpenAITools,
} from "../dist/index.js";
import { type ReadFilesOutput, Workspace } from "../index.js";
import { published } from "./support/events.ts";
import { createSecureTool } from "./support/host.ts";
import { callThrough, failureIn, withClient } from "./support/mcp.ts";
import { rejectionValue } from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const toolkitOf = (ws: TestWorkspace, more: Partial<ToolContext> = {}) =>
  createAgentToolkit({ ...ws.writable, ...more });

type Read = ToolSuccess<ToolResults["read_files"]>;

/** Calls the tool, which must succeed. */
async function invoke(
  ws: TestWorkspace,
  sent: unknown,
  more?: Partial<ToolContext>,
): Promise<Read> {
  using kit = toolkitOf(ws, more);
  const result = await kit.invoke("read_files" as string, sent);
  assert.equal(result.status, "success", JSON.stringify(result));
  return result as Read;
}

const contentsOf = ({ data }: Read) => data.items.map(({ output }) => output?.content);

/** Files whose lines tell where they stand. */
function write(ws: TestWorkspace): void {
  ws.write("a.txt", "a1\na2\na3\n");
  ws.write("b.txt", "b1\nb2\nb3\n");
}

describe("what models send", () => {
  const WHOLE = ["a1\na2\na3\n", "b1\nb2\nb3\n"];
  const SECOND_LINES = ["a2", "b2"];
  const second = { start_line: 2, max_lines: 1 };

  for (const [what, sent, expected] of [
    ["paths", { files: ["a.txt", "b.txt"] }, WHOLE],
    ["objects", { files: [{ path: "a.txt" }, { path: "b.txt" }] }, WHOLE],
    ["JSON text", '{"files":["a.txt","b.txt"]}', WHOLE],
    ["a list as JSON text", { files: '["a.txt", {"path": "b.txt"}]' }, WHOLE],
    ["objects as JSON text", { files: ['{"path":"a.txt"}', "b.txt"] }, WHOLE],
    ["paths under the name paths", { paths: ["a.txt", "b.txt"] }, WHOLE],
    ["paths under the name file_paths", { file_paths: ["a.txt", "b.txt"] }, WHOLE],
    ["file_path in an entry", { files: [{ file_path: "a.txt" }, { filePath: "b.txt" }] }, WHOLE],
    ["a single path", { files: "a.txt" }, WHOLE.slice(0, 1)],
    ["a single path under its own name", { path: "a.txt" }, WHOLE.slice(0, 1)],
    ["a single path as file_path", { file_path: "a.txt" }, WHOLE.slice(0, 1)],
    ["a single object", { files: { path: "a.txt", ...second } }, SECOND_LINES.slice(0, 1)],
    [
      "numbers as text, and nulls",
      {
        files: [
          { path: "a.txt", start_line: "2", max_lines: "1" },
          { path: "b.txt", startLine: 2, maxLines: 1, max_lines: null },
        ],
        max_total_bytes: "1000",
        include_hash: null,
      },
      SECOND_LINES,
    ],
  ] as const) {
    test(
      `is understood: ${what}`,
      inWorkspace(async (ws) => {
        write(ws);
        assert.deepEqual(contentsOf(await invoke(ws, sent)), expected);
      }),
    );
  }

  test(
    "is refused with one sentence that repairs it, if it is no list",
    inWorkspace(async (ws) => {
      using kit = toolkitOf(ws);
      for (const [sent, says] of [
        [
          {},
          /^read_files: files is missing; send for example \{"files":\[\{"path":"src\/main\.ts"\}\]\}\.$/,
        ],
        [{ files: 5 }, /^read_files: files must be an array, not 5; send for example/],
        [{ files: ["a"], max_total_bytes: "much" }, /max_total_bytes must be a number/],
        [{ files: [] }, /^INVALID_ARGUMENT: files must have 1 to 100 entries, got 0$/],
        ["[", /the arguments must be a JSON object/],
      ] as const) {
        const result = await kit.invoke("read_files" as string, sent);
        assert.ok(result.status === "failure", JSON.stringify(result));
        assert.match(result.message, says);
        assert.equal(result.error.details.code, "INVALID_ARGUMENT");
      }
    }),
  );

  test(
    "fails only the entry that is wrong",
    inWorkspace(async (ws) => {
      write(ws);
      const { data } = await invoke(ws, { files: ["a.txt", { path: "b.txt", start_line: 0 }, 5] });
      assert.equal(data.failed, 2);
      assert.equal(data.items[0]?.output?.content, "a1\na2\na3\n");
      assert.match(data.items[1]?.error?.message ?? "", /start_line must be an integer >= 1/);
      assert.match(data.items[2]?.error?.message ?? "", /must be a path/);
    }),
  );

  test(
    "is told what was ignored",
    inWorkspace(async (ws) => {
      write(ws);
      const { hint } = await invoke(ws, { files: ["a.txt"], pattern: "x", path: "b.txt" });
      assert.equal(hint, "read_files takes files, max_total_bytes; ignored: pattern, path.");
    }),
  );
});

describe("hints", () => {
  test(
    "name the windows that come next, and none where all has come",
    inWorkspace(async (ws) => {
      write(ws);
      ws.write("c.txt", "c");
      assert.equal((await invoke(ws, { files: ["a.txt", "c.txt"] })).hint, undefined);
      const files = [{ path: "./a.txt", max_lines: 1 }, "c.txt", { path: "b.txt", start_line: 3 }];
      const { hint } = await invoke(ws, { files });
      const next = '{"files":[{"path":"a.txt","start_line":2,"max_lines":1}]}';
      assert.equal(hint, `There are further lines: call read_files with ${next}.`);
    }),
  );

  test(
    "lead to the end of every file, whatever the budget",
    inWorkspace(async (ws) => {
      write(ws);
      ws.write("c.txt", `${"c".repeat(50)}\n`);
      const seen: Record<string, string[]> = { "a.txt": [], "b.txt": [], "c.txt": [] };
      using kit = toolkitOf(ws);
      let sent: unknown = { files: ["a.txt", "b.txt", "c.txt"], max_total_bytes: 15 };
      const calls: string[] = [];
      for (;;) {
        const result = await kit.invoke("read_files" as string, sent);
        assert.ok(result.status === "success");
        for (const { output } of (result.data as ReadFilesOutput).items) {
          assert.ok(output);
          if (output.meta.returned_line_count > 0) seen[output.path]?.push(output.content);
        }
        calls.push(...(result.hint ?? "").split(/(?<=\.) /));
        const next = /call read_files with (\{.*?\})\.(?: |$)/.exec(result.hint ?? "");
        if (next === null) break;
        sent = { ...JSON.parse(next[1] ?? ""), max_total_bytes: 15 };
      }
      assert.equal(seen["a.txt"]?.join("\n"), "a1\na2\na3\n");
      assert.equal(seen["b.txt"]?.join("\n"), "b1\nb2\nb3\n");
      const alone = 'call read_file with {"path":"c.txt","start_line":1}.';
      assert.ok(
        calls.includes(`The next line is larger than its share: ${alone}`),
        calls.join("\n"),
      );
      const { hint } = await invoke(ws, { files: ["c.txt"], max_total_bytes: 15 });
      assert.match(hint ?? "", /call read_file with \{"path":"c\.txt","start_line":1\}\.$/);
    }),
  );

  test(
    "name near misses of missing files, unless the host does not want them",
    inWorkspace(async (ws) => {
      ws.write("src/main.ts", "");
      const files = ["src/Main.js", "src/other", "src/mian.ts"];
      const { hint, data } = await invoke(ws, { files });
      const said = ["src/Main.js", "src/mian.ts"];
      assert.equal(hint, said.map((path) => `"${path}": did you mean "src/main.ts"?`).join(" "));
      assert.equal(data.items[0]?.error?.message, "NOT_FOUND: no such file: src/Main.js");
      assert.equal((await invoke(ws, { files }, { nearMisses: false })).hint, undefined);
    }),
  );

  test(
    "stay short for a hundred files",
    inWorkspace(async (ws) => {
      write(ws);
      const files = Array.from({ length: 100 }, (_, index) =>
        index % 2 ? `gone${index}.txt` : { path: "a.txt", max_lines: 1 },
      );
      const { hint = "" } = await invoke(ws, { files });
      assert.match(hint, /, and so on for 50 files\./);
      assert.ok(hint.length < 2_000, hint);
    }),
  );
});

describe("a toolkit", () => {
  test(
    "has the tool under three names, on the root that it holds",
    inWorkspace(async (ws) => {
      write(ws);
      const workspace = Workspace.open(ws.root);
      using kit = createAgentToolkit(workspace);
      const args = { files: ["a.txt"], include_hash: true };
      const answers = [
        await kit.readFiles(args),
        await kit.tools.read_files(args),
        await kit.invoke("read_files", args),
      ];
      for (const answer of answers) {
        assert.ok(answer.status === "success");
        assert.match(answer.data.items[0]?.output?.meta.sha256 ?? "", /^[0-9a-f]{64}$/);
        assert.deepEqual(answer, answers[0]);
      }
      workspace.close();
    }),
  );

  test(
    "offers it in a read-only workspace, and not against the policy",
    inWorkspace(async (ws) => {
      write(ws);
      using readOnly = toolkitOf(ws, { writeScope: "read-only" });
      assert.equal((await readOnly.readFiles({ files: ["a.txt"] })).status, "success");
      using denied = toolkitOf(ws, { policy: { tools: { read_file: "allow" } } });
      assert.ok(!denied.getAllowedTools().includes("read_files"));
      const result = await denied.readFiles({ files: ["a.txt"] });
      assert.ok(result.status === "denied" && result.error.code === "POLICY_DENIED");
    }),
  );

  test(
    "shows nothing from outside, nor where the root is",
    inWorkspace(async (ws) => {
      write(ws);
      ws.writeOutside("secret.txt");
      const files = ["../outside/secret.txt", `${ws.outside}/secret.txt`, ws.at("none"), "a.txt"];
      const result = await invoke(ws, { files });
      assert.deepEqual(
        result.data.items.map(({ error }) => error?.code),
        ["SANDBOX_VIOLATION", "SANDBOX_VIOLATION", "NOT_FOUND", undefined],
      );
      assert.ok(!JSON.stringify(result).includes("the secret"));
      assert.ok(!JSON.stringify(result).includes(ws.root));
    }),
  );

  test(
    "publishes one event for a call, and none for an aborted one",
    inWorkspace(async (ws) => {
      write(ws);
      using kit = toolkitOf(ws);
      const events = await published(async () => {
        await kit.readFiles({ files: ["a.txt", "none"] }, { callId: "c" });
        const signal = AbortSignal.abort("enough");
        assert.equal(
          await rejectionValue(() => kit.readFiles({ files: [] }, { signal })),
          "enough",
        );
      });
      assert.equal(events.length, 1);
      const { event, Success, ErrorCode, CallId } = events[0] ?? {};
      assert.deepEqual(
        [event, Success, ErrorCode, CallId],
        ["Tool.ReadFiles.Executed", true, null, "c"],
      );
    }),
  );

  test(
    "has a handler for hosts that wrap tools themselves",
    inWorkspace(async (ws) => {
      write(ws);
      const { metadata, handler } = ToolCatalog.read_files;
      assert.deepEqual([metadata.name, metadata.isWriteOp], ["read_files", false]);
      const tool = createSecureTool(metadata, handler);
      const policy = { tools: {}, defaultPolicy: "allow" } as const;
      const result = await tool({ ...ws.context, policy, env: {} }, { files: ["a.txt"] });
      assert.ok(result.status === "success");
      assert.equal(result.data.items[0]?.output?.content, "a1\na2\na3\n");
    }),
  );
});

describe("protocols", () => {
  test("its strict schema for OpenAI has its entries strict, too", () => {
    const [tool]: OpenAI.Chat.Completions.ChatCompletionTool[] = toOpenAITools({
      tools: ["read_files"],
      strict: true,
    });
    assert.ok(tool?.type === "function");
    const { properties } = tool.function.parameters as {
      properties: { files: { items: Record<string, unknown> } };
    };
    const { items } = properties.files;
    assert.equal(items.additionalProperties, false);
    assert.deepEqual(items.required, ["path", "start_line", "max_lines"]);
  });

  test(
    "the official MCP client calls it, and finds that the answer fits its schema",
    inWorkspace(async (ws) => {
      write(ws);
      ws.write("empty.txt", "");
      await withClient(["--root", ws.root], async (client) => {
        const { tools } = await client.listTools();
        assert.ok(tools.some(({ name }) => name === "read_files"));
        const files = ["a.txt", { path: "b.txt", max_lines: 1 }, "none.txt", "empty.txt"];
        const answer = await callThrough(client, "read_files", { files });
        const data = answer.structuredContent as unknown as ReadFilesOutput & { hint: string };
        assert.deepEqual([data.failed, data.items.length], [1, 4]);
        assert.match(data.hint, /call read_files with/);
        const texts = answer.content.map(({ text }) => text);
        assert.deepEqual(texts.slice(0, -1), [
          "a.txt: lines 1-3 of 3.",
          "a1\na2\na3\n",
          "b.txt: line 1 of 3.",
          "b1",
          "NOT_FOUND: no such file: none.txt",
          "empty.txt: nothing of its 0 lines.",
        ]);
        assert.match(texts.at(-1) ?? "", /^3 of 4 files, 11 bytes\. There are further lines: call/);
        const cut = await callThrough(client, "read_files", { files, max_total_bytes: 8 });
        const last = cut.content.at(-1)?.text ?? "";
        assert.match(last, /^3 of 4 files, \d bytes\. Some are cut to fit the budget\./);
        const refused = failureIn(await callThrough(client, "read_files", { files: [] }));
        assert.equal(refused.error.details.code, "INVALID_ARGUMENT");
      });
    }),
  );
});
