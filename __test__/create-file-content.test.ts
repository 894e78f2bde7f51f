// How the content is written: line ends, byte order marks, all else verbatim, and the size limit. Spec
// create_file §5.1, docs/contract.md §5.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { MAX_READ_FILE_SIZE_BYTES, readFile, Workspace } from "../index.js";
import {
  type Creator,
  contentModel,
  createEach,
  inEveryWay,
  withContexts,
} from "./support/create.ts";
import { Random } from "./support/random.ts";
import { exceptionValue, looseOpen } from "./support/read.ts";
import { hex, inWorkspace } from "./support/workspace.ts";

const LIMIT = MAX_READ_FILE_SIZE_BYTES;
const shown = (text: string) => JSON.stringify(text).slice(0, 60);

/** Has `content` written and demands these bytes, for a new file and over an old one. */
async function written(creator: Creator, content: string, bytes: string | Uint8Array) {
  await creator.creates({ path: "new.txt", content }, { bytes });
  creator.ws.write("old.txt", "an old file, longer than the new one\r\n");
  await creator.creates({ path: "old.txt", content, overwrite: true }, { bytes });
}

describe("line endings", () => {
  for (const [id, content, dump] of [
    ["A01", "a\r\nb\r\n", "61 0A 62 0A"],
    ["A01", "a\rb", "61 0A 62"],
    ["A01", "a\r", "61 0A"],
    ["A01", "\r", "0A"],
    ["A01", "\r\n", "0A"],
    ["A01", "\r\r\n", "0A 0A"],
    ["A01", "\n\r", "0A 0A"],
    ["A01", "\r\n\r\n", "0A 0A"],
    ["A01", "\r\r", "0A 0A"],
    ["A01", "a\n", "61 0A"],
    ["A05", "a\u000bb\u000cc", "61 0B 62 0C 63"],
    ["A05", "a\u0085b\u2028c\u2029d", "61 C2 85 62 E2 80 A8 63 E2 80 A9 64"],
  ] as const) {
    test(
      `${id}: ${shown(content)} is written as ${dump}`,
      inEveryWay((creator) => written(creator, content, hex(dump))),
    );
  }

  test(
    "A01: the old file's CRLF is never kept",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", hex("61 0D 0A 62 0D 0A"));
      const args = { path: "a.txt", content: "a\r\nb\r\n", overwrite: true };
      const result = await creator.creates(args, { bytes: hex("61 0A 62 0A") });
      assert.equal(result.sizeBytes, 4);
    }),
  );

  test(
    "A03: a script has no CR left, and its 18 bytes",
    inEveryWay((creator) => written(creator, "#!/bin/sh\r\necho hi\r\n", "#!/bin/sh\necho hi\n")),
  );
});

describe("byte order marks", () => {
  for (const [content, dump] of [
    ["\ufeffa", "61"],
    ["\ufeff", ""],
    ["\ufeff\ufeffa", "EF BB BF 61"],
    ["a\ufeff", "61 EF BB BF"],
    ["\n\ufeffa", "0A EF BB BF 61"],
    ["\ufeff\r\n", "0A"],
    ["\r\n\ufeff", "0A EF BB BF"],
  ] as const) {
    test(
      `B01: ${shown(content)} is written as ${dump || "nothing"}`,
      inEveryWay((creator) => written(creator, content, hex(dump))),
    );
  }

  test(
    "B01: the old file's byte order mark is not kept",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", hex("EF BB BF C3 A9"));
      const args = { path: "a.txt", content: "é", overwrite: true };
      await creator.creates(args, { bytes: hex("C3 A9") });
    }),
  );
});

