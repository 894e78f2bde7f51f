// resolveFileUri parses file: URIs. docs/contract.md §6, spec read "URI formats".
// A table of forms, then a seeded comparison with the model of support/file-uri-model.ts.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { resolveFileUri } from "../index.js";
import { checkUriError, looseResolve, refuseResolve } from "./support/file-uri.ts";
import { type Resolution, resolveModel } from "./support/file-uri-model.ts";
import { STRANGERS } from "./support/hostile.ts";
import { Random } from "./support/random.ts";
import { exceptionValue } from "./support/read.ts";

type Row = readonly [name: string, uri: string, ...segments: string[]];

const inSpace = "workspace";
const inChat = "chat";

function accepts(scope: typeof inSpace | typeof inChat, rows: readonly Row[]): void {
  for (const [name, uri, ...segments] of rows) {
    test(`${name} is ${scope}: ${JSON.stringify(uri)}`, () => {
      const path = segments.join("/");
      const expected = { uri, scope, path, segments };
      const resolved = resolveFileUri(uri);
      assert.deepEqual({ ...resolved }, expected);
      assert.equal(JSON.stringify(resolved), JSON.stringify(expected), "keys in their order");
      assert.deepEqual(resolveModel(uri), { answer: expected }, "the model agrees");
    });
  }
}

function refuses(rows: readonly (readonly [name: string, uri: string])[], says = /./): void {
  for (const [name, uri] of rows) {
    test(`${name} is refused: ${JSON.stringify(uri)}`, () => {
      refuseResolve([uri], "INVALID_URI", says);
      assert.ok("refusal" in resolveModel(uri), "the model agrees");
    });
  }
}

describe("file:/// looks in the space", () => {
  accepts(inSpace, [
    ["a file in a folder", "file:///assets/brand.md", "assets", "brand.md"],
    ["a file in the root", "file:///a", "a"],
    ["a deep file", "file:///a/b/c/d/e.txt", "a", "b", "c", "d", "e.txt"],
    ["a name like the chat's folder", "file:///files/a", "files", "a"],
    ["an upper-case scheme", "FILE:///a", "a"],
    ["a mixed-case scheme", "fIlE:///A", "A"],
    ["a name like a host, behind three slashes", "file:///localhost/a", "localhost", "a"],
    ["a name like a scheme", "file:///http:/x", "http:", "x"],
    ["another file: in the path", "file:///file:/x", "file:", "x"],
  ]);
});

describe("file: looks in the chat's files", () => {
  accepts(inChat, [
    ["J01: a file", "file:document.md", "files", "document.md"],
    ["a file in a folder", "file:notes/project-a.md", "files", "notes", "project-a.md"],
    ["an upper-case scheme", "FILE:a", "files", "a"],
    ["a mixed-case scheme", "File:a/B", "files", "a", "B"],
    ["a folder called files", "file:files/a", "files", "files", "a"],
    ["a name that is only a blank", "file: ", "files", " "],
    ["a name that begins with a blank", "file: a", "files", " a"],
    ["a name that ends in a blank", "file:a ", "files", "a "],
    ["a name with a colon", "file:a:b", "files", "a:b"],
    ["a name like a scheme", "file:file:a", "files", "file:a"],
    ["a double slash further on", "file:a//b", "files", "a", "b"],
    ["an at sign", "file:user@host", "files", "user@host"],
  ]);
});

