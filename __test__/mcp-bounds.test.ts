// `ringfence mcp` with clients that send more than can be answered, or malformed messages.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type Message, RawSession, withRaw } from "./support/mcp.ts";
import { inWorkspace } from "./support/workspace.ts";

const MEBIBYTE = 1024 * 1024;

const lineOf = (message: object) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const callOf = (id: number | string, name: string, args: object) => ({
  id,
  method: "tools/call",
  params: { name, arguments: args },
});
const readOf = (id: number, path: string) => callOf(id, "read_file", { path });

/** The memory that a process holds, and the most that it ever held, in bytes. */
function memoryOf(pid: number | undefined): number {
  const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1]) * 1024;
}

const noProc = process.platform !== "linux" && "/proc tells memory on Linux";

// E9: a client decides how much the server holds in memory for it.
describe("second look E9: a client that does not read its answers", () => {
  test(
    "second look E9: thousands of reads of a large file are not answered into memory, and are once it reads",
    { skip: noProc },
    inWorkspace(async (ws) => {
      ws.write("large.txt", `${"a".repeat(2047)}\n`.repeat(500));
      const session = new RawSession(["mcp", "--root", ws.root]);
      try {
        await session.initialize();
        const before = memoryOf(session.child.pid);
        session.child.stdout.pause();
        for (let id = 1; id <= 200; id += 1) {
          session.send(callOf(id, "read_file", { path: "large.txt", max_lines: 500 }));
        }
        await pause(2_000);
        const grown = memoryOf(session.child.pid) - before;
        assert.ok(grown < 150 * MEBIBYTE, `grown by ${grown / MEBIBYTE} MiB`);
        session.child.stdout.resume();
        // As many as show that it goes on; the test reads slowly.
        for (let id = 1; id <= 30; id += 1) {
          const { result } = await session.answer(id);
          assert.ok(result?.structuredContent);
        }
      } finally {
        session.child.kill("SIGKILL");
        await session.ended;
      }
    }),
  );

  for (const [what, line] of [
    ["pings", (id: number) => lineOf({ id, method: "ping" })],
    ["lists of tools", (id: number) => lineOf({ id, method: "tools/list" })],
    ["malformed requests", (id: number) => `{"id":${id},"jsonrpc":"1.0","method":"ping"}\n`],
    ["calls of unknown tools", (id: number) => lineOf(callOf(id, "x".repeat(500), {}))],
  ] as const) {
    test(
      `second look E9: the server stops reading if ${what} come without end`,
      inWorkspace(async (ws) => {
        const session = new RawSession(["mcp", "--root", ws.root]);
        try {
          await session.initialize();
          session.child.stdout.pause();
          // Far more than pipes and the server's own queues hold; what is answered has to be read.
          const megabytes = 48;
          let id = 0;
          let taken = 0;
          for (let sent = 0; sent < megabytes; sent += 1) {
            let chunk = "";
            while (chunk.length < MEBIBYTE) {
              id += 1;
              chunk += line(id);
            }
            session.child.stdin.write(chunk, (error) => {
              if (!error) taken += 1;
            });
          }
          let before = -1;
          while (before !== taken) {
            before = taken;
            await pause(1_000);
          }
          assert.ok(taken < megabytes, "the server has read everything");
        } finally {
          session.child.kill("SIGKILL");
          await session.ended;
        }
      }),
    );
  }

  test(
    "second look E9: calls that wait for the client's roots do not keep the roots from being read",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await withRaw([], async (session) => {
        await session.initialize({ roots: {} });
        const asked = await session.message(({ method }) => method === "roots/list");
        for (let id = 1; id <= 200; id += 1) session.send(readOf(id, "a.txt"));
        assert.deepEqual((await session.request(1_000, "ping")).result, {});
        const { href } = new URL(`file://${ws.root}`);
        session.send({ id: asked.id as number, result: { roots: [{ uri: href }] } });
        for (let id = 1; id <= 200; id += 1) {
          const { result } = await session.answer(id);
          assert.match(JSON.stringify(result), /"content":"a"/);
        }
      });
    }),
  );

  test(
    "second look E9: a call that is cancelled while it waits for its turn is neither run nor answered",
    inWorkspace(async (ws) => {
      await withRaw([], async (session) => {
        await session.initialize({ roots: {} });
        const asked = await session.message(({ method }) => method === "roots/list");
        const ids = Array.from({ length: 40 }, (_, index) => index + 1);
        for (const id of ids) {
          const args = { path: `${id}.txt`, content: "a" };
          session.send(callOf(id, "workspace_create_file", args));
        }
        for (const id of ids.filter((id) => id % 2 === 0)) {
          session.send({ method: "notifications/cancelled", params: { requestId: id } });
        }
        session.send({ id: asked.id as number, result: { roots: [{ uri: `file://${ws.root}` }] } });
        for (const id of ids.filter((id) => id % 2 === 1)) await session.answer(id);
        await session.end();
        const created = fs.readdirSync(ws.root).map((name) => Number.parseInt(name, 10));
        assert.ok(created.every((id) => id % 2 === 1) && created.length === 20, String(created));
        assert.ok(
          session.messages.every(({ id }) => !ids.includes(id as number) || Number(id) % 2),
        );
      });
    }),
  );

  test(
    "second look E9: hundreds of calls that are cancelled after they began make room for others",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        for (let id = 1; id <= 300; id += 1) {
          const cancelled = { method: "notifications/cancelled", params: { requestId: id } };
          session.send(readOf(id, "a.txt"), cancelled);
          if (id % 50 === 0) await session.request(1_000 + id, "ping");
        }
        const { result } = await session.request(2_000, "tools/call", {
          name: "read_file",
          arguments: { path: "a.txt" },
        });
        assert.match(JSON.stringify(result), /"content":"a"/);
      });
    }),
  );
});

