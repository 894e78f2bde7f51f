// `ringfence mcp` with the official client, and line by line for messages that the client would not send.

import assert from "node:assert/strict";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { TOOL_DESCRIPTIONS } from "../dist/definitions/index.js";
import { createAgentToolkit } from "../dist/index.js";
import { createMcpServer, type McpToolkit, type McpTransport } from "../dist/mcp/index.js";
import { memoryStore } from "../dist/stores/index.js";
import { callThrough, failureIn, RawSession, withClient, withRaw } from "./support/mcp.ts";
import { ALL_TOOLS, READING_TOOLS, WORKSPACE_TOOLS } from "./support/tools.ts";
import { inWorkspace, SECRET, type TestWorkspace } from "./support/workspace.ts";

const { version } = JSON.parse(
  fs.readFileSync(new URL("../package.json", import.meta.url), "utf8"),
);

const uriOf = (folder: string) => pathToFileURL(folder).href;

describe("initialization", () => {
  test(
    "the server sends its name, version, capabilities and instructions",
    inWorkspace(async (ws) => {
      await withClient(["--root", ws.root], async (client) => {
        const server = { name: "ringfence", title: "ringfence", version };
        assert.deepEqual(client.getServerVersion(), server);
        assert.deepEqual(client.getServerCapabilities(), { tools: {} });
        assert.match(client.getInstructions() ?? "", /workspace_create_file writes a whole file/);
      });
    }),
  );

  test(
    "a read-only server says nothing of creating files",
    inWorkspace(async (ws) => {
      await withClient(["--root", ws.root, "--read-only"], async (client) => {
        assert.match(client.getInstructions() ?? "", /relative/);
        assert.doesNotMatch(client.getInstructions() ?? "", /create/);
      });
    }),
  );

  test(
    "an older version of the protocol is spoken to a client that asks for it",
    inWorkspace(async (ws) => {
      await withRaw(["--root", ws.root], async (session) => {
        const clientInfo = { name: "old", version: "1" };
        const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo };
        const { result } = await session.request(1, "initialize", params);
        assert.equal(result?.protocolVersion, "2024-11-05");
      });
    }),
  );
});

describe("tools/list", () => {
  test(
    "lists the tools with titles, hints, and schemas of JSON Schema 2020-12",
    inWorkspace(async (ws) => {
      await withClient(["--root", ws.root], async (client) => {
        const { tools, nextCursor } = await client.listTools();
        assert.equal(nextCursor, undefined);
        assert.deepEqual(
          tools.map(({ name, annotations }) => [name, annotations]),
          WORKSPACE_TOOLS.map((name) => {
            const isReading = READING_TOOLS.some((reading) => reading === name);
            const hints = { readOnlyHint: isReading, destructiveHint: !isReading };
            const { title } = TOOL_DESCRIPTIONS[name];
            const idempotentHint = name !== "edit_file" && name !== "apply_patch";
            return [name, { title, ...hints, idempotentHint, openWorldHint: false }];
          }),
        );
        assert.equal(tools[0]?.annotations?.title, "Read a file");
        const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
        for (const { title, description, inputSchema, outputSchema } of tools) {
          assert.ok(title && description);
          ajv.compile(inputSchema);
          ajv.compile(outputSchema ?? assert.fail());
        }
      });
    }),
  );

  test(
    "a read-only server lists the tools that read, and refuses the other as the toolkit does",
    inWorkspace(async (ws) => {
      await withClient(["--root", ws.root, "--read-only"], async (client) => {
        const { tools } = await client.listTools();
        assert.deepEqual(
          tools.map(({ name }) => name),
          READING_TOOLS,
        );
        const args = { path: "a.txt", content: "a" };
        const refused = failureIn(await callThrough(client, "workspace_create_file", args));
        assert.equal(refused.status, "denied");
        assert.equal(refused.error.code, "SANDBOX_VIOLATION");
        assert.match(refused.message, /read-only/);
        assert.deepEqual(fs.readdirSync(ws.root), []);
      });
    }),
  );

  test(
    "a cursor leads nowhere",
    inWorkspace(async (ws) => {
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const { error } = await session.request(1, "tools/list", { cursor: "2" });
        assert.deepEqual(error, { code: -32602, message: "Unknown cursor." });
      });
    }),
  );
});