describe("empty segments and dots", () => {
  accepts(inSpace, [
    ["a double slash", "file:///a//b", "a", "b"],
    ["many slashes", "file:///a////b", "a", "b"],
    ["a final slash", "file:///a/", "a"],
    ["final slashes", "file:///a//", "a"],
    ["a dot", "file:///a/./b", "a", "b"],
    ["a leading dot", "file:///./a", "a"],
    ["a leading dot and a double slash", "file:///.//a", "a"],
    ["a final dot", "file:///a/.", "a"],
    ["two dots", "file:///a/../b", "b"],
    ["final two dots", "file:///a/b/..", "a"],
    ["two dots twice", "file:///a/b/../../c", "c"],
    ["two dots behind an empty segment, which they do not take", "file:///a/b//../c", "a", "c"],
    ["an escaped dot", "file:///a/%2e/b", "a", "b"],
    ["escaped dots", "file:///a/%2e%2e/b", "b"],
    ["escaped dots in upper case", "file:///a/%2E%2E/b", "b"],
    ["a dot and an escaped dot", "file:///a/.%2e/b", "b"],
    ["an escaped dot and a dot", "file:///a/%2e./b", "b"],
    ["three dots", "file:///.../a", "...", "a"],
    ["three escaped dots", "file:///%2e%2e%2e/a", "...", "a"],
    ["a name that begins with two dots", "file:///..a", "..a"],
    ["a name that ends in two dots", "file:///a..", "a.."],
    ["two dots with a blank", "file:///.. /a", ".. ", "a"],
    ["a hidden file", "file:///.env", ".env"],
    ["full-width dots", "file:///．．/a", "．．", "a"],
    ["a two-dot leader", "file:///‥/a", "‥", "a"],
  ]);
  accepts(inChat, [
    ["a leading dot", "file:./a", "files", "a"],
    ["a leading dot and a double slash", "file:.//a", "files", "a"],
    ["two dots", "file:a/../b", "files", "b"],
    ["escaped dots", "file:a/%2e%2e/b", "files", "b"],
    ["two dots that take back a folder called files", "file:files/../a", "files", "a"],
    ["a final slash", "file:a/", "files", "a"],
  ]);
});

describe("URIs that rise above the root of their scope", () => {
  refuses([
    ["two dots in the space", "file:///.."],
    ["two dots and a name in the space", "file:///../a"],
    ["a folder and two dots twice in the space", "file:///a/../../b"],
    ["what leaves and comes back", "file:///../ws/a"],
    ["two dots behind a dot", "file:///./../a"],
    ["escaped dots in the space", "file:///%2e%2e/a"],
    ["half-escaped dots in the space", "file:///%2e./a"],
    ["two dots in the chat", "file:.."],
    ["two dots and a name in the chat", "file:../a"],
    ["what takes back the chat's own folder files", "file:../files/a"],
    ["a folder and two dots twice in the chat", "file:a/../../b"],
    ["escaped dots in the chat", "file:%2e%2e/a"],
    ["escaped dots in upper case in the chat", "file:%2E%2E/a"],
  ]);
});

