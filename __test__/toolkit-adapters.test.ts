// The tools in the forms of the model APIs, checked against the official packages: their types, their
// validators, and a conversation each as the provider would have it. Contract §8.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type Anthropic from "@anthropic-ai/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  ToolSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { generateText, jsonSchema, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Ajv } from "ajv";
import type OpenAI from "openai";
import {
  type AgentToolkit,
  createAgentToolkit,
  TOOL_DEFINITIONS,
  TOOL_NAMES,
  TOOL_RESULT_SCHEMAS,
  type ToolName,
  toAiSdkTools,
  toAnthropicToolResult,
  toAnthropicTools,
  toMcpToolResult,
  toMcpTools,
  toOpenAIFunctionOutput,
  toOpenAIResponsesTools,
  toOpenAIToolMessage,
  toOpenAITools,
} from "../dist/index.js";
import { memoryStore } from "../dist/stores/index.js";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const PROVIDER_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** A toolkit with every tool, over a workspace with a file. */
function everyTool(ws: TestWorkspace): AgentToolkit {
  ws.write("a.txt", "one\ntwo\n");
  const store = memoryStore({ "a.cs": "class A {}" });
  return createAgentToolkit({ ...ws.writable, space: ws.root, store });
}

describe("OpenAI", () => {
  test("tools have the types of the official package, and names that the API takes", () => {
    const chat: OpenAI.Chat.Completions.ChatCompletionTool[] = toOpenAITools();
    const responses: OpenAI.Responses.Tool[] = toOpenAIResponsesTools({ strict: true });
    assert.equal(chat.length, 4);
    assert.equal(responses.length, 4);
    for (const tool of toOpenAITools()) {
      assert.match(tool.function.name, PROVIDER_NAME);
      assert.equal(tool.function.strict, false);
    }
    const [readFile] = toOpenAITools({ tools: ["read_file"] });
    assert.deepEqual(readFile?.function.parameters, TOOL_DEFINITIONS.read_file.parameters);
  });

  test("strict tools keep to what Structured Outputs take", () => {
    const ajv = new Ajv({ strict: true, allowUnionTypes: true });
    for (const { parameters } of toOpenAIResponsesTools({ strict: true })) {
      ajv.compile(parameters);
      const { properties, required, additionalProperties, ...rest } = parameters as {
        properties: Record<string, { type: unknown }>;
        required: string[];
        additionalProperties: boolean;
      };
      assert.equal(additionalProperties, false);
      assert.deepEqual(required, Object.keys(properties));
      assert.deepEqual(rest, { type: "object" });
      for (const property of Object.values(properties)) {
        assert.deepEqual(Object.keys(property), ["type", "description"]);
      }
    }
    const [readFile] = toOpenAIResponsesTools({ strict: true, tools: ["read_file"] });
    assert.ok(readFile);
    const { properties } = readFile.parameters as {
      properties: Record<string, { type: unknown }>;
    };
    assert.deepEqual(properties.path?.type, "string");
    assert.deepEqual(properties.start_line?.type, ["number", "null"]);
  });

  test(
    "a conversation: calls with JSON text, nulls and numbers as text, and an error",
    inWorkspace(async (ws) => {
      const toolkit = everyTool(ws);
      const calls: OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall[] = [
        ["read_file", '{"path":"a.txt","start_line":"2","max_lines":null}'],
        ["workspace_read_file", '{"path":"a.cs","maxBytes":null}'],
        ["read_file", '{"path":"../secret"}'],
      ].map(([name = "", args = ""], index) => ({
        id: `call_${index}`,
        type: "function",
        function: { name, arguments: args },
      }));
      const messages: OpenAI.Chat.Completions.ChatCompletionToolMessageParam[] = [];
      for (const { id, function: call } of calls) {
        messages.push(toOpenAIToolMessage(id, await toolkit.invoke(call.name, call.arguments)));
      }
      assert.deepEqual(
        messages.map(({ tool_call_id }) => tool_call_id),
        ["call_0", "call_1", "call_2"],
      );
      const [first, second, third] = messages.map(({ content }) => JSON.parse(content as string));
      assert.equal(first.data.content, "two\n");
      assert.equal(second.data.file.content, "class A {}");
      assert.equal(third.error.code, "SANDBOX_VIOLATION");
      const output: OpenAI.Responses.ResponseInputItem.FunctionCallOutput = toOpenAIFunctionOutput(
        "call_0",
        await toolkit.invoke("read_file", { path: "none" }),
      );
      assert.match(output.output as string, /NOT_FOUND/);
    }),
  );
});

describe("Anthropic", () => {
  test("tools have the types of the official package, and names that the API takes", () => {
    const tools: Anthropic.Tool[] = toAnthropicTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["read_file", "workspace_create_file", "workspace_read_file", "read"],
    );
    for (const { name } of tools) assert.match(name, PROVIDER_NAME);
  });

  test(
    "a conversation: a file is created, and not twice",
    inWorkspace(async (ws) => {
      const toolkit = everyTool(ws);
      const use: Pick<Anthropic.ToolUseBlock, "id" | "name" | "input"> = {
        id: "toolu_1",
        name: "workspace_create_file",
        input: { path: "b.txt", content: "b" },
      };
      const results: Anthropic.ToolResultBlockParam[] = [];
      for (let times = 0; times < 2; times += 1) {
        results.push(toAnthropicToolResult(use.id, await toolkit.invoke(use.name, use.input)));
      }
      assert.deepEqual(
        results.map(({ is_error }) => is_error),
        [false, true],
      );
      assert.match(results[1]?.content as string, /FileExists/);
    }),
  );
});

