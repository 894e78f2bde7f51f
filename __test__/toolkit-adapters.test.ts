// The tools in the forms of the model APIs, checked against the official packages: their types, their
// validators and clients, and a conversation each as the provider would have it. docs/contract.md §8.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  ListToolsRequestSchema,
  ToolSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { asSchema, generateText, jsonSchema, stepCountIs, type ToolSet } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as v5 from "ai-v5";
import { MockLanguageModelV2 } from "ai-v5/test";
import { Ajv } from "ajv";
import OpenAI from "openai";
import { toStrictJsonSchema } from "openai/lib/transform";
import { strictSchema } from "../dist/adapters/openai.js";
import {
  type AgentToolkit,
  type AiSdkTool,
  createAgentToolkit,
  providerName,
  TOOL_DEFINITIONS,
  TOOL_NAMES,
  TOOL_RESULT_SCHEMAS,
  type ToolFailure,
  type ToolName,
  type ToolResult,
  toAiSdkTools,
  toAnthropicToolResult,
  toAnthropicTools,
  toMcpToolResult,
  toMcpTools,
  toOpenAIFunctionOutput,
  toOpenAIToolMessage,
  toOpenAITools,
} from "../dist/index.js";
import { memoryStore } from "../dist/stores/index.js";
import { ALL_TOOLS, READING_TOOLS, WRITING_TOOLS } from "./support/tools.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const PROVIDER_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** A toolkit with every tool, over a workspace with a file. */
function everyTool(ws: TestWorkspace): AgentToolkit {
  ws.write("a.txt", "one\ntwo\n");
  const store = memoryStore({ "a.cs": "class A {}" });
  return createAgentToolkit({ ...ws.writable, space: ws.root, store });
}

/** One that must not write, over a workspace with a link that leads out. */
function guarded(ws: TestWorkspace): AgentToolkit {
  ws.writeOutside("secret.txt");
  ws.link("out.txt", `${ws.outside}/secret.txt`, "file");
  const tools = Object.fromEntries(WRITING_TOOLS.map((name) => [name, "deny" as const]));
  const policy = { tools, defaultPolicy: "allow" } as const;
  return createAgentToolkit({ ...ws.writable, policy });
}

/** What a model asks for, in no provider's form. */
type Call = readonly [name: string, args: Record<string, unknown>];

/** Calls that `guarded` refuses, and the codes that the model is to see. */
const REFUSED: [what: string, call: Call, code: string, domain: string | null][] = [
  ["a missing file", ["read_file", { path: "none" }], "RUNTIME_ERROR", "NOT_FOUND"],
  [
    "a path that leaves",
    ["read_file", { path: "../secret.txt" }],
    "SANDBOX_VIOLATION",
    "SANDBOX_VIOLATION",
  ],
  ["a link out", ["read_file", { path: "out.txt" }], "SANDBOX_VIOLATION", "SANDBOX_VIOLATION"],
  [
    "a tool that the policy denies",
    ["workspace_create_file", { path: "b.txt", content: "" }],
    "POLICY_DENIED",
    "WriteFailed",
  ],
];

/** What reached the model of each of `REFUSED` is the refusal, and nothing from outside. */
function assertRefused(ws: TestWorkspace, texts: readonly unknown[]): void {
  assert.equal(texts.length, REFUSED.length);
  for (const [index, [what, , code, domain]] of REFUSED.entries()) {
    const text = texts[index];
    assert.ok(typeof text === "string", what);
    for (const hidden of [...ws.hidden, "the secret"]) assert.ok(!text.includes(hidden), what);
    const { error } = JSON.parse(text) as ToolFailure;
    assert.equal(error.code, code, what);
    assert.equal(error.details.code, domain, what);
  }
}

/** What an official client has for a network: a server that answers by a script. */
function scripted(...replies: unknown[]) {
  const sent: Record<string, unknown>[] = [];
  const fetch = async (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    sent.push(JSON.parse(String(init?.body)) as Record<string, unknown>);
    return Response.json(replies.shift());
  };
  return { sent, options: { apiKey: "none", maxRetries: 0, fetch } };
}