describe("percent-decoding, exactly once", () => {
  accepts(inChat, [
    ["J07: an escaped blank", "file:hello%20world.txt", "files", "hello world.txt"],
    ["J07: a raw blank", "file:hello world.txt", "files", "hello world.txt"],
    ["a plus sign is a plus sign", "file:a+b", "files", "a+b"],
    ["an escaped letter", "file:%61", "files", "a"],
    ["an escaped percent sign", "file:100%25", "files", "100%"],
    ["a twice-escaped blank", "file:a%2520b", "files", "a%20b"],
    ["a twice-escaped dot", "file:%252e", "files", "%2e"],
    ["twice-escaped dots", "file:%252e%252e/a", "files", "%2e%2e", "a"],
    ["a twice-escaped slash", "file:a%252fb", "files", "a%2fb"],
    ["a twice-escaped backslash", "file:a%255cb", "files", "a%5cb"],
    ["a twice-escaped NUL", "file:a%2500b", "files", "a%00b"],
    ["an escaped percent sign before digits", "file:%2541", "files", "%41"],
    ["hexadecimal digits of either case", "file:%c3%A9%C3%a9", "files", "éé"],
    ["a character of two bytes", "file:%C3%A9", "files", "é"],
    ["a character of three bytes", "file:%E2%82%AC", "files", "€"],
    ["a character of four bytes", "file:%F0%9F%98%80", "files", "😀"],
    ["the last code point", "file:%F4%8F%BF%BF", "files", "\u{10ffff}"],
    ["a noncharacter", "file:%EF%BF%BE", "files", "\ufffe"],
    ["an escaped U+FFFD", "file:%EF%BF%BD", "files", "\ufffd"],
    ["an escaped byte order mark, which is kept", "file:%EF%BB%BFa", "files", "\ufeffa"],
    ["escapes between raw characters", "file:é%C3%A9é", "files", "ééé"],
    ["an escaped question mark", "file:a%3Fb", "files", "a?b"],
    ["an escaped number sign", "file:a%23b", "files", "a#b"],
    ["an escaped colon", "file:a%3Ab", "files", "a:b"],
    ["an escaped name", "file:%66%69%6c%65%3a", "files", "file:"],
  ]);
  accepts(inSpace, [
    ["an escaped blank", "file:///a%20b/c%20d", "a b", "c d"],
    ["a name that is an escaped blank", "file:///%20", " "],
    ["a full-width percent sign", "file:///％41", "％41"],
    ["a segment that begins with an escape", "file:///%61bc", "abc"],
  ]);
  refuses([
    ["a lone percent sign", "file:%"],
    ["a final percent sign", "file:a%"],
    ["an escape of one digit", "file:a%4"],
    ["an escape cut by a slash", "file:a%4/1"],
    ["an escape without hexadecimal digits", "file:a%zz"],
    ["an escape with one hexadecimal digit", "file:a%4g"],
    ["an escape with a blank", "file:a% 1"],
    ["an escape with a sign", "file:a%+1"],
    ["an escape with a negative sign", "file:a%-1"],
    ["two percent signs", "file:%%41"],
    ["an escape of the u form", "file:%u0041"],
    ["full-width digits", "file:%４１"],
    ["100% as a name", "file:100%"],
    ["a bad escape in a segment that two dots take back", "file:a%/../b"],
    ["a bad escape in the space", "file:///a/%gg"],
    ["a continuation byte", "file:%80"],
    ["a byte that is never UTF-8", "file:%ff"],
    ["a Latin-1 letter", "file:caf%E9"],
    ["an overlong slash", "file:a%c0%afb"],
    ["an overlong dot", "file:%c0%ae%c0%ae/a"],
    ["an overlong NUL", "file:a%c0%80"],
    ["an overlong slash of three bytes", "file:a%e0%80%afb"],
    ["an overlong form of four bytes", "file:a%f0%80%80%af"],
    ["an escaped high surrogate", "file:%ed%a0%80"],
    ["an escaped pair of surrogates", "file:%ed%a0%bd%ed%b8%80"],
    ["what is above U+10FFFF", "file:%f4%90%80%80"],
    ["five bytes", "file:%f8%88%80%80%80"],
    ["a character cut short", "file:%e2%82"],
    ["a character cut short by a letter", "file:%e2%82a"],
    ["a character that a raw one would have to complete", "file:%c3\u00a9"],
    ["a character cut by a slash", "file:%c3/%a9"],
  ]);
});

describe("slashes and backslashes in a name", () => {
  refuses([
    ["an escaped slash", "file:a%2fb"],
    ["an escaped slash in upper case", "file:a%2Fb"],
    ["an escaped slash alone", "file:%2f"],
    ["an escaped slash as the space's first name", "file:///%2fetc/passwd"],
    ["J03: dots with an escaped slash", "file:///assets/..%2F..%2Fx"],
    ["J03: dots with an escaped backslash", "file:///assets/..%5C..%5Cx"],
    ["an escaped backslash", "file:a%5cb"],
    ["a raw backslash", "file:a\\b"],
    ["a raw backslash in the space", "file:///a\\b"],
    ["dots with a raw backslash", "file:..\\a"],
    ["a share", "file:\\\\server\\share"],
    ["backslashes for slashes", "file:\\\\\\a"],
    ["a backslash in a segment that two dots take back", "file:///a\\b/../c"],
    ["an escaped slash in a segment that two dots take back", "file:///a%2fb/../c"],
  ]);
  accepts(inSpace, [
    ["a fraction slash", "file:///a\u2044b", "a\u2044b"],
    ["a division slash", "file:///a\u2215b", "a\u2215b"],
    ["a full-width solidus", "file:///a\uff0fb", "a\uff0fb"],
    ["a full-width reverse solidus", "file:///a\uff3cb", "a\uff3cb"],
    ["a set minus", "file:///a\u2216b", "a\u2216b"],
  ]);
});