describe("tools/call", () => {
  test(
    "a result is structured, can be read as text, and says how to go on",
    inWorkspace(async (ws) => {
      ws.write("notes/a.txt", "one\ntwo\nthree\n");
      await withClient(["--root", ws.root], async (client) => {
        await client.listTools(); // from here on the client checks results against their schemas
        const args = { path: "notes/a.txt", start_line: 2, max_lines: 1 };
        const { structuredContent, content, isError } = await callThrough(
          client,
          "read_file",
          args,
        );
        assert.equal(isError, undefined);
        assert.equal(structuredContent?.content, "two");
        assert.equal(structuredContent?.next_start_line, 3);
        assert.equal(content[0]?.text, "two");
        assert.match(content[1]?.text ?? "", /call read_file with .*"start_line":3/);
      });
    }),
  );

  test(
    "a file is created, and not created again",
    inWorkspace(async (ws) => {
      await withClient(["--root", ws.root], async (client) => {
        await client.listTools();
        const args = { path: "new/a.txt", content: "ä\r\n" };
        const made = await callThrough(client, "workspace_create_file", args);
        assert.equal(made.structuredContent?.created, true);
        assert.equal(fs.readFileSync(ws.at("new/a.txt"), "utf8"), "ä\n");
        const again = failureIn(await callThrough(client, "workspace_create_file", args));
        assert.equal(again.error.details.code, "FileExists");
      });
    }),
  );

  test(
    "a failed call is a result that says why, without data about the machine",
    inWorkspace(async (ws) => {
      ws.writeOutside("secret.txt");
      ws.link("out", ws.outside);
      ws.write("zeros.bin", Buffer.alloc(4));
      ws.write("large.txt", "a".repeat(1024 * 1024 + 1));
      const failures: [tool: string, args: Record<string, unknown>, said: RegExp][] = [
        ["read_file", { path: "none.txt" }, /NOT_FOUND/],
        ["read_file", { path: "../outside/secret.txt" }, /leaves the workspace/],
        ["read_file", { path: "out/secret.txt" }, /SANDBOX_VIOLATION/],
        ["read_file", { path: `${ws.outside}/secret.txt` }, /not inside the workspace/],
        ["read_file", { path: "zeros.bin" }, /BINARY_NOT_SUPPORTED/],
        ["read_file", { path: "large.txt" }, /SIZE_LIMIT_EXCEEDED/],
        ["read_file", { path: "zeros.bin", max_lines: 501 }, /max_lines/],
        ["read_file", { path: 5 }, /path must be a string, not 5; send for example/],
        ["read_file", {}, /path is missing; send for example/],
        ["workspace_create_file", { path: "a.txt" }, /content is missing; send for example/],
        ["workspace_create_file", { path: "../a.txt", content: "a" }, /SANDBOX_VIOLATION/],
        ["workspace_create_file", { path: "out/a.txt", content: "a" }, /SANDBOX_VIOLATION/],
        ["read", { uri: "file:///zeros.bin" }, /NO_SPACE/],
        ["workspace_read_file", { path: "zeros.bin" }, /store/],
      ];
      await withClient(["--root", ws.root], async (client) => {
        await client.listTools();
        for (const [tool, args, said] of failures) {
          const answer = await callThrough(client, tool, args);
          failureIn(answer);
          const told = JSON.stringify(answer);
          assert.match(told, said);
          assert.ok(!told.includes(ws.base) && !told.includes(SECRET.trim()), told);
        }
      });
      assert.deepEqual(fs.readdirSync(ws.outside), ["secret.txt"]);
    }),
  );

  test(
    "a request that is no call of a tool is an error of the protocol, in a sentence",
    inWorkspace(async (ws) => {
      const requests: [method: string, params: object | undefined, code: number, said: RegExp][] = [
        ["tools/call", { name: "rm" }, -32602, /^Unknown tool: rm$/],
        ["tools/call", { name: "__proto__", arguments: {} }, -32602, /^Unknown tool: /],
        ["tools/call", { name: "x".repeat(10_000) }, -32602, /^Unknown tool: x{100}$/],
        ["tools/call", undefined, -32602, /name of the tool must be a string/],
        ["tools/call", { name: 5 }, -32602, /name of the tool must be a string/],
        ["tools/call", { name: "read_file", arguments: [] }, -32602, /must be an object/],
        ["tools/call", { name: "read_file", arguments: "{}" }, -32602, /must be an object/],
        ["resources/list", undefined, -32601, /^Method not found$/],
        ["logging/setLevel", { level: "info" }, -32601, /^Method not found$/],
      ];
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        for (const [index, [method, params, code, said]] of requests.entries()) {
          const { error } = await session.request(index + 1, method, params);
          assert.equal(error?.code, code, method);
          assert.match(error?.message ?? "", said);
        }
      });
    }),
  );

  test(
    "a call that asks to be a task is run as any other, since the server promises no tasks",
    inWorkspace(async (ws) => {
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const args = { path: "a.txt", content: "a" };
        const made = await session.call(1, "workspace_create_file", args, { task: { ttl: 1000 } });
        assert.equal(made.structuredContent?.created, true);
      });
    }),
  );

  test(
    "calls at once are all answered, each with its own file",
    inWorkspace(async (ws) => {
      await withClient(["--root", ws.root], async (client) => {
        const names = Array.from({ length: 50 }, (_, index) => `${index}.txt`);
        for (const name of names) ws.write(name, name);
        const read = await Promise.all(
          names.map((path) => callThrough(client, "read_file", { path })),
        );
        assert.deepEqual(
          read.map(({ structuredContent }) => structuredContent?.content),
          names,
        );
      });
    }),
  );
});