describe("OpenAI", () => {
  test("tools have the types of the official package, and names that the API takes", () => {
    const chat: OpenAI.Chat.Completions.ChatCompletionTool[] = toOpenAITools();
    const alike: OpenAI.Chat.Completions.ChatCompletionTool[] = toOpenAITools({ api: "chat" });
    const responses: OpenAI.Responses.Tool[] = toOpenAITools({ api: "responses", strict: true });
    assert.equal(chat.length, ALL_TOOLS.length);
    assert.deepEqual(alike, chat);
    assert.equal(responses.length, ALL_TOOLS.length);
    for (const tool of toOpenAITools()) {
      assert.match(tool.function.name, PROVIDER_NAME);
      assert.ok(!("strict" in tool.function));
    }
    const [readFile] = toOpenAITools({ tools: ["read_file"] });
    assert.deepEqual(readFile?.function.parameters, TOOL_DEFINITIONS.read_file.parameters);
  });

  test("strict tools use only keywords of Structured Outputs", () => {
    const ajv = new Ajv({ strict: true, allowUnionTypes: true });
    for (const { parameters, strict } of toOpenAITools({ api: "responses", strict: true })) {
      assert.equal(strict, true);
      ajv.compile(parameters);
      // The official package refuses what is optional, and finds nothing that it would change.
      assert.deepEqual(toStrictJsonSchema(parameters), parameters);
      const { properties, required, additionalProperties, ...rest } = parameters as {
        properties: Record<string, { type: unknown }>;
        required: string[];
        additionalProperties: boolean;
      };
      assert.equal(additionalProperties, false);
      assert.deepEqual(required, Object.keys(properties));
      assert.deepEqual(rest, { type: "object" });
      for (const property of Object.values(properties)) {
        const [type, description, ...values] = Object.keys(property);
        assert.deepEqual([type, description], ["type", "description"]);
        assert.ok(
          values.every((key) => key === "items" || key === "enum"),
          String(values),
        );
      }
    }
    const [readFile] = toOpenAITools({ api: "responses", strict: true, tools: ["read_file"] });
    assert.ok(readFile);
    const { properties } = readFile.parameters as {
      properties: Record<string, { type: unknown }>;
    };
    assert.deepEqual(properties.path?.type, "string");
    assert.deepEqual(properties.start_line?.type, ["number", "null"]);
  });

  test("strict schemas are strict at every level", () => {
    const nested = {
      type: "object",
      properties: { a: { type: "integer", minimum: 1, default: 2 } },
    } as const;
    const strict = { type: ["integer", "null"] };
    assert.deepEqual(
      strictSchema({ type: "object", properties: { nested }, required: ["nested"] }),
      {
        type: "object",
        properties: {
          nested: {
            type: "object",
            properties: { a: strict },
            required: ["a"],
            additionalProperties: false,
          },
        },
        required: ["nested"],
        additionalProperties: false,
      },
    );
  });

  /** A turn of Chat Completions by the official client; returns what it sends back for the calls. */
  async function chat(toolkit: AgentToolkit, calls: readonly (readonly [string, string])[]) {
    const tool_calls = calls.map(([name, args], index) => ({
      id: `call_${index}`,
      type: "function",
      function: { name, arguments: args },
    }));
    const said = (message: object) => ({ choices: [{ index: 0, message }] });
    const { sent, options } = scripted(
      said({ role: "assistant", content: null, tool_calls }),
      said({ role: "assistant", content: "done" }),
    );
    const client = new OpenAI(options);
    const tools = toOpenAITools({ strict: true });
    const messages: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = [
      { role: "user", content: "Read it." },
    ];
    const turn = await client.chat.completions.create({ model: "none", messages, tools });
    const [choice] = turn.choices;
    assert.ok(choice);
    messages.push(choice.message);
    for (const call of choice.message.tool_calls ?? []) {
      assert.ok(call.type === "function");
      const result = await toolkit.invoke(call.function.name, call.function.arguments);
      messages.push(toOpenAIToolMessage(call.id, result));
    }
    await client.chat.completions.create({ model: "none", messages, tools });
    const answers = (sent[1] as { messages: Record<string, unknown>[] }).messages.slice(2);
    for (const [index, { role, tool_call_id }] of answers.entries()) {
      assert.deepEqual([role, tool_call_id], ["tool", `call_${index}`]);
    }
    return answers.map(({ content }) => content);
  }

  /** The same of Responses. */
  async function respond(toolkit: AgentToolkit, calls: readonly (readonly [string, string])[]) {
    const output = calls.map(([name, args], index) => ({
      type: "function_call",
      id: `fc_${index}`,
      call_id: `call_${index}`,
      name,
      arguments: args,
    }));
    const { sent, options } = scripted({ object: "response", output }, { output: [] });
    const client = new OpenAI(options);
    const tools = toOpenAITools({ api: "responses", strict: true });
    const turn = await client.responses.create({ model: "none", input: "Read it.", tools });
    const input: OpenAI.Responses.ResponseInputItem[] = [];
    for (const item of turn.output) {
      assert.ok(item.type === "function_call");
      const result = await toolkit.invoke(item.name, item.arguments);
      input.push(item, toOpenAIFunctionOutput(item.call_id, result));
    }
    await client.responses.create({ model: "none", input, tools });
    const items = sent[1]?.input as Record<string, unknown>[];
    const answers = items.filter(({ type }) => type === "function_call_output");
    for (const [index, { call_id }] of answers.entries()) assert.equal(call_id, `call_${index}`);
    return answers.map(({ output: text }) => text);
  }

  for (const [api, converse] of Object.entries({ "Chat Completions": chat, Responses: respond })) {
    test(
      `a conversation in ${api}: JSON text with nulls and with numbers as text`,
      inWorkspace(async (ws) => {
        const texts = await converse(everyTool(ws), [
          ["read_file", '{"path":"a.txt","start_line":"2","max_lines":null}'],
          ["read_file", '{"path":"a.txt","start_line":null,"max_lines":"10"}'],
          ["workspace_read_file", '{"path":"a.cs","maxBytes":null}'],
          ["workspace_create_file", '{"path":"b.txt","content":"b","overwrite":null}'],
        ]);
        const data = texts.map((text) => JSON.parse(text as string).data);
        assert.equal(data[0].content, "two\n");
        assert.equal(data[1].content, "one\ntwo\n");
        assert.equal(data[2].file.content, "class A {}");
        assert.equal(data[3].created, true);
      }),
    );

    test(
      `a conversation in ${api}: refused calls`,
      inWorkspace(async (ws) => {
        const calls = REFUSED.map(([, [name, args]]) => [name, JSON.stringify(args)] as const);
        assertRefused(ws, await converse(guarded(ws), calls));
      }),
    );
  }
});