// E10: what one line holds decides how long the process is busy with it.
describe("second look E10: lines that hold too much", () => {
  /** Sends lines, and a ping after them; what came before its answer, which had to come soon. */
  async function refused(
    lines: string[],
    expected: { id: number | string | null; said: RegExp } | null,
  ): Promise<void> {
    await inWorkspace(async (ws) => {
      const session = new RawSession(["mcp", "--root", ws.root]);
      try {
        await session.initialize();
        session.send(...lines);
        const sent = performance.now();
        assert.deepEqual((await session.request(99, "ping")).result, {});
        assert.ok(performance.now() - sent < 20_000);
        const { code, stderr } = await session.end();
        assert.equal(code, 0, stderr);
        assert.match(stderr, /^ringfence: a message was refused that has more than \d+ \w+\n$/);
        const answers = session.messages.filter(({ id }) => id !== 0 && id !== 99);
        if (expected === null) assert.deepEqual(answers, []);
        else {
          const [answer] = answers as [Message];
          assert.equal(answers.length, 1, "one answer");
          assert.equal(answer.id, expected.id);
          assert.equal(answer.error?.code, -32600);
          assert.match(answer.error?.message ?? "", expected.said);
        }
      } finally {
        session.child.kill("SIGKILL");
      }
    })();
  }

  const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const read = '"jsonrpc":"2.0","method":"tools/call"';
  const deepCall = (params: string) => `{"id":"deep",${read},"params":${params}}\n`;

  const REFUSED: [what: string, lines: () => string[], id: number | string | null, said: RegExp][] =
    [
      [
        "4 MB of empty objects in a batch",
        () => [`[${"{},".repeat(1_300_000)}{}]\n`],
        null,
        /more than 1000 messages: send less at once/,
      ],
      ["100 MB of opened arrays", () => ["[".repeat(100_000_000), "\n"], null, /more than 64 lev/],
      [
        "50,000 calls in a batch",
        () => [`${JSON.stringify(Array.from({ length: 50_000 }, (_, id) => ping(id)))}\n`],
        null,
        /more than 1000 messages/,
      ],
      [
        "a call whose arguments are deep, its id before them",
        () => [deepCall(`{"name":"read_file","arguments":{"path":${nested(200)}}}`)],
        "deep",
        /more than 64 levels/,
      ],
      [
        "a call whose arguments are very deep objects, its id after them",
        () => [`{${read},"params":${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)},"id":7}\n`],
        7,
        /more than 64 levels/,
      ],
      [
        "a call with a list of a million elements",
        () => [deepCall(`{"name":"read_file","arguments":{"path":[${"0,".repeat(1_000_000)}0]}}`)],
        "deep",
        /more than 100000 values/,
      ],
      [
        "a call with a content of 20 MB",
        () => [deepCall(`{"name":"read_file","arguments":{"path":"${"a".repeat(20_000_000)}"}}`)],
        "deep",
        /more than 16777216 bytes/,
      ],
      [
        "a request with an id of 20 MB",
        () => [`{"jsonrpc":"2.0","id":"${"a".repeat(20_000_000)}","method":"ping"}\n`],
        null,
        /more than 16777216 bytes/,
      ],
      [
        "20 MB that are no JSON",
        () => ["a".repeat(20_000_000), "\n"],
        null,
        /more than 16777216 bytes/,
      ],
    ];
  for (const [what, lines, id, said] of REFUSED) {
    test(`second look E10: ${what}: one answer, and the next message is answered`, () =>
      refused(lines(), { id, said }));
  }

  test("second look E10: a notification, or an answer, that holds too much is answered by nothing", async () => {
    const deep = nested(100);
    await refused([`{"jsonrpc":"2.0","method":"notifications/a","params":{"a":${deep}}}\n`], null);
    await refused([`{"jsonrpc":"2.0","id":0,"result":{"roots":${deep}}}\n`], null);
  });

  test(
    "second look E10: a line that is too large in pieces is refused though its end never comes",
    inWorkspace(async (ws) => {
      const session = new RawSession(["mcp", "--root", ws.root]);
      await session.initialize();
      session.send(`[${"{},".repeat(200_000)}`);
      const { error } = await session.message(({ id }) => id === null);
      assert.match(error?.message ?? "", /more than 1000 messages/);
      assert.equal((await session.end()).code, 0);
      assert.equal(session.messages.length, 2);
    }),
  );

  test(
    "second look E10: quotes, escapes and brackets inside of strings count for nothing",
    inWorkspace(async (ws) => {
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const content = `${'[{"\\'.repeat(40_000)}\n`;
        const args = { path: 'a,"b[{.txt', content };
        const { result } = await session.request(1, "tools/call", {
          name: "workspace_create_file",
          arguments: args,
        });
        assert.match(JSON.stringify(result), /"created":true/);
        assert.equal(fs.readFileSync(ws.at(args.path), "utf8"), content);
      });
    }),
  );

  test(
    "second look E10: a batch of a thousand calls, notifications and other values is answered one by one",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const batch: unknown[] = [];
        for (let id = 1; id <= 250; id += 1) {
          batch.push({ jsonrpc: "2.0", ...readOf(id, "a.txt") }, ping(1_000 + id));
          batch.push({ jsonrpc: "2.0", method: "notifications/none" }, id % 2 ? {} : [[]]);
        }
        session.send(`${JSON.stringify(batch)}\n`);
        for (let id = 1; id <= 250; id += 1) {
          assert.match(JSON.stringify((await session.answer(id)).result), /"content":"a"/);
          assert.deepEqual((await session.answer(1_000 + id)).result, {});
        }
        assert.equal(session.messages.length, 501);
      });
    }),
  );

  test(
    "second look E10: a server that is sent rubbish for long still answers in between",
    inWorkspace(async (ws) => {
      const session = new RawSession(["mcp", "--root", ws.root]);
      try {
        await session.initialize();
        session.child.stderr.pause();
        session.send('{"jsonrpc":"2.0","id":1}\n'.repeat(20_000), lineOf(ping(50)));
        assert.deepEqual((await session.answer(50)).result, {});
      } finally {
        session.child.kill("SIGKILL");
      }
    }),
  );
});