describe("progress", () => {
  test(
    "is reported with the token that came, before the answer, and not unasked",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        await session.call(1, "read_file", { path: "a.txt" }, { _meta: { progressToken: "t" } });
        await session.call(2, "read_file", { path: "none" }, { _meta: { progressToken: 0 } });
        await session.call(3, "read_file", { path: "a.txt" });
        const told = session.messages.slice(1).map(({ id, params }) => params ?? id);
        assert.deepEqual(told, [
          { progressToken: "t", progress: 0 },
          { progressToken: "t", progress: 1, total: 1 },
          1,
          { progressToken: 0, progress: 0 },
          { progressToken: 0, progress: 1, total: 1 },
          2,
          3,
        ]);
      });
    }),
  );
});

describe("cancellation", () => {
  test(
    "a cancelled call writes nothing and is not answered, and the next one is",
    inWorkspace(async (ws) => {
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const cancelled = { name: "workspace_create_file", arguments: { path: "a", content: "a" } };
        session.send(
          { id: 7, method: "tools/call", params: cancelled },
          {
            method: "notifications/cancelled",
            params: { requestId: 7, reason: "changed my mind" },
          },
        );
        const next = await session.call(8, "workspace_create_file", { path: "b", content: "b" });
        assert.equal(next.structuredContent?.created, true);
        await session.end();
        assert.ok(session.messages.every(({ id }) => id !== 7));
      });
      assert.deepEqual(fs.readdirSync(ws.root), ["b"]);
    }),
  );

  test("aborts the signal that the toolkit was given, and tells no progress after that", async () => {
    const begun = new AbortController();
    let reason: unknown;
    const toolkit: McpToolkit = {
      getAllowedTools: () => ["read_file"],
      invoke: async (_name: string, _args: unknown, options?: { signal?: AbortSignal | null }) => {
        const signal = options?.signal ?? assert.fail();
        begun.abort();
        await once(signal, "abort");
        reason = signal.reason;
        throw reason;
      },
    };
    await withInMemory(toolkit, async (client, sent) => {
      const cancel = new AbortController();
      const reports: number[] = [];
      const call = client.callTool({ name: "read_file", arguments: { path: "a" } }, undefined, {
        signal: cancel.signal,
        onprogress: ({ progress }) => reports.push(progress),
      });
      if (!begun.signal.aborted) await once(begun.signal, "abort");
      const before = sent.length;
      cancel.abort("enough");
      await assert.rejects(call, /enough/);
      await client.ping();
      assert.match(String(reason), /enough/);
      assert.equal(sent.length, before + 1, "the answer to the ping alone");
      assert.deepEqual(reports, [0]);
    });
  });
});

