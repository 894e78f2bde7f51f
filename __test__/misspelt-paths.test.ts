// Paths in the spelling of shells, diffs and URLs: no file is created there, and a missing file's error names
// the path that may have been meant.

import assert from "node:assert/strict";
import path from "node:path";
import { describe, test } from "node:test";
import { createAgentToolkit } from "../dist/index.js";
import { nearMisses, readFile, Workspace } from "../index.js";
import { inEveryWay } from "./support/create.ts";
import { notPosix } from "./support/platform.ts";
import { readEveryWay, refuseEveryWay, rejection } from "./support/read.ts";
import { inWorkspace } from "./support/workspace.ts";

// F16: names that are files on one system and drives on another.
describe("second look F16", () => {
  test(
    "second look F16: names that begin with a letter and a colon are not created on any system",
    inEveryWay(async (creator) => {
      for (const name of ["C:", "c:x", "C:x.txt", "z:a/b.txt", "./C:x", "a/../C:x", ".\\c:x"]) {
        await creator.refuses({ path: name, content: "x" }, "InvalidPath", /drive|`:`/);
      }
    }),
  );

  test(
    "second look F16: other colons are names on POSIX, and such a name is read there as before",
    { skip: notPosix },
    inEveryWay(async (creator) => {
      for (const name of ["a/C:x", "ab:c", "1:x", "é:x", "profile:dev.json"]) {
        await creator.creates({ path: name, content: "x" }, { bytes: "x" });
      }
      for (const name of ["C:", "c:x"]) {
        creator.ws.write(name, "old");
        assert.equal((await readEveryWay(creator.ws, name)).content, "old");
      }
    }),
  );
});

// F17: names that look the same and have other bytes.
describe("second look F17", () => {
  for (const [form, other] of [
    ["NFC", "NFD"],
    ["NFD", "NFC"],
  ] as const) {
    test(
      `second look F17: the ${other} twin of a missing ${form} name is named`,
      { skip: notPosix },
      inWorkspace(async (ws) => {
        for (const name of [
          "é.md",
          "Ångström/données.txt",
          "がぎぐ.txt",
          "각.txt",
          "q\u0323\u0307",
        ]) {
          const there = name.normalize(other);
          const missing = name.normalize(form);
          if (there === missing) continue;
          ws.write(there, "x");
          const folder = there.includes("/") ? `${there.split("/")[0]}/` : there;
          assert.equal((await nearMisses(ws.context, missing))[0], folder, name);
        }
      }),
    );
  }
});

test(
  "second look F17: a toolkit spells the twin so that a model can send it",
  { skip: notPosix },
  inWorkspace(async (ws) => {
    ws.write("é.md".normalize("NFD"), "x");
    const toolkit = createAgentToolkit(ws.context);
    const read = await toolkit.invoke("read_file", { path: "é.md".normalize("NFC") });
    assert.ok(
      read.status !== "success" && read.message.includes('"e\\u0301.md"'),
      JSON.stringify(read),
    );
    const again = await toolkit.invoke("read_file", '{"path":"e\\u0301.md"}');
    assert.equal(again.status, "success");
    toolkit.close();
  }),
);

const MEANT = [
  ["my\\ file.txt", "my file.txt"],
  ["docs/a\\ \\(1\\).txt", "docs/a (1).txt"],
  ["a/src/main.ts", "src/main.ts"],
  ["b/src/main.ts", "src/main.ts"],
  ['"src/main.ts"', "src/main.ts"],
  ["'src/main.ts'", "src/main.ts"],
  ["`src/main.ts`", "src/main.ts"],
  ["file:///src/main.ts", "src/main.ts"],
  ["FILE:src/main.ts", "src/main.ts"],
  ["file:///my%20file.txt", "my file.txt"],
  ["my%20file.txt", "my file.txt"],
  [" src/main.ts\n", "src/main.ts"],
  ["src/main.ts:12:5", "src/main.ts"],
  ['"/src/main.ts"', "src/main.ts"],
] as const;

