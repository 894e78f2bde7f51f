// `ringfence/definitions` suffices for a server that advertises tools and reads calls, as ES module and as
// CommonJS. Adapters refuse unknown tools, and take a host's own names and descriptions.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { builtinModules, createRequire } from "node:module";
import path from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import vm from "node:vm";
import { generateText, type InferToolInput, type InferToolOutput, type ToolSet } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import type * as v5 from "ai-v5";
import { build } from "esbuild";
import { strictSchema } from "../dist/adapters/openai.js";
import * as definitions from "../dist/definitions/index.js";
import { createAgentToolkit, defineTool, type ToolName, toAiSdkTools } from "../dist/index.js";
import { ROOT } from "./support/program.ts";
import { ALL_TOOLS, WORKSPACE_TOOLS } from "./support/tools.ts";
import { inWorkspace } from "./support/workspace.ts";

const {
  readArguments,
  TOOL_DESCRIPTIONS,
  TOOL_NAMES,
  toAnthropicTools,
  toMcpTools,
  toolNamed,
  toOpenAITools,
} = definitions;

// B18: `strict` is left out unless it was asked for, because some servers refuse unknown keys.
describe("second look B18: strict", () => {
  test("second look B18: is left out of tools unless it was asked for", () => {
    for (const options of [undefined, {}, { strict: null }, { tools: ["read"] as const }]) {
      for (const tool of toOpenAITools(options)) {
        assert.deepEqual(Object.keys(tool.function), ["name", "description", "parameters"]);
      }
      for (const tool of toOpenAITools({ ...options, api: "responses" })) {
        assert.deepEqual(Object.keys(tool), ["type", "name", "description", "parameters"]);
      }
    }
    for (const strict of [true, false]) {
      for (const tool of toOpenAITools({ strict })) assert.equal(tool.function.strict, strict);
      for (const tool of toOpenAITools({ strict, api: "responses" })) {
        assert.equal(tool.strict, strict);
      }
    }
  });

  test("second look B18: a property of Object.prototype is no option", () => {
    const prototype = Object.prototype as Record<string, unknown>;
    Object.assign(prototype, { strict: true, tools: ["read"], descriptions: { read: "hm" } });
    try {
      const tools = toOpenAITools({});
      assert.equal(tools.length, TOOL_NAMES.length);
      assert.ok(tools.every((tool) => !Object.hasOwn(tool.function, "strict")));
      assert.equal(
        toAnthropicTools({})[ALL_TOOLS.indexOf("read")]?.description,
        TOOL_DESCRIPTIONS.read.definition.description,
      );
    } finally {
      for (const key of ["strict", "tools", "descriptions"]) delete prototype[key];
    }
  });

  test("second look B18: strict schemas of a host's own tools keep their lists, choices and values", () => {
    const schema = {
      type: "object",
      properties: {
        kinds: { type: "array", items: { type: "object", properties: { a: { type: "string" } } } },
        mode: { type: "string", enum: ["r", "w"] },
        any: { anyOf: [{ type: "string" }, { type: "integer", minimum: 1 }] },
        free: { type: "object" },
      },
      required: ["kinds"],
    } as const;
    assert.deepEqual(strictSchema(schema), {
      type: "object",
      properties: {
        kinds: {
          type: "array",
          items: {
            type: "object",
            properties: { a: { type: ["string", "null"] } },
            required: ["a"],
            additionalProperties: false,
          },
        },
        mode: { type: ["string", "null"], enum: ["r", "w", null] },
        any: { anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] },
        free: {
          type: ["object", "null"],
          properties: {},
          required: [],
          additionalProperties: false,
        },
      },
      required: ["kinds", "mode", "any", "free"],
      additionalProperties: false,
    });
  });
});

