// The directory that `ringfence mcp` serves: the opened one, even if another takes its name later. A client's
// roots are taken literally.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { createAgentToolkit, defineTool } from "../dist/index.js";
import { createClientRootsToolkit } from "../dist/mcp/client-roots.js";
import { createMcpServer } from "../dist/mcp/index.js";
import { pathOfRootUri } from "../dist/mcp/root-uri.js";
import { callThrough, failureIn, RawSession, withClient, withRaw } from "./support/mcp.ts";
import { inWorkspace } from "./support/workspace.ts";

const posixOnly = { skip: path.sep !== "/" && "Windows has no such names" };

// E1: a client's root names one directory, and a parser of URLs makes another one of it.
describe("second look E1: roots of a client are taken literally", () => {
  const LITERAL: [uri: string, path: string | null][] = [
    ["file:///R/c#proj", "/R/c#proj"],
    ["file:///R/c/#x", "/R/c/#x"],
    ["file:///R/c?x=1", "/R/c?x=1"],
    ["file:///R/c?", "/R/c?"],
    ["file:///R/c#", "/R/c#"],
    ["file:///R/a%20b%23c", "/R/a b#c"],
    ["file:///R/%2541", "/R/%41"],
    ["file:///R/a\\b", "/R/a\\b"],
    ["file:///R/a\tb", "/R/a\tb"],
    ["file:///R/a\nb", "/R/a\nb"],
    ["file:///R/a ", "/R/a "],
    ["file:///C|/x", "/C|/x"],
    ["FILE://LOCALHOST/R", "/R"],
    ["file:/R", "/R"],
    ["file:///R/ä%C3%A4", "/R/ää"],
    ["file:///R/..foo", "/R/..foo"],
    ["file:///R/../S", null],
    ["file:///R/%2e%2E/S", null],
    ["file:///R%2Fc", null],
    ["file:///R/100%", null],
    ["file:///R/%FF", null],
    ["file:///R/%00", null],
    ["file:///R/a\ud800", null],
    ["file://host/R", null],
    ["file:////host/R", null],
    ["file:R", null],
    ["file:", null],
    ["https://example.com/R", null],
    [" file:///R", null],
    ["/R", null],
    ["", null],
  ];
  test(
    "second look E1: each character of a root's URI is one of its path, or the root is skipped",
    posixOnly,
    () => {
      for (const [uri, expected] of LITERAL) assert.equal(pathOfRootUri(uri), expected, uri);
    },
  );

  for (const [what, uri] of [
    ["#", "c#proj"],
    ["/#", "c/#x"],
    ["?", "c?x"],
    ["an end", "c#"],
    ["a tab", "\tc"],
  ] as const) {
    test(
      `second look E1: a root with ${what} serves that directory, and never the one of a shorter name`,
      posixOnly,
      inWorkspace(async (ws) => {
        ws.write("c/a.txt", "of another directory");
        const roots = () => [`file://${ws.root}/${uri}`];
        const read = async (client: Client) => callThrough(client, "read_file", { path: "a.txt" });
        await withClient(
          [],
          async (client) => {
            assert.equal(failureIn(await read(client)).error.details.code, "NO_WORKSPACE");
            fs.mkdirSync(`${ws.root}/${uri}`, { recursive: true });
            fs.writeFileSync(`${ws.root}/${uri}/a.txt`, "literal");
            await client.sendRootsListChanged();
            assert.equal((await read(client)).structuredContent?.content, "literal");
          },
          { roots },
        );
      }),
    );
  }
});