describe("Anthropic", () => {
  test("tools have the types of the official package, and names that the API takes", () => {
    const tools: Anthropic.Tool[] = toAnthropicTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ALL_TOOLS.map((name) => name.replaceAll(".", "_")),
    );
    for (const { name } of tools) assert.match(name, PROVIDER_NAME);
  });

  /** A turn of Messages by the official client; returns what it sends back for the calls. */
  async function converse(toolkit: AgentToolkit, calls: readonly Call[]) {
    const content = calls.map(([name, input], index) => {
      return { type: "tool_use", id: `toolu_${index}`, name, input };
    });
    const { sent, options } = scripted({ role: "assistant", content }, { content: [] });
    const client = new Anthropic(options);
    const common = { model: "none", max_tokens: 9, tools: toAnthropicTools() };
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Read it." }];
    const turn = await client.messages.create({ ...common, messages });
    const results: Anthropic.ToolResultBlockParam[] = [];
    for (const block of turn.content) {
      assert.ok(block.type === "tool_use");
      results.push(toAnthropicToolResult(block.id, await toolkit.invoke(block.name, block.input)));
    }
    messages.push({ role: "assistant", content: turn.content }, { role: "user", content: results });
    await client.messages.create({ ...common, messages });
    const last = (sent[1] as { messages: { content: Record<string, unknown>[] }[] }).messages.at(
      -1,
    );
    for (const [index, { type, tool_use_id }] of (last?.content ?? []).entries()) {
      assert.deepEqual([type, tool_use_id], ["tool_result", `toolu_${index}`]);
    }
    return last?.content ?? [];
  }

  test(
    "a conversation: a file is created, and not twice",
    inWorkspace(async (ws) => {
      const create = ["workspace_create_file", { path: "b.txt", content: "b" }] as const;
      const results = await converse(everyTool(ws), [create, create]);
      assert.deepEqual(
        results.map(({ is_error }) => is_error),
        [false, true],
      );
      assert.match(results[1]?.content as string, /FileExists/);
    }),
  );

  test(
    "a conversation: refused calls",
    inWorkspace(async (ws) => {
      const results = await converse(
        guarded(ws),
        REFUSED.map(([, call]) => call),
      );
      for (const { is_error } of results) assert.equal(is_error, true);
      assertRefused(
        ws,
        results.map(({ content }) => content),
      );
    }),
  );
});

