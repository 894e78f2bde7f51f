// readFileUri: text from directories and from trees of the host's own. docs/contract.md §6, spec read.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, test } from "node:test";
import { FileStore, readFileUri, Workspace } from "../index.js";
import {
  looseReadUri,
  plant,
  readUri,
  refuseRead,
  sha256,
  storeDir,
  storedAt,
} from "./support/file-uri.ts";
import { isTextType } from "./support/file-uri-model.ts";
import { HostTree, thenable, type Vertex } from "./support/host-tree.ts";
import { ABORT_REASONS, hostileProxy, revokedProxy, withGetter } from "./support/hostile.ts";
import { decode } from "./support/model.ts";
import {
  mkfifo,
  noFifos,
  noPermissions,
  noSymlinks,
  notPosix,
  UNPRIVILEGED,
} from "./support/platform.ts";
import { Random } from "./support/random.ts";
import { rejectionValue } from "./support/read.ts";
import { runUriChild } from "./support/uri-child.ts";
import { concat, hex, inWorkspace, SECRET, type TestWorkspace } from "./support/workspace.ts";

const MIB = 1_048_576;
// What would wait for another process, or for ever, fails instead.
const AT_ONCE = { timeout: 5_000 };
const boom = new Error("boom of the host at /home/host/secret");

/** Reads from the workspace as a directory in each form a root may have, and demands one answer. */
async function readEveryRoot(ws: TestWorkspace, uri: string, settings: object = {}) {
  const key = uri.toLowerCase().startsWith("file:///") ? "space" : "chat";
  const workspace = Workspace.open(ws.root);
  try {
    const answer = await readUri(uri, { ...settings, [key]: ws.root });
    for (const root of [workspace, ws.context, { workspaceRoot: ws.root, policy: {} }]) {
      assert.deepEqual(await readUri(uri, { ...settings, [key]: root }), answer);
    }
    return answer;
  } finally {
    workspace.close();
  }
}

/** Has a read refused with one message, whatever form the directory has. */
async function refuseEveryRoot(
  ws: TestWorkspace,
  uri: string,
  code: string,
  says: RegExp = /./,
  settings: object = {},
) {
  const key = uri.toLowerCase().startsWith("file:///") ? "space" : "chat";
  const workspace = Workspace.open(ws.root);
  try {
    const context = { ...settings, [key]: ws.root };
    const error = await refuseRead([uri, context], code, says, ws.hidden);
    for (const root of [workspace, ws.context]) {
      const other = await refuseRead([uri, { ...settings, [key]: root }], code, says, ws.hidden);
      assert.equal(other.message, error.message);
    }
    return error;
  } finally {
    workspace.close();
  }
}

describe("a directory", () => {
  test(
    "as space is read by file:///, and the answer is whole and in order",
    inWorkspace(async (ws) => {
      ws.write("assets/brand.md", "# Brand\r\né\n");
      const answer = await readEveryRoot(ws, "file:///assets/brand.md");
      assert.equal(
        JSON.stringify(answer),
        JSON.stringify({
          uri: "file:///assets/brand.md",
          scope: "workspace",
          path: "assets/brand.md",
          text: "# Brand\r\né\n",
          mimeType: "text/markdown",
          sizeBytes: 12,
        }),
      );
    }),
  );

  test(
    "as chat is read by file:, below its folder files",
    inWorkspace(async (ws) => {
      ws.write("files/notes/project-a.txt", "a");
      ws.write("notes/project-a.txt", "beside the chat's files");
      const answer = await readEveryRoot(ws, "file:notes/project-a.txt");
      assert.equal(
        JSON.stringify(answer),
        JSON.stringify({
          uri: "file:notes/project-a.txt",
          scope: "chat",
          path: "files/notes/project-a.txt",
          text: "a",
          mimeType: "text/plain",
          sizeBytes: 1,
        }),
      );
    }),
  );

  test(
    "J01: space and chat are not mixed up",
    inWorkspace(async (ws) => {
      ws.write("space/a.md", "the space's");
      ws.write("chat/files/a.md", "the chat's");
      const context = { space: ws.at("space"), chat: ws.at("chat") };
      assert.equal((await readUri("file:///a.md", context)).text, "the space's");
      assert.equal((await readUri("file:a.md", context)).text, "the chat's");
    }),
  );

  test(
    "the uri comes back as it was given, the path as it was understood",
    inWorkspace(async (ws) => {
      ws.write("a/b c.md", "x");
      const answer = await readEveryRoot(ws, "FILE:///./x/../a//%62%20c.md/");
      assert.equal(answer.uri, "FILE:///./x/../a//%62%20c.md/");
      assert.equal(answer.path, "a/b c.md");
    }),
  );

  for (const [name, uri, file] of [
    ["an escaped blank (J07)", "file:///hello%20world.txt", "hello world.txt"],
    ["a raw blank (J07)", "file:///hello world.txt", "hello world.txt"],
    ["a number sign (J09)", "file:///a#b.md", "a#b.md"],
    ["Chinese", "file:///文件/说明.md", "文件/说明.md"],
    ["an escaped emoji", "file:///%F0%9F%98%80.md", "😀.md"],
    ["a percent sign", "file:///100%25.md", "100%.md"],
    ["a name that looks escaped", "file:///a%252fb.md", "a%2fb.md"],
    ["brackets", "file:///[id]/page.tsx", "[id]/page.tsx"],
    ["leading dots", "file:///..foo/...", "..foo/..."],
    ["a tilde", "file:///~/a.md", "~/a.md"],
  ] as const) {
    test(
      `a name with ${name}: ${uri}`,
      { skip: file.endsWith("...") && notPosix },
      inWorkspace(async (ws) => {
        ws.write(file, "right");
        ws.write("a", "wrong");
        assert.equal((await readEveryRoot(ws, uri)).text, "right");
      }),
    );
  }

  test(
    "a name with a question mark is the whole name",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("a.md?raw=1", "right");
      ws.write("a.md", "wrong");
      assert.equal((await readEveryRoot(ws, "file:///a.md?raw=1")).text, "right");
    }),
  );

  test(
    "an empty file is an empty text",
    inWorkspace(async (ws) => {
      ws.write("a.md", "");
      const { text, sizeBytes } = await readEveryRoot(ws, "file:///a.md");
      assert.deepEqual([text, sizeBytes], ["", 0]);
    }),
  );

  test(
    "line ends stay as they are",
    inWorkspace(async (ws) => {
      ws.write("a.md", "a\r\nb\rc\n\n");
      assert.equal((await readEveryRoot(ws, "file:///a.md")).text, "a\r\nb\rc\n\n");
    }),
  );

  test(
    "Markdown and HTML come raw",
    inWorkspace(async (ws) => {
      const raw = "---\na: b\n---\n<script>x</script> &amp; **b**\n";
      ws.write("a.md", raw);
      ws.write("a.html", raw);
      assert.equal((await readEveryRoot(ws, "file:///a.md")).text, raw);
      assert.equal((await readEveryRoot(ws, "file:///a.html")).text, raw);
    }),
  );

  test(
    "64 reads at once are all answered",
    inWorkspace(async (ws) => {
      for (let i = 0; i < 64; i++) ws.write(`files/${i}.md`, `text ${i}`);
      const reads = Array.from({ length: 64 }, (_, i) =>
        i % 8 === 7
          ? refuseRead([`file:missing-${i}.md`, { chat: ws.root }], "NOT_FOUND")
          : readUri(`file:${i}.md`, { chat: ws.root }).then(({ text }) =>
              assert.equal(text, `text ${i}`),
            ),
      );
      await Promise.all(reads);
    }),
  );

  test(
    "the workspace's own refusal of invalid UTF-8 does not concern a URI",
    inWorkspace(async (ws) => {
      ws.write("a.md", hex("61 FF 62"));
      for (const invalidUtf8 of ["reject", "replace"] as const) {
        const workspace = Workspace.open(ws.root, { invalidUtf8 });
        assert.equal((await readUri("file:///a.md", { space: workspace })).text, "a\ufffdb");
        workspace.close();
      }
    }),
  );

  test(
    "the folder is opened anew for each read by its path",
    inWorkspace(async (ws) => {
      ws.write("one/a.md", "one");
      ws.write("two/a.md", "two");
      const space = ws.at("now");
      fs.renameSync(ws.at("one"), space);
      assert.equal((await readUri("file:///a.md", { space })).text, "one");
      fs.renameSync(space, ws.at("one"));
      fs.renameSync(ws.at("two"), space);
      assert.equal((await readUri("file:///a.md", { space })).text, "two");
    }),
  );
});

