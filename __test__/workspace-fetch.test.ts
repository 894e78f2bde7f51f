// `createWorkspaceFetch` reads file: URIs from the space and the chat. docs/contract.md §6, specification `read`.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { workspaceFetch } from "../dist/workspace-fetch.js";
import type { FileUriContext } from "../index.js";
import { ABORT_REASONS } from "./support/hostile.ts";
import { Random } from "./support/random.ts";
import { rejectionValue } from "./support/read.ts";

/** A fetch that records the calls of `readFileUri` and of its fallback. */
function watched(context: FileUriContext = {}, read = async () => ({ text: "# Märkte\n" })) {
  const asked: { uri: string; context: FileUriContext }[] = [];
  const passed: unknown[][] = [];
  const answer = new Response("from the network");
  const fetch = workspaceFetch(
    (uri, given) => {
      asked.push({ uri, context: given });
      return read();
    },
    context,
    async (...args: unknown[]) => {
      passed.push(args);
      return answer;
    },
  );
  return { fetch, asked, passed, answer };
}

describe("a file: URI", () => {
  test("is answered with a Response of plain text", async () => {
    const { fetch, passed } = watched();
    const response = await fetch("file:///assets/brand.md");
    assert.ok(response instanceof Response);
    assert.equal(response.status, 200);
    assert.equal(response.ok, true);
    assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
    assert.equal(await response.text(), "# Märkte\n");
    assert.deepEqual(passed, []);
  });

  test("reaches readFileUri unchanged, with the context's space, chat and maxBytes", async () => {
    const context = { space: "/space", chat: "/chat", maxBytes: 5, other: "the host's own" };
    const { fetch, asked } = watched(context);
    await fetch("FILE:notes/a%20b.md");
    const { other, ...given } = context;
    assert.deepEqual(asked, [{ uri: "FILE:notes/a%20b.md", context: given }]);
  });

  test("that cannot be read rejects with that very error", async () => {
    const failure = new Error("NOT_FOUND: Workspace file not found at /a.md");
    const { fetch, passed } = watched({}, () => Promise.reject(failure));
    assert.equal(await rejectionValue(() => fetch("file:///a.md")), failure);
    assert.deepEqual(passed, []);
  });

  const DISGUISES: [name: string, input: unknown, uri: string][] = [
    ["in capitals", "FiLe:///etc/passwd", "FiLe:///etc/passwd"],
    ["after a space", " file:///etc/passwd", " file:///etc/passwd"],
    ["after control characters", "\0\x1f\nfile:///etc/passwd", "\0\x1f\nfile:///etc/passwd"],
    ["with a tab in it", "fi\tle:///etc/passwd", "fi\tle:///etc/passwd"],
    ["with newlines in it", "f\ni\r\nle\n:///etc/passwd", "f\ni\r\nle\n:///etc/passwd"],
    ["after a no-break space", "\u00a0file:///etc/passwd", "\u00a0file:///etc/passwd"],
    ["after a byte order mark", "\ufefffile:///etc/passwd", "\ufefffile:///etc/passwd"],
    ["with another host", "file://host/etc/passwd", "file://host/etc/passwd"],
    ["with backslashes", "file:\\\\host\\etc\\passwd", "file:\\\\host\\etc\\passwd"],
    ["with nothing", "file:", "file:"],
    ["as a URL", new URL("file:///etc/passwd"), "file:///etc/passwd"],
    ["as a Request", new Request("file:///etc/passwd"), "file:///etc/passwd"],
    ["as another library's Request", { url: "file:///etc/passwd" }, "file:///etc/passwd"],
    [
      "behind a url",
      { url: "https://example.com/", toString: () => "file:///etc/passwd" },
      "file:///etc/passwd",
    ],
  ];
  for (const [name, input, uri] of DISGUISES) {
    test(`${name} never reaches the fallback`, async () => {
      const { fetch, asked, passed } = watched();
      await fetch(input);
      assert.deepEqual(
        asked.map((reading) => reading.uri),
        [uri],
      );
      assert.deepEqual(passed, []);
    });
  }

  test("nothing that a URL parser takes for one reaches the fallback", async () => {
    const random = new Random(1);
    const parts = [
      "file",
      "FILE",
      "f",
      "i",
      "le",
      "fi",
      ":",
      "/",
      " ",
      "\t",
      "\n",
      "\r",
      "\0",
      "x",
    ];
    let files = 0;
    for (let i = 0; i < 50_000; i++) {
      const uri = Array.from({ length: 1 + random.below(7) }, () => random.pick(parts)).join("");
      const isFile = URL.canParse(uri) && new URL(uri).protocol === "file:";
      if (!isFile) continue;
      files += 1;
      const { fetch, passed } = watched();
      await fetch(uri);
      assert.deepEqual(passed, [], JSON.stringify(uri));
    }
    assert.ok(files > 100, String(files));
  });

  test("cannot be written", async () => {
    const { fetch, asked, passed } = watched();
    const calls = [
      () => fetch("file:///a.md", { method: "PUT", body: "" }),
      () => fetch(new Request("file:///a.md", { method: "POST", body: "" })),
      () => fetch("file:///a.md", { method: "head" }),
    ];
    for (const call of calls) await assert.rejects(call, /^TypeError: file: URIs can only be read/);
    assert.deepEqual([asked, passed], [[], []]);
    await fetch("file:///a.md", { method: "get" });
    assert.equal(asked.length, 1);
  });
});

