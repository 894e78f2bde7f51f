// The path of createFile as text: normalised, taken verbatim, or refused. docs/contract.md §3 and §5, spec
// create_file §5.2.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { createInChild } from "./support/child.ts";
import { inEveryWay, refuseCreate } from "./support/create.ts";
import { WINDOWS_NAMES } from "./support/hostile.ts";
import { namesAreFolded, noSymlinks, notLinux, notPosix, notWindows } from "./support/platform.ts";
import { treeOf } from "./support/tree.mjs";
import { inWorkspace } from "./support/workspace.ts";

const shown = (text: string) => {
  const escaped = JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return escaped.length > 60 ? `${escaped.slice(0, 40)}…` : escaped;
};

/** A test that `asked` is refused, with and without a file there, and that nothing is created. */
function refusedTest(id: string, asked: string, options: { skip?: false | string } = {}): void {
  test(
    `${id}: ${shown(asked)} is InvalidPath`,
    options,
    inEveryWay(async (creator) => {
      creator.ws.write("t.txt", "old");
      creator.ws.write("dir/t.txt", "old");
      creator.ws.writeOutside("t.txt");
      for (const overwrite of [false, true]) {
        await creator.refuses({ path: asked, content: "a", overwrite }, "InvalidPath");
      }
    }),
  );
}

describe("normalising", () => {
  for (const asked of [
    "src/a.ts",
    "./src/a.ts",
    "src//a.ts",
    "src/./a.ts",
    "src/sub/../a.ts",
    "absent/../src/a.ts",
    "absent/too/../../src/a.ts",
    "src/a.ts/../a.ts",
    "src\\a.ts",
    ".\\src\\a.ts",
    "src\\sub\\..\\a.ts",
    "src\\/a.ts",
  ]) {
    test(
      `I16, H05: ${asked} is src/a.ts, and makes no other folder`,
      inEveryWay((creator) =>
        creator.creates({ path: asked, content: "a" }, { path: "src/a.ts", bytes: "a" }),
      ),
    );
  }

  test(
    "H05: .. is collapsed before any link is followed",
    { skip: noSymlinks },
    inEveryWay(async (creator) => {
      creator.ws.link("esc", creator.ws.outside, "dir");
      const args = { path: "esc/../b.txt", content: "b" };
      await creator.creates(args, { path: "b.txt", bytes: "b" });
    }),
  );
});

describe("names to the letter", () => {
  for (const name of [
    "..foo",
    "a..b",
    "...",
    "[id]",
    "[...slug].tsx",
    "(group)",
    "{a,b}",
    "~root",
    "a~",
    "~~",
    "-rf",
    "#a",
    "a%b.md",
    "50%20.md",
    "%2e%2e",
    "%00",
    "$HOME",
    "a&b;c",
    "a'b",
    "日本語.txt",
    "é.txt".normalize("NFC"),
    "한글.md",
    "😀.txt",
    "👩\u200d💻.txt",
    "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.txt",
    "a\u00a0b",
    "a\u3000b",
    ".env",
    ".git",
    "a b.txt",
    "aux.tmp",
    ".rf-notes.md",
  ]) {
    test(
      `H29: ${shown(name)} is a name like any other`,
      { skip: (name.startsWith("aux") || name.endsWith(".")) && notPosix },
      inEveryWay(async (creator) => {
        await creator.creates({ path: name, content: "a" }, { bytes: "a" });
        await creator.creates({ path: `d/${name}.d/${name}`, content: "b" }, { bytes: "b" });
        assert.ok(fs.readdirSync(creator.ws.root).includes(name), "the name is on disk as given");
      }),
    );
  }

  for (const name of [
    " a",
    "a ",
    "a.",
    // One letter and a colon name a drive on every system: see misspelt-paths.test.ts.
    "ab:c",
    "ab:12",
    "aux",
    "aux.c",
    "nul",
    "con.txt",
    "a*b",
    'a"b',
  ]) {
    test(
      `H29: ${shown(name)} is a name like any other on POSIX`,
      { skip: notPosix },
      inEveryWay((creator) => creator.creates({ path: name, content: "a" }, { bytes: "a" })),
    );
  }

  test(
    "H08: ~ is a name like any other where it does not come first",
    inEveryWay((creator) => creator.creates({ path: "dir/~", content: "a" }, { bytes: "a" })),
  );

  test(
    "H17: NFC and NFD are two files",
    { skip: notLinux },
    inEveryWay(async (creator) => {
      await creator.creates({ path: "é".normalize("NFC"), content: "NFC" }, { bytes: "NFC" });
      await creator.creates({ path: "é".normalize("NFD"), content: "NFD" }, { bytes: "NFD" });
    }),
  );

  test(
    "H22: another case is another file",
    { skip: namesAreFolded },
    inEveryWay(async (creator) => {
      await creator.creates({ path: "a.txt", content: "small" }, { bytes: "small" });
      await creator.creates({ path: "A.txt", content: "large" }, { bytes: "large" });
    }),
  );

  test(
    "H15: the current directory does not matter, not even a lost one",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const lostDirectory = path.join(ws.base, "lost");
      fs.mkdirSync(lostDirectory);
      const [result] = await createInChild({
        creates: [{ context: ws.writable, args: { path: "dir/a.txt", content: "a" } }],
        lostDirectory,
      });
      assert.equal(result?.success, true, JSON.stringify(result));
      assert.equal(fs.readFileSync(ws.at("dir/a.txt"), "utf8"), "a");
    }),
  );
});