describe("the sentences of the specification", () => {
  for (const [uri, says] of [
    ["file:///assets/brand.md", "NOT_FOUND: Workspace file not found at /assets/brand.md"],
    ["file:notes/project-a.md", "NOT_FOUND: Chat file not found at files/notes/project-a.md"],
    ["file:///a%20b.md", "NOT_FOUND: Workspace file not found at /a b.md"],
    ["file:///x/../a//b.md", "NOT_FOUND: Workspace file not found at /a/b.md"],
    ["file:文.md", "NOT_FOUND: Chat file not found at files/文.md"],
  ] as const) {
    test(
      `a directory: ${uri}`,
      inWorkspace(async (ws) => {
        ws.folder("files");
        const { message } = await refuseEveryRoot(ws, uri, "NOT_FOUND");
        assert.equal(message, says);
      }),
    );

    test(`a tree: ${uri}`, async () => {
      const root = new HostTree();
      const { message } = await refuseRead([uri, { space: root, chat: root }], "NOT_FOUND");
      assert.equal(message, says);
    });
  }

  test(
    "a chat without a folder files",
    inWorkspace(async (ws) => {
      ws.write("a.md", "beside the chat's files");
      const { message } = await refuseEveryRoot(ws, "file:a.md", "NOT_FOUND");
      assert.equal(message, "NOT_FOUND: Chat file not found at files/a.md");
    }),
  );

  test(
    "a chat whose files is a file",
    inWorkspace(async (ws) => {
      ws.write("files", "a");
      const { message } = await refuseEveryRoot(ws, "file:a.md", "NOT_FOUND");
      assert.equal(message, "NOT_FOUND: Chat file not found at files/a.md");
    }),
  );
});

describe("files that a directory does not have", () => {
  test(
    "a file as a folder is not found",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await refuseEveryRoot(ws, "file:///a.txt/x", "NOT_FOUND");
    }),
  );

  test(
    "a name that is too long is not found",
    inWorkspace((ws) => refuseEveryRoot(ws, `file:///${"a".repeat(300)}`, "NOT_FOUND")),
  );

  test(
    "a path that is too long is not found",
    inWorkspace((ws) => refuseEveryRoot(ws, `file:///${"a/".repeat(5_000)}b`, "NOT_FOUND")),
  );

  test(
    "a name in another normal form is not found",
    { skip: process.platform !== "linux" && "a volume that may fold names" },
    inWorkspace(async (ws) => {
      ws.write("caf\u00e9.md", "a");
      await refuseEveryRoot(ws, "file:///cafe\u0301.md", "NOT_FOUND");
    }),
  );

  test(
    "H20: a name with another blank is not found",
    inWorkspace(async (ws) => {
      ws.write("a\u00a0b.md", "a");
      await refuseEveryRoot(ws, "file:///a b.md", "NOT_FOUND");
    }),
  );

  for (const uri of ["file:///dir", "file:///dir/", "file:///dir/sub/.."]) {
    test(
      `a folder is no text: ${uri}`,
      inWorkspace(async (ws) => {
        ws.folder("dir");
        await refuseEveryRoot(ws, uri, "NOT_TEXT");
      }),
    );
  }

  test(
    "F09: a folder that is named like a text file is no text",
    inWorkspace(async (ws) => {
      ws.folder("data.json");
      await refuseEveryRoot(ws, "file:///data.json", "NOT_TEXT");
    }),
  );
});

