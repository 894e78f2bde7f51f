// The tool `read`: pages by a host's fetch, and file: URIs with type, size and scope. docs/contract.md §6, §8.

import assert from "node:assert/strict";
import { channel } from "node:diagnostics_channel";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { describe, test } from "node:test";
import vm from "node:vm";
import { gzipSync } from "node:zlib";
import { createAgentToolkit, createWorkspaceFetch, ToolCatalog } from "../dist/index.js";
import { FileStore, readFileUri } from "../index.js";
import { ABORT_REASONS } from "./support/hostile.ts";
import { rejectionValue } from "./support/read.ts";
import { inWorkspace } from "./support/workspace.ts";

const MIB = 1024 * 1024;
type Fetch = (uri: string, init?: RequestInit) => Promise<Response>;

const PAGE = "https://example.com/a";

/** What `read` makes of a page: the text, or the code of the failure and whether to try again. */
async function reading(fetch: unknown, more: object = {}): Promise<unknown> {
  const toolkit = createAgentToolkit({ fetch: fetch as Fetch, ...more });
  const result = await toolkit.invoke("read", { uri: PAGE });
  // The same by the catalog's raw handler.
  const raw = await Promise.resolve(
    ToolCatalog.read.handler({ fetch: fetch as Fetch, ...more } as never, { uri: PAGE }),
  ).then(
    ({ text }) => ({ text }),
    ({ code }) => ({ code }),
  );
  if (result.status === "success") {
    assert.deepEqual(raw, { text: result.data.text });
    assert.ok(!/\p{Surrogate}/u.test(JSON.stringify(result)));
    return result.data.text;
  }
  const { code, message, retriable, details } = result.error;
  assert.deepEqual([code, raw], ["RUNTIME_ERROR", { code: details.code }]);
  assert.ok(message.startsWith(`${details.code}: `), message);
  assert.ok(!/\p{Surrogate}/u.test(JSON.stringify(result)));
  return { code: details.code, retriable };
}

/** A fetch that answers with bytes of a type. */
const answering =
  (bytes: Uint8Array | readonly number[] | string | null, type: string | null) => async () => {
    const body = typeof bytes === "string" || bytes === null ? bytes : Uint8Array.from(bytes);
    const response = new Response(body);
    response.headers.delete("content-type");
    if (type !== null) response.headers.set("content-type", type);
    return response;
  };

const NOT_TEXT = { code: "NOT_TEXT", retriable: false };
const TOO_LARGE = { code: "TOO_LARGE", retriable: false };