describe("Vercel AI SDK", () => {
  type Steps = readonly { toolResults: readonly { output: unknown }[] }[];

  const turnsOf = (calls: readonly Call[]) => ({
    calls: calls.map(([toolName, args], index) => {
      const input = JSON.stringify(args);
      return { type: "tool-call" as const, toolCallId: `${index}`, toolName, input };
    }),
    text: [{ type: "text" as const, text: "done" }],
  });

  /** What each version gives the model for its calls. */
  const VERSIONS: Record<string, (kit: AgentToolkit, calls: readonly Call[]) => Promise<Steps>> = {
    async "version 5"(toolkit, calls) {
      const turns = turnsOf(calls);
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      const rest = { usage, warnings: [] };
      let times = 0;
      const model = new MockLanguageModelV2({
        doGenerate: async () =>
          times++ === 0
            ? { content: turns.calls, finishReason: "tool-calls", ...rest }
            : { content: turns.text, finishReason: "stop", ...rest },
      });
      const tools: v5.ToolSet = toAiSdkTools(toolkit);
      const stopWhen = v5.stepCountIs(2);
      const { steps, text } = await v5.generateText({ model, tools, prompt: "Read it.", stopWhen });
      assert.equal(text, "done");
      return steps;
    },
    async "version 6"(toolkit, calls) {
      const turns = turnsOf(calls);
      const usage = {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      };
      const rest = { usage, warnings: [] };
      const reason = <Unified>(unified: Unified) => ({ unified, raw: undefined });
      let times = 0;
      const model = new MockLanguageModelV3({
        doGenerate: async () =>
          times++ === 0
            ? { content: turns.calls, finishReason: reason("tool-calls" as const), ...rest }
            : { content: turns.text, finishReason: reason("stop" as const), ...rest },
      });
      const tools: ToolSet = toAiSdkTools(toolkit);
      const stopWhen = stepCountIs(2);
      const { steps, text } = await generateText({ model, tools, prompt: "Read it.", stopWhen });
      assert.equal(text, "done");
      return steps;
    },
  };

  const outputsOf = (steps: Steps) =>
    (steps[0]?.toolResults ?? []).map(({ output }) => output as ToolResult);

  test(
    "schemas equal those of jsonSchema of the package",
    inWorkspace((ws) => {
      const tools: Record<string, AiSdkTool> = toAiSdkTools(everyTool(ws));
      assert.deepEqual(Object.keys(tools), TOOL_NAMES.map(providerName));
      for (const name of TOOL_NAMES) {
        const { parameters } = TOOL_DEFINITIONS[name];
        const tool = tools[providerName(name)];
        assert.ok(tool);
        // The same object, that is: neither version had to make a schema of something else.
        assert.equal(asSchema(tool.inputSchema), tool.inputSchema);
        assert.equal(v5.asSchema(tool.inputSchema), tool.inputSchema);
        const made = jsonSchema(structuredClone(parameters) as never);
        assert.deepEqual(asSchema(tool.inputSchema).jsonSchema, made.jsonSchema);
      }
    }),
  );

  test(
    "lists the allowed tools, or the selected ones",
    inWorkspace((ws) => {
      const toolkit = guarded(ws);
      assert.deepEqual(Object.keys(toAiSdkTools(toolkit)), READING_TOOLS);
      assert.deepEqual(Object.keys(toAiSdkTools(toolkit, { tools: ["read"] })), ["read"]);
    }),
  );

  test(
    "an aborted run rejects with the reason",
    inWorkspace(async (ws) => {
      const reason = new Error("enough");
      const abortSignal = AbortSignal.abort(reason);
      const run = toAiSdkTools(everyTool(ws)).read_file?.execute(
        { path: "a.txt" },
        { abortSignal },
      );
      await assert.rejects(run ?? Promise.resolve(), (thrown) => thrown === reason);
    }),
  );

  for (const [version, converse] of Object.entries(VERSIONS)) {
    test(
      `a conversation in ${version}: nulls and numbers as text`,
      inWorkspace(async (ws) => {
        const steps = await converse(everyTool(ws), [
          ["workspace_read_file", { path: "a.cs", maxBytes: null }],
          ["read_file", { path: "a.txt", start_line: "2", max_lines: "10" }],
        ]);
        const [source, window] = outputsOf(steps).map((output) => {
          assert.equal(output.status, "success");
          return output.data as { file: { content: string }; content: string };
        });
        assert.equal(source?.file.content, "class A {}");
        assert.equal(window?.content, "two\n");
      }),
    );

    test(
      `a conversation in ${version}: refused calls`,
      inWorkspace(async (ws) => {
        const toolkit = guarded(ws);
        // A host that offers what its policy denies: the toolkit's list would not.
        const offering = { ...toolkit, getAllowedTools: () => [...TOOL_NAMES] };
        const steps = await converse(
          offering,
          REFUSED.map(([, call]) => call),
        );
        assertRefused(
          ws,
          outputsOf(steps).map((output) => JSON.stringify(output)),
        );
      }),
    );
  }
});