// F18: paths in the spelling of shells, diffs, compilers and URL parsers.
describe("second look F18", () => {
  test(
    "second look F18: nothing is created at a path in a shell's, a URI's or a quoted spelling",
    inEveryWay(async (creator) => {
      for (const [given, repair] of [
        ["my\\ new.txt", /`\\` separates folders.*without a backslash/],
        ["src/it\\'s.txt", /without a backslash/],
        ["a\\(1\\).txt", /without a backslash/],
        ["file:///src/x.ts", /URI; write it relative to the workspace root/],
        ["file:src/x.ts", /URI/],
        ["File:/src/x.ts", /URI/],
        ["https://example.com/x.ts", /URI/],
        ["sandbox:/mnt/data/x.txt", /URI/],
        ['"src/x.ts"', /quotes; write it without them/],
        ["`src/x.ts`", /quotes/],
      ] as const) {
        await creator.refuses({ path: given, content: "x" }, "InvalidPath", repair);
        const overwrite = { path: given, content: "x", overwrite: true };
        await creator.refuses(overwrite, "InvalidPath", repair);
      }
    }),
  );

  test(
    "second look F18: `\\` stays a separator, and quotes, spaces and brackets stay names",
    { skip: notPosix },
    inEveryWay(async (creator) => {
      for (const [given, made] of [
        ["app\\(group)\\page.tsx", "app/(group)/page.tsx"],
        ["app\\[id]\\$x.tsx", "app/[id]/$x.tsx"],
        [" a .txt", " a .txt"],
        ['"quoted"', '"quoted"'],
        ["my/ new.txt", "my/ new.txt"],
        ["a%20b.txt", "a%20b.txt"],
      ] as const) {
        await creator.creates({ path: given, content: "x" }, { path: made, bytes: "x" });
      }
    }),
  );

  for (const [given, meant] of MEANT) {
    test(
      `second look F18: a read of ${JSON.stringify(given)} names ${meant}, after NOT_FOUND alone`,
      { skip: notPosix },
      inWorkspace(async (ws) => {
        ws.write(meant, "meant");
        ws.write("src/other.ts", "");
        assert.equal((await nearMisses(ws.context, given))[0], meant);
        const workspace = Workspace.open(ws.root);
        assert.equal((await nearMisses(workspace, given))[0], meant);
        workspace.close();
        await refuseEveryWay(ws, given, "NOT_FOUND");
        // A file of that very name is read, and nothing is named beside it.
        const literal = path.posix.normalize(given.replaceAll("\\", "/")).replace(/^\//, "");
        ws.write(literal, "literal");
        assert.equal((await readEveryWay(ws, given)).content, "literal");
        assert.deepEqual(await nearMisses(ws.context, given), []);
      }),
    );
  }

  test(
    "second look F18: the message of a missing file says how its path is written",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      for (const [given, repair] of [
        ["my\\ file.txt", /no such file; `\\` separates folders/],
        ['"src/main.ts"', /no such file; path stands in quotes/],
        ["file:///src/main.ts", /no such file; path is written as a URI/],
        [`${ws.root}/file:/src/main.ts`, /no such file; path is written as a URI/],
      ] as const) {
        const { message } = await rejection(() => readFile(ws.context, given), ws.hidden);
        assert.match(message, repair);
      }
      const { message } = await rejection(() => readFile(ws.context, "a/src/main.ts"));
      assert.equal(message, "NOT_FOUND: no such file: a/src/main.ts");
    }),
  );

  test(
    "second look F18: hints lead nowhere outside, and show no root",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      ws.writeOutside("secret.txt");
      ws.link("out", ws.outside, "dir");
      ws.write("in.txt", "");
      const outside = ["a/out/secret.txt", '"../outside/secret.txt"', "file:../outside/secret.txt"];
      for (const given of [...outside, `"${ws.outside}/secret.txt"`]) {
        assert.deepEqual(await nearMisses(ws.context, given).catch(() => []), [], given);
      }
      assert.deepEqual(await nearMisses(ws.context, `"${ws.root}/in.txt"`), ["in.txt"]);
      assert.deepEqual(await nearMisses(ws.context, `file://${ws.root}/in.txt`), ["in.txt"]);
    }),
  );
});
