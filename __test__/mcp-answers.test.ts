// The answers of `ringfence mcp`, its instructions, its progress reports, and its handling of absent values.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { createAgentToolkit, type ToolName, toMcpToolResult } from "../dist/index.js";
import { createMcpServer } from "../dist/mcp/index.js";
import { memoryStore } from "../dist/stores/index.js";
import { callThrough, RawSession, withClient, withRaw } from "./support/mcp.ts";
import { ALL_TOOLS, WORKSPACE_TOOLS } from "./support/tools.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const textOf = ({ content }: { content: { text: string }[] }) =>
  content.map(({ text }) => text).join("\n");

const everyTool = (ws: TestWorkspace) =>
  createAgentToolkit({
    ...ws.writable,
    space: ws.root,
    store: memoryStore({ "a.cs": 'class A { "a" }\n' }),
  });

/** Runs `body` with the official client of a server of the toolkit, in one process. */
async function withInMemory(
  toolkit: Parameters<typeof createMcpServer>[0],
  body: (client: Client) => Promise<void>,
): Promise<void> {
  const [mine, yours] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "official", version: "1" });
  await Promise.all([createMcpServer(toolkit).connect(mine), client.connect(yours)]);
  try {
    await client.listTools(); // from here on the client checks results against their schemas
    await body(client);
  } finally {
    await client.close();
  }
}

// E2: a text that is cut is cut between characters, and stays on its line.
test(
  "second look E2: the name of an unknown tool is cut between characters, and shown on one line",
  inWorkspace(async (ws) => {
    await withRaw(["--root", ws.root], async (session) => {
      await session.initialize();
      const said = async (id: number, name: string) =>
        (await session.request(id, "tools/call", { name })).error?.message;
      assert.equal(await said(1, `${"x".repeat(99)}😀y`), `Unknown tool: ${"x".repeat(99)}😀`);
      assert.equal(await said(2, "😀".repeat(150)), `Unknown tool: ${"😀".repeat(100)}`);
      assert.equal(
        await said(3, "a\n\u001b[31m\u202e"),
        "Unknown tool: a\\u{a}\\u{1b}[31m\\u{202e}",
      );
      session.send('{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"a\\ud83d"}}\n');
      assert.equal((await session.answer(4)).error?.message, "Unknown tool: a\\u{d83d}");
    });
  }),
);

// E3: null means absent for every optional key of the protocol.
describe("second look E3: null is absent", () => {
  test(
    "second look E3: in params, in _meta, in a progress token, in a cursor and when beginning",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await withRaw(["--root", ws.root], async (session) => {
        const clientInfo = { name: "c", version: "1", title: null };
        const begin = {
          protocolVersion: "2025-11-25",
          capabilities: { roots: null, sampling: null, experimental: null },
          clientInfo,
          _meta: null,
        };
        const begun = await session.request(0, "initialize", begin);
        assert.ok(begun.result, JSON.stringify(begun));
        session.send('{"jsonrpc":"2.0","method":"notifications/initialized","params":null}\n');
        const list = '"jsonrpc":"2.0","method":"tools/list"';
        for (const [index, params] of [
          "null",
          '{"_meta":null}',
          '{"_meta":{"progressToken":null}}',
          '{"cursor":null}',
        ].entries()) {
          session.send(`{"id":${index + 1},${list},"params":${params}}\n`);
          const { result } = await session.answer(index + 1);
          assert.equal(
            (result?.tools as unknown[] | undefined)?.length,
            WORKSPACE_TOOLS.length,
            params,
          );
        }
        const args = { path: "a.txt", start_line: null, max_lines: null };
        const more = { _meta: { progressToken: null }, task: null };
        const read = await session.call(10, "read_file", args, more);
        assert.equal(read.structuredContent?.content, "a");
        session.send('{"jsonrpc":"2.0","id":11,"method":"ping","params":null}\n');
        assert.deepEqual((await session.answer(11)).result, {});
        assert.ok(session.messages.every(({ method }) => method === undefined));
      });
    }),
  );

  test(
    "second look E3: over a host's own transport, too, and the sent message is not changed",
    inWorkspace(async (ws) => {
      const [mine, yours] = InMemoryTransport.createLinkedPair();
      const answers: object[] = [];
      const answered = new Promise<void>((resolve) => {
        yours.onmessage = (message) => {
          answers.push(message);
          if (answers.length === 2) resolve();
        };
      });
      await createMcpServer(everyTool(ws)).connect(mine);
      await yours.start();
      const sent = Object.freeze({ jsonrpc: "2.0", id: 1, method: "tools/list", params: null });
      await yours.send(sent as never);
      await yours.send({ jsonrpc: "2.0", id: 2, method: "ping", params: { _meta: null } } as never);
      await answered;
      assert.ok(
        answers.every((answer) => "result" in answer),
        JSON.stringify(answers),
      );
      await mine.close();
    }),
  );
});