describe("everything else to the letter", () => {
  for (const [id, content, dump] of [
    ["B14", "─│┌", "E2 94 80 E2 94 82 E2 94 8C"],
    ["B14", "é", "C3 A9"],
    ["B14", "e\u0301", "65 CC 81"],
    ["C05", "😀", "F0 9F 98 80"],
    ["C05", "\u{10ffff}\uffff\ufffe", "F4 8F BF BF EF BF BF EF BF BE"],
    ["C05", "\ufffd", "EF BF BD"],
    ["O03", '{"a":1}', "7B 22 61 22 3A 31 7D"],
    ["O05", "a\\nb", "61 5C 6E 62"],
    ["O07", "a:\\\n  b  \n", "61 3A 5C 0A 20 20 62 20 20 0A"],
    ["O09", "", ""],
    ["O13", "x", "78"],
    ["O13", "\n", "0A"],
    ["O13", " ", "20"],
    ["O13", "a\0b", "61 00 62"],
    ["O13", "\u0001\u001b[0m\u007f", "01 1B 5B 30 6D 7F"],
  ] as const) {
    test(
      `${id}: ${shown(content)} is written as ${dump || "an empty file"}`,
      inEveryWay((creator) => written(creator, content, hex(dump))),
    );
  }

  test(
    "O09: the empty file has the hash of nothing",
    inEveryWay(async (creator) => {
      const { hash } = await creator.create({ path: "a.txt", content: "" });
      assert.equal(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }),
  );

  for (const content of [
    "```ts\nconst a = 1;\n```",
    "&lt;b&gt;\n",
    "%20 \\u0041 $HOME $(id) `id`",
    "  leading and trailing  ",
    "\tlast line without an end",
    "\n\n\n",
    "'quoted'",
    '"quoted"',
  ]) {
    test(
      `O07: ${shown(content)} is neither unescaped nor trimmed nor completed`,
      inEveryWay((creator) => written(creator, content, content)),
    );
  }

  test(
    "every character of the basic plane but CR is written as it is",
    inEveryWay(async (creator) => {
      let content = "a";
      for (let unit = 0; unit < 0x10000; unit++) {
        if (unit !== 0x0d && (unit < 0xd800 || unit > 0xdfff)) content += String.fromCharCode(unit);
      }
      await written(creator, content, content);
    }),
  );

  test(
    "text that the engine keeps in pieces is written whole",
    inEveryWay(async (creator) => {
      const long = "0123456789é".repeat(500);
      const content = `${long.slice(3, 4_000)}${long}${"\r\n".repeat(3)}${long.slice(1)}`;
      await written(creator, content, contentModel(content));
    }),
  );

  test(
    "random texts are written as the model has them",
    inEveryWay(async (creator) => {
      const random = new Random(20_251);
      const alphabet = [
        "\r",
        "\n",
        "\r\n",
        "\ufeff",
        "a",
        "é",
        "あ",
        "😀",
        "\0",
        "\u2028",
        "ab cd",
      ];
      for (let i = 0; i < 15; i++) {
        let content = "";
        for (let length = random.below(40); length > 0; length--) content += random.pick(alphabet);
        await creator.creates({ path: `${i}.txt`, content }, { bytes: contentModel(content) });
      }
    }),
  );
});

describe("lone surrogates", () => {
  for (const content of ["\ud800", "a\udc00", "\udc00\ud800", "😀\ud83d", "\ud83d\ud83d\ude00"]) {
    test(
      `C05: ${shown(content)} is refused, never replaced`,
      inEveryWay(async (creator) => {
        creator.ws.write("old.txt", "old");
        const args = { path: "new/new.txt", content };
        await creator.refuses(args, "UnhandledException", /content.*surrogate/i);
        const over = { path: "old.txt", content, overwrite: true };
        await creator.refuses(over, "UnhandledException", /content.*surrogate/i);
      }),
    );
  }

  test(
    "C05: one at the very end of a long text is refused",
    inEveryWay((creator) =>
      creator.refuses(
        { path: "a.txt", content: `${"a".repeat(500_000)}\ud83d` },
        "UnhandledException",
      ),
    ),
  );
});

describe("the size limit", () => {
  for (const [name, content, bytes] of [
    ["1 MiB of ASCII", "a".repeat(LIMIT), "a".repeat(LIMIT)],
    ["1 MiB of two-byte characters", "é".repeat(LIMIT / 2), "é".repeat(LIMIT / 2)],
    ["1 MiB of four-byte characters", "😀".repeat(LIMIT / 4), "😀".repeat(LIMIT / 4)],
    ["1 MiB behind a byte order mark", `\ufeff${"a".repeat(LIMIT)}`, "a".repeat(LIMIT)],
    ["CRLF that is 1 MiB of LF", "\r\n".repeat(LIMIT), "\n".repeat(LIMIT)],
  ] as const) {
    test(
      `E08: ${name} is written`,
      inEveryWay((creator) => creator.creates({ path: "a.txt", content }, { bytes })),
    );
  }

  test(
    "E08: a file of exactly the limit can be read",
    inWorkspace(async (ws) => {
      const content = `${"a".repeat(LIMIT - 1)}\n`;
      await createEach(ws, { "a.txt": content });
      assert.equal((await readFile(ws.context, "a.txt")).content, content);
    }),
  );

  for (const [name, content] of [
    ["one byte more of ASCII", "a".repeat(LIMIT + 1)],
    ["one character more of two bytes", "é".repeat(LIMIT / 2 + 1)],
    ["fewer characters than the limit, but more bytes", "あ".repeat(LIMIT / 3 + 1)],
    ["a second byte order mark on 1 MiB", `\ufeff\ufeff${"a".repeat(LIMIT - 2)}`],
    ["ten times the limit", "0123456789".repeat(LIMIT)],
  ] as const) {
    test(
      `E08: ${name} is TooLarge: no file, no temporary, no new folders, the old file kept`,
      inEveryWay(async (creator) => {
        creator.ws.write("old.txt", "old");
        await creator.refuses({ path: "new/folder/a.txt", content }, "TooLarge");
        await creator.refuses({ path: "old.txt", content, overwrite: true }, "TooLarge");
      }),
    );
  }

  test(
    "E08: the old file may be larger than the limit",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "a".repeat(3 * LIMIT));
      await creator.creates({ path: "a.txt", content: "new", overwrite: true }, { bytes: "new" });
    }),
  );
});