describe("control characters", () => {
  const all = Array.from({ length: 0x20 }, (_, unit) => unit).concat(0x7f);

  for (const unit of all) {
    const code = unit.toString(16).padStart(2, "0");
    test(`U+00${code} is refused, raw and escaped, in either scope`, () => {
      const raw = String.fromCharCode(unit);
      for (const form of [raw, `%${code}`, `%${code.toUpperCase()}`]) {
        for (const uri of [`file:a${form}b`, `file:${form}`, `file:///a/${form}`]) {
          refuseResolve([uri], "INVALID_URI");
          assert.ok("refusal" in resolveModel(uri));
        }
      }
    });
  }

  refuses([
    ["J05: an escaped NUL", "file:///a%00b.md"],
    ["a final line end", "file:a\n"],
    ["a final carriage return", "file:a\r"],
    ["a NUL in a segment that two dots take back", "file:a%00/../b"],
    ["a tab in a segment that two dots take back", "file:a\t/../b"],
    ["a tab in the scheme", "fi\tle:a"],
    ["a line end in the scheme", "file\n:a"],
    ["a tab between the slashes", "file:/\t//a"],
  ]);
  accepts(inChat, [
    ["the first C1 character", "file:\u0080", "files", "\u0080"],
    ["NEL", "file:a\u0085b", "files", "a\u0085b"],
    ["the last C1 character", "file:\u009f", "files", "\u009f"],
    ["an escaped C1 character", "file:%C2%85", "files", "\u0085"],
    ["a line separator", "file:a\u2028b", "files", "a\u2028b"],
    ["a no-break space", "file:a\u00a0b", "files", "a\u00a0b"],
  ]);
});

describe("lone surrogates", () => {
  refuses([
    ["a high one", "file:\ud800"],
    ["a low one", "file:\udc00"],
    ["a pair the wrong way round", "file:\udc00\ud800"],
    ["two high ones before a low one", "file:\ud83d\ud83d\ude00"],
    ["a pair cut by a slash", "file:\ud83d/\ude00"],
    ["one in the space", "file:///a\udfffb"],
    ["one in a segment that two dots take back", "file:\ud800/../a"],
    ["one where the scheme should be", "\ud800:a"],
    ["one as authority", "file://\ud800/a"],
  ]);
  accepts(inChat, [
    ["a pair", "file:\ud83d\ude00.md", "files", "😀.md"],
    ["a pair with escapes", "file:%20\ud83d\ude00%20", "files", " 😀 "],
  ]);
});