// C1: bytes that are decoded as UTF-8 although their sender names another charset.
describe("second look C1: a page is decoded by its charset", () => {
  const TEXTS: [type: string | null, bytes: readonly number[] | string, text: string][] = [
    ["text/plain; charset=iso-8859-1", [0x67, 0xf6, 0x80], "gö€"],
    ["text/html;charset=windows-1252", [0x93, 0x61, 0x94], "“a”"],
    ["text/plain; charset=shift_jis", [0x83, 0x65, 0x83, 0x58], "テス"],
    ["text/plain; charset=EUC-KR", [0xc7, 0xd1], "한"],
    ["text/plain; charset=gb2312", [0x81, 0x30, 0x81, 0x30], "\x80"],
    ["text/plain; charset=utf-16le", [0x61, 0, 0x3d, 0xd8, 0, 0xde], "a😀"],
    ["text/plain; charset=utf-16be", [0, 0x61], "a"],
    ['TEXT/Plain ; x=y; CharSet="UTF-8" ', "grün", "grün"],
    ["text/plain; charset=us-ascii", "plain", "plain"],
    ["text/plain; charset=utf8", [0xef, 0xbb, 0xbf, 0x61], "a"],
    ["text/plain; charset=iso-8859-1", [0xef, 0xbb, 0xbf, 0xc3, 0xbc], "ü"],
    ["text/plain", [0xff, 0xfe, 0x61, 0], "a"],
    ["text/html", '<html><head><meta charset="utf-8">ü', '<html><head><meta charset="utf-8">ü'],
    ["application/json", '{"a":1}', '{"a":1}'],
    ["image/svg+xml", "<svg/>", "<svg/>"],
    ["application/sql", "select 1", "select 1"],
    ["text/html, text/plain; charset=iso-8859-1", [0xfc], "ü"],
    ["", "no type", "no type"],
    [null, "no type", "no type"],
    ["text/plain", "", ""],
  ];
  for (const [type, bytes, text] of TEXTS) {
    test(`second look C1: ${JSON.stringify(type)} with ${JSON.stringify(text)}`, async () => {
      assert.equal(await reading(answering(bytes, type)), text);
    });
  }

  test("second look C1: HTML and XML that name their charset themselves", async () => {
    const html = Buffer.from(
      '<meta http-equiv="x" content="text/html; charset=iso-8859-1">gö',
      "latin1",
    );
    assert.equal(await reading(answering(html, "text/html")), html.toString("latin1"));
    const xml = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>ö</a>', "latin1");
    assert.equal(await reading(answering(xml, "application/xml")), xml.toString("latin1"));
  });

  const REFUSED: [type: string | null, bytes: readonly number[] | string][] = [
    ["image/png", [0x89, 0x50]],
    ["application/octet-stream", "text"],
    ["application/pdf", "%PDF"],
    ["video/mp2t", "const a = 1;"],
    ["text/plain; charset=klingon", "text"],
    ["text/plain; charset=utf-7", "text"],
    // Bun decodes these two, and Node does not.
    ["text/plain; charset=iso-8859-16", "text"],
    ["text/plain; charset=x-user-defined", "text"],
    ["text/plain; charset=utf-8", [0x67, 0xf6]],
    ["text/plain", [0xc3]],
    ["text/plain; charset=us-ascii", [0xe4]],
    ["text/plain; charset=shift_jis", [0x81]],
    ["text/plain; charset=utf-16le", [0x61]],
    ["text/plain; charset=utf-16le", [0x00, 0xd8]],
    [null, [0x61, 0, 0x62]],
  ];
  for (const [type, bytes] of REFUSED) {
    test(`second look C1: ${JSON.stringify(type)} with ${bytes} is NOT_TEXT`, async () => {
      assert.deepEqual(await reading(answering(bytes, type)), NOT_TEXT);
    });
  }
});