describe("the root itself and folders", () => {
  for (const asked of ["", " ", "  ", "\u3000", "\u00a0 "]) refusedTest("H31, blank", asked);
  for (const asked of [".", "./", "/", "a/..", "./.", "dir/..", "dir\\..", "\\"]) {
    refusedTest("H31, the root", asked);
  }
  for (const asked of ["dir", "dir/", "dir/.", "dir/t.txt/..", "dir/absent/..", "dir\\"]) {
    refusedTest("F13, a folder", asked);
  }
  for (const asked of ["t.txt/", "t.txt/.", "t.txt//", "t.txt\\", "t.txt\\."]) {
    refusedTest("H25, a file with a slash behind", asked);
  }
  for (const asked of ["a/", "a/.", "a/b/..", "new/a/", "a\\", "a\\.", "a/b\\.."]) {
    refusedTest("H25, what is absent with a slash behind", asked);
  }
});

describe("leaving the root", () => {
  for (const asked of [
    "..",
    "../",
    "../x",
    "a/../..",
    "../outside/t.txt",
    "../outside/new.txt",
    "../ws/t.txt",
    "../ws/new.txt",
    "dir/../../outside/t.txt",
    "t.txt/../../ws/t.txt",
    "..\\outside\\t.txt",
    "dir\\..\\..\\outside\\new.txt",
    "absent/../../outside/new.txt",
    "../../../../../../../../../../tmp/x",
  ]) {
    refusedTest("H03", asked);
  }

  test(
    "H01: a sibling whose name begins like the root's is outside",
    inEveryWay(async (creator) => {
      fs.mkdirSync(`${creator.ws.root}-evil`);
      await creator.refuses({ path: "../ws-evil/x", content: "a" }, "InvalidPath");
    }),
  );
});

describe("absolute paths", () => {
  for (const asked of ["/x.txt", "/etc/x.txt", "//x.txt", "\\etc\\x.txt", "/proc/self/cwd/x.txt"]) {
    refusedTest("H06", asked);
  }

  for (const [name, spell] of [
    ["that lies inside", (root: string) => `${root}/dir/a.txt`],
    ["of a file inside", (root: string) => `${root}/a.txt`],
    ["with dots", (root: string) => `${root}/./dir/..//a.txt`],
    ["with backslashes", (root: string) => `${root}/a.txt`.replaceAll("/", "\\")],
  ] as const) {
    test(
      `H06: one ${name} is InvalidPath, shown by its last name only`,
      { skip: notPosix },
      inEveryWay(async (creator) => {
        const { ws } = creator;
        ws.write("a.txt", "old");
        for (const overwrite of [false, true]) {
          const args = { path: spell(ws.root), content: "a", overwrite };
          const result = await creator.refuses(args, "InvalidPath");
          assert.equal(result.path, "…/a.txt");
        }
      }),
    );
  }

  test(
    "H06: the root itself, absolute, is InvalidPath and not shown",
    inEveryWay(async (creator) => {
      for (const tail of ["", "/", "/."]) {
        const args = { path: `${creator.ws.root}${tail}`, content: "a", overwrite: true };
        await creator.refuses(args, "InvalidPath");
      }
    }),
  );

  test(
    "H06: one that rises out of the root is InvalidPath and does not show the root",
    inEveryWay(async (creator) => {
      const asked = `${creator.ws.root}/../outside/x.txt`;
      await creator.refuses({ path: asked, content: "a" }, "InvalidPath");
    }),
  );

  test(
    "H03: the root spelled behind a rise is InvalidPath and not shown",
    { skip: notPosix },
    inEveryWay(async (creator) => {
      const rise = "../".repeat(creator.ws.root.split("/").length);
      const asked = `${rise.slice(0, -1)}${creator.ws.root}/x.txt`;
      await creator.refuses({ path: asked, content: "a" }, "InvalidPath");
    }),
  );

  test(
    "H06: a root reached through a link is not shown in either spelling",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      const alias = path.join(ws.base, "alias");
      fs.symlinkSync(ws.root, alias, "dir");
      for (const root of [alias, ws.root]) {
        await refuseCreate(
          [{ workspaceRoot: alias }, { path: `${root}/new.txt`, content: "a" }],
          "InvalidPath",
          /./,
          [alias, ws.root],
        );
      }
      assert.deepEqual(treeOf(ws.root), {});
    }),
  );
});