describe("roots", () => {
  test(
    "without --root the first root of the client that can be opened is the workspace",
    inWorkspace(async (ws) => {
      ws.write("project/a.txt", "of the project");
      ws.write("other/a.txt", "of the other");
      ws.write("file.txt", "no directory");
      const [project, other] = [uriOf(ws.at("project")), uriOf(ws.at("other"))];
      let roots = ["https://example.com/", "file://host/a", uriOf(ws.at("none"))];
      roots.push(uriOf(ws.at("file.txt")), project, other);
      await withClient(
        [],
        async (client) => {
          const read = async () => callThrough(client, "read_file", { path: "a.txt" });
          assert.equal((await client.listTools()).tools.length, WORKSPACE_TOOLS.length);
          assert.equal((await read()).structuredContent?.content, "of the project");
          const outside = failureIn(
            await callThrough(client, "read_file", { path: "../file.txt" }),
          );
          assert.equal(outside.error.code, "SANDBOX_VIOLATION");

          roots = [other];
          await client.sendRootsListChanged();
          assert.equal((await read()).structuredContent?.content, "of the other");

          roots = [];
          await client.sendRootsListChanged();
          assert.equal(failureIn(await read()).error.details.code, "NO_WORKSPACE");
        },
        { roots: () => roots },
      );
    }),
  );

  test(
    "calls wait until the client has sent its roots",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await withRaw([], async (session) => {
        await session.initialize({ roots: {} });
        const asked = await session.message(({ method }) => method === "roots/list");
        const call = session.call(1, "read_file", { path: "a.txt" });
        await session.request(2, "ping");
        assert.ok(session.messages.every(({ id }) => id !== 1));
        session.send({ id: asked.id, result: { roots: [{ uri: uriOf(ws.root) }] } });
        assert.equal((await call).structuredContent?.content, "a");
      });
    }),
  );

  test(
    "with --read-only nothing is written in a client's root either",
    inWorkspace(async (ws) => {
      const roots = () => [uriOf(ws.root)];
      await withClient(
        ["--read-only"],
        async (client) => {
          const args = { path: "a", content: "a" };
          const refused = failureIn(await callThrough(client, "workspace_create_file", args));
          assert.equal(refused.error.code, "SANDBOX_VIOLATION");
          assert.deepEqual(fs.readdirSync(ws.root), []);
        },
        { roots },
      );
    }),
  );

  test(
    "a client without roots gets NO_WORKSPACE, and standard error says how to give a root",
    inWorkspace(async () => {
      const session = new RawSession(["mcp"]);
      await session.initialize();
      const failure = failureIn(await session.call(1, "read_file", { path: "a.txt" }));
      assert.equal(failure.error.details.code, "NO_WORKSPACE");
      const { code, stderr } = await session.end();
      assert.equal(code, 0);
      assert.match(stderr, /start the server with --root DIR/);
      assert.ok(session.messages.every(({ method }) => method !== "roots/list"));
    }),
  );

  test(
    "the server ends if the client leaves before it has sent its roots",
    inWorkspace(async () => {
      await withRaw([], async (session) => {
        await session.initialize({ roots: {} });
        await session.message(({ method }) => method === "roots/list");
        session.send({ id: 1, method: "tools/call", params: { name: "read_file" } });
        const { code } = await session.end();
        assert.equal(code, 0);
        assert.match(JSON.stringify(await session.answer(1)), /NO_WORKSPACE/);
      });
    }),
  );

  test(
    "with --root the client is not asked for roots, and cannot move the workspace",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "of the operator");
      ws.writeOutside("a.txt");
      let asked = 0;
      const roots = () => {
        asked += 1;
        return [uriOf(ws.outside)];
      };
      await withClient(
        ["--root", ws.root],
        async (client) => {
          await client.sendRootsListChanged();
          const { structuredContent } = await callThrough(client, "read_file", { path: "a.txt" });
          assert.equal(structuredContent?.content, "of the operator");
          assert.equal(asked, 0);
        },
        { roots },
      );
    }),
  );
});