/** A server of the loopback interface. */
async function withServer(
  answer: http.RequestListener,
  body: (url: string, sent: () => number) => Promise<void>,
): Promise<void> {
  let sent = 0;
  const server = http.createServer((request, response) => {
    const write = response.write.bind(response) as (chunk: Uint8Array) => boolean;
    response.write = ((chunk: Uint8Array) => {
      sent += chunk.length;
      return write(chunk);
    }) as typeof response.write;
    response.on("error", () => {});
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => sent);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Writes zeros until the other side has gone. */
function writeEndlessly(response: http.ServerResponse): void {
  const chunk = Buffer.alloc(65_536, "a");
  const write = () => {
    if (response.destroyed || response.socket?.destroyed) return;
    if (response.write(chunk)) setImmediate(write);
    else response.once("drain", write);
  };
  write();
}

// C2: a body may have any length, and its headers may be wrong.
describe("second look C2: of a page no more is read than its cap", () => {
  const long = (bytes: number) => answering(new Uint8Array(bytes).fill(0x61), "text/plain");

  test("second look C2: the cap is 1 MiB, or maxBytes of the toolkit", async () => {
    assert.equal(((await reading(long(MIB))) as string).length, MIB);
    assert.deepEqual(await reading(long(MIB + 1)), TOO_LARGE);
    assert.deepEqual(await reading(long(30 * MIB)), TOO_LARGE);
    assert.equal(((await reading(long(3 * MIB), { maxBytes: 3 * MIB })) as string).length, 3 * MIB);
    assert.deepEqual(await reading(long(11), { maxBytes: 10 }), TOO_LARGE);
    assert.equal(await reading(long(10), { maxBytes: 10 }), "a".repeat(10));
  });

  test(
    "second look C2: it holds for file: URIs, too",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "0123456789");
      const of = (maxBytes: number) => createAgentToolkit({ space: ws.root, maxBytes });
      const small = await of(9).read({ uri: "file:///a.txt" });
      assert.equal(small.status !== "success" && small.error.details.code, "TOO_LARGE");
      assert.equal((await of(10).read({ uri: "file:///a.txt" })).status, "success");
    }),
  );

  test("second look C2: an invalid maxBytes throws when the toolkit is made", () => {
    for (const maxBytes of [0, -1, 1.5, Number.NaN, "5", {}]) {
      const make = () => createAgentToolkit({ fetch: long(1), maxBytes: maxBytes as number });
      assert.throws(make, /^TypeError: maxBytes must be an integer >= 1$/);
    }
  });

  test("second look C2: a stream is stopped there", async () => {
    let pulled = 0;
    let isCancelled = false;
    const endless = () =>
      new ReadableStream({
        pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(65_536).fill(0x61));
        },
        cancel() {
          isCancelled = true;
        },
      });
    const fetch = async () =>
      new Response(endless(), { headers: { "content-type": "text/plain" } });
    assert.deepEqual(await reading(fetch), TOO_LARGE);
    assert.ok(isCancelled && pulled < 60, String(pulled));
  });

  test("second look C2: so is a stream of Node, as other libraries have them", async () => {
    const bodies: Readable[] = [];
    const fetch = async () => {
      const body = new Readable({
        read() {
          this.push(Buffer.alloc(65_536, "a"));
        },
      });
      bodies.push(body);
      return { ok: true, status: 200, headers: new Headers(), body };
    };
    assert.deepEqual(await reading(fetch), TOO_LARGE);
    assert.ok(bodies.every((body) => body.destroyed));
  });

  const SERVERS: Record<string, http.RequestListener> = {
    "a server that never ends": (_request, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      writeEndlessly(response);
    },
    "a server that announces 5 GB": (_request, response) => {
      response.writeHead(200, { "content-type": "text/plain", "content-length": 5e9 });
      writeEndlessly(response);
    },
    "a redirect to one": (request, response) => {
      if (request.url !== "/end") {
        response.writeHead(302, { location: "/end" }).end();
        return;
      }
      response.writeHead(200, { "content-type": "text/plain" });
      writeEndlessly(response);
    },
    "30 MB in a few compressed bytes": (_request, response) => {
      const headers = { "content-type": "text/plain", "content-encoding": "gzip" };
      response.writeHead(200, headers).end(gzipSync(Buffer.alloc(30_000_000, "a")));
    },
  };
  for (const [name, answer] of Object.entries(SERVERS)) {
    test(`second look C2: ${name}`, { timeout: 20_000 }, async () => {
      await withServer(answer, async (url, sent) => {
        const toolkit = createAgentToolkit({ fetch });
        const result = await toolkit.invoke("read", { uri: `${url}/` });
        assert.equal(result.status !== "success" && result.error.details.code, "TOO_LARGE");
        assert.ok(sent() < 32 * MIB, String(sent()));
      });
    });
  }

  test("second look C2: an answer with methods alone is read and refused by them", async () => {
    const headers = new Headers({ "content-type": "text/plain" });
    const of = (more: object) => async () => ({ ok: true, status: 200, headers, ...more });
    assert.equal(await reading(of({ text: async () => "a\ud800" })), "a\ufffd");
    assert.equal(
      await reading(of({ arrayBuffer: async () => Buffer.from("ab").buffer.slice(0, 0) })),
      "",
    );
    assert.deepEqual(await reading(of({ text: async () => "a".repeat(MIB + 1) })), TOO_LARGE);
    const foreign = vm.runInNewContext("async () => new Uint8Array([0x61]).buffer");
    assert.equal(await reading(of({ arrayBuffer: foreign })), "a");
    const chunks = vm.runInNewContext("[new Uint8Array([0x61]), new Uint8Array([0x62])]");
    const streams = async () => ({
      ok: true,
      status: 200,
      headers,
      body: (async function* () {
        yield* chunks;
      })(),
    });
    assert.equal(await reading(streams), "ab");
  });
});