describe("every other scheme", () => {
  for (const uri of [
    "https://a/b",
    "sila://x",
    "data:,file:",
    "blob:file:",
    "files:x",
    "a/file:",
    "",
  ]) {
    test(`goes to the fallback with its arguments untouched: ${JSON.stringify(uri)}`, async () => {
      const { fetch, asked, passed, answer } = watched();
      const init = { method: "POST", signal: AbortSignal.abort() };
      assert.equal(await fetch(uri, init, "third"), answer);
      assert.deepEqual(asked, []);
      assert.equal(passed.length, 1);
      assert.equal(passed[0]?.length, 3);
      assert.equal(passed[0]?.[1], init);
      assert.deepEqual(passed[0], [uri, init, "third"]);
    });
  }

  test("a URL and a Request arrive as the same objects", async () => {
    const { fetch, passed } = watched();
    const inputs = [new URL("https://a/file:///b"), new Request("https://a/")];
    for (const input of inputs) await fetch(input);
    for (const [i, input] of inputs.entries()) {
      assert.equal(passed[i]?.length, 1);
      assert.equal(passed[i]?.[0], input);
    }
  });

  test("needs a fallback", () => {
    const loose = workspaceFetch as (...args: unknown[]) => unknown;
    const read = async () => ({ text: "" });
    for (const fallback of [undefined, null, {}]) {
      assert.throws(
        () => loose(read, {}, fallback),
        /^TypeError: fallbackFetch must be a function/,
      );
    }
  });
});

describe("signals", () => {
  const never = () => new Promise<{ text: string }>(() => {});

  test("that of init, else that of the Request, reaches the reader", async () => {
    const { fetch, asked } = watched();
    const mine = new AbortController().signal;
    const request = new Request("file:///a.md", { signal: new AbortController().signal });
    await fetch("file:///a.md", { signal: mine });
    await fetch(request, { signal: mine });
    await fetch(request);
    await fetch(request, { signal: null });
    assert.deepEqual(
      asked.map(({ context }) => context.signal),
      [mine, mine, request.signal, undefined],
    );
  });

  for (const [name, reason] of ABORT_REASONS) {
    test(`that of the context ends the call with its reason, ${name}`, async () => {
      const controller = new AbortController();
      const { fetch } = watched({ signal: controller.signal }, never);
      const call = rejectionValue(() => fetch("file:///a.md"));
      controller.abort(reason);
      assert.equal(await call, reason);
    });
  }
});