describe("MCP", () => {
  test("tools are tools to the official package", () => {
    for (const tool of toMcpTools()) {
      ToolSchema.parse(tool);
      assert.match(tool.name, PROVIDER_NAME);
    }
    const hints = Object.fromEntries(
      toMcpTools().map(({ name, annotations }) => [
        name,
        Object.entries(annotations).flatMap(([hint, given]) => (given === true ? [hint] : [])),
      ]),
    );
    assert.deepEqual(hints, {
      read_file: ["readOnlyHint", "idempotentHint"],
      read_files: ["readOnlyHint", "idempotentHint"],
      workspace_create_file: ["destructiveHint", "idempotentHint"],
      edit_file: ["destructiveHint"],
      apply_patch: ["destructiveHint"],
      move_file: ["destructiveHint", "idempotentHint"],
      delete_file: ["destructiveHint", "idempotentHint"],
      workspace_read_file: ["readOnlyHint", "idempotentHint"],
      read: ["readOnlyHint", "idempotentHint", "openWorldHint"],
      regexp_search: ["readOnlyHint", "idempotentHint"],
      find_files: ["readOnlyHint", "idempotentHint"],
      tree: ["readOnlyHint", "idempotentHint"],
    });
    assert.deepEqual(toMcpTools({ tools: [] }), []);
  });

  type CallTool = (
    ...call: Call
  ) => Promise<{ content: unknown; structuredContent?: unknown; isError?: boolean | undefined }>;

  /** The official client and server, joined; the client has listed the tools and so knows their schemas. */
  async function connected(toolkit: AgentToolkit, body: (call: CallTool) => Promise<void>) {
    const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: toMcpTools() }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) =>
      toMcpToolResult(await toolkit.invoke(params.name, params.arguments)),
    );
    const client = new Client({ name: "c", version: "1" });
    const [mine, yours] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(mine), client.connect(yours)]);
    try {
      assert.equal((await client.listTools()).tools.length, ALL_TOOLS.length);
      await body(async (name, args) =>
        CallToolResultSchema.parse(await client.callTool({ name, arguments: args })),
      );
    } finally {
      await client.close();
    }
  }

  test(
    "the official client lists and calls them, and finds that results fit their schemas",
    inWorkspace(async (ws) => {
      await connected(everyTool(ws), async (call) => {
        const window = await call("read_file", { path: "a.txt", max_lines: 1 });
        assert.equal((window.structuredContent as { content: string }).content, "one");
        assert.match(JSON.stringify(window.content), /call read_file with/);
        assert.equal((await call("read", { uri: "file:///a.txt" })).isError, undefined);
        assert.equal((await call("workspace_read_file", { path: "a.cs" })).isError, undefined);
        const made = await call("workspace_create_file", { path: "b.txt", content: "" });
        assert.equal((made.structuredContent as { created: boolean }).created, true);
      });
    }),
  );

  test(
    "the official client takes refusals for errors",
    inWorkspace(async (ws) => {
      await connected(guarded(ws), async (call) => {
        const texts: unknown[] = [];
        for (const [, asked] of REFUSED) {
          const { content, isError, ...rest } = await call(...asked);
          assert.equal(isError, true);
          assert.deepEqual(Object.keys(rest), []);
          texts.push((content as { text: string }[])[0]?.text);
        }
        assertRefused(ws, texts);
      });
    }),
  );
});