// E11: what the client opens by its roots, the server closes.
describe("second look E11: roots that are replaced", () => {
  const noProc = process.platform !== "linux" && "/proc tells handles on Linux";
  const handlesOf = (pid: number | undefined) => fs.readdirSync(`/proc/${pid}/fd`).length;

  test(
    "second look E11: thousands of changes leave one directory open",
    { skip: noProc },
    inWorkspace(async (ws) => {
      ws.write("0/a.txt", "0");
      ws.write("1/a.txt", "1");
      const session = new RawSession(["mcp"]);
      try {
        await session.initialize({ roots: { listChanged: true } });
        let answered = 0;
        const answer = async () => {
          for (;;) {
            const asked = session.messages.filter(({ method }) => method === "roots/list");
            const next = asked[answered];
            if (next === undefined) return;
            const uri = `file://${ws.root}/${answered % 2}`;
            answered += 1;
            session.send({ id: next.id as number, result: { roots: [{ uri }] } });
          }
        };
        await session.message(({ method }) => method === "roots/list");
        await answer();
        await session.call(1, "read_file", { path: "a.txt" });
        const before = handlesOf(session.child.pid);
        const changed = { method: "notifications/roots/list_changed" };
        for (let round = 0; round < 100; round += 1) {
          for (let count = 0; count < 30; count += 1) session.send(changed);
          await session.request(1_000 + round, "ping");
          await answer();
        }
        const last = session.call(2, "read_file", { path: "a.txt" });
        const timer = setInterval(answer, 10);
        const { structuredContent } = await last.finally(() => clearInterval(timer));
        assert.equal(structuredContent?.content, String((answered - 1) % 2));
        assert.ok(answered > 5, `${answered} questions`);
        assert.ok(handlesOf(session.child.pid) <= before + 1, "handles stay open");
        assert.equal((await session.end()).code, 0);
      } finally {
        session.child.kill("SIGKILL");
      }
    }),
  );

  test(
    "second look E11: changes that come together are one question to the client",
    inWorkspace(async () => {
      const session = new RawSession(["mcp"]);
      await session.initialize({ roots: {} });
      const first = await session.message(({ method }) => method === "roots/list");
      for (let count = 0; count < 3_000; count += 1) {
        session.send({ method: "notifications/roots/list_changed" });
      }
      await session.request(1, "ping");
      const asked = () => session.messages.filter(({ method }) => method === "roots/list");
      assert.equal(asked().length, 1);
      session.send({ id: first.id as number, result: { roots: [] } });
      await session.message(() => asked().length === 2);
      await session.request(2, "ping");
      assert.equal(asked().length, 2);
      session.child.kill("SIGKILL");
      await session.ended;
    }),
  );

  test(
    "second look E11: a call that is under way when its root is replaced is answered from that root",
    inWorkspace(async (ws) => {
      ws.write("a/a.txt", "a");
      ws.write("b/a.txt", "b");
      const toolkit = createClientRootsToolkit({ writeScope: "read-only", rules: {} }, () => {});
      const read = async () => {
        const result = await toolkit.invoke("read_file", { path: "a.txt" });
        assert.equal(result.status, "success", JSON.stringify(result));
        return (result.data as { content: string }).content;
      };
      const follow = (name: string) =>
        toolkit.follow(Promise.resolve([`file://${ws.root}/${name}`]));
      follow("a");
      assert.equal(await read(), "a");
      const under = [read(), read(), read()];
      await Promise.resolve();
      follow("b");
      const later = [read(), read()];
      for (const content of await Promise.all(under)) assert.match(content, /^[ab]$/);
      assert.deepEqual(await Promise.all(later), ["b", "b"]);
      for (let count = 0; count < 20; count += 1) follow(count % 2 ? "a" : "b");
      assert.equal(await read(), "a");
    }),
  );
});