describe("links", { skip: noSymlinks }, () => {
  test(
    "a link that ends inside is read, under its own name",
    inWorkspace(async (ws) => {
      ws.write("real/a.md", "real");
      ws.link("l.md", "real/a.md");
      ws.link("absolute.md", ws.at("real/a.md"));
      ws.link("dir", "real", "dir");
      for (const name of ["l.md", "absolute.md", "dir/a.md"]) {
        const { text, path: shown } = await readEveryRoot(ws, `file:///${name}`);
        assert.deepEqual([text, shown], ["real", name]);
      }
    }),
  );

  for (const [name, link] of [
    ["a file outside", (ws: TestWorkspace) => ws.link("l.md", path.join(ws.outside, "secret.md"))],
    ["a file outside, relatively", (ws: TestWorkspace) => ws.link("l.md", "../outside/secret.md")],
    ["nothing outside", (ws: TestWorkspace) => ws.link("l.md", "../outside/missing.md")],
    ["a folder outside", (ws: TestWorkspace) => ws.link("l.md", ws.outside, "dir")],
    ["itself", (ws: TestWorkspace) => ws.link("l.md", "l.md")],
    ["/dev/null", (ws: TestWorkspace) => ws.link("l.md", "/dev/null")],
    ["what leaves and comes back", (ws: TestWorkspace) => ws.link("l.md", "../ws/a.md")],
  ] as const) {
    test(
      `a link to ${name} is a violation, never missing`,
      AT_ONCE,
      inWorkspace(async (ws) => {
        ws.write("a.md", "a");
        ws.writeOutside("secret.md");
        link(ws);
        const { message } = await refuseEveryRoot(ws, "file:///l.md", "SANDBOX_VIOLATION");
        assert.ok(!message.includes(SECRET.trim()));
      }),
    );
  }

  test(
    "a folder link that leads out is a violation for every path below it",
    inWorkspace(async (ws) => {
      ws.writeOutside("secret.md");
      ws.link("l", ws.outside, "dir");
      await refuseEveryRoot(ws, "file:///l/secret.md", "SANDBOX_VIOLATION");
      await refuseEveryRoot(ws, "file:///l/missing.md", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "the chat's folder files as a link that leads out is a violation",
    inWorkspace(async (ws) => {
      ws.writeOutside("secret.md");
      ws.link("files", ws.outside, "dir");
      await refuseEveryRoot(ws, "file:secret.md", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "a dangling link inside is not found",
    inWorkspace(async (ws) => {
      ws.link("l.md", "missing.md");
      await refuseEveryRoot(ws, "file:///l.md", "NOT_FOUND");
    }),
  );

  test(
    "two links to each other are a violation",
    AT_ONCE,
    inWorkspace(async (ws) => {
      ws.link("a.md", "b.md");
      ws.link("b.md", "a.md");
      await refuseEveryRoot(ws, "file:///a.md", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "a root that is reached through a link is read",
    inWorkspace(async (ws) => {
      ws.write("a.md", "a");
      fs.symlinkSync(ws.root, path.join(ws.base, "alias"), "dir");
      const { text } = await readUri("file:///a.md", { space: path.join(ws.base, "alias") });
      assert.equal(text, "a");
    }),
  );
});

describe("special files", () => {
  test(
    "a FIFO answers at once, named like text or not",
    { ...AT_ONCE, skip: noFifos },
    inWorkspace(async (ws) => {
      mkfifo(ws.at("pipe"));
      mkfifo(ws.at("pipe.md"));
      await refuseEveryRoot(ws, "file:///pipe", "NOT_TEXT");
      await refuseEveryRoot(ws, "file:///pipe.md", "NOT_TEXT");
    }),
  );

  test(
    "a link inside to a FIFO answers at once",
    { ...AT_ONCE, skip: noFifos },
    inWorkspace(async (ws) => {
      mkfifo(ws.at("pipe"));
      ws.link("l.md", "pipe");
      await refuseEveryRoot(ws, "file:///l.md", "NOT_TEXT");
    }),
  );

  test(
    "a socket answers at once",
    { ...AT_ONCE, skip: notPosix },
    inWorkspace(async (ws) => {
      const server = net.createServer();
      await new Promise<void>((resolve) => server.listen(ws.at("s.md"), resolve));
      await refuseEveryRoot(ws, "file:///s.md", "NOT_TEXT");
      await new Promise((resolve) => server.close(resolve));
    }),
  );
});

describe("permissions", { skip: noPermissions }, () => {
  for (const [name, locked] of [
    ["a file", "dir/a.md"],
    ["a folder", "dir"],
  ] as const) {
    test(
      `${name} that may not be read is PERMISSION_DENIED`,
      inWorkspace(async (ws) => {
        ws.write("dir/a.md", "a");
        fs.chmodSync(ws.base, 0o755);
        fs.chmodSync(ws.at(locked), 0);
        const reads = [{ uri: "file:///dir/a.md", context: { space: ws.root } }];
        const [outcome] = await runUriChild({ user: UNPRIVILEGED, reads });
        fs.chmodSync(ws.at(locked), 0o755);
        assert.equal(outcome?.error?.code, "PERMISSION_DENIED", JSON.stringify(outcome));
        assert.match(outcome.error.message, /^PERMISSION_DENIED: /);
        assert.ok(!outcome.error.message.includes(ws.base), outcome.error.message);
      }),
    );
  }
});

describe("text by extension", () => {
  for (const [name, types] of [
    ["a.md", ["text/markdown"]],
    ["a.markdown", ["text/markdown"]],
    ["a.txt", ["text/plain"]],
    ["a.json", ["application/json"]],
    ["a.html", ["text/html"]],
    ["a.htm", ["text/html"]],
    ["a.css", ["text/css"]],
    ["a.csv", ["text/csv"]],
    ["a.svg", ["image/svg+xml"]],
    ["a.xml", ["application/xml", "text/xml"]],
    ["a.js", ["text/javascript", "application/javascript"]],
    ["a.mjs", ["text/javascript", "application/javascript"]],
    ["a.yaml", ["application/yaml", "text/yaml", "application/x-yaml"]],
    ["a.yml", ["application/yaml", "text/yaml", "application/x-yaml"]],
    ["a.toml", ["application/toml", "text/toml", "text/x-toml"]],
    ["a.MD", ["text/markdown"]],
    ["a.Json", ["application/json"]],
    ["a.png.md", ["text/markdown"]],
  ] as const) {
    test(
      `${name} is ${types[0]}`,
      inWorkspace(async (ws) => {
        ws.write(name, "{}");
        const { mimeType, text } = await readEveryRoot(ws, `file:///${name}`);
        assert.ok((types as readonly string[]).includes(mimeType), mimeType);
        assert.equal(text, "{}");
      }),
    );
  }

  for (const extension of [
    ...["ts", "tsx", "mts", "cts", "jsx", "cjs", "py", "rs", "go", "java", "c", "h", "cpp", "cs"],
    ...["rb", "php", "sh", "sql", "ini", "log", "tsv", "vue", "diff", "patch", "tex", "rst"],
    ...["jsonl", "graphql", "scss", "bat", "ps1", "swift", "kt", "lua", "r", "pl", "dart"],
  ]) {
    test(
      `a.${extension} with text in it is text`,
      inWorkspace(async (ws) => {
        ws.write(`a.${extension}`, "text é\n");
        const { text, mimeType } = await readEveryRoot(ws, `file:///a.${extension}`);
        assert.equal(text, "text é\n");
        assert.ok(isTextType(mimeType), mimeType);
      }),
    );
  }

  for (const extension of [
    ...["png", "jpg", "jpeg", "gif", "webp", "pdf", "zip", "gz", "mp3", "mp4", "wasm", "PNG"],
    "md.png",
  ]) {
    test(
      `a.${extension} is no text, with any content`,
      inWorkspace(async (ws) => {
        ws.write(`a.${extension}`, "plain text\n");
        await refuseEveryRoot(ws, `file:///a.${extension}`, "NOT_TEXT");
      }),
    );
  }

  test(
    "a text file with a NUL in it is text",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\0b");
      assert.equal((await readEveryRoot(ws, "file:///a.txt")).text, "a\0b");
    }),
  );
});

describe("text by content", () => {
  const names = ["README", "Makefile", ".gitignore", "a.unheard-of", "dir.png/a", "a."];
  for (const name of names) {
    test(
      `${name} with text in it is text/plain`,
      { skip: name === "a." && notPosix },
      inWorkspace(async (ws) => {
        ws.write(name, "plain text: é\n");
        const { text, mimeType } = await readEveryRoot(ws, `file:///${name}`);
        assert.deepEqual([text, mimeType], ["plain text: é\n", "text/plain"]);
      }),
    );

    test(
      `${name} with a program in it is no text`,
      { skip: name === "a." && notPosix },
      inWorkspace(async (ws) => {
        ws.write(name, hex("7F 45 4C 46 02 01 01 00 00 00 00 00"));
        await refuseEveryRoot(ws, `file:///${name}`, "NOT_TEXT");
      }),
    );
  }

  test(
    "an empty file without an extension is text",
    inWorkspace(async (ws) => {
      ws.write("LICENSE", "");
      assert.equal((await readEveryRoot(ws, "file:///LICENSE")).text, "");
    }),
  );

  test(
    "a PNG without an extension is no text",
    inWorkspace(async (ws) => {
      ws.write("logo", hex("89 50 4E 47 0D 0A 1A 0A 00 00 00 0D 49 48 44 52"));
      await refuseEveryRoot(ws, "file:///logo", "NOT_TEXT");
    }),
  );
});

describe("the cap", () => {
  test(
    "1 MiB is read, one byte more is TOO_LARGE",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a".repeat(MIB));
      ws.write("b.txt", "a".repeat(MIB + 1));
      assert.equal((await readEveryRoot(ws, "file:///a.txt")).sizeBytes, MIB);
      await refuseEveryRoot(ws, "file:///b.txt", "TOO_LARGE");
    }),
  );

  test(
    "the cap counts bytes, the byte order mark too",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "\ufeffé");
      assert.equal((await readEveryRoot(ws, "file:///a.txt", { maxBytes: 5 })).sizeBytes, 5);
      await refuseEveryRoot(ws, "file:///a.txt", "TOO_LARGE", /./, { maxBytes: 4 });
    }),
  );

  test(
    "maxBytes may be above 1 MiB",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a".repeat(3 * MIB));
      const { sizeBytes } = await readEveryRoot(ws, "file:///a.txt", { maxBytes: 3 * MIB });
      assert.equal(sizeBytes, 3 * MIB);
      await refuseEveryRoot(ws, "file:///a.txt", "TOO_LARGE", /./, { maxBytes: 3 * MIB - 1 });
    }),
  );

  test(
    "an empty file is below every cap",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "");
      assert.equal((await readEveryRoot(ws, "file:///a.txt", { maxBytes: 1 })).text, "");
    }),
  );

  test(
    "a sparse file of 5 GiB is TOO_LARGE at once",
    { ...AT_ONCE, skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "");
      fs.truncateSync(ws.at("a.txt"), 5 * 1024 * MIB);
      await refuseEveryRoot(ws, "file:///a.txt", "TOO_LARGE");
    }),
  );

  test("a vertex above the cap is TOO_LARGE, and the store is not asked", async () => {
    const tree = new HostTree();
    tree.add("a", "abc", { size: 4 });
    tree.add("b", "abc", { size: MIB + 1 });
    tree.add("c", "abc", { size: 2 ** 52 });
    await refuseRead(["file:///a", { space: tree, maxBytes: 3 }], "TOO_LARGE");
    await refuseRead(["file:///b", { space: tree }], "TOO_LARGE");
    await refuseRead(["file:///c", { space: tree }], "TOO_LARGE");
    assert.deepEqual(tree.fetched, []);
  });

  test("a vertex exactly at the cap is read", async () => {
    const tree = new HostTree();
    tree.add("a", "abc");
    assert.equal((await readUri("file:///a", { space: tree, maxBytes: 3 })).text, "abc");
  });

  for (const [name, size] of [
    ["has no size", undefined],
    ["has the size null", null],
    ["claims less than it has", 1],
  ] as const) {
    test(`a vertex that ${name} is TOO_LARGE by its bytes`, async () => {
      const tree = new HostTree();
      tree.add("a", "abcd", { size });
      await refuseRead(["file:///a", { space: tree, maxBytes: 3 }], "TOO_LARGE");
    });
  }

  for (const maxBytes of [1, 2.0, 3, MIB, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
    test(
      `maxBytes ${maxBytes} is a cap`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const tree = new HostTree();
        tree.add("a.txt", "a");
        assert.equal((await readEveryRoot(ws, "file:///a.txt", { maxBytes })).text, "a");
        assert.equal((await readUri("file:///a.txt", { space: tree, maxBytes })).text, "a");
      }),
    );
  }

  for (const maxBytes of [null, undefined]) {
    test(
      `maxBytes ${maxBytes} is absent`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a".repeat(MIB));
        ws.write("b.txt", "a".repeat(MIB + 1));
        assert.equal((await readEveryRoot(ws, "file:///a.txt", { maxBytes })).sizeBytes, MIB);
        await refuseEveryRoot(ws, "file:///b.txt", "TOO_LARGE", /./, { maxBytes });
      }),
    );
  }

  for (const [name, maxBytes] of [
    ["0", 0],
    ["-0", -0],
    ["-1", -1],
    ["1.5", 1.5],
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["a string", "10"],
    ["true", true],
    ["a BigInt", 10n],
    ["an array", [10]],
    ["an object", {}],
    ["a symbol", Symbol("s")],
  ] as const) {
    test(
      `maxBytes as ${name} is refused by name, and tree and store are not called`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const tree = new HostTree();
        for (const space of [ws.root, tree]) {
          await refuseRead(["file:///a.txt", { space, maxBytes }], "INVALID_ARGUMENT", /maxBytes/);
        }
        assert.deepEqual(tree.resolved, []);
      }),
    );
  }

  test(
    "maxBytes 2^53 is answered or refused by name",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const context = { space: ws.root, maxBytes: 2 ** 53 };
      const outcome = await looseReadUri("file:///a.txt", context).then(
        ({ text }) => text,
        ({ message }: Error) => message,
      );
      assert.match(outcome, /^a$|^INVALID_ARGUMENT: .*maxBytes/);
    }),
  );
});