// E4 and E8: instructions are read by models through clients that cut them, and are about this server.
describe("second look E4, E8: instructions", () => {
  const TOOLS: readonly ToolName[] = ALL_TOOLS;
  /** No tool, all, each alone, and all but each. */
  const OFFERS = [
    [],
    TOOLS,
    ...TOOLS.map((name) => [name]),
    ...TOOLS.map((name) => TOOLS.filter((other) => other !== name)),
  ];

  test("second look E4: instructions stay under 2,000 characters, whichever tools are offered", async () => {
    for (const tools of OFFERS) {
      const toolkit = { getAllowedTools: () => tools, invoke: () => assert.fail() };
      await withInMemory(toolkit as never, async (client) => {
        const told = client.getInstructions() ?? "";
        assert.ok(told.length < 2_000, String(told.length));
        assert.equal(told === "", tools.length === 0);
        // E8: of the tools that are offered, by the names that the list has, and of no others.
        for (const name of TOOLS) {
          const shown = name.replaceAll(".", "_");
          const isNamed = new RegExp(
            `(?<![\\w.])${shown} (?:gives|writes|replaces|changes|moves|removes|finds|shows)`,
          ).test(told);
          assert.equal(isNamed, tools.includes(name), `${shown} of ${tools}`);
        }
        for (const foreign of [
          /TUL-\d/,
          /patch tool/i,
          /snapshot/i,
          /\.NET/,
          /Angular/,
          /\.cs\b/,
        ]) {
          assert.doesNotMatch(told, foreign);
        }
        const ofFiles = WORKSPACE_TOOLS.some((name) => tools.includes(name));
        assert.equal(/relative to it/.test(told.slice(0, 200)), ofFiles);
      });
    }
  });

  const told = async (args: string[]) => {
    const session = new RawSession(["mcp", ...args]);
    const { result } = await session.initialize();
    assert.equal((await session.end()).code, 0);
    return result?.instructions;
  };

  test(
    "second look E8: a flag replaces the instructions, and one leaves them out",
    inWorkspace(async (ws) => {
      const root = ["--root", ws.root];
      assert.match(String(await told(root)), /read_file gives/);
      assert.doesNotMatch(String(await told([...root, "--read-only"])), /create/);
      assert.equal(
        await told([...root, "--instructions", "Be brief.\nTwo lines."]),
        "Be brief.\nTwo lines.",
      );
      assert.equal(await told([...root, "--no-instructions"]), undefined);
      assert.equal(await told(["--no-instructions"]), undefined);
    }),
  );

  for (const [args, said] of [
    [["--instructions"], /--instructions/],
    [["--instructions", "a", "--instructions", "b"], /--instructions can be given once/],
    [["--instructions", "a", "--no-instructions"], /exclude each other/],
    [["--no-instructions=yes"], /--no-instructions/],
  ] as const) {
    test(`second look E8: \`ringfence mcp ${args.join(" ")}\` is told why, and ends with 2`, async () => {
      const session = new RawSession(["mcp", ...args]);
      const { code, stderr } = await session.end();
      assert.equal(code, 2);
      assert.match(stderr, said);
    });
  }
});