// B19, H11: a server that only advertises and forwards tools loads no native code.
describe("second look B19: definitions without native code", () => {
  /** Runs a program in which no addon can be loaded. */
  function run(source: string): string {
    const program = `
      const { Module } = require("node:module");
      const load = Module._load;
      Module._load = (request, ...rest) => {
        if (/\\.node$|^ringfence$/.test(request)) throw new Error("native code: " + request);
        return load(request, ...rest);
      };
      process.dlopen = () => { throw new Error("native code"); };
      const definitions = require(${JSON.stringify(path.join(ROOT, "dist/definitions/index.js"))});
      ${source}`;
    const { stdout, stderr, status } = spawnSync(process.execPath, ["-e", program], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    return stdout;
  }

  test("second look B19: adapters, names and argument checks work where no addon can be loaded", () => {
    const printed = run(`
      const { toOpenAITools, toAnthropicTools, toMcpTools, toAiSdkTools, ...rest } = definitions;
      const { TOOL_DESCRIPTIONS, toolNamed, readArguments, providerName, toMcpToolResult } = rest;
      const kit = {
        tools: {},
        getAllowedTools: () => Object.keys(TOOL_DESCRIPTIONS),
        getToolDescriptions: () => Object.values(TOOL_DESCRIPTIONS),
        invoke: async (name) => ({ status: "success", data: name }),
      };
      console.log(JSON.stringify([
        toOpenAITools().length, toAnthropicTools().length, toMcpTools().length,
        Object.keys(toAiSdkTools(kit)).length,
        toolNamed("functions.workspace_read_file"), providerName("workspace.read_file"),
        readArguments("read_file", '{"path":"a","max_lines":"10"}').args,
        readArguments("workspace_create_file", { path: "a" }).repair,
        toMcpToolResult({ status: "success", data: "a" }).content[0].text,
      ]));`);
    const [openai, anthropic, mcp, ai, named, provider, args, repair, text] = JSON.parse(printed);
    const all = ALL_TOOLS.length;
    assert.deepEqual([openai, anthropic, mcp, ai], [all, all, all, all]);
    assert.deepEqual([named, provider], ["workspace.read_file", "workspace_read_file"]);
    assert.deepEqual(args, { path: "a", max_lines: 10 });
    assert.match(repair, /content is missing; send for example/);
    assert.equal(text, "a");
  });

  test("second look B19: arguments are checked by a tool's name or its description, and unknown names refused", () => {
    const own = {
      definition: {
        name: "own",
        description: "",
        parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      },
    } as never;
    const read = readArguments(own, { n: "7", m: 1 });
    assert.ok(read.ok);
    assert.deepEqual([read.args.n, read.ignored], [7, "own takes n; ignored: m."]);
    const refused = readArguments("read", {});
    assert.ok(!refused.ok && refused.argument === "uri");
    assert.throws(() => readArguments("no_such" as ToolName, {}), /no tool "no_such"/);
    assert.throws(() => readArguments("__proto__" as ToolName, {}), TypeError);
    assert.equal(toolNamed("rm"), null);
  });

  test("second look B19: each tool that is not for files by their paths has a text on its usage", () => {
    const { READ_SOURCE_USAGE_GUIDANCE, READ_USAGE_GUIDANCE } = definitions;
    assert.match(READ_SOURCE_USAGE_GUIDANCE, /`workspace\.read_file`/);
    assert.match(READ_SOURCE_USAGE_GUIDANCE, /DocPath.*ChunkPath.*ALREADY_IN_CONTEXT.*NOT_FOUND/s);
    assert.match(READ_USAGE_GUIDANCE, /file:\/\/\/assets\/brand\.md.*file:notes\/project-a\.md/s);
    for (const text of [READ_SOURCE_USAGE_GUIDANCE, READ_USAGE_GUIDANCE]) {
      assert.doesNotMatch(text, /TUL-|LLM/);
    }
  });
});

describe("second look H11: ES modules beside CommonJS", () => {
  const { exports } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));

  for (const entry of ["definitions", "stores"]) {
    test(`second look H11: ringfence/${entry} has the same exports as an ES module`, async () => {
      const { import: esm, default: commonJs, types } = exports[`./${entry}`];
      const named = await import(pathToFileURL(path.join(ROOT, esm.default)).href);
      const whole = createRequire(import.meta.url)(path.join(ROOT, commonJs));
      assert.deepEqual(Object.keys(named).sort(), Object.keys(whole).sort());
      for (const file of [esm.types, types]) assert.ok(fs.existsSync(path.join(ROOT, file)), file);
    });

    test(`second look H11: ringfence/${entry} as an ES module requires nothing`, () => {
      const text = fs.readFileSync(path.join(ROOT, exports[`./${entry}`].import.default), "utf8");
      assert.doesNotMatch(text, /__require|\brequire\(|__commonJS/);
      const imported = [...text.matchAll(/^import .* from "([^"]+)"/gm)].map(([, name]) => name);
      for (const name of imported)
        assert.ok(builtinModules.includes(`${name}`.slice(5)), `${name}`);
      if (entry === "definitions") assert.deepEqual(imported, []);
    });
  }

  for (const conditions of [["edge-light"], ["worker", "workerd"], ["browser"]]) {
    test(`second look H11: bundled as an ES module for ${conditions}, the definitions run without Node`, async () => {
      const { outputFiles } = await build({
        stdin: {
          contents: `import { toOpenAITools, readArguments, publishForwarded } from "./dist/definitions/index.mjs";
            publishForwarded({ toolName: "read_file", path: "a" });
            globalThis.told = JSON.stringify([toOpenAITools().length, readArguments("read", "{}").ok]);`,
          resolveDir: ROOT,
        },
        bundle: true,
        platform: "browser",
        conditions,
        format: "esm",
        write: false,
        logLevel: "silent",
      });
      const text = outputFiles[0]?.text ?? "";
      assert.doesNotMatch(text, /["']node:(?!diagnostics_channel)|Dynamic require/);
      const context = vm.createContext({ structuredClone });
      vm.runInContext(text, context);
      assert.equal(vm.runInContext("told", context), `[${ALL_TOOLS.length},false]`);
    });
  }
});

// B24: a name that is misspelt leaves out a tool that the host wanted, or lets in one that it did not.
describe("second look B24: names of unknown tools", () => {
  const UNKNOWN: unknown[] = ["no_such", "readFile", "workspace_read_file", "", "__proto__"];
  UNKNOWN.push(null, 5, {}, { definition: {} }, { definition: { name: 5 } });

  test("second look B24: each adapter refuses them, and names them", () => {
    for (const wrong of UNKNOWN) {
      const tools = ["read_file", wrong] as never;
      const said = typeof wrong === "string" ? JSON.stringify(wrong) : "a value of type";
      for (const list of [toOpenAITools, toAnthropicTools, toMcpTools]) {
        assert.throws(
          () => list({ tools }),
          (error: Error) => error instanceof TypeError && error.message.includes(said),
        );
      }
    }
  });

  test("second look B24: an option tools that is no array is refused, and the error says what to give", () => {
    const toolkit = createAgentToolkit({ fetch: async () => new Response() });
    const said = { name: "TypeError", message: /^tools must .* toolkit\.getToolDescriptions\(\)/ };
    const descriptions = toolkit.getToolDescriptions();
    const wrong = [
      { tools: "read_file" },
      { tools: {} },
      { tools: 5 },
      toolkit,
      "read",
      descriptions,
    ];
    for (const given of wrong) {
      for (const list of [toOpenAITools, toAnthropicTools, toMcpTools]) {
        assert.throws(() => list(given as never), said);
      }
      assert.throws(() => toAiSdkTools(toolkit, given as never), said);
    }
    toolkit.close();
  });

  test(
    "second look B24: the AI SDK's tools, too, and in every option that has names for its keys",
    inWorkspace((ws) => {
      const toolkit = createAgentToolkit(ws.writable);
      const wrong = [
        { tools: ["no_such"] },
        { names: { no_such: "a" } },
        { needsApproval: { no_such: true } },
        { descriptions: { no_such: "a" } },
        { names: { read_file: "a b" } },
        { names: { read_file: "" } },
        { names: { read_file: "workspace_create_file" } },
        { descriptions: { read_file: 5 } },
      ];
      for (const options of wrong) {
        assert.throws(
          () => toAiSdkTools(toolkit, options as never),
          TypeError,
          JSON.stringify(options),
        );
      }
      // Words for a tool that is left out do no harm.
      const one = {
        tools: ["read_file"],
        names: { read: "r" },
        descriptions: { read: "r" },
      } as const;
      assert.deepEqual(Object.keys(toAiSdkTools(toolkit, one)), ["read_file"]);
    }),
  );

  test("second look B24: types refuse them", () => {
    // @ts-expect-error there is no such tool
    assert.throws(() => toOpenAITools({ tools: ["read_file", "no_such"] }));
    // @ts-expect-error there is no such tool
    assert.throws(() => toMcpTools({ tools: ["readFile"] }));
  });

  test("second look B24: a tool that is listed twice is there once, in the order of the definitions", () => {
    const { read, read_file } = TOOL_DESCRIPTIONS;
    const tools = toOpenAITools({ tools: ["read", read_file, "read_file", read] });
    assert.deepEqual(
      tools.map((tool) => tool.function.name),
      ["read_file", "read"],
    );
  });
});

// B26: what a host says of tools, and what the types know of them.
describe("second look B26: a host's own words, and types", () => {
  const measure = defineTool({
    name: "text.measure",
    description: "Measures a text.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    isWriteOp: false,
    handler: (_context, { text }: { text: string }) => ({ length: text.length }),
  });

  test("second look B26: a description is replaced for every provider, and the definitions stay", () => {
    const descriptions = { read_file: "Reads." };
    const told = [
      toOpenAITools({ descriptions })[0]?.function.description,
      toOpenAITools({ descriptions, api: "responses" })[0]?.description,
      toAnthropicTools({ descriptions })[0]?.description,
      toMcpTools({ descriptions })[0]?.description,
    ];
    assert.deepEqual(told, ["Reads.", "Reads.", "Reads.", "Reads."]);
    assert.notEqual(TOOL_DESCRIPTIONS.read_file.definition.description, "Reads.");
    assert.notEqual(toOpenAITools()[0]?.function.description, "Reads.");
  });

  test(
    "second look B26: the AI SDK's tools are renamed, described anew and held back for approval",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      const toolkit = createAgentToolkit(ws.writable, { tools: [measure] });
      const asked: unknown[] = [];
      const tools = toAiSdkTools(toolkit, {
        names: { read_file: "open", "text.measure": "len" },
        descriptions: { read_file: "Opens.", "text.measure": "Length." },
        needsApproval: {
          workspace_create_file: true,
          read_file: (input) => {
            asked.push(input);
            return false;
          },
        },
      });
      assert.deepEqual(Object.keys(tools), ["open", ...WORKSPACE_TOOLS.slice(1), "len"]);
      assert.equal(tools.open.description, "Opens.");
      assert.equal(tools.len.description, "Length.");
      assert.equal(tools.workspace_create_file.needsApproval, true);
      assert.ok(!("needsApproval" in tools.len));

      const read = await tools.open.execute({ path: "a.txt" });
      assert.ok(read.status === "success");
      const content: string = read.data.content;
      assert.equal(content, "one\n");
      const length = await tools.len.execute({ text: "abc" });
      assert.ok(length.status === "success");
      const number: number = length.data.length;
      assert.equal(number, 3);

      const calls = [
        { toolName: "open", input: { path: "a.txt" } },
        { toolName: "workspace_create_file", input: { path: "b.txt", content: "b" } },
      ].map(({ toolName, input }, index) => ({
        type: "tool-call" as const,
        toolCallId: `${index}`,
        toolName,
        input: JSON.stringify(input),
      }));
      const model = new MockLanguageModelV3({
        doGenerate: async () => ({
          content: calls,
          finishReason: { unified: "tool-calls" as const, raw: undefined },
          usage: {
            inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: 1, text: 1, reasoning: 0 },
          },
          warnings: [],
        }),
      });
      const { content: parts } = await generateText({ model, tools, prompt: "Read it." });
      const kinds = parts.map(({ type }) => type);
      assert.ok(
        kinds.includes("tool-result") && kinds.includes("tool-approval-request"),
        `${kinds}`,
      );
      assert.deepEqual(asked, [{ path: "a.txt" }]);
      assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"], "nothing is written unapproved");
    }),
  );

  test(
    "second look B26: types keep each tool's input and output",
    inWorkspace(async (ws) => {
      const toolkit = createAgentToolkit(ws.writable, { tools: [measure] });
      const tools = toAiSdkTools(toolkit);
      const asSet: [ToolSet, v5.ToolSet] = [tools, tools];
      assert.equal(asSet.length, 2);
      type Input = InferToolInput<(typeof tools)["read_file"]>;
      type Output = InferToolOutput<(typeof tools)["text_measure"]>;
      const input: Input = { path: "a.txt", start_line: 1 };
      // @ts-expect-error a path is no number
      const wrong: Input = { path: 5 };
      assert.notDeepEqual(input, wrong);
      const output: Output = { status: "success", data: { length: 1 } };
      // @ts-expect-error the length is a number
      const other: Output = { status: "success", data: { length: "1" } };
      assert.notDeepEqual(output, other);
      // @ts-expect-error the path is missing
      await tools.read_file.execute({});
      // @ts-expect-error there is no such tool
      assert.equal(tools.no_such, undefined);

      const name: string = "read_file";
      const sent: unknown = { path: "none" };
      const result = await toolkit.invoke(name, sent);
      if (result.status === "success") {
        // The union of what all tools answer.
        const data:
          | { path: string }
          | { uri: string }
          | { file: unknown }
          | { length: number }
          | { root: unknown }
          | { items: unknown[] }
          | { files: unknown[] } = result.data;
        assert.ok(data);
      }
      assert.equal(result.status, "failure");
    }),
  );
});