describe("decoding", () => {
  /** Bytes that are UTF-8 in part, with the pieces that decoders get wrong. */
  function randomBytes(random: Random): Uint8Array {
    const pieces = [
      ...["61", "0A", "0D 0A", "00", "7F", "80", "BF", "C0", "C1", "C2", "C3 A9", "DF", "E0"],
      ...["E0 9F", "E0 A0", "E2 82 AC", "E2 82", "ED 9F BF", "ED A0 80", "EF BB BF", "EF BB"],
      ...["EF BF BE", "F0", "F0 8F", "F0 9F 98 80", "F0 9F 98", "F4 8F BF BF", "F4 90", "F5"],
      ...["F8 88 80 80 80", "FE", "FF", "FF FE", "FE FF", "1B", "E2 80 A8"],
    ];
    const parts = Array.from({ length: random.below(12) }, () => hex(random.pick(pieces)));
    if (random.below(4) === 0) parts.unshift(hex("EF BB BF"));
    return concat(...parts);
  }

  const show = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
  const decoder = (bytes: Uint8Array) => new TextDecoder("utf-8").decode(bytes);

  test("of 2,000 random byte strings in a tree is TextDecoder's, seed 7", async () => {
    const random = new Random(7);
    for (let i = 0; i < 2_000; i++) {
      const bytes = randomBytes(random);
      const tree = new HostTree();
      tree.add("a", bytes);
      const { text, sizeBytes } = await readUri("file:///a", { space: tree });
      assert.equal(text, decoder(bytes), show(bytes));
      assert.equal(text, decode(bytes).text, show(bytes));
      assert.equal(sizeBytes, bytes.length);
    }
  });

  test(
    "of 300 random byte strings in a directory is TextDecoder's, seed 8",
    inWorkspace(async (ws) => {
      const random = new Random(8);
      for (let i = 0; i < 300; i++) {
        const bytes = randomBytes(random);
        ws.write("a.txt", bytes);
        const { text, sizeBytes } = await readUri("file:///a.txt", { space: ws.root });
        assert.equal(text, decoder(bytes), show(bytes));
        assert.equal(sizeBytes, bytes.length);
      }
    }),
  );

  for (const [name, dump, text] of [
    ["one byte order mark is dropped", "EF BB BF 61", "a"],
    ["a second byte order mark is text", "EF BB BF EF BB BF 61", "\ufeffa"],
    ["a byte order mark further on is text", "61 EF BB BF", "a\ufeff"],
    ["a byte order mark alone is no text", "EF BB BF", ""],
    ["half a byte order mark is ill-formed", "EF BB", "\ufffd"],
    ["UTF-16 is not guessed", "FF FE 61 00", "\ufffd\ufffda\0"],
    ["a Latin-1 letter is ill-formed", "63 61 66 E9", "caf\ufffd"],
    ["an encoded surrogate is three ill-formed bytes", "ED A0 80", "\ufffd\ufffd\ufffd"],
    ["a character cut short is one ill-formed sequence", "F0 9F 98", "\ufffd"],
  ] as const) {
    test(
      `of a directory and a tree: ${name}`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", hex(dump));
        const tree = new HostTree();
        tree.add("a.txt", hex(dump));
        for (const space of [ws.root, tree]) {
          const answer = await readUri("file:///a.txt", { space });
          assert.deepEqual([answer.text, answer.sizeBytes], [text, hex(dump).length]);
        }
      }),
    );
  }

  test("does not mind another charset among the parameters of the type", async () => {
    const tree = new HostTree();
    tree.add("a", "é", { mimeType: "text/plain; charset=iso-8859-1" });
    assert.equal((await readUri("file:///a", { space: tree })).text, "é");
  });
});