// C3: a host's function that ignores its signal.
describe("second look C3: an aborted call settles with the reason", () => {
  const never = () => new Promise<never>(() => {});
  const stalled = () =>
    new Response(new ReadableStream({ pull: never, cancel: never }), {
      headers: { "content-type": "text/plain" },
    });
  const FETCHES: Record<string, () => unknown> = {
    "a fetch that ignores it": never,
    "a body that stalls": async () => stalled(),
    "a body of Node that stalls": async () => ({
      ok: true,
      status: 200,
      headers: new Headers(),
      body: new Readable({ read() {} }),
    }),
    "a text() that stalls": async () => ({ ok: true, status: 200, headers: null, text: never }),
    "a failing status whose body stalls": async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return stalled();
    },
  };
  for (const [name, fetch] of Object.entries(FETCHES)) {
    for (const [kind, reason] of ABORT_REASONS) {
      test(`second look C3: ${name}, ${kind}`, { timeout: 10_000 }, async () => {
        for (const where of ["call", "context"]) {
          const controller = new AbortController();
          const { signal } = controller;
          const context = where === "context" ? { signal } : {};
          const toolkit = createAgentToolkit({ fetch: fetch as Fetch, ...context });
          const options = where === "call" ? { signal } : {};
          const call = rejectionValue(() => toolkit.invoke("read", { uri: PAGE }, options));
          setTimeout(() => controller.abort(reason), 10);
          assert.equal(await call, reason);
        }
      });
    }
  }

  const emptyChunks = (chunk: () => Promise<void>) => async () => {
    const pull = async (controller: ReadableStreamDefaultController) => {
      await chunk();
      controller.enqueue(new Uint8Array());
    };
    const headers = { "content-type": "text/plain" };
    return new Response(new ReadableStream({ pull }), { headers });
  };

  test("second look C3: a body of empty chunks is refused, and stops no timer", {
    timeout: 10_000,
  }, async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const fetch = emptyChunks(async () => {}) as Fetch;
    const result = await createAgentToolkit({ fetch }).invoke("read", { uri: PAGE });
    clearInterval(timer);
    assert.match(result.status === "failure" ? result.message : "", /10000 empty chunks/);
    assert.ok(turns > 0);
  });

  test("second look C3: an abort ends a body of empty chunks", { timeout: 10_000 }, async () => {
    let count = 0;
    const controller = new AbortController();
    const abortLater = async () => {
      count += 1;
      if (count === 50) setTimeout(() => controller.abort("enough"));
    };
    const toolkit = createAgentToolkit({ fetch: emptyChunks(abortLater) as Fetch });
    assert.equal(
      await rejectionValue(() => toolkit.invoke("read", { uri: PAGE }, controller)),
      "enough",
    );
  });

  test("second look C3: a response that comes after the abort is closed", async () => {
    let isCancelled = false;
    let answer = (_response: Response) => {};
    const fetch = () => new Promise<Response>((resolve) => (answer = resolve));
    const controller = new AbortController();
    const toolkit = createAgentToolkit({ fetch });
    const call = rejectionValue(() => toolkit.invoke("read", { uri: PAGE }, controller));
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort("enough");
    assert.equal(await call, "enough");
    const body = new ReadableStream({
      cancel() {
        isCancelled = true;
      },
    });
    answer(new Response(body, { headers: { "content-type": "text/plain" } }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(isCancelled);
  });
});

