// A host's own tools beside ringfence's.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type AgentToolkit,
  createAgentToolkit,
  defineTool,
  toAiSdkTools,
  toAnthropicTools,
  toMcpTools,
  toOpenAITools,
} from "../dist/index.js";
import { readFile } from "../index.js";
import { published } from "./support/events.ts";
import { WORKSPACE_TOOLS } from "./support/tools.ts";
import { inWorkspace } from "./support/workspace.ts";

const countWords = defineTool({
  name: "count.words",
  description: "Counts the words of a file.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" }, least: { type: "integer" }, only: { type: "array" } },
    required: ["path"],
  },
  isWriteOp: false,
  needsWorkspace: true,
  async handler({ workspace, signal }, args: { path: string; least?: number; only?: string[] }) {
    assert.ok(workspace);
    const { content } = await readFile(workspace, args.path, { signal });
    const words = content.split(/\s+/).filter((word) => args.only?.includes(word) ?? word !== "");
    return { words: words.length, least: args.least ?? 0 };
  },
});

const erase = defineTool({
  name: "erase",
  description: "Erases.",
  parameters: { type: "object", properties: {} },
  isWriteOp: true,
  handler: () => "erased",
});

// B25: a host's own tool is treated differently from ringfence's.
describe("second look B25", () => {
  test(
    "second look B25: arguments, names, hints, data and events are those of any tool",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one two three");
      const kit = createAgentToolkit(ws.writable, { tools: [countWords, erase] });
      const expected = [...WORKSPACE_TOOLS, "count.words", "erase"];
      assert.deepEqual(kit.getAllowedTools(), expected);
      const typed = await kit.tools["count.words"]({ path: "a.txt" });
      const words: number | false = typed.status === "success" && typed.data.words;
      assert.equal(words, 3);
      const events = await published(async () => {
        const sent = '{"path":"a.txt","least":"2","only":"[\\"two\\"]","limit":1}';
        const result = await kit.invoke("count_words", sent, { callId: "c" });
        assert.ok(result.status === "success");
        assert.deepEqual(result.data, { words: 1, least: 2 });
        assert.match(result.hint ?? "", /ignored: limit/);
        const missing = await kit.invoke("count.words", {} as never);
        assert.match(missing.status !== "success" ? missing.message : "", /path is missing/);
        const gone = await kit.invoke("count.words", { path: "none" });
        assert.equal(gone.status !== "success" && gone.error.details.code, "NOT_FOUND");
      });
      const told = events.map(({ event, Path, ErrorCode }) => [event, Path, ErrorCode]);
      assert.deepEqual(told, [
        ["Tool.count.words.Executed", "a.txt", null],
        ["Tool.count.words.Executed", null, "INVALID_ARGUMENT"],
        ["Tool.count.words.Executed", "none", "NOT_FOUND"],
      ]);
    }),
  );

  test(
    "second look B25: policy, scope, approval and location hold for it",
    inWorkspace(async (ws) => {
      const tools = [countWords, erase] as const;
      const readOnly = createAgentToolkit({ ...ws.writable, writeScope: "read-only" }, { tools });
      assert.equal((await readOnly.invoke("erase", {})).status, "denied");
      const policy = {
        tools: { erase: "ask", "count.words": "deny" },
        defaultPolicy: "allow",
      } as const;
      const asked: string[] = [];
      const approve = async ({ name }: { name: string }) => {
        asked.push(name);
        return "deny";
      };
      const gated = createAgentToolkit({ ...ws.writable, policy, approve }, { tools });
      assert.equal((await gated.tools.erase({})).status, "denied");
      assert.equal((await gated.invoke("count.words", { path: "a" })).status, "denied");
      assert.deepEqual(asked, ["erase"]);
      assert.ok(!gated.getAllowedTools().includes("count.words"));
      const without = createAgentToolkit({}, { tools });
      assert.deepEqual(without.getAllowedTools(), ["erase"]);
      assert.deepEqual(await without.tools.erase({}), { status: "success", data: "erased" });
    }),
  );

  test(
    "second look B25: adapters and MCP list it",
    inWorkspace((ws) => {
      const kit = createAgentToolkit(ws.writable, { tools: [countWords] });
      const tools = kit.getToolDescriptions();
      const lists = [
        toOpenAITools({ tools }).map((tool) => tool.function.name),
        toAnthropicTools({ tools }).map(({ name }) => name),
        toMcpTools({ tools }).map(({ name }) => name),
        Object.keys(toAiSdkTools(kit as object as AgentToolkit)),
      ];
      for (const names of lists) {
        assert.deepEqual(names, [...WORKSPACE_TOOLS, "count_words"]);
      }
    }),
  );

  test("second look B25: a value that is no tool is refused by name", () => {
    const own = {
      name: "mine",
      description: "Mine.",
      parameters: { type: "object", properties: {} },
      isWriteOp: false,
      handler: () => 1,
    };
    const argument = (a: unknown) => ({ parameters: { type: "object", properties: { a } } });
    const WRONG: [change: object, said: RegExp][] = [
      [{ name: "" }, /name/],
      [{ name: "two words" }, /name/],
      [{ name: "read_file" }, /name of a tool of ringfence/],
      [{ isWriteOp: undefined }, /mine: isWriteOp/],
      [{ handler: null }, /mine: handler/],
      [{ parameters: { properties: {} } }, /mine: parameters/],
      [{ description: 1 }, /mine: description/],
      [
        argument({ type: ["string", "null"] }),
        /mine: parameters\.properties\.a\.type must be one of/,
      ],
      [argument({ type: "text" }), /mine: parameters\.properties\.a\.type/],
      [argument(null), /mine: parameters\.properties\.a must be an object/],
      [argument(true), /mine: parameters\.properties\.a must be an object/],
      [argument({ pattern: () => 1 }), /mine: parameters must be JSON/],
      [{ parameters: { type: "object", properties: [] } }, /mine: parameters\.properties/],
      [{ parameters: { type: "object", properties: {}, required: [1] } }, /parameters\.required/],
      [{ executionLocation: "x" }, /mine: executionLocation/],
      [{ needsWorkspace: "no" }, /mine: needsWorkspace/],
      [{ isOpenWorld: 1 }, /mine: isOpenWorld/],
      [{ title: 1 }, /mine: title/],
      [{ category: {} }, /mine: category/],
      [{ examples: "a" }, /mine: examples/],
      [{ resultSchema: 5 }, /mine: resultSchema/],
      [{ resultSchema: { type: "object", properties: [] } }, /mine: resultSchema\.properties/],
    ];
    for (const [change, said] of WRONG) {
      assert.throws(
        () => defineTool({ ...own, ...change } as never),
        (error: Error) => error instanceof TypeError && said.test(error.message),
      );
    }
    const absent = { title: null, category: null, executionLocation: null, needsWorkspace: null };
    assert.deepEqual(
      JSON.stringify(defineTool({ ...own, ...absent, resultSchema: null } as never)),
      JSON.stringify(defineTool(own as never)),
    );
    const mine = defineTool(own as never) as never;
    assert.throws(() => createAgentToolkit({}, { tools: [mine, mine] }), /two tools.*"mine"/);
    assert.throws(() => createAgentToolkit({}, { tools: [{}] as never }), /defineTool/);
    const alike = defineTool({ ...own, name: "workspace_read_file" } as never) as never;
    assert.throws(() => createAgentToolkit({}, { tools: [alike] }), /two tools/);
  });
});