describe("standard input and output", () => {
  test(
    "lines that are no messages are ignored, and reported on standard error without their content",
    inWorkspace(async (ws) => {
      const session = new RawSession(["mcp", "--root", ws.root]);
      await session.initialize();
      session.send("secret\n", "\n", "[]\n", '{"secret":1}\n', '{"jsonrpc":"1.0"}\n', "\u0000\n");
      session.send('{"jsonrpc":"2.0","id":99,"result":{"secret":1}}\n', "\r\n");
      const { result } = await session.request(1, "ping");
      assert.deepEqual(result, {});
      const { code, stderr } = await session.end();
      assert.equal(code, 0);
      assert.deepEqual(session.impure, []);
      assert.match(stderr, /^(ringfence: .*\n)+$/);
      assert.match(stderr, /not JSON/);
      assert.match(stderr, /no message of the protocol/);
      assert.ok(!stderr.includes("secret") && !stderr.includes(ws.base), stderr);
    }),
  );

  test(
    "a malformed request is answered, because its sender waits",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const codeOf = async (id: number, text: string) => {
          session.send(`${text}\n`);
          return (await session.answer(id)).error?.code;
        };
        const list = '"jsonrpc":"2.0","method":"tools/list"';
        assert.equal(await codeOf(1, `{"id":1,${list},"params":5}`), -32602);
        assert.equal(await codeOf(2, `{"id":2,${list},"params":[]}`), -32602);
        const meta = '"params":{"_meta":{"progressToken":{}}}';
        assert.equal(await codeOf(3, `{"id":3,${list},${meta}}`), -32602);
        const bad = await codeOf(9, '{"id":9,"jsonrpc":"2.0","method":"initialize","params":{}}');
        assert.equal(bad, -32602);
        assert.equal(await codeOf(4, '{"id":4,"method":"ping"}'), -32600);
        assert.equal(await codeOf(5, '{"id":5,"jsonrpc":"1.0","method":"ping"}'), -32600);
        const batch = [6, 7].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }));
        session.send(`${JSON.stringify(batch)}\n`);
        for (const { id } of batch) assert.deepEqual((await session.answer(id)).result, {});
      });
    }),
  );

  test(
    "a message that is not UTF-8 is no message: no file is made of U+FFFD",
    inWorkspace(async (ws) => {
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const params = { name: "workspace_create_file", arguments: { path: "a", content: "\xff" } };
        const call = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`;
        session.child.stdin.write(Buffer.from(call, "latin1"));
        assert.deepEqual((await session.request(2, "ping")).result, {});
        assert.equal(fs.existsSync(ws.at("a")), false);
      });
    }),
  );

  test(
    "the last line before standard input ends needs no line end",
    inWorkspace(async (ws) => {
      const session = new RawSession(["mcp", "--root", ws.root]);
      await session.initialize();
      session.send('{"jsonrpc":"2.0","id":1,"method":"ping"}');
      assert.deepEqual(await session.end(), { code: 0, stderr: "" });
      assert.deepEqual((await session.answer(1)).result, {});
    }),
  );

  test(
    "a message may come in pieces, and a piece may hold messages",
    inWorkspace(async (ws) => {
      ws.write("ä.txt", "ü");
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const params = { name: "read_file", arguments: { path: "ä.txt" } };
        const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
        const bytes = Buffer.from(
          `${JSON.stringify(call)}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n`,
        );
        for (const byte of bytes) {
          await new Promise<void>((resolve) =>
            session.child.stdin.write(Uint8Array.of(byte), () => resolve()),
          );
        }
        const { result } = await session.answer(1);
        assert.match(JSON.stringify(result), /"content":"ü"/);
        assert.deepEqual((await session.answer(2)).result, {});
      });
    }),
  );

  test(
    "a huge message is answered like any other, and the next one, too",
    inWorkspace(async (ws) => {
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const content = "a".repeat(12 * 1024 * 1024);
        const refused = await session.call(1, "workspace_create_file", { path: "a", content });
        assert.equal(failureIn(refused).error.details.code, "TooLarge");
        const escapes = "\u0001".repeat(1024 * 1024); // six bytes each, in JSON
        const made = await session.call(2, "workspace_create_file", {
          path: "b",
          content: escapes,
        });
        assert.equal(made.structuredContent?.sizeBytes, 1024 * 1024);
        const read = await session.call(3, "read_file", { path: "b" });
        assert.equal(read.structuredContent?.content, escapes);
      });
    }),
  );

  test(
    "a message without an end ends the server",
    inWorkspace(async (ws) => {
      const session = new RawSession(["mcp", "--root", ws.root]);
      await session.initialize();
      const mebibyte = Buffer.alloc(1024 * 1024, "a");
      for (let count = 0; count <= 128; count += 1) session.child.stdin.write(mebibyte);
      const { code, stderr } = await session.ended;
      assert.equal(code, 1);
      assert.match(stderr, /more than 134217728 bytes/);
    }),
  );

  test(
    "requests from before the end of standard input are answered, and then the server ends",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const session = new RawSession(["mcp", "--root", ws.root]);
      await session.initialize();
      for (let id = 1; id <= 20; id += 1) {
        const params = { name: "read_file", arguments: { path: "a.txt" } };
        session.send({ id, method: "tools/call", params });
      }
      const content = "b".repeat(1024 * 1024);
      const params = { name: "workspace_create_file", arguments: { path: "b", content } };
      session.send({ id: 21, method: "tools/call", params });
      const { code, stderr } = await session.end();
      assert.deepEqual([code, stderr], [0, ""]);
      const answered = session.messages.map(({ id }) => Number(id)).sort((a, b) => a - b);
      assert.deepEqual(
        answered,
        Array.from({ length: 22 }, (_, id) => id),
      );
    }),
  );

  test(
    "a client that does not read any more ends the server quietly",
    inWorkspace(async (ws) => {
      const session = new RawSession(["mcp", "--root", ws.root]);
      await session.initialize();
      session.child.stdout.destroy();
      const timer = setInterval(() => session.send({ id: 1, method: "ping" }), 5);
      const { code, stderr } = await session.ended.finally(() => clearInterval(timer));
      assert.deepEqual([code, stderr], [0, ""]);
    }),
  );

  test(
    "a client that does not read standard error is served all the same",
    inWorkspace(async (ws) => {
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        session.child.stderr.destroy();
        for (let id = 1; id <= 5; id += 1) {
          session.send("no message\n");
          assert.deepEqual((await session.request(id, "ping")).result, {});
        }
      });
    }),
  );

  const noSignals = process.platform === "win32" && "Windows has no signals";
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(
      `${signal} ends the server`,
      { skip: noSignals },
      inWorkspace(async (ws) => {
        const session = new RawSession(["mcp", "--root", ws.root]);
        await session.initialize();
        session.child.kill(signal);
        assert.deepEqual(await session.ended, { code: 0, stderr: "" });
      }),
    );
  }
});

describe("the command line", () => {
  const MISUSES: [args: string[], said: RegExp][] = [
    [[], /a command is missing/],
    [["serve"], /there is no command "serve"/],
    [["mcp", "/srv"], /"\/srv" is one argument too many/],
    [["mcp", "--write"], /--write/],
    [["mcp", "--root"], /--root/],
    [["mcp", "--root", ""], /--root needs a directory/],
    [["mcp", "--root", "a", "--root", "b"], /--root can be given once/],
    [["mcp", "--read-only=yes"], /--read-only/],
    [["mcp", "--root", "./no/such/folder"], /--root \.\/no\/such\/folder does not exist/],
    [["mcp", "--root", "package.json"], /--root package\.json is not a directory/],
  ];
  for (const [args, said] of MISUSES) {
    test(`\`ringfence ${args.join(" ")}\` is told why on standard error, and ends with 2`, async () => {
      const session = new RawSession(args);
      const { code, stderr } = await session.end();
      assert.equal(code, 2);
      assert.match(stderr, /^ringfence: [^\n]+\n$/);
      assert.match(stderr, said);
      assert.ok(!stderr.includes(process.cwd()), stderr);
      assert.deepEqual([session.messages, session.impure], [[], []]);
    });
  }

  test("--help and --version are answered on standard output", async () => {
    for (const [args, said] of [
      [["--help"], /^Usage: ringfence mcp/m],
      [["mcp", "-h"], /--read-only/],
      [["--version"], new RegExp(`^${version.replaceAll(".", "\\.")}$`)],
    ] as const) {
      const session = new RawSession(args);
      assert.deepEqual(await session.end(), { code: 0, stderr: "" });
      assert.match(session.impure.join("\n"), said);
    }
  });
});