// E5 and E7: some clients show their model the structured content alone, some the text alone.
describe("second look E5, E7: each half of an answer is enough by itself", () => {
  test(
    "second look E5: a hint stands in the structured content, and in the schema of the answer",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\ntwo\nthree\n");
      await withClient(["--root", ws.root], async (client) => {
        const { tools } = await client.listTools();
        for (const { outputSchema } of tools) {
          assert.match(JSON.stringify(outputSchema?.properties?.hint), /"type":"string"/);
          assert.ok(!outputSchema?.required?.includes("hint"));
        }
        const read = await callThrough(client, "read_file", { path: "a.txt", limit: 1 });
        assert.match(String(read.structuredContent?.hint), /ignored: limit/);
        const window = await callThrough(client, "read_file", { path: "a.txt", max_lines: 1 });
        assert.match(String(window.structuredContent?.hint), /"start_line":2/);
        const made = await callThrough(client, "workspace_create_file", {
          path: "b.txt",
          content: "b",
          mode: 7,
        });
        assert.match(String(made.structuredContent?.hint), /ignored: mode/);
        const whole = await callThrough(client, "read_file", { path: "a.txt" });
        assert.ok(!("hint" in (whole.structuredContent ?? {})));
        const schema = tools[0]?.outputSchema;
        const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
        const validate = ajv.compile({ ...schema, additionalProperties: false });
        assert.ok(validate(read.structuredContent), JSON.stringify(validate.errors));
      });
    }),
  );

  test(
    "second look E7: the text is the file's own, unescaped, and a line about the window",
    inWorkspace(async (ws) => {
      const content = 'let a = "\\n";\n\tlet b = "ä";\n';
      ws.write("src/a.ts", content);
      ws.write("empty.txt", "");
      ws.write("a\nb.txt", "x");
      await withClient(["--root", ws.root], async (client) => {
        await client.listTools();
        const read = async (args: Record<string, unknown>) => {
          const { content, structuredContent } = await callThrough(client, "read_file", args);
          assert.ok(content.every(({ text }) => text !== ""));
          return [content.map(({ text }) => text), structuredContent] as const;
        };
        const [whole, structured] = await read({ path: "src/a.ts" });
        assert.deepEqual(whole, [content, "src/a.ts: lines 1-2 of 2."]);
        assert.equal(structured?.content, content);
        const [window] = await read({ path: "src/a.ts", max_lines: 1 });
        assert.equal(window[0], 'let a = "\\n";');
        assert.match(
          window[1] ?? "",
          /^src\/a\.ts: line 1 of 2\. The file goes on: call read_file with/,
        );
        const [second] = await read({ path: "src/a.ts", start_line: 2, include_hash: true });
        assert.match(second[1] ?? "", /line 2 of 2\. SHA-256 of the file: [0-9a-f]{64}\.$/);
        assert.deepEqual((await read({ path: "empty.txt" }))[0], [
          "empty.txt: nothing of its 0 lines.",
        ]);
        const [past] = await read({ path: "src/a.ts", start_line: 9 });
        assert.deepEqual(past, ["src/a.ts: nothing of its 2 lines."]);
        assert.equal((await read({ path: "a\nb.txt" }))[0][1], "a\\u{a}b.txt: line 1 of 1.");
      });
    }),
  );

  test(
    "second look E7: other tools answer with a sentence, and with the document that they read",
    inWorkspace(async (ws) => {
      ws.write("a.md", '# "A"\n');
      await withInMemory(everyTool(ws), async (client) => {
        const made = await callThrough(client, "workspace_create_file", {
          path: "b",
          content: "b",
        });
        assert.match(textOf(made), /^File created\. b has 1 byte and the hash [0-9a-f]{64}\.$/);
        assert.equal(made.structuredContent?.created, true);
        const source = await callThrough(client, "workspace_read_file", {
          path: "a.cs",
          maxBytes: 7,
        });
        assert.equal(textOf(source), "class A\na.cs: the beginning of 16 bytes.");
        const read = await callThrough(client, "read", { uri: "file:///a.md" });
        assert.match(textOf(read), /^# "A"\n\nfile:\/\/\/a\.md: text\/\w+\.$/);
        assert.equal(read.structuredContent?.text, '# "A"\n');
      });
    }),
  );

  test("second look E7: data of unknown form is JSON text; data that is no object is not structured content", () => {
    const answer = (data: unknown, hint?: string) =>
      toMcpToolResult({ status: "success", data, ...(hint === undefined ? {} : { hint }) });
    assert.deepEqual(answer({ a: 1 }, "Go on."), {
      content: [{ type: "text", text: '{"a":1} Go on.' }],
      structuredContent: { a: 1, hint: "Go on." },
    });
    assert.deepEqual(answer({ hint: "own" }, "ours").structuredContent, { hint: "own" });
    assert.deepEqual(answer(["a"]), { content: [{ type: "text", text: '["a"]' }] });
    assert.deepEqual(answer("plain"), { content: [{ type: "text", text: "plain" }] });
    assert.deepEqual(answer(null), { content: [{ type: "text", text: "null" }] });
    assert.deepEqual(answer(undefined), { content: [{ type: "text", text: "" }] });
  });
});

// E6: waiting for the sake of one client's fault does not slow down other clients.
describe("second look E6: progress", () => {
  test(
    "second look E6: reports cost no pause, and stand before the answer, also of a failure",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const measure = async (first: number, token: (id: number) => object) => {
          const began = performance.now();
          for (let id = first; id < first + 100; id += 1) {
            await session.call(id, "read_file", { path: id % 2 ? "a.txt" : "none" }, token(id));
          }
          return performance.now() - began;
        };
        await measure(1, () => ({})); // what is done once is done
        const without = await measure(1_000, () => ({}));
        const reported = await measure(2_000, (id) => ({ _meta: { progressToken: `t${id}` } }));
        // The two pauses that there were made 1,000 ms of it.
        assert.ok(reported < 3 * without + 500, `${reported} ms, without ${without} ms`);
        const told = session.messages.filter(({ id }) => id === undefined);
        assert.equal(told.length, 200);
        const order = session.messages.slice(-3).map(({ id, params }) => id ?? params?.progress);
        assert.deepEqual(order, [0, 1, 2_099]);
      });
    }),
  );

  test(
    "second look E6: the official client, known by its tokens, is given time to read a report",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const began = performance.now();
        for (let id = 1; id <= 20; id += 1) {
          await session.call(id, "read_file", { path: "a.txt" }, { _meta: { progressToken: id } });
        }
        assert.ok(performance.now() - began > 20 * 4);
      });
      await withInMemory(everyTool(ws), async (client) => {
        const reports: number[] = [];
        const onprogress = ({ progress }: { progress: number }) => reports.push(progress);
        const params = { name: "read_file", arguments: { path: "a.txt" } };
        await client.callTool(params, undefined, { onprogress });
        assert.deepEqual(reports, [0, 1]);
      });
    }),
  );
});

test("second look E8: docs/mcp.md describes the flags", () => {
  const page = fs.readFileSync(new URL("../docs/mcp.md", import.meta.url), "utf8");
  assert.match(page, /`--instructions TEXT`/);
  assert.match(page, /`--no-instructions`/);
});