describe("Vercel AI SDK", () => {
  test(
    "generateText calls a tool, and has its result",
    inWorkspace(async (ws) => {
      const tools = toAiSdkTools(everyTool(ws), jsonSchema);
      assert.deepEqual(
        Object.keys(tools).filter((name) => !PROVIDER_NAME.test(name)),
        [],
      );
      const usage = {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      };
      const turns = [
        {
          content: [
            {
              type: "tool-call" as const,
              toolCallId: "1",
              toolName: "workspace_read_file",
              input: '{"path":"a.cs"}',
            },
            {
              type: "tool-call" as const,
              toolCallId: "2",
              toolName: "read_file",
              input: '{"path":"none"}',
            },
          ],
          finishReason: { unified: "tool-calls" as const, raw: undefined },
        },
        {
          content: [{ type: "text" as const, text: "done" }],
          finishReason: { unified: "stop" as const, raw: undefined },
        },
      ];
      const model = new MockLanguageModelV3({
        doGenerate: async () => {
          const turn = turns.shift();
          assert.ok(turn);
          return { ...turn, usage, warnings: [] };
        },
      });
      const { steps, text } = await generateText({
        model,
        tools,
        prompt: "Read it.",
        stopWhen: stepCountIs(2),
      });
      assert.equal(text, "done");
      const outputs = steps[0]?.toolResults.map(({ output }) => output) as Record<string, never>[];
      assert.equal(
        (outputs[0] as { data?: { file?: { content: string } } }).data?.file?.content,
        "class A {}",
      );
      assert.equal((outputs[1] as { status?: string }).status, "failure");
    }),
  );
});

describe("MCP", () => {
  test("tools are tools to the official package", () => {
    for (const tool of toMcpTools()) {
      ToolSchema.parse(tool);
      assert.match(tool.name, PROVIDER_NAME);
    }
    const annotations = Object.fromEntries(
      toMcpTools().map(({ name, annotations }) => [name, annotations.readOnlyHint]),
    );
    assert.deepEqual(annotations, {
      read_file: true,
      workspace_create_file: false,
      workspace_read_file: true,
      read: true,
    });
  });

  test(
    "the official client lists and calls them, and finds that results fit their schemas",
    inWorkspace(async (ws) => {
      const toolkit = everyTool(ws);
      const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: toMcpTools() }));
      server.setRequestHandler(CallToolRequestSchema, async ({ params }) =>
        toMcpToolResult(await toolkit.invoke(params.name, params.arguments)),
      );
      const client = new Client({ name: "c", version: "1" });
      const [mine, yours] = InMemoryTransport.createLinkedPair();
      await Promise.all([server.connect(mine), client.connect(yours)]);
      try {
        assert.equal((await client.listTools()).tools.length, 4);
        const call = (name: string, args: Record<string, unknown>) =>
          client.callTool({ name, arguments: args });
        const window = await call("read_file", { path: "a.txt", max_lines: 1 });
        assert.equal((window.structuredContent as { content: string }).content, "one");
        assert.match(JSON.stringify(window.content), /call read_file with/);
        assert.equal((await call("read", { uri: "file:///a.txt" })).isError, undefined);
        assert.equal((await call("workspace_read_file", { path: "a.cs" })).isError, undefined);
        const made = await call("workspace_create_file", { path: "b.txt", content: "" });
        assert.equal((made.structuredContent as { created: boolean }).created, true);
        const refused = await call("read_file", { path: "../secret" });
        assert.equal(refused.isError, true);
        assert.match(JSON.stringify(refused.content), /SANDBOX_VIOLATION/);
      } finally {
        await client.close();
      }
    }),
  );
});

test(
  "what each tool answers fits its schema, to the last key",
  inWorkspace(async (ws) => {
    const toolkit = everyTool(ws);
    const args: Record<ToolName, Record<string, unknown>> = {
      read_file: { path: "a.txt" },
      workspace_create_file: { path: "b.txt", content: "b" },
      "workspace.read_file": { path: "a.cs" },
      read: { uri: "file:///a.txt" },
    };
    const ajv = new Ajv({ strict: true, allowUnionTypes: true });
    for (const name of TOOL_NAMES) {
      const result = await toolkit.invoke(name as string, args[name]);
      assert.equal(result.status, "success", JSON.stringify(result));
      const validate = ajv.compile(TOOL_RESULT_SCHEMAS[name]);
      assert.ok(validate(result.data), JSON.stringify(validate.errors));
      const data = result.data as Record<string, unknown>;
      assert.deepEqual(Object.keys(data), Object.keys(TOOL_RESULT_SCHEMAS[name].properties));
    }
  }),
);