test(
  "the configurations in docs/mcp.md start a server",
  inWorkspace(async (ws) => {
    const page = fs.readFileSync(new URL("../docs/mcp.md", import.meta.url), "utf8");
    const blocks = [...page.matchAll(/^```json\n(.*?)^```/gms)].map(([, json = ""]) => json);
    assert.equal(blocks.length, 2);
    for (const block of blocks) {
      const [servers] = Object.values(JSON.parse(block)) as { files: { args: string[] } }[];
      const [prefix, folder = "", name, command, flag, ...root] = servers?.files.args ?? [];
      assert.deepEqual(
        [prefix, path.posix.isAbsolute(folder), name, command, root.length],
        ["--prefix", true, "ringfence", "mcp", 1],
      );
      await withClient([flag ?? "", ws.root], async (client) => {
        assert.equal((await client.listTools()).tools.length, WORKSPACE_TOOLS.length);
      });
    }
  }),
);

/** Runs `body` with the official client and a server of the toolkit, and all that the server sends. */
async function withInMemory(
  toolkit: McpToolkit,
  body: (client: Client, sent: object[]) => Promise<void>,
  options?: Parameters<typeof createMcpServer>[1],
): Promise<void> {
  const [mine, yours] = InMemoryTransport.createLinkedPair();
  const sent: object[] = [];
  const send = mine.send.bind(mine);
  mine.send = (message, options) => {
    sent.push(message);
    return send(message, options);
  };
  const client = new Client({ name: "official", version: "1" });
  const server = createMcpServer(toolkit, options);
  await Promise.all([server.connect(mine), client.connect(yours)]);
  try {
    await body(client, sent);
  } finally {
    await client.close();
  }
}