// Siblings of E10: messages of forms that are rare.
describe("second look E10: messages of rare forms", () => {
  test(
    "second look E10: an id that cannot be given back as it came is not answered under another",
    inWorkspace(async (ws) => {
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        const texts = ["9007199254740993", "1e400", `"${"i".repeat(1_001)}"`];
        for (const id of texts) session.send(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
        session.send('{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n');
        assert.equal((await session.answer(1.5)).error?.code, -32600);
        const unknown = session.messages.filter(({ id }) => id === null);
        assert.deepEqual(
          unknown.map(({ error }) => error?.code),
          [-32600, -32600, -32600],
        );
        for (const id of ["", "i".repeat(1_000), -1, Number.MAX_SAFE_INTEGER]) {
          session.send({ id, method: "ping" });
          assert.deepEqual((await session.answer(id)).result, {});
        }
      });
    }),
  );

  test(
    "second look E10: requests that share an id are all answered, and the next ones, too",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        for (let count = 0; count < 30; count += 1) session.send(readOf(5, "a.txt"));
        assert.deepEqual((await session.request(6, "ping")).result, {});
        while (session.messages.filter(({ id }) => id === 5).length < 30) await pause(10);
        const { result } = await session.request(7, "tools/call", { name: "read_file" });
        assert.equal(result?.isError, true);
      });
    }),
  );

  test(
    "second look E10: blank lines, a byte order mark, CR before LF and a notification with an id",
    inWorkspace(async (ws) => {
      await withRaw(["--root", ws.root], async (session) => {
        await session.initialize();
        session.send("\n\r\n  \t\r\n", `\uFEFF${lineOf(ping(1)).trimEnd()}\r\n`);
        assert.deepEqual((await session.answer(1)).result, {});
        const { error } = await session.request(2, "notifications/initialized");
        assert.deepEqual(error, { code: -32601, message: "Method not found" });
        assert.deepEqual((await session.request(3, "ping")).result, {});
        assert.deepEqual(await session.end(), { code: 0, stderr: "" });
      });
    }),
  );

  test(
    "second look E10: standard input that ends within a message, or within a character, ends the server",
    inWorkspace(async (ws) => {
      for (const rest of ['{"jsonrpc":"2.0","id":1,"meth', "", "[[[", '{"a":"']) {
        const session = new RawSession(["mcp", "--root", ws.root]);
        await session.initialize();
        session.send(lineOf(ping(9)), rest);
        session.child.stdin.write(Buffer.from([0xf0, 0x9f]));
        const { code, stderr } = await session.end();
        assert.equal(code, 0, stderr);
        assert.match(stderr, /^ringfence: a line was ignored that is not JSON\n$/);
        assert.deepEqual((await session.answer(9)).result, {});
      }
    }),
  );

  const ping = (id: number) => ({ id, method: "ping" });
});