describe("characters that are ordinary", () => {
  accepts(inSpace, [
    ["J09: a number sign", "file:///a#b.md", "a#b.md"],
    ["a number sign alone", "file:///#", "#"],
    ["a question mark", "file:///a?b=c", "a?b=c"],
    ["a question mark before a slash", "file:///a?b/c", "a?b", "c"],
    ["a number sign before a slash", "file:///a#/b", "a#", "b"],
    ["a question mark and a number sign", "file:///?#", "?#"],
    ["a right-to-left override", "file:///a\u202eb", "a\u202eb"],
    ["an isolate", "file:///a\u2066b", "a\u2066b"],
    ["a zero-width space", "file:///a\u200bb", "a\u200bb"],
    ["a zero-width joiner", "file:///a\u200db", "a\u200db"],
    ["a raw byte order mark", "file:///\ufeffa", "\ufeffa"],
    ["U+FFFD", "file:///\ufffd", "\ufffd"],
    ["a soft hyphen", "file:///a\u00adb", "a\u00adb"],
    ["Chinese", "file:///文件/说明.md", "文件", "说明.md"],
    ["Arabic", "file:///ملف.md", "ملف.md"],
    ["a composed letter", "file:///caf\u00e9", "caf\u00e9"],
    ["a decomposed letter", "file:///cafe\u0301", "cafe\u0301"],
    ["a capital that a fold would change", "file:///İß", "İß"],
    ["brackets", "file:///[id]/(group)/{x}", "[id]", "(group)", "{x}"],
    ["quotation marks", "file:///a\"b'c`d", "a\"b'c`d"],
    ["a tilde", "file:///~/a", "~", "a"],
    ["a dollar sign", "file:///$HOME/a", "$HOME", "a"],
    ["a star", "file:///*.md", "*.md"],
    ["angle brackets and an ampersand", "file:///<a>&b", "<a>&b"],
    ["a semicolon and a comma", "file:///a;b,c", "a;b,c"],
    ["a bar in a name", "file:///a|b", "a|b"],
    ["__proto__", "file:///__proto__/constructor", "__proto__", "constructor"],
  ]);
  accepts(inChat, [
    ["J09: a number sign", "file:a#b.md", "files", "a#b.md"],
    ["a question mark alone", "file:?", "files", "?"],
    ["a number sign alone", "file:#", "files", "#"],
  ]);
});

describe("an authority", () => {
  refuses([
    ["J11: a folder taken for a host", "file://assets/brand.md"],
    ["J18: a server", "file://server/share/x"],
    ["localhost", "file://localhost/a"],
    ["localhost in upper case", "file://LOCALHOST/a"],
    ["an address", "file://127.0.0.1/a"],
    ["an address of version 6", "file://[::1]/a"],
    ["a host without a path", "file://host"],
    ["a host with a final slash", "file://host/"],
    ["a host with a port", "file://host:80/a"],
    ["a user", "file://user@host/a"],
    ["a dot", "file://./a"],
    ["two dots", "file://../a"],
    ["a blank", "file:// /a"],
    ["a question mark", "file://?a"],
    ["a number sign", "file://#a"],
    ["an escaped slash", "file://%2fa"],
    ["a backslash", "file://\\a"],
    ["the scope that the spec keeps for later", "file://space/assets/brand.md"],
    ["the thread that the spec keeps for later", "file://thread/notes.md"],
    ["an upper-case scheme", "FILE://host/a"],
    ["a drive letter", "file://C:/a"],
  ]);
});

describe("the number of slashes", () => {
  refuses([
    ["one slash", "file:/x"],
    ["one slash and a folder", "file:/etc/passwd"],
    ["one slash alone", "file:/"],
    ["one slash and a dot", "file:/./x"],
    ["four slashes", "file:////x"],
    ["four slashes and a share", "file:////server/share/x"],
    ["four slashes alone", "file:////"],
    ["five slashes", "file://///x"],
    ["one slash and an upper-case scheme", "FILE:/x"],
  ]);
});

describe("drive letters", () => {
  refuses([
    ["J13: a drive in the space", "file:///C:/x"],
    ["J13: an escaped drive", "file:///c%3a/x"],
    ["J13: a drive with a bar", "file:///C|/x"],
    ["a drive with an escaped bar", "file:///C%7C/x"],
    ["an escaped letter", "file:///%43:/x"],
    ["a drive that is escaped altogether", "file:///%63%3A/x"],
    ["a drive alone", "file:///C:"],
    ["a drive with a final slash", "file:///C:/"],
    ["a drive in the chat", "file:C:/x"],
    ["a drive alone in the chat", "file:c:"],
    ["a drive with a bar in the chat", "file:z|/x"],
    ["a drive further on", "file:///a/C:/x"],
    ["a drive at the end", "file:a/b/Z:"],
    ["a drive behind a dot", "file:./C:/x"],
    ["a drive that two dots take back", "file:///C:/../x"],
    ["a drive with backslashes", "file:///C:\\x"],
    ["a verbatim path", "file:///\\\\?\\C:\\x"],
  ]);
  accepts(inSpace, [
    ["two letters and a colon", "file:///CC:/x", "CC:", "x"],
    ["a digit and a colon", "file:///1:/x", "1:", "x"],
    ["a colon alone", "file:///:/x", ":", "x"],
    ["a letter with an accent and a colon", "file:///é:/x", "é:", "x"],
    ["a full-width letter and a colon", "file:///Ｃ:/x", "Ｃ:", "x"],
    ["a letter and a full-width colon", "file:///C：/x", "C：", "x"],
    ["a twice-escaped colon", "file:///c%253a/x", "c%3a", "x"],
    ["a blank and a drive", "file:/// C:/x", " C:", "x"],
    ["a letter alone", "file:///C/x", "C", "x"],
  ]);
});

