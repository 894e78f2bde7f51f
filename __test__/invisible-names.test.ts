// Invisible characters: refused in new names, escaped in messages, left out of near misses.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  createFileSync,
  nearMisses,
  readFile,
  readFileUri,
  readSourceDocument,
  workspaceSnapshotSync,
} from "../index.js";
import { inEveryWay } from "./support/create.ts";
import { notPosix } from "./support/platform.ts";
import { rejection, rejectionValue } from "./support/read.ts";
import { inWorkspace } from "./support/workspace.ts";

/** By the ranges of the Unicode Character Database, written down a second time. */
const INVISIBLE: readonly (readonly [number, number])[] = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180e, 0x180e],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d159, 0x1d159],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe00ff],
  [0xe01f0, 0xe0fff],
];

/** Every character of the planes in which any of these stand, but for surrogates. */
function* characters(): Generator<number> {
  for (const [first, last] of [
    [1, 0xd7ff],
    [0xe000, 0xffff],
    [0x1b000, 0x1dfff],
    [0xe0000, 0xe1fff],
  ] as const) {
    for (let code = first; code <= last; code += 1) yield code;
  }
}

const SEEN_BY_SOME = [
  "❤\ufe0f.md",
  "葛\u{e0100}城.txt",
  "می\u200cخواهم.txt",
  "👨\u200d👩\u200d👧.png",
  "ᠠ\u180bᠠ.txt",
];

const isInvisible = (code: number) =>
  INVISIBLE.some(([first, last]) => code >= first && code <= last);

function escapeOf(code: number): string {
  return `\\u{${code.toString(16)}}`;
}

// F27: names that look like other names, or hide a text, for a model or a person.
describe("second look F27", () => {
  test(
    "second look F27: of all characters createFile refuses those of the one list, and controls",
    inWorkspace((ws) => {
      // Nothing is made: the last component is a folder's name.
      for (const code of characters()) {
        const character = String.fromCodePoint(code);
        const isListed = isInvisible(code) || /\p{Cc}/u.test(character);
        const { message } = createFileSync(ws.writable, { path: `a${character}b/`, content: "" });
        const says = /invisible character|control characters/.test(message);
        assert.equal(says, isListed, `U+${code.toString(16)}: ${message}`);
      }
    }),
  );

  test(
    "second look F27: of all characters messages escape those of the one list, and controls",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      // What belongs to the character before it stays; `/` and `\` separate.
      const stays = /^(\p{Variation_Selector}|\p{Join_Control}|[/\\])$/u;
      const codes = [...characters()].filter((code) => !stays.test(String.fromCodePoint(code)));
      for (let at = 0; at < codes.length; at += 250) {
        const some = codes.slice(at, at + 250);
        const path = `${some.map((code) => `x${String.fromCodePoint(code)}`).join("")}x`;
        const { message } = await rejection(() => readFile(ws.context, `../${path}`));
        for (const code of some) {
          const character = String.fromCodePoint(code);
          const isListed = isInvisible(code) || /\p{Cc}/u.test(character);
          const short = { 9: "\\t", 10: "\\n", 13: "\\r" }[code];
          const shown = isListed ? (short ?? escapeOf(code)) : character;
          assert.ok(message.includes(`x${shown}x`), `U+${code.toString(16)} in ${message}`);
        }
      }
    }),
  );

  test(
    "second look F27: letters of some scripts stay legal, are shown, and may be in near misses",
    inEveryWay(async (creator) => {
      for (const name of SEEN_BY_SOME) {
        await creator.creates({ path: name, content: "x" }, { bytes: "x" });
        const near = await nearMisses(creator.ws.context, `${name}x`);
        assert.ok(near.includes(name), JSON.stringify(near));
        const error = await rejection(() => readFile(creator.ws.context, `none/${name}`));
        assert.ok(error.message.endsWith(`none/${name}`), error.message);
      }
    }),
  );

  test(
    "second look F27: texts in rows of selectors and joiners are escaped, and named by no hint",
    inWorkspace(async (ws) => {
      const hidden = ["a\u{e0101}\u{e0102}\u{e0103}.txt", "a\u200d\u200c\u200d.txt", "\ufe01a.txt"];
      for (const name of hidden) {
        ws.write(name, "");
        const error = await rejection(() => readFile(ws.context, `${name}x`));
        assert.match(error.message, /\\u\{(e0102|200c|fe01)\}/);
        assert.match(workspaceSnapshotSync(ws.context).text, /\\u\{(e0102|200c|fe01)\}/);
      }
      assert.deepEqual(await nearMisses(ws.context, "a.txt"), []);
    }),
  );

  test(
    "second look F27: no other message shows them unescaped: DocPaths, URIs, the snapshot, hints",
    inWorkspace(async (ws) => {
      for (const [first] of INVISIBLE) {
        const character = String.fromCodePoint(first);
        const name = `a${character}b.txt`;
        ws.write(name, "");
        assert.deepEqual(await nearMisses(ws.context, "ab.txt"), [], escapeOf(first));
        assert.ok(workspaceSnapshotSync(ws.context).text.includes(`a${escapeOf(first)}b.txt`));
        const source = await readSourceDocument({ path: name }, { store: { get: () => null } });
        assert.ok(source.errors[0]?.includes(`a${escapeOf(first)}b.txt`), String(source.errors[0]));
        const uri = `file:///none/${encodeURIComponent(name)}`;
        const error = (await rejectionValue(() => readFileUri(uri, { space: ws.root }))) as Error;
        assert.ok(error.message.includes(escapeOf(first)), error.message);
      }
    }),
  );
});

// B28: control characters from a model that come back unescaped in messages.
describe("second look B28", () => {
  test("second look B28: DocPaths with ESC, bidi or NUL are escaped in the sentences", async () => {
    const path = "a\u001b[2J\u202e\0\n.cs";
    const shown = "a\\u{1b}[2J\\u{202e}\\u{0}\\n.cs";
    const store = { get: () => null };
    for (const args of [{ path }, JSON.stringify({ path })]) {
      for (const activeFiles of [[], [path]]) {
        const result = await readSourceDocument(args, { store, activeFiles });
        assert.ok(result.errors[0]?.startsWith(`File '${shown}' is `), String(result.errors[0]));
      }
    }
  });

  test("second look B28: JSON that is no object is not quoted raw, nor at length", async () => {
    const store = { get: () => null };
    for (const text of ["\u202e\u001b", "x".repeat(1_000_000)]) {
      const result = await readSourceDocument(JSON.stringify(text), { store });
      assert.doesNotMatch(result.errors.join(), /[\p{Cc}\p{Cf}]/u);
      assert.ok(result.errors.join().length < 2000);
    }
  });
});