// C4: a text that no fetch can read; the message can say how to write the URI.
describe("second look C4: the message for a text that is no URI says how to write one", () => {
  const ALL = { fetch: answering("page", "text/plain"), space: "/", chat: "/" };
  const REPAIRS: [uri: string, context: object, sentence: RegExp][] = [
    [
      "assets/a.md",
      ALL,
      /write file:\/\/\/assets\/a\.md for a file of the workspace, or file:assets\/a\.md for a file of the chat, or https:/,
    ],
    [
      "/assets/a.md",
      { space: "/" },
      /no scheme; write file:\/\/\/assets\/a\.md for a file of the workspace$/,
    ],
    ["./notes.md", { chat: "/" }, /no scheme; write file:notes\.md for a file of the chat$/],
    ["a\\b 100%.md", { space: "/" }, /write file:\/\/\/a\/b 100%25\.md /],
    ["../../etc/passwd", { space: "/" }, /write file:\/\/\/path /],
    ["C:\\Users\\a.md", { space: "/" }, /write file:\/\/\/path /],
    ["a\u001b[31m\u202e.md", { space: "/" }, /write file:\/\/\/path /],
    ["a".repeat(5000), { space: "/" }, /write file:\/\/\/path /],
    ["", ALL, /no scheme; write file:\/\/\/path /],
    ["file", ALL, /^INVALID_URI: file without path$/],
    [" FILE ", ALL, /^INVALID_URI: file without path$/],
    ["file:", ALL, /^INVALID_URI: file without path$/],
    ["file:///", ALL, /^INVALID_URI: file without path$/],
    ['"file:///a.md"', ALL, /: the uri has quotes around it; write file:\/\/\/a\.md$/],
    [" “https://a.b/c” ", ALL, /: the uri has quotes around it; write https:\/\/a\.b\/c$/],
    ["<file:///a.md>", ALL, /: the uri has angle brackets around it; write file:\/\/\/a\.md$/],
    [" file:///a.md", ALL, /: the uri has a space at the start; write file:\/\/\/a\.md$/],
    ["'file:///../a\u202e'", ALL, /: the uri has quotes around it; write it without$/],
    ['"a.md"', { space: "/" }, /no scheme; write file:\/\/\/a\.md /],
  ];
  for (const [uri, context, sentence] of REPAIRS) {
    test(`second look C4: ${JSON.stringify(uri.slice(0, 40))}`, async () => {
      let asked = 0;
      const counted = async () => {
        asked += 1;
        return new Response("page");
      };
      const counting = "fetch" in context ? { fetch: counted } : {};
      const toolkit = createAgentToolkit({ ...context, ...counting } as never);
      const result = await toolkit.invoke("read", { uri });
      assert.ok(result.status === "failure");
      assert.match(result.message, sentence);
      assert.deepEqual([result.error.details.code, result.error.retriable], ["INVALID_URI", false]);
      assert.equal(asked, 0);
    });
  }

  test(
    "second look C4: file:files/x is files/files/x, and where nothing stands there files/x",
    inWorkspace(async (ws) => {
      ws.write("files/x.md", "x");
      ws.write("files/both.md", "outer");
      ws.write("files/files/both.md", "inner");
      ws.write("files/files/folder/y.md", "y");
      ws.write("files/folder", "outer");
      const store = FileStore.open(ws.root);
      const bytes: Record<string, string> = {};
      for (const [path, text] of [
        ["files/x.md", "x"],
        ["files/both.md", "outer"],
        ["files/files/both.md", "inner"],
      ] as const) {
        bytes[path] = (await store.putBytes(Buffer.from(text))).hash;
      }
      const resolve = (segments: string[]) => {
        const hash = bytes[segments.join("/")];
        return hash === undefined ? null : { hash };
      };
      for (const chat of [ws.root, { resolve, store }]) {
        const toolkit = createAgentToolkit({ chat });
        const get = createWorkspaceFetch({ chat }, fetch);
        for (const [uri, text, path] of [
          ["file:files/x.md", "x", "files/x.md"],
          ["file:x.md", "x", "files/x.md"],
          ["file:files/both.md", "inner", "files/files/both.md"],
          ["file:files/files/both.md", "inner", "files/files/both.md"],
          ["file:both.md", "outer", "files/both.md"],
        ] as const) {
          const read = await readFileUri(uri, { chat });
          assert.deepEqual([read.uri, read.text, read.path], [uri, text, path]);
          assert.equal(await (await get(uri)).text(), text);
          const result = await toolkit.read({ uri });
          assert.equal(result.status === "success" && result.data.path, path);
        }
        for (const uri of ["file:files/none.md", "file:files"]) {
          const error = await rejectionValue(() => readFileUri(uri, { chat }));
          const { code, message } = error as Error & { code: string };
          const path = uri === "file:files" ? "files/files" : "files/files/none.md";
          if (code === "NOT_FOUND")
            assert.equal(message, `NOT_FOUND: Chat file not found at ${path}`);
          else assert.equal(code, "NOT_TEXT");
        }
      }
      // What stands there and cannot be read is not passed over.
      await assert.rejects(readFileUri("file:files/folder", { chat: ws.root }), {
        code: "NOT_TEXT",
      });
    }),
  );

  test(
    "second look C4: a space has no such folder",
    inWorkspace(async (ws) => {
      ws.write("x.md", "x");
      await assert.rejects(readFileUri("file:///files/x.md", { space: ws.root }), {
        code: "NOT_FOUND",
      });
    }),
  );
});

// C5: data about a file that does not reach the model and the event.
test(
  "second look C5: the answer and the event have the type, size and scope from readFileUri",
  inWorkspace(async (ws) => {
    ws.write("assets/märkte.md", "# Märkte\n");
    ws.write("files/a.json", "{}");
    const events: { Path: string; SizeBytes: number }[] = [];
    const listen = (event: unknown) => void events.push(event as (typeof events)[number]);
    channel("ringfence:tool").subscribe(listen);
    try {
      const context = {
        space: ws.root,
        chat: ws.root,
        fetch: answering("größer", "Text/HTML; x=y"),
      };
      const toolkit = createAgentToolkit(context);
      const data = async (uri: string) => {
        const result = await toolkit.invoke("read", { uri });
        return result.status === "success" && result.data;
      };
      for (const [uri, root] of [
        ["file:///assets/märkte.md", "space"],
        ["FILE:a.json", "chat"],
      ] as const) {
        assert.deepEqual(await data(uri), { ...(await readFileUri(uri, { [root]: ws.root })) });
        const raw = await ToolCatalog.read.handler(
          { workspaceRoot: ws.root, [root]: ws.root },
          { uri },
        );
        assert.deepEqual(raw, { ...(await readFileUri(uri, { [root]: ws.root })) });
      }
      const page = { uri: PAGE, text: "größer", mimeType: "text/html", sizeBytes: 8 };
      assert.deepEqual(await data(PAGE), page);
      assert.deepEqual(
        events.map(({ Path, SizeBytes }) => [Path, SizeBytes]),
        [
          ["file:///assets/märkte.md", 10],
          ["FILE:a.json", 2],
          [PAGE, 8],
        ],
      );
    } finally {
      channel("ringfence:tool").unsubscribe(listen);
    }
  }),
);