test(
  "the answer of each tool fits its schema, to the last key",
  inWorkspace(async (ws) => {
    const toolkit = everyTool(ws);
    ws.write("gone.txt", "");
    const args: Record<ToolName, Record<string, unknown>> = {
      read_file: { path: "a.txt" },
      read_files: { files: ["a.txt", "none"] },
      workspace_create_file: { path: "b.txt", content: "b" },
      edit_file: { path: "b.txt", old_string: "b", new_string: "c" },
      apply_patch: { patch: "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-c\n+d\n" },
      move_file: { path: "b.txt", to: "c.txt" },
      delete_file: { path: "gone.txt" },
      "workspace.read_file": { path: "a.cs" },
      read: { uri: "file:///a.txt" },
      regexp_search: { pattern: "o", max_results: 1 },
      find_files: { patterns: ["*"], max_results: 1 },
      tree: { entry_kind: "all" },
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

test(
  "schemas allow null and optional keys, and refuse answers without a required key",
  inWorkspace(async (ws) => {
    ws.write("latin1.txt", new Uint8Array([0x61, 0xe9, 0x0a, 0x62]));
    const toolkit = createAgentToolkit({ ...ws.writable, invalidUtf8: "replace" });
    const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(
      TOOL_RESULT_SCHEMAS.read_file,
    );
    for (const max_lines of [1, 2]) {
      const result = await toolkit.invoke("read_file", { path: "latin1.txt", max_lines });
      assert.equal(result.status, "success");
      const { data } = result;
      assert.ok(validate(data), JSON.stringify(validate.errors));
      assert.equal(data.next_start_line, max_lines === 1 ? 2 : null);
      assert.equal(data.meta.replaced_count, 1);
      for (const key of Object.keys(data)) {
        assert.ok(!validate({ ...data, [key]: undefined }), key);
      }
    }
  }),
);