describe("maxCreateBytes", () => {
  test(
    "lowers the limit, to the byte",
    inEveryWay(async (creator) => {
      const settings = { maxCreateBytes: 10 };
      await creator.creates(
        { path: "a.txt", content: "0123456789" },
        { bytes: "0123456789" },
        settings,
      );
      await creator.creates(
        { path: "b.txt", content: "éééé\r\n1" },
        { bytes: "éééé\n1" },
        settings,
      );
      await creator.refuses({ path: "c.txt", content: "0123456789a" }, "TooLarge", /10/, settings);
      await creator.refuses({ path: "c.txt", content: "éééééé" }, "TooLarge", /10/, settings);
    }),
  );

  test(
    "raises the limit",
    inEveryWay(async (creator) => {
      const content = "a".repeat(2 * LIMIT);
      const settings = { maxCreateBytes: 2 * LIMIT };
      await creator.creates({ path: "a.txt", content }, { bytes: content }, settings);
      await creator.refuses({ path: "b.txt", content: `${content}a` }, "TooLarge", /./, settings);
    }),
  );

  test(
    "N03: null is absent",
    inEveryWay(async (creator) => {
      const settings = { maxCreateBytes: null };
      await creator.creates({ path: "a.txt", content: "a" }, { bytes: "a" }, settings);
      const content = "a".repeat(LIMIT + 1);
      await creator.refuses({ path: "b.txt", content }, "TooLarge", /./, settings);
    }),
  );

  for (const value of [-1, 1.5, NaN, Infinity, "10", true, 10n, {}, [10], 2 ** 53]) {
    const name = typeof value === "object" ? JSON.stringify(value) : `${typeof value} ${value}`;

    test(
      `N06: as ${name} in a context is refused by name`,
      withContexts((creator) =>
        creator.refuses({ path: "a.txt", content: "a" }, "UnhandledException", /maxCreateBytes/, {
          maxCreateBytes: value,
        }),
      ),
    );

    test(
      `N06: as ${name} is refused by name when a Workspace is opened`,
      inWorkspace((ws) => {
        const error = exceptionValue(() => looseOpen(ws.root, { maxCreateBytes: value }));
        assert.equal((error as { code?: string }).code, "INVALID_ARGUMENT");
        assert.match((error as Error).message, /maxCreateBytes/);
      }),
    );
  }
});

test(
  "a created file is read back with the given content",
  inWorkspace(async (ws) => {
    const content = "# Title\n\n日本語 😀\n\ttabbed\n";
    const workspace = Workspace.open(ws.root);
    await createEach(ws, { "docs/a.md": content });
    assert.equal((await readFile(workspace, "docs/a.md")).content, content);
    assert.equal(fs.readFileSync(ws.at("docs/a.md"), "utf8"), content);
    workspace.close();
  }),
);