// C6: a file that is text in a directory and no text in a tree.
test(
  "second look C6: a file that is text in a directory is text in a tree, with each of its registered types",
  inWorkspace(async (ws) => {
    const store = FileStore.open(ws.root);
    const { hash } = await store.putBytes(Buffer.from("select 1;\n"));
    for (const [name, mimeType] of [
      ["query.sql", "application/sql"],
      ["query", "application/sql"],
      ["deploy.sh", "application/x-sh"],
      ["deploy", "application/x-sh"],
      ["main.ts", "video/mp2t"],
      ["main.d.MTS", "Video/MP2T; a=b"],
      ["script.pl", "application/x-perl"],
      ["index.php", "application/x-httpd-php"],
      ["paper.tex", "application/x-tex"],
      ["list.m3u8", "application/vnd.apple.mpegurl"],
    ] as const) {
      ws.write(name, "select 1;\n");
      const tree = { store, resolve: () => ({ hash, mimeType }) };
      for (const space of [ws.root, tree]) {
        const result = await createAgentToolkit({ space }).read({ uri: `file:///${name}` });
        assert.equal(
          result.status === "success" && result.data.text,
          "select 1;\n",
          `${name} ${mimeType}`,
        );
      }
      const got = createWorkspaceFetch({ space: tree }, fetch);
      assert.equal(await (await got(`file:///${name}`)).text(), "select 1;\n");
      assert.equal((await readFileUri(`file:///${name}`, { space: tree })).mimeType, mimeType);
    }
    for (const [name, mimeType] of [
      ["film.m2ts", "video/mp2t"],
      ["film", "video/mp2t"],
      ["main.ts", "video/mp4"],
      ["main.ts", "application/octet-stream"],
      ["slides.ppt", "application/vnd.ms-powerpoint"],
    ] as const) {
      const tree = { store, resolve: () => ({ hash, mimeType }) };
      await assert.rejects(readFileUri(`file:///${name}`, { space: tree }), { code: "NOT_TEXT" });
    }
  }),
);

// C7: a lone surrogate in an answer, which other programs' JSON parsers refuse.
describe("second look C7: every answer is well-formed Unicode", () => {
  const wellFormed = (value: unknown) =>
    !/\p{Surrogate}/u.test(JSON.stringify(value)) && !/\\ud[89a-f]/i.test(JSON.stringify(value));

  for (const uri of [
    "https://x/\ud83d",
    "\ud83d",
    "sila://\udc00",
    "file:///\ud83d",
    "file:\ud83d",
  ]) {
    test(`second look C7: of ${JSON.stringify(uri)}`, async () => {
      let asked = 0;
      const fetch = async () => {
        asked += 1;
        return new Response("page");
      };
      const toolkit = createAgentToolkit({ fetch, space: "/", chat: "/" });
      const result = await toolkit.invoke("read", { uri });
      assert.equal(result.status !== "success" && result.error.details.code, "INVALID_URI");
      assert.ok(wellFormed(result), JSON.stringify(result));
      assert.equal(asked, 0);
    });
  }

  test("second look C7: of a fetch that throws a value that is no error", async () => {
    for (const thrown of [
      new Error("bad \ud83d"),
      "bad \ud83d",
      null,
      undefined,
      5,
      { message: 5 },
    ]) {
      const fetch = async () => Promise.reject(thrown);
      const result = await createAgentToolkit({ fetch }).invoke("read", { uri: PAGE });
      assert.ok(result.status === "failure" && wellFormed(result));
      assert.deepEqual([result.error.details.code, result.error.retriable], ["FETCH_FAILED", true]);
    }
  });
});