// A3 and A1 through the command: the root is opened once, and held.
describe("second look A1: the command holds the directory that it was started with", () => {
  test(
    "second look A1: a root that is renamed, with a link to another folder in its place, goes on to be served",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "of the root");
      ws.writeOutside("a.txt", "of another folder");
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        fs.renameSync(ws.root, `${ws.base}/moved`);
        fs.symlinkSync(ws.outside, ws.root, "junction");
        const made = await session.call(1, "workspace_create_file", {
          path: "n/b.txt",
          content: "b",
        });
        assert.equal(made.structuredContent?.created, true);
        const over = { path: "a.txt", content: "new", overwrite: true };
        const replaced = await session.call(2, "workspace_create_file", over);
        assert.equal(replaced.structuredContent?.overwritten, true);
        const read = await session.call(3, "read_file", { path: "a.txt" });
        assert.equal(read.structuredContent?.content, "new");
        assert.deepEqual(fs.readdirSync(ws.outside), ["a.txt"]);
        assert.equal(fs.readFileSync(`${ws.outside}/a.txt`, "utf8"), "of another folder");
        assert.equal(fs.readFileSync(`${ws.base}/moved/n/b.txt`, "utf8"), "b");
      });
    }),
  );

  test(
    "second look A2: a root that is a link goes on to be the directory that it led to",
    inWorkspace(async (ws) => {
      ws.write("one/a.txt", "one");
      ws.write("two/a.txt", "two");
      const current = ws.link("current", ws.at("one"), "dir");
      await withRaw(["--root", current], async (session) => {
        await session.initialize();
        fs.unlinkSync(current);
        fs.symlinkSync(ws.at("two"), current, "dir");
        const read = await session.call(1, "read_file", { path: "a.txt" });
        assert.equal(read.structuredContent?.content, "one");
        await session.call(2, "workspace_create_file", { path: "b.txt", content: "b" });
        assert.ok(fs.existsSync(ws.at("one/b.txt")) && !fs.existsSync(ws.at("two/b.txt")));
      });
    }),
  );

  test(
    "second look A1: a client's root that is renamed stays the workspace until the client says otherwise",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "of the root");
      ws.writeOutside("a.txt", "of another folder");
      await withClient(
        [],
        async (client) => {
          const read = async () =>
            (await callThrough(client, "read_file", { path: "a.txt" })).structuredContent?.content;
          assert.equal(await read(), "of the root");
          fs.renameSync(ws.root, `${ws.base}/moved`);
          fs.symlinkSync(ws.outside, ws.root, "junction");
          assert.equal(await read(), "of the root");
          await callThrough(client, "workspace_create_file", { path: "b.txt", content: "b" });
          assert.deepEqual(fs.readdirSync(ws.outside), ["a.txt"]);
        },
        { roots: () => [`file://${ws.root}`] },
      );
    }),
  );
});

// B25: a host's own tools go through MCP as ringfence's do.
test(
  "second look B25: a host's own tool is listed and called over MCP, and refused by the policy",
  inWorkspace(async (ws) => {
    const parameters = { type: "object", properties: { text: { type: "string" } } } as const;
    const resultSchema = {
      type: "object",
      properties: { length: { type: "integer" } },
      required: ["length"],
    } as const;
    const own = (name: string) =>
      defineTool({
        name,
        title: "Measure",
        description: "Measures a text.",
        parameters,
        resultSchema,
        isWriteOp: false,
        handler: (_context, { text }: { text: string }) => ({ length: text.length }),
      });
    const tools = [own("text.measure"), own("denied")] as never;
    const policy = { tools: { "text.measure": "allow", denied: "deny" } } as never;
    const toolkit = createAgentToolkit({ ...ws.writable, policy }, { tools });
    const [mine, yours] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: "official", version: "1" });
    await Promise.all([createMcpServer(toolkit).connect(mine), client.connect(yours)]);
    try {
      const listed = (await client.listTools()).tools;
      assert.deepEqual(
        listed.map(({ name, title }) => [name, title]),
        [["text_measure", "Measure"]],
      );
      assert.equal(client.getInstructions(), undefined);
      for (const name of ["text_measure", "text.measure"]) {
        const { structuredContent, content } = await callThrough(client, name, {
          text: "abc",
          x: 1,
        });
        assert.equal(structuredContent?.length, 3);
        assert.match(String(structuredContent?.hint), /ignored: x/);
        assert.match(content[0]?.text ?? "", /^\{"length":3\}/);
      }
      const denied = failureIn(await callThrough(client, "denied", { text: "a" }));
      assert.equal(denied.error.code, "POLICY_DENIED");
      await assert.rejects(callThrough(client, "text", {}), /Unknown tool: text/);
    } finally {
      await client.close();
    }
  }),
);