describe("J16: a URI without a path", () => {
  refuses(
    [
      ["file: alone", "file:"],
      ["file:// alone", "file://"],
      ["file:/// alone", "file:///"],
      ["a dot", "file:."],
      ["a dot and a slash", "file:./"],
      ["an escaped dot", "file:%2e"],
      ["a dot in the space", "file:///."],
      ["dots in the space", "file:///././"],
      ["a folder and two dots in the space", "file:///a/.."],
      ["a folder and two dots in the chat", "file:a/.."],
      ["an upper-case scheme", "FILE:"],
    ],
    /file\W* without path/i,
  );
});

describe("J20: texts that are no file: URI", () => {
  refuses([
    ["http", "http://localhost/x"],
    ["https", "https://example.com/file:a"],
    ["another scheme of the host", "sila://x"],
    ["an absolute path", "/assets/x.md"],
    ["a relative path", "assets/x.md"],
    ["a name", "document.md"],
    ["a Windows path", "C:\\x"],
    ["an empty text", ""],
    ["a blank text", " "],
    ["file without a colon", "file"],
    ["file and slashes without a colon", "file///a"],
    ["a colon alone", ":"],
    ["a leading blank", " file:a"],
    ["a leading tab", "\tfile:a"],
    ["a leading line end", "\nfile:///a"],
    ["a leading byte order mark", "\ufefffile:a"],
    ["a blank before the colon", "file :a"],
    ["an escaped colon", "file%3Aa"],
    ["an escaped letter in the scheme", "%66ile:a"],
    ["a longer scheme", "files:a"],
    ["a scheme that ends in file", "xfile:a"],
    ["a scheme with a suffix", "file+x:a"],
    ["a scheme with a ligature", "ﬁle:a"],
    ["a scheme with a dotless i", "fıle:a"],
    ["a scheme with a dotted capital", "FİLE:a"],
    ["a scheme in full-width letters", "ｆｉｌｅ:a"],
    ["a full-width colon", "file：a"],
    ["blob:file:", "blob:file:///a"],
    ["angle brackets", "<file:a>"],
    ["quotation marks", '"file:a"'],
    ["data:", "data:text/plain,a"],
  ]);
});

describe("values that are no string", () => {
  const numbers = [0, 1, -1, Number.NaN, Number.POSITIVE_INFINITY];
  const others: (readonly [string, unknown])[] = [
    ["null", null],
    ["undefined", undefined],
    ["false", false],
    ["a URL", new URL("file:///a")],
    ["a boxed file: URI", Object("file:a")],
    ["an array of one file: URI", ["file:a"]],
    ["a Buffer", Buffer.from("file:a")],
    ["an object with toString", { toString: () => "file:a" }],
    ["the model's whole argument object", { uri: "file:a" }],
    ...numbers.map((number) => [`the number ${number}`, number] as const),
  ];
  for (const [name, value] of [...STRANGERS, ...others]) {
    test(`${name} is refused by name`, () => {
      refuseResolve([value], "INVALID_ARGUMENT", /\buri\b.*\bstring\b/);
    });
  }

  test("nothing at all is refused by name", () => {
    refuseResolve([], "INVALID_ARGUMENT", /\buri\b/);
  });

  test("an object is not asked for its text", () => {
    let asked = 0;
    const ask = () => {
      asked++;
      return "file:a";
    };
    refuseResolve(
      [{ toString: ask, valueOf: ask, toJSON: ask, [Symbol.toPrimitive]: ask }],
      "INVALID_ARGUMENT",
    );
    assert.equal(asked, 0);
  });
});