describe("a tree of the host's own", () => {
  test("is asked with the segments, exactly, and as a method", async () => {
    const tree = new HostTree();
    const names = ["a b", "%2e", "__proto__", "é", "e\u0301", "..x", "C", "a#b?c", "\u202e"];
    tree.add(names.join("/"), "right");
    tree.add(["files", ...names].join("/"), "right");
    const uri = names.map(encodeURIComponent).join("/");
    assert.equal((await readUri(`file:///${uri}`, { space: tree })).text, "right");
    assert.equal((await readUri(`file:${uri}`, { chat: tree })).text, "right");
    assert.deepEqual(tree.resolved, [names, ["files", ...names]]);
    assert.ok(tree.resolved.every(Array.isArray));
  });

  test("and its store are called as methods", async () => {
    const tree = new HostTree();
    const hash = tree.add("a", "a");
    await readUri("file:///a", { space: tree });
    assert.deepEqual(tree.fetched, [hash]);
    assert.equal(tree.receivers.length, 2);
    assert.equal(tree.receivers[0], tree);
    assert.equal(tree.receivers[1], tree.store);
  });

  test("may change the segments that it gets", async () => {
    const tree = new HostTree();
    tree.add("a/b", "x");
    const resolve = (segments: string[]) => {
      const answer = tree.resolve([...segments]);
      segments.length = 0;
      return answer;
    };
    const { path: shown } = await readUri("file:///a/b", { space: { resolve, store: tree.store } });
    assert.equal(shown, "a/b");
  });

  test("gives the whole answer in order", async () => {
    const tree = new HostTree();
    tree.add("assets/brand.md", "\ufeffé", { mimeType: "text/markdown" });
    assert.equal(
      JSON.stringify(await readUri("file:///assets/brand.md", { space: tree })),
      JSON.stringify({
        uri: "file:///assets/brand.md",
        scope: "workspace",
        path: "assets/brand.md",
        text: "é",
        mimeType: "text/markdown",
        sizeBytes: 5,
      }),
    );
  });

  test("is not asked where the URI is invalid", async () => {
    const tree = new HostTree();
    for (const uri of ["file:///../a", "file:///a%00", "file://host/a", "http://x", "file:"]) {
      await refuseRead([uri, { space: tree, chat: tree }], "INVALID_URI");
    }
    assert.deepEqual(tree.resolved, []);
  });

  test("of the other scope is not asked", async () => {
    const [space, chat] = [new HostTree(), new HostTree()];
    space.add("a", "the space's");
    chat.add("files/a", "the chat's");
    assert.equal((await readUri("file:a", { space, chat })).text, "the chat's");
    assert.deepEqual(space.resolved, []);
    assert.equal((await readUri("file:///a", { space, chat })).text, "the space's");
    assert.equal(chat.resolved.length, 1);
  });

  const forms: readonly (readonly [string, (vertex: unknown) => unknown])[] = [
    ["at once", (vertex) => vertex],
    ["by promise", (vertex) => Promise.resolve(vertex)],
    ["later", (vertex) => new Promise((resolve) => setTimeout(resolve, 5, vertex))],
    ["by thenable", (vertex) => thenable((settle) => settle(vertex))],
    ["by thenable, later", (vertex) => thenable((settle) => setTimeout(settle, 5, vertex))],
  ];
  for (const [name, form] of forms) {
    test(`may resolve ${name}`, async () => {
      const tree = new HostTree();
      tree.add("a", "text");
      const resolve = (segments: string[]) => form(tree.resolve(segments));
      const { text } = await readUri("file:///a", { space: { resolve, store: tree.store } });
      assert.equal(text, "text");
    });

    test(`may say ${name} that nothing is there`, async () => {
      for (const nothing of [null, undefined]) {
        const space = { resolve: () => form(nothing), store: new HostTree().store };
        const { message } = await refuseRead(["file:///a", { space }], "NOT_FOUND");
        assert.equal(message, "NOT_FOUND: Workspace file not found at /a");
      }
    });

    test(`may have a store that answers ${name}`, async () => {
      const tree = new HostTree();
      tree.add("a", "text");
      const store = { getBytes: (hash: string) => form(tree.bytes.get(hash)) };
      const resolve = (segments: string[]) => tree.resolve(segments);
      assert.equal((await readUri("file:///a", { space: { resolve, store } })).text, "text");
    });
  }

  test("may give a vertex that is an instance of a class, frozen, or without a prototype", async () => {
    const hash = sha256("text");
    class FileVertex {
      get hash() {
        return hash;
      }
      get mimeType() {
        return "text/plain";
      }
      get size() {
        return 4;
      }
    }
    for (const vertex of [
      new FileVertex(),
      Object.freeze({ hash, mimeType: "text/plain", size: 4, id: 5n }),
      Object.assign(Object.create(null), { hash }),
      Object.create({ hash, size: 4 }),
      new Proxy({ hash, size: 4 }, {}),
    ]) {
      const store = { getBytes: () => Buffer.from("text") };
      const space = { resolve: () => vertex, store };
      assert.equal((await readUri("file:///a", { space })).text, "text");
    }
  });

  test("may have its methods from a prototype", async () => {
    class Tree {
      #hash = sha256("text");
      resolve() {
        return { hash: this.#hash };
      }
      get store() {
        return new Store();
      }
    }
    class Store {
      #text = "text";
      async getBytes() {
        return Buffer.from(this.#text);
      }
    }
    assert.equal((await readUri("file:///a", { space: new Tree() })).text, "text");
  });

  test("may give bytes in a part of a larger buffer", async () => {
    const whole = Buffer.from("xxtextxx");
    const space = {
      resolve: () => ({ hash: sha256("text") }),
      store: { getBytes: () => whole.subarray(2, 6) },
    };
    assert.equal((await readUri("file:///a", { space })).text, "text");
  });

  test("gives an empty text for no bytes", async () => {
    const tree = new HostTree();
    tree.add("a", "");
    assert.equal((await readUri("file:///a", { space: tree })).text, "");
  });

  test("answers 64 reads at once", async () => {
    const tree = new HostTree();
    for (let i = 0; i < 64; i++) tree.add(`${i}`, `text ${i}`);
    const resolve = async (segments: string[]) => {
      await new Promise((done) => setTimeout(done, Number(segments[0]) % 5));
      return tree.resolve(segments);
    };
    const space = { resolve, store: tree.store };
    const texts = await Promise.all(
      Array.from({ length: 64 }, async (_, i) => (await readUri(`file:///${i}`, { space })).text),
    );
    assert.deepEqual(
      texts,
      Array.from({ length: 64 }, (_, i) => `text ${i}`),
    );
  });
});

describe("a tree with a FileStore", () => {
  /** A tree with one file `a` whose bytes are in a store on disk. */
  async function stored(ws: TestWorkspace, text: string | Uint8Array, changes: Vertex = {}) {
    const store = FileStore.open(storeDir(ws));
    const { hash, size } = await store.putBytes(Buffer.from(text as Uint8Array));
    const resolve = () => ({ hash, mimeType: "text/plain", size, ...changes });
    return { hash, space: { resolve, store } };
  }

  test(
    "is read",
    inWorkspace(async (ws) => {
      const { space } = await stored(ws, "text é\n");
      assert.equal((await readUri("file:///a", { space })).text, "text é\n");
    }),
  );

  test(
    "with a vertex but without bytes: the sentence, and the hash",
    inWorkspace(async (ws) => {
      const { hash, space } = await stored(ws, "text");
      fs.rmSync(storedAt(storeDir(ws), hash));
      const { message } = await refuseRead(
        ["file:///dir/a.md", { space }],
        "NOT_FOUND",
        /./,
        ws.hidden,
      );
      assert.ok(message.startsWith("NOT_FOUND: Workspace file not found at /dir/a.md"), message);
      assert.ok(message.includes(hash), message);
      const chat = await refuseRead(["file:a.md", { chat: space }], "NOT_FOUND", /./, ws.hidden);
      assert.ok(chat.message.startsWith("NOT_FOUND: Chat file not found at files/a.md"));
      assert.ok(chat.message.includes(hash));
    }),
  );

  for (const [name, damage] of [
    ["one bit flipped", "uext"],
    ["its end cut off", "tex"],
    ["something added", "text!"],
    ["nothing in it", ""],
  ] as const) {
    test(
      `whose file has ${name} is CORRUPT by its hash`,
      inWorkspace(async (ws) => {
        const { hash, space } = await stored(ws, "text");
        fs.chmodSync(storedAt(storeDir(ws), hash), 0o644);
        plant(storeDir(ws), hash, damage);
        const { message } = await refuseRead(["file:///a", { space }], "CORRUPT", /./, ws.hidden);
        assert.ok(message.includes(hash), message);
      }),
    );
  }

  test(
    "is TOO_LARGE by its size without a look at the store",
    inWorkspace(async (ws) => {
      const { hash, space } = await stored(ws, "text");
      fs.rmSync(storedAt(storeDir(ws), hash));
      await refuseRead(["file:///a", { space, maxBytes: 3 }], "TOO_LARGE");
    }),
  );

  test(
    "is TOO_LARGE by its bytes where the tree knows no size",
    inWorkspace(async (ws) => {
      const { space } = await stored(ws, "text", { size: null });
      await refuseRead(["file:///a", { space, maxBytes: 3 }], "TOO_LARGE");
    }),
  );

  test(
    "serves 64 reads at once",
    inWorkspace(async (ws) => {
      const { space } = await stored(ws, "é".repeat(100_000));
      const reads = Array.from({ length: 64 }, () => readUri("file:///a", { space }));
      for (const { text } of await Promise.all(reads)) assert.equal(text.length, 100_000);
    }),
  );

  for (const hash of ["../../etc/passwd", "ab", "A".repeat(64), `../${"a".repeat(61)}`]) {
    test(
      `and with the hash ${JSON.stringify(hash)} is INTERNAL`,
      inWorkspace(async (ws) => {
        const { space } = await stored(ws, "text", { hash });
        await refuseRead(["file:///a", { space }], "INTERNAL", /./, ws.hidden);
      }),
    );
  }
});

describe("vertices of a tree that are no text", () => {
  test("a vertex without a hash is NOT_TEXT", async () => {
    for (const vertex of [{}, { hash: null }, { hash: undefined, mimeType: "text/plain" }]) {
      const space = { resolve: () => vertex, store: new HostTree().store };
      await refuseRead(["file:///a", { space }], "NOT_TEXT");
    }
  });

  for (const mimeType of [
    ...["text/plain", "text/markdown", "text/html", "text/x-anything", "text/css", "text/xml"],
    ...["application/json", "application/xml", "application/javascript", "application/typescript"],
    ...["application/markdown", "application/yaml", "application/toml", "application/x-yaml"],
    ...["application/ld+json", "application/vnd.api+json", "application/xhtml+xml"],
    ...["image/svg+xml", "application/atom+xml", "model/gltf+json"],
    ...["TEXT/PLAIN", "Text/MarkDown", "APPLICATION/JSON", "Image/SVG+XML", "a/b+JSON"],
    ...["text/plain; charset=utf-8", "text/plain;charset=UTF-8", "text/plain ; a=b; c=d"],
    ...["application/json; charset=utf-8", "Application/LD+JSON; profile=x", "text/plain;"],
  ]) {
    test(`the type ${mimeType} is text, and the answer has it unchanged`, async () => {
      assert.ok(isTextType(mimeType), "the model agrees");
      const tree = new HostTree();
      tree.add("a", "text", { mimeType });
      const answer = await readUri("file:///a", { space: tree });
      assert.deepEqual([answer.text, answer.mimeType], ["text", mimeType]);
    });
  }

  for (const mimeType of [
    ...["image/png", "image/jpeg", "application/pdf", "application/zip", "audio/mpeg"],
    ...["application/octet-stream", "video/mp4", "video/mp2t", "font/woff2", "multipart/mixed"],
    ...["application/jsonx", "application/xmlish", "application/x-executable", "textual/plain"],
    ...["image/png; a=text/plain", "application/octet-stream;x=+json", "image/png;+xml"],
    ...["IMAGE/PNG", "application/msword", "x-text/plain", "json/application"],
  ]) {
    test(`the type ${mimeType} is NOT_TEXT, and the store is not asked`, async () => {
      assert.ok(!isTextType(mimeType), "the model agrees");
      const tree = new HostTree();
      tree.add("a", "text", { mimeType });
      await refuseRead(["file:///a", { space: tree }], "NOT_TEXT");
      assert.deepEqual(tree.fetched, []);
    });
  }

  test("a missing type counts as text, and the answer has text/plain", async () => {
    for (const mimeType of [null, undefined]) {
      const tree = new HostTree();
      tree.add("a.png", "text", { mimeType });
      const answer = await readUri("file:///a.png", { space: tree });
      assert.deepEqual([answer.text, answer.mimeType], ["text", "text/plain"]);
    }
  });
});

describe("a tree or store that fails", () => {
  const rejecting = (thrown: unknown) => () => Promise.reject(thrown);
  const throwing = (thrown: unknown) => () => {
    throw thrown;
  };
  const rejectingThenable = (thrown: unknown) => () => thenable((_, reject) => reject(thrown));
  const ways = [
    ["throws", throwing],
    ["rejects", rejecting],
    ["gives a thenable that rejects", rejectingThenable],
    ["gives a thenable whose then throws", (thrown: unknown) => () => thenable(throwing(thrown))],
    ["gives a thenable whose getter throws", (thrown: unknown) => () => withGetter("then", thrown)],
  ] as const;

  for (const [name, way] of ways) {
    test(`resolve ${name}: INTERNAL, with the thrown value as cause`, async () => {
      const space = { resolve: way(boom), store: new HostTree().store };
      const error = await refuseRead(["file:///a", { space }], "INTERNAL");
      assert.equal(error.cause, boom);
      assert.doesNotMatch(error.message, /boom|home/);
    });

    test(`getBytes ${name}: INTERNAL, with the thrown value as cause`, async () => {
      const space = {
        resolve: () => ({ hash: sha256("a"), mimeType: "text/plain" }),
        store: { getBytes: way(boom) },
      };
      const error = await refuseRead(["file:///a", { space }], "INTERNAL");
      assert.equal(error.cause, boom);
      assert.doesNotMatch(error.message, /boom|home/);
    });
  }

  for (const [name, thrown] of [
    ["a string", "secret"],
    ["null", null],
    ["false", false],
    ["0", 0],
    ["a symbol", Symbol("secret")],
    ["a BigInt", 5n],
    ["an object", { secret: true }],
    ["a revoked Proxy", revokedProxy()],
    ["a Proxy on which everything throws", hostileProxy()],
    ["an object whose message throws", withGetter("message")],
  ] as const) {
    test(`${name}, thrown, is the cause all the same`, async () => {
      for (const way of [throwing, rejecting]) {
        const store = { getBytes: way(thrown) };
        for (const space of [
          { resolve: way(thrown), store },
          { resolve: () => ({ hash: sha256("a") }), store },
        ]) {
          const error = await refuseRead(["file:///a", { space }], "INTERNAL");
          // Compared by hand: an assertion would ask a hostile value for its text.
          assert.ok(Object.is(error.cause, thrown), "the very value");
          assert.ok(!error.message.includes("secret"));
        }
      }
    });
  }

  for (const [name, answer] of [
    ["a string", "text"],
    ["a number", 5],
    ["0", 0],
    ["false", false],
    ["true", true],
    ["a BigInt", 5n],
    ["a symbol", Symbol("s")],
    ["an empty string", ""],
  ] as const) {
    test(`resolve answers ${name}: INTERNAL`, async () => {
      const store = new HostTree().store;
      for (const resolve of [() => answer, async () => answer]) {
        await refuseRead(["file:///a", { space: { resolve, store } }], "INTERNAL");
      }
    });
  }

  for (const [key, values] of [
    ["hash", [5, true, {}, [], 5n, Symbol("s"), Buffer.from("a")]],
    ["mimeType", [5, true, {}, [], 5n, Symbol("s")]],
    ["size", ["4", true, {}, [4], 4n, Symbol("s")]],
  ] as const) {
    for (const value of values) {
      test(`a vertex whose ${key} is ${typeof value} ${String(value)}: INTERNAL, and the store is not asked`, async () => {
        const tree = new HostTree();
        tree.add("a", "text", { [key]: value });
        await refuseRead(["file:///a", { space: tree }], "INTERNAL");
        assert.deepEqual(tree.fetched, []);
      });
    }

    test(`a vertex whose ${key} throws: INTERNAL with the cause`, async () => {
      const vertex = Object.defineProperty({ hash: sha256("a") }, key, {
        get: throwing(boom),
      });
      const space = { resolve: () => vertex, store: new HostTree().store };
      const error = await refuseRead(["file:///a", { space }], "INTERNAL");
      assert.equal(error.cause, boom);
      assert.doesNotMatch(error.message, /boom/);
    });
  }

  test("a vertex that is a Proxy on which everything throws: INTERNAL", async () => {
    const space = { resolve: () => hostileProxy(), store: new HostTree().store };
    await refuseRead(["file:///a", { space }], "INTERNAL");
  });

  for (const [name, bytes] of [
    ["a string", "a"],
    ["a number", 97],
    ["an array", [97]],
    ["an object", { length: 1, 0: 97 }],
    ["true", true],
    ["a BigInt", 97n],
    ["a boxed string", Object("a")],
  ] as const) {
    test(`getBytes answers ${name}: INTERNAL`, async () => {
      const resolve = () => ({ hash: sha256("a") });
      for (const getBytes of [() => bytes, async () => bytes]) {
        await refuseRead(["file:///a", { space: { resolve, store: { getBytes } } }], "INTERNAL");
      }
    });
  }

  test("getBytes answers nothing: NOT_FOUND or INTERNAL", async () => {
    const resolve = () => ({ hash: sha256("a") });
    for (const nothing of [null, undefined]) {
      const space = { resolve, store: { getBytes: () => nothing } };
      await refuseRead(["file:///a", { space }], ["NOT_FOUND", "INTERNAL"]);
    }
  });

  test("a store of the host's own whose bytes have another hash: CORRUPT by the hash", async () => {
    const tree = new HostTree();
    const hash = tree.add("a", "text");
    for (const wrong of ["uext", "", "text\n"]) {
      tree.bytes.set(hash, Buffer.from(wrong));
      const { message } = await refuseRead(["file:///a", { space: tree }], "CORRUPT");
      assert.ok(message.includes(hash), message);
    }
  });

  test("a store of the host's own that rejects with NOT_FOUND: the sentence, and the hash", async () => {
    const hash = sha256("a");
    const missing = Object.assign(new Error("no such blob"), { code: "NOT_FOUND" });
    const space = { resolve: () => ({ hash }), store: { getBytes: rejecting(missing) } };
    const { message } = await refuseRead(["file:///a", { space }], "NOT_FOUND");
    assert.ok(message.startsWith("NOT_FOUND: Workspace file not found at /a"), message);
    assert.ok(message.includes(hash), message);
  });

  test("a thenable that settles twice counts once", async () => {
    const hash = sha256("a");
    const resolve = () =>
      thenable((settle, reject) => {
        settle({ hash });
        settle(null);
        reject(boom);
      });
    const space = { resolve, store: { getBytes: () => Buffer.from("a") } };
    assert.equal((await readUri("file:///a", { space })).text, "a");
  });
});

describe("roots that were not given", () => {
  for (const [uri, code, other] of [
    ["file:///a.md", "NO_SPACE", "chat"],
    ["file:a.md", "NO_CHAT", "space"],
  ] as const) {
    const own = other === "chat" ? "space" : "chat";
    test(`J22: ${uri} without its root is ${code}`, async () => {
      for (const context of [{}, { [own]: null }, { [own]: undefined }, { [other]: "/tmp" }]) {
        await refuseRead([uri, context], code);
      }
    });
  }

  test("an invalid URI is that, root or not", async () => {
    for (const uri of ["http://x", "file:///../a", "file:../a", "file:", "file:/x"]) {
      await refuseRead([uri, {}], "INVALID_URI");
    }
  });
});

describe("wrong arguments", () => {
  for (const [name, uri] of [
    ["null", null],
    ["undefined", undefined],
    ["a number", 5],
    ["an object", { uri: "file:///a" }],
    ["a URL", new URL("file:///a")],
    ["a symbol", Symbol("s")],
    ["a boxed string", Object("file:///a")],
  ] as const) {
    test(`a uri that is ${name} is refused by name`, async () => {
      await refuseRead([uri, { space: new HostTree() }], "INVALID_ARGUMENT", /\buri\b/);
    });
  }

  for (const [name, context] of [
    ["a number", 5],
    ["a string", "/tmp"],
    ["true", true],
    ["a symbol", Symbol("s")],
  ] as const) {
    test(`a context that is ${name} is refused by name`, async () => {
      await refuseRead(["file:///a", context], "INVALID_ARGUMENT", /\bcontext\b/);
    });
  }

  test("no context is refused", async () => {
    for (const args of [["file:///a"], ["file:///a", null], ["file:///a", undefined]]) {
      await refuseRead(args, ["INVALID_ARGUMENT", "NO_SPACE"]);
    }
  });

  test("no arguments at all are refused", async () => {
    await refuseRead([], "INVALID_ARGUMENT");
  });

  for (const [key, uri] of [
    ["space", "file:///a.md"],
    ["chat", "file:a.md"],
  ] as const) {
    for (const [name, root] of [
      ["a number", 5],
      ["true", true],
      ["an empty text", ""],
      ["a relative path", "relative/dir"],
      ["a dot", "."],
      ["an empty object", {}],
      ["an array", []],
      ["a symbol", Symbol("s")],
      ["a URL", new URL("file:///tmp")],
      ["a tree without a store", { resolve: () => null }],
      ["a tree whose store is null", { resolve: () => null, store: null }],
      ["a tree whose store is a path", { resolve: () => null, store: "/tmp" }],
      ["a tree whose store has no getBytes", { resolve: () => null, store: {} }],
      ["a tree whose getBytes is a text", { resolve: () => null, store: { getBytes: "x" } }],
      ["a tree whose resolve is no function", { resolve: 5, store: new HostTree().store }],
      ["a store without a tree", { store: new HostTree().store }],
      ["a context with a relative root", { workspaceRoot: "relative" }],
      ["a revoked Proxy", revokedProxy()],
      ["a Proxy on which everything throws", hostileProxy()],
    ] as const) {
      test(`${key} as ${name} is refused by name`, async () => {
        const says = new RegExp(`\\b${key}\\b|resolve|store|getBytes|workspaceRoot`);
        const { message } = await refuseRead([uri, { [key]: root }], "INVALID_ARGUMENT", says);
        assert.ok(!message.includes("relative/dir"), message);
      });
    }

    test(
      `${key} as a directory that is gone is refused by name, without its value`,
      inWorkspace(async (ws) => {
        const says = new RegExp(`\\b${key}\\b|workspaceRoot`);
        const gone = path.join(ws.base, "gone");
        for (const root of [gone, ws.write("file", ""), `${ws.root}\0`, `${ws.root}\ud800`]) {
          await refuseRead([uri, { [key]: root }], "INVALID_ARGUMENT", says, ws.hidden);
        }
      }),
    );

    test(
      `${key} as a closed Workspace is refused`,
      inWorkspace(async (ws) => {
        ws.write("a.md", "a");
        ws.write("files/a.md", "a");
        const workspace = Workspace.open(ws.root);
        workspace.close();
        await refuseRead([uri, { [key]: workspace }], "INVALID_ARGUMENT", /./, ws.hidden);
      }),
    );
  }

  for (const [name, signal] of [
    ["a number", 5],
    ["a string", "signal"],
    ["an empty object", {}],
    ["the controller", new AbortController()],
  ] as const) {
    test(`signal as ${name} is refused by name`, async () => {
      const context = { space: new HostTree(), signal };
      await refuseRead(["file:///a", context], "INVALID_ARGUMENT", /signal/);
    });
  }

  test("unknown keys and nulls are ignored", async () => {
    const tree = new HostTree();
    tree.add("a", "a");
    const context = { space: tree, chat: null, maxBytes: null, signal: null, policy: {}, x: 5n };
    assert.equal((await readUri("file:///a", Object.freeze(context))).text, "a");
  });

  test("a Workspace under way is read though it is closed meanwhile", async () => {
    await inWorkspace(async (ws) => {
      ws.write("a.md", "a");
      const workspace = Workspace.open(ws.root);
      const pending = readFileUri("file:///a.md", { space: workspace });
      workspace.close();
      assert.equal((await pending).text, "a");
    })();
  });
});

describe("a signal that is aborted already", () => {
  for (const [name, reason] of ABORT_REASONS) {
    test(`the call rejects with the reason itself, ${name}, and tree and store are not called`, async () => {
      const tree = new HostTree();
      tree.add("a", "a");
      const context = { space: tree, signal: AbortSignal.abort(reason) };
      assert.equal(await rejectionValue(() => looseReadUri("file:///a", context)), reason);
      assert.deepEqual(tree.resolved, []);
    });
  }

  test(
    "it wins over every other error",
    inWorkspace(async (ws) => {
      const signal = AbortSignal.abort("enough");
      for (const [uri, context] of [
        ["file:///missing.md", { space: ws.root }],
        ["file:///a.md", {}],
        ["file:a.md", {}],
        ["http://x", {}],
        [5, {}],
        [undefined, { space: 5 }],
        ["file:///a.md", { space: 5 }],
        ["file:///a.md", { space: "relative" }],
        ["file:///a.md", { space: ws.root, maxBytes: -1 }],
        ["file:///a.md", { space: path.join(ws.base, "gone") }],
      ] as const) {
        const args = [uri, { ...context, signal }];
        assert.equal(await rejectionValue(() => looseReadUri(...args)), "enough");
      }
    }),
  );
});

describe("a signal that is aborted later", AT_ONCE, () => {
  const never = () => new Promise(() => {});

  test("a resolve that hangs is not waited for", async () => {
    const controller = new AbortController();
    const space = { resolve: never, store: new HostTree().store };
    const context = { space, signal: controller.signal };
    const pending = rejectionValue(() => looseReadUri("file:///a", context));
    setTimeout(() => controller.abort("enough"), 5);
    assert.equal(await pending, "enough");
    assert.equal(getEventListeners(controller.signal, "abort").length, 0);
  });

  test("a getBytes that hangs is not waited for", async () => {
    const controller = new AbortController();
    const space = { resolve: () => ({ hash: sha256("a") }), store: { getBytes: never } };
    const context = { space, signal: controller.signal };
    const pending = rejectionValue(() => looseReadUri("file:///a", context));
    setTimeout(() => controller.abort("enough"), 5);
    assert.equal(await pending, "enough");
    assert.equal(getEventListeners(controller.signal, "abort").length, 0);
  });

  test("the store is not asked after an abort in resolve", async () => {
    const controller = new AbortController();
    const tree = new HostTree();
    tree.add("a", "a");
    for (const resolve of [
      (segments: string[]) => {
        controller.abort("enough");
        return tree.resolve(segments);
      },
      async (segments: string[]) => {
        await null;
        controller.abort("enough");
        return tree.resolve(segments);
      },
    ]) {
      const space = { resolve, store: tree.store };
      const context = { space, signal: controller.signal };
      assert.equal(await rejectionValue(() => looseReadUri("file:///a", context)), "enough");
    }
    assert.deepEqual(tree.fetched, []);
  });

  test("an abort in getBytes ends the read", async () => {
    const controller = new AbortController();
    const getBytes = () => {
      controller.abort("enough");
      return Buffer.from("a");
    };
    const space = { resolve: () => ({ hash: sha256("a") }), store: { getBytes } };
    const context = { space, signal: controller.signal };
    assert.equal(await rejectionValue(() => looseReadUri("file:///a", context)), "enough");
  });

  test("a rejection of resolve, because of the abort or after it, is ignored", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const resolve = () =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(boom)));
    const space = { resolve, store: new HostTree().store };
    const pending = rejectionValue(() => looseReadUri("file:///a", { space, signal }));
    setTimeout(() => controller.abort("enough"), 5);
    assert.equal(await pending, "enough");
    // An unhandled rejection would fail this test in a later turn.
    await new Promise((done) => setTimeout(done, 10));
  });

  test("a resolve that rejects after the abort causes no unhandled rejection", async () => {
    const controller = new AbortController();
    const resolve = () => new Promise((_, reject) => setTimeout(reject, 15, boom));
    const space = { resolve, store: new HostTree().store };
    const context = { space, signal: controller.signal };
    const pending = rejectionValue(() => looseReadUri("file:///a", context));
    setTimeout(() => controller.abort("enough"), 5);
    assert.equal(await pending, "enough");
    await new Promise((done) => setTimeout(done, 30));
  });

  test(
    "20 reads of a directory under way all reject with the reason itself",
    inWorkspace(async (ws) => {
      ws.write("a.md", "é".repeat(400_000));
      const controller = new AbortController();
      const reason = new Error("enough");
      const context = { space: ws.root, signal: controller.signal };
      const reads = Array.from({ length: 20 }, () => readFileUri("file:///a.md", context));
      controller.abort(reason);
      for (const outcome of await Promise.allSettled(reads)) {
        assert.ok(outcome.status === "rejected", "a read that was aborted has answered");
        assert.equal(outcome.reason, reason);
      }
    }),
  );

  test(
    "an abort after the end changes nothing",
    inWorkspace(async (ws) => {
      ws.write("a.md", "a");
      const controller = new AbortController();
      const context = { space: ws.root, signal: controller.signal };
      const pending = readFileUri("file:///a.md", context);
      await pending;
      controller.abort("too late");
      assert.equal((await pending).text, "a");
    }),
  );
});