describe("Windows spellings, on every system", () => {
  for (const asked of [
    "C:\\Users\\me\\f.md",
    "C:/Users/me/f.md",
    "c:\\x",
    "z:/x",
    "C:\\",
    "C:/",
    "\\\\server\\share\\x",
    "\\\\srv\\share\\ws\\x",
    "\\\\server",
    "\\\\?\\C:\\x",
    "\\\\.\\pipe\\x",
    "\\\\?\\UNC\\server\\share\\x",
    "//server/share/x",
  ]) {
    refusedTest("I01", asked);
  }

  test(
    "I01: a folder that is really named C: does not make C:\\x.txt a name",
    { skip: notPosix },
    inEveryWay(async (creator) => {
      creator.ws.folder("C:");
      for (const asked of ["C:\\x.txt", "C:/x.txt"]) {
        await creator.refuses({ path: asked, content: "a" }, "InvalidPath");
      }
    }),
  );
});

describe("Windows rules, on Windows", () => {
  for (const asked of [...WINDOWS_NAMES, "a*b"]) {
    refusedTest("I09", asked, { skip: notWindows });
  }
});

describe("the home directory", () => {
  for (const asked of ["~", "~/a.txt", "~\\a.txt", "./~/a.txt", "x/../~/a.txt", "~/../a/../~/b"]) {
    refusedTest("H08", asked);
  }

  test(
    "H08: a folder that is really named ~ does not make ~/a.txt a name",
    inEveryWay(async (creator) => {
      creator.ws.write("~/a.txt", "old");
      await creator.refuses({ path: "~/a.txt", content: "a", overwrite: true }, "InvalidPath");
    }),
  );
});

describe("characters that no name may hold", () => {
  const controls = [
    ...Array.from({ length: 0x20 }, (_, i) => i),
    0x7f,
    ...Array.from({ length: 0x20 }, (_, i) => 0x80 + i),
  ];
  const bidi = [
    0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069,
  ];
  const invisible = [0x200b, 0x2060, 0xfeff];

  for (const [id, kind, codes] of [
    ["H13", "control characters", controls],
    ["H13", "bidi controls", bidi],
    ["H13", "invisible characters", invisible],
  ] as const) {
    for (const [place, spell] of [
      ["in a name", (character: string) => `a${character}b.md`],
      ["first", (character: string) => `${character}rules.md`],
      ["last", (character: string) => `rules.md${character}`],
      ["in a folder", (character: string) => `new${character}/rules.md`],
      ["in a name that vanishes", (character: string) => `a${character}/../rules.md`],
    ] as const) {
      test(
        `${id}: ${kind} ${place} are InvalidPath`,
        inEveryWay(async (creator) => {
          for (const code of codes) {
            const asked = spell(String.fromCharCode(code));
            await creator.refuses({ path: asked, content: "a", overwrite: true }, "InvalidPath");
          }
        }),
      );
    }
  }

  for (const asked of ["a\0b", "\0", "rules.md\n", "rules.md\r\n", "\ufeffa.md", "a\tb"]) {
    refusedTest("H10, H13", asked);
  }
  for (const asked of ["a\ud800.txt", "\udc00", "\udc00\ud800", "d\udfff/x"]) {
    refusedTest("C07, a lone surrogate", asked);
  }

  test(
    "H13: a file that stands under such a name is not overwritten",
    { skip: notPosix },
    inEveryWay(async (creator) => {
      for (const name of ["rules.md\n", "a\u202eb", "a\u200bb"]) {
        creator.ws.write(name, "old");
        await creator.refuses({ path: name, content: "a", overwrite: true }, "InvalidPath");
      }
    }),
  );
});

describe("long names and paths", () => {
  for (const [name, of255] of [
    ["255 ASCII characters", "x".repeat(255)],
    ["85 characters of three bytes", "あ".repeat(85)],
    ["255 bytes that end in two-byte characters", `x${"é".repeat(127)}`],
  ] as const) {
    test(
      `H11: a name of ${name} is created and overwritten`,
      { skip: notLinux },
      inEveryWay(async (creator) => {
        await creator.creates({ path: of255, content: "a" }, { bytes: "a" });
        await creator.creates({ path: of255, content: "b", overwrite: true }, { bytes: "b" });
      }),
    );
  }

  for (const [name, asked] of [
    ["a name of 256 ASCII characters", "x".repeat(256)],
    ["a name of 86 characters of three bytes", "あ".repeat(86)],
    ["a folder of 256 ASCII characters", `new/${"x".repeat(256)}/a.txt`],
    ["a name of 256 bytes below a new folder", `new/deep/${"x".repeat(256)}`],
    ["a path of 5,000 bytes", `${"0123456789/".repeat(454)}a.txt`],
    ["a name of 5,000 bytes", "x".repeat(5_000)],
    ["a path of a million bytes", `${"0123456789/".repeat(90_909)}a`],
  ] as const) {
    test(
      `H11: ${name} is InvalidPath, and makes no folder`,
      inEveryWay(async (creator) => {
        for (const overwrite of [false, true]) {
          await creator.refuses({ path: asked, content: "a", overwrite }, "InvalidPath");
        }
      }),
    );
  }

  test(
    "H11: a path of 3,500 bytes is created",
    { skip: notLinux },
    inEveryWay((creator) => {
      const asked = `${`${"x".repeat(249)}/`.repeat(13)}${"y".repeat(250)}`;
      return creator.creates({ path: asked, content: "a" }, { bytes: "a" });
    }),
  );
});