describe("createMcpServer", () => {
  /** Never called: it compiles if the official transports are taken. */
  function takesTransports(
    ...transports: (Transport | StdioServerTransport | StreamableHTTPServerTransport)[]
  ): McpTransport[] {
    return transports;
  }

  const everyTool = (ws: TestWorkspace) =>
    createAgentToolkit({
      ...ws.writable,
      space: ws.root,
      store: memoryStore({ "a.cs": "class A {}" }),
    });

  test(
    "serves the allowed tools over a host's own transport, by names with and without dots",
    inWorkspace(async (ws) => {
      assert.deepEqual(takesTransports(), []);
      ws.write("a.md", "# A\n");
      await withInMemory(everyTool(ws), async (client) => {
        const names = (await client.listTools()).tools.map(({ name }) => name);
        assert.deepEqual(
          names,
          ALL_TOOLS.map((name) => name.replaceAll(".", "_")),
        );
        for (const name of ["workspace_read_file", "workspace.read_file"]) {
          const { structuredContent } = await callThrough(client, name, { path: "a.cs" });
          assert.match(JSON.stringify(structuredContent?.file), /"content":"class A {}"/);
        }
        const read = await callThrough(client, "read", { uri: "file:///a.md" });
        assert.equal(read.structuredContent?.text, "# A\n");
      });
    }),
  );

  test(
    "lists the tools that the policy allows, and refuses the others as the toolkit does",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const policy = { tools: { workspace_create_file: "allow" } } as const;
      await withInMemory(createAgentToolkit({ ...ws.writable, policy }), async (client) => {
        const names = (await client.listTools()).tools.map(({ name }) => name);
        assert.deepEqual(names, ["workspace_create_file"]);
        const denied = failureIn(await callThrough(client, "read_file", { path: "a.txt" }));
        assert.equal(denied.error.code, "POLICY_DENIED");
      });
    }),
  );

  test(
    "has the instructions of the host, or none",
    inWorkspace(async (ws) => {
      for (const [instructions, told] of [
        ["Be brief.", "Be brief."],
        [null, undefined],
      ] as const) {
        const body = async (client: Client) => assert.equal(client.getInstructions(), told);
        await withInMemory(everyTool(ws), body, { instructions });
      }
    }),
  );
});