describe("the answer", () => {
  test("is a plain object with a plain array, new each time", () => {
    const [one, other] = [resolveFileUri("file:a/b"), resolveFileUri("file:a/b")];
    assert.equal(Object.getPrototypeOf(one), Object.prototype);
    assert.ok(Array.isArray(one.segments));
    assert.deepEqual(Object.keys(one), ["uri", "scope", "path", "segments"]);
    one.segments.push("x");
    assert.deepEqual(other.segments, ["files", "a", "b"]);
    assert.deepEqual(resolveFileUri("file:a/b").segments, ["files", "a", "b"]);
  });

  test("is not a promise", () => {
    assert.equal(typeof (resolveFileUri("file:a") as { then?: unknown }).then, "undefined");
  });

  test("needs no file and no context, and ignores further arguments", () => {
    const answer = resolveFileUri("file:///no/such/file/anywhere.md");
    assert.deepEqual(answer, looseResolve("file:///no/such/file/anywhere.md", 5, {}));
  });

  test("does not depend on the working directory", () => {
    const before = process.cwd();
    const answer = resolveFileUri("file:a");
    try {
      process.chdir("/");
      assert.deepEqual(resolveFileUri("file:a"), answer);
    } finally {
      process.chdir(before);
    }
  });

  test("of a URI with very many segments comes", { timeout: 10_000 }, () => {
    const names = Array.from({ length: 50_000 }, (_, i) => `n${i}`);
    assert.deepEqual(resolveFileUri(`file:///${names.join("/")}`).segments, names);
    assert.deepEqual(resolveFileUri(`file:${"a/../".repeat(50_000)}b`).segments, ["files", "b"]);
    assert.deepEqual(resolveFileUri(`file:///${"./".repeat(50_000)}b`).segments, ["b"]);
  });

  test("of a URI with a very long name comes", { timeout: 10_000 }, () => {
    const { path } = resolveFileUri(`file:///${"%C3%A9".repeat(100_000)}`);
    assert.equal(path, "é".repeat(100_000));
  });
});

describe("the error", () => {
  test("is thrown with its name, an enumerable code and a message that begins with it", () => {
    const error = checkUriError(exceptionValue(() => resolveFileUri("http://x")));
    assert.equal(error.name, "FileUriError");
    assert.ok(Object.keys(error).includes("code"));
    assert.match(error.message, /^INVALID_URI: \S/);
    assert.match(String(error), /^FileUriError: INVALID_URI: /);
  });

  test("has a stack", () => {
    const error = exceptionValue(() => resolveFileUri("http://x")) as Error;
    assert.equal(typeof error.stack, "string");
  });

  test("says other things of other faults", () => {
    const messages = ["http://x", "file:", "file://host/x", "file:%zz", "file:../x"].map(
      (uri) => refuseResolve([uri], "INVALID_URI").message,
    );
    assert.equal(new Set(messages).size, messages.length, messages.join("\n"));
  });

  test("of a very long URI is not very long itself", () => {
    const { message } = refuseResolve([`file:${"a".repeat(1_000_000)}%zz`], "INVALID_URI");
    assert.ok(message.length < 10_000, `${message.length} characters`);
  });

  test("of a long URI of emoji is well-formed, wherever it is cut", () => {
    for (let shift = 0; shift < 4; shift++) {
      refuseResolve([`file:${"a".repeat(shift)}${"😀".repeat(2_000)}%zz`], "INVALID_URI");
    }
  });
});