describe("the caller's signal", () => {
  test(
    "onabort is left alone and still fires",
    inWorkspace(async (ws) => {
      ws.write("a.md", "a");
      const tree = new HostTree();
      tree.add("a.md", "a");
      for (const space of [ws.root, tree]) {
        const controller = new AbortController();
        const { signal } = controller;
        let fired = 0;
        const handler = () => {
          fired++;
        };
        signal.onabort = handler;
        const pending = readUri("file:///a.md", { space, signal });
        assert.equal(signal.onabort, handler);
        await pending;
        assert.equal(signal.onabort, handler);
        controller.abort();
        assert.equal(fired, 1);
      }
    }),
  );

  for (const [name, uri, code] of [
    ["a read", "file:///a.md", null],
    ["a file that is missing", "file:///missing.md", "NOT_FOUND"],
    ["a wrong URI", "http://x", "INVALID_URI"],
    ["a root that was not given", "file:a.md", "NO_CHAT"],
  ] as const) {
    test(
      `no listener is left after ${name}`,
      inWorkspace(async (ws) => {
        ws.write("a.md", "a");
        const tree = new HostTree();
        tree.add("a.md", "a");
        for (const space of [ws.root, tree]) {
          const { signal } = new AbortController();
          if (code === null) await readUri(uri, { space, signal });
          else await refuseRead([uri, { space, signal }], code);
          assert.equal(getEventListeners(signal, "abort").length, 0);
        }
      }),
    );
  }

  test("no listener is left after a failure of the host", async () => {
    const { signal } = new AbortController();
    const resolve = () => Promise.reject(boom);
    const space = { resolve, store: new HostTree().store };
    await refuseRead(["file:///a", { space, signal }], "INTERNAL");
    assert.equal(getEventListeners(signal, "abort").length, 0);
  });
});