describe("the model", () => {
  const SCHEMES = [
    ["file:", 30],
    ["file:///", 30],
    ["FILE:", 2],
    ["fIlE:///", 2],
    ["file:/", 2],
    ["file://", 2],
    ["file:////", 2],
    ["file://localhost/", 1],
    ["file", 1],
    ["http://x/", 1],
    ["", 1],
  ] as const;
  const PIECES = [
    ..."abCz09",
    ..."////////",
    ...".....",
    ...["..", "../", "/../", "./", "%2e", "%2E%2e", "a/", "ab/", "files/", "files"],
    ...["%20", "%41", "%25", "%252e", "%252f", "%C3%A9", "%E2%82%AC", "%F0%9F%98%80", "%c2%85"],
    ...[" ", "+", "?", "#", "&", "=", "~", "@", "é", "文", "😀", "\u202e", "\u0085", "\ufeff"],
    ...["\u2028", "\uff0f", "\ufffd", "e\u0301", ":", "|"],
  ];
  const RARE = [
    ...["%2f", "%2F", "%5c", "%5C", "\\", "%00", "\0", "%0a", "\n", "\t", "\r", "%7f", "\u007f"],
    ...["%", "%4", "%zz", "%u0041", "%ff", "%80", "%c3", "%c0%af", "%ed%a0%80", "%f4%90%80%80"],
    ...["\ud83d", "\ude00", "C:", "c|", "c%3a", "C%7C", "%43:", "/C:/", "/z|/", "//", "\u0001"],
  ];

  function randomUri(random: Random): string {
    const weighted = SCHEMES.flatMap(([scheme, weight]) => Array(weight).fill(scheme) as string[]);
    let uri = random.pick(weighted);
    const rareness = random.pick([0, 0, 8, 30]);
    for (let left = random.below(10); left > 0; left--) {
      const rare = rareness > 0 && random.below(rareness) === 0;
      uri += random.pick(rare ? RARE : PIECES);
    }
    return uri;
  }

  function resolution(uri: string): Resolution {
    try {
      return { answer: { ...resolveFileUri(uri) } };
    } catch (error) {
      const { code, message } = checkUriError(error);
      assert.equal(code, "INVALID_URI", JSON.stringify(uri));
      return { refusal: message };
    }
  }

  for (const seed of [1, 2, 3, 4, 5, 6]) {
    test(`answers like the function for 10,000 random URIs, seed ${seed}`, () => {
      const random = new Random(seed);
      let accepted = 0;
      for (let i = 0; i < 10_000; i++) {
        const uri = randomUri(random);
        const [expected, actual] = [resolveModel(uri), resolution(uri)];
        const shown = `URI ${i}: ${JSON.stringify(uri)}`;
        if ("answer" in expected) {
          accepted++;
          assert.deepEqual(actual, expected, shown);
        } else {
          assert.ok("refusal" in actual, `${shown} must be refused for ${expected.refusal}`);
          if (expected.refusal === "file without path") {
            assert.match(actual.refusal, /file\W* without path/i, shown);
          }
        }
      }
      assert.ok(accepted > 2_000 && accepted < 8_000, `both outcomes are common: ${accepted}`);
    });
  }

  test("answers like the function for every single character", () => {
    for (let unit = 0; unit < 0x10000; unit++) {
      const uri = `file:a${String.fromCharCode(unit)}`;
      const [expected, actual] = [resolveModel(uri), resolution(uri)];
      assert.equal("answer" in actual, "answer" in expected, JSON.stringify(uri));
      if ("answer" in expected) assert.deepEqual(actual, expected);
    }
  });

  test("answers like the function for every escape of one and of two bytes", () => {
    const escaped = (byte: number) => `%${byte.toString(16).padStart(2, "0")}`;
    for (let one = 0; one < 256; one++) {
      for (let two = -1; two < 256; two++) {
        const uri = `file:a${escaped(one)}${two < 0 ? "" : escaped(two)}`;
        const [expected, actual] = [resolveModel(uri), resolution(uri)];
        assert.equal("answer" in actual, "answer" in expected, uri);
        if ("answer" in expected) assert.deepEqual(actual, expected);
      }
    }
  });
});
