// Paths as text: normalised, taken verbatim, or refused. docs/contract.md §3.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { Workspace } from "../index.js";
import { WINDOWS_NAMES } from "./support/hostile.ts";
import { isLinux, namesAreFolded, notLinux, notPosix, notWindows } from "./support/platform.ts";
import {
  looseReadFile,
  readEveryWay,
  refuseArguments,
  refuseEveryWay,
  rejection,
} from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** Reads `asked` and demands that it is the file written as `written`. */
async function same(ws: TestWorkspace, written: string, asked: string): Promise<void> {
  ws.write(written, `this is ${written}`);
  const { path, content } = await readEveryWay(ws, asked);
  assert.equal(content, `this is ${written}`);
  assert.equal(path, written);
}

describe("normalising", () => {
  for (const asked of [
    "src/a.ts",
    "./src/a.ts",
    "src//a.ts",
    "src/./a.ts",
    "././src///./a.ts",
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
      `I07: ${asked} is src/a.ts`,
      inWorkspace((ws) => same(ws, "src/a.ts", asked)),
    );
  }
});

describe("names to the letter", () => {
  for (const name of [
    "..foo",
    "a..b",
    "...",
    "....",
    "[id]",
    "[...slug].tsx",
    "(group)",
    "{a,b}",
    "~",
    "~root",
    "-",
    "-rf",
    "#a",
    "a#b.md",
    "a%b.md",
    "50%20.md",
    "%2e%2e",
    "$HOME",
    "a&b;c",
    "a'b",
    "日本語.txt",
    "한글.md",
    "😀.txt",
    "a\u00a0b",
    "a\u200db",
    "a\u202eb",
    ".env",
    "a b.txt",
  ]) {
    test(
      `H29: ${JSON.stringify(name)} is a name like any other`,
      { skip: name.endsWith(".") && notPosix },
      inWorkspace(async (ws) => {
        await same(ws, name, name);
        await same(ws, `dir/${name}`, `dir/${name}`);
        await same(ws, `${name}.d/a.txt`, `${name}.d/a.txt`);
      }),
    );
  }

  for (const name of [
    " a",
    "a ",
    "a.",
    "a\tb",
    "a\nb",
    "a:b",
    "a:12",
    "aux",
    "aux.c",
    "nul",
    "con.txt",
    "a*b",
    "a?b",
    'a"b',
    "a|b",
    "<a>",
  ]) {
    test(
      `H29: ${JSON.stringify(name)} is a name like any other on POSIX`,
      { skip: notPosix },
      inWorkspace(async (ws) => {
        await same(ws, name, name);
        await same(ws, `dir/${name}`, `dir/${name}`);
      }),
    );
  }

  test(
    "H08: ~ is not the home directory",
    inWorkspace(async (ws) => {
      const { path } = await refuseEveryWay(ws, "~/a.txt", "NOT_FOUND");
      assert.equal(path, "~/a.txt");
    }),
  );

  test(
    "H29: %2e%2e does not rise",
    inWorkspace(async (ws) => {
      ws.writeOutside("a.txt");
      await refuseEveryWay(ws, "%2e%2e/outside/a.txt", "NOT_FOUND");
    }),
  );

  test(
    "H29: %20 is not a space",
    inWorkspace(async (ws) => {
      ws.write("a b.txt", "a");
      await refuseEveryWay(ws, "a%20b.txt", "NOT_FOUND");
    }),
  );

  test(
    "H20: U+0020 does not find U+00A0",
    inWorkspace(async (ws) => {
      ws.write("a\u00a0b.txt", "a");
      await refuseEveryWay(ws, "a b.txt", "NOT_FOUND");
    }),
  );

  test(
    "H17: NFC does not find NFD",
    { skip: notLinux },
    inWorkspace(async (ws) => {
      ws.write("한글.md".normalize("NFD"), "a");
      await refuseEveryWay(ws, "한글.md".normalize("NFC"), "NOT_FOUND");
    }),
  );

  test(
    "H17: NFC and NFD side by side are two files",
    { skip: notLinux },
    inWorkspace(async (ws) => {
      ws.write("é.txt".normalize("NFC"), "NFC");
      ws.write("é.txt".normalize("NFD"), "NFD");
      const composed = await readEveryWay(ws, "é.txt".normalize("NFC"));
      const decomposed = await readEveryWay(ws, "é.txt".normalize("NFD"));
      assert.equal(composed.content, "NFC");
      assert.equal(decomposed.content, "NFD");
    }),
  );

  test(
    "H22: another case does not find the file",
    { skip: namesAreFolded },
    inWorkspace(async (ws) => {
      ws.write("A.txt", "a");
      await refuseEveryWay(ws, "a.txt", "NOT_FOUND");
    }),
  );

  for (const asked of ["a.txt ", " a.txt", "a.txt\n", "a.txt:12", '"a.txt"', "`a.txt`", "@a.txt"]) {
    test(
      `H27: ${JSON.stringify(asked)} does not find a.txt`,
      { skip: notPosix },
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        await refuseEveryWay(ws, asked, "NOT_FOUND");
      }),
    );
  }

  test(
    "H15: a file of the current directory is not found",
    inWorkspace(async (ws) => {
      const here = fs.readdirSync(".", { withFileTypes: true }).find((entry) => entry.isFile());
      assert.ok(here, "the tests run where a file is");
      await refuseEveryWay(ws, here.name, "NOT_FOUND");
    }),
  );

  test(
    "H15: a file named like one of the current directory is the workspace's",
    inWorkspace(async (ws) => {
      const here = fs.readdirSync(".", { withFileTypes: true }).find((entry) => entry.isFile());
      assert.ok(here, "the tests run where a file is");
      await same(ws, here.name, here.name);
    }),
  );
});

describe("rising above the root", () => {
  for (const asked of [
    "..",
    "../",
    "../..",
    "../outside/a.txt",
    "../ws/a.txt",
    "./../outside/a.txt",
    "dir/../../outside/a.txt",
    "dir/../../ws/a.txt",
    "a.txt/../../ws/a.txt",
    "..\\outside\\a.txt",
    "dir\\..\\..\\outside\\a.txt",
    "absent/../../outside/a.txt",
    "../missing",
    "../../../../../../../../etc/passwd",
  ]) {
    test(
      `H03: ${asked} is a sandbox violation`,
      inWorkspace(async (ws) => {
        ws.folder("dir");
        ws.write("a.txt", "a");
        ws.writeOutside("a.txt");
        await refuseEveryWay(ws, asked, "SANDBOX_VIOLATION");
      }),
    );
  }

  test(
    "H01: a sibling whose name begins like the root's is outside",
    inWorkspace(async (ws) => {
      fs.mkdirSync(`${ws.root}-evil`);
      fs.writeFileSync(`${ws.root}-evil/x`, "secret");
      await refuseEveryWay(ws, "../ws-evil/x", "SANDBOX_VIOLATION");
    }),
  );
});

describe("absolute paths", () => {
  test(
    "H06: one that lies inside is read, and the answer's path is relative",
    inWorkspace((ws) => same(ws, "dir/a.txt", ws.at("dir/a.txt"))),
  );

  test(
    "H06: one with dots that stays inside is read",
    inWorkspace((ws) => same(ws, "dir/a.txt", `${ws.root}/./sub/..//dir/a.txt`)),
  );

  test(
    "H06: one with backslashes is read",
    inWorkspace((ws) => same(ws, "dir/a.txt", ws.at("dir/a.txt").replaceAll("/", "\\"))),
  );

  for (const tail of ["", "/", "/."]) {
    test(
      `H31: the root itself, absolute, with ${JSON.stringify(tail)} behind, is NOT_FILE`,
      inWorkspace((ws) => refuseEveryWay(ws, `${ws.root}${tail}`, "NOT_FILE")),
    );
  }

  test(
    "H06: one that comes to the root by way of .. is inside, before any folder is looked at",
    inWorkspace((ws) => same(ws, "a.txt", `${ws.base}/x/../ws/a.txt`)),
  );

  for (const tail of ["/", "/.", "//", "/./"]) {
    test(
      `M03: one that comes to the root by way of .. and demands a folder, by ${tail}, where a file is, is NOT_FOUND`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        await refuseEveryWay(ws, `${ws.base}/x/../ws/a.txt${tail}`, "NOT_FOUND");
      }),
    );
  }

  test(
    "H06: one that comes to the root by way of .., leaves it and comes back is a sandbox violation",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await refuseEveryWay(ws, `${ws.base}/x/../ws/../ws/a.txt`, "SANDBOX_VIOLATION");
    }),
  );

  test(
    "H06: one outside is a sandbox violation, shown by its last name only",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const refusal = await refuseEveryWay(ws, ws.writeOutside("a.txt"), "SANDBOX_VIOLATION");
      assert.equal(refusal.path, "…/a.txt");
    }),
  );

  test(
    "H06: one outside that is missing is a sandbox violation, not NOT_FOUND",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      await refuseEveryWay(ws, `${ws.outside}/missing.txt`, "SANDBOX_VIOLATION");
    }),
  );

  for (const asked of ["/etc/passwd", "/", "/a.txt", "/proc/self/environ", "\\etc\\passwd"]) {
    test(
      `H06: ${asked} is a sandbox violation`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        await refuseEveryWay(ws, asked, "SANDBOX_VIOLATION");
      }),
    );
  }

  test(
    "H01: an absolute sibling whose name begins like the root's is outside",
    inWorkspace(async (ws) => {
      fs.mkdirSync(`${ws.root}-evil`);
      fs.writeFileSync(`${ws.root}-evil/x`, "secret");
      await refuseEveryWay(ws, `${ws.root}-evil/x`, "SANDBOX_VIOLATION");
    }),
  );

  test(
    "H03: an absolute path that rises out of the root is outside",
    inWorkspace(async (ws) => {
      ws.writeOutside("a.txt");
      await refuseEveryWay(ws, `${ws.root}/../outside/a.txt`, "SANDBOX_VIOLATION");
    }),
  );

  test(
    "H22: the root in another case is outside",
    { skip: namesAreFolded },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await refuseEveryWay(ws, `${ws.base}/WS/a.txt`, "SANDBOX_VIOLATION");
    }),
  );
});

describe("the root in a path that is not absolute", { skip: notPosix }, () => {
  const inBackslashes = (path: string) => path.replaceAll("/", "\\");
  const hidden = (ws: TestWorkspace) => [ws.base, inBackslashes(ws.base)];

  /** Runs `body` with a plain context and with a Workspace. */
  async function eachContext(ws: TestWorkspace, body: (context: object) => Promise<unknown>) {
    const workspace = Workspace.open(ws.root);
    for (const context of [ws.context, workspace]) await body(context);
    workspace.close();
  }

  const plain: [string, (root: string) => string][] = [
    ["behind ..", (root) => `../../..${root}/x`],
    ["behind a scheme", (root) => `file://${root}/a.txt`],
    ["behind a space", (root) => ` ${root}/a`],
    ["behind a folder", (root) => `dir${root}/a`],
    ["before a line number", (root) => `at${root}:12`],
  ];
  const spellings = plain.flatMap(([name, spell]): typeof plain => [
    [name, spell],
    [`${name}, in backslashes`, (root) => inBackslashes(spell(root))],
  ]);

  for (const [name, spell] of spellings) {
    test(
      `is not shown by a refusal of the path: ${name}`,
      inWorkspace((ws) =>
        eachContext(ws, (context) =>
          rejection(() => looseReadFile(context, spell(ws.root)), hidden(ws)),
        ),
      ),
    );

    test(
      `is not shown by a refusal of an option: ${name}`,
      inWorkspace((ws) =>
        eachContext(ws, (context) =>
          refuseArguments([context, spell(ws.root), { start_line: 0 }], /start_line/, hidden(ws)),
        ),
      ),
    );

    test(
      `is not shown where the root is gone: ${name}`,
      inWorkspace((ws) =>
        eachContext(ws, (context) => {
          fs.rmSync(ws.root, { recursive: true, force: true });
          return refuseArguments([context, spell(ws.root)], /workspaceRoot/, hidden(ws));
        }),
      ),
    );
  }
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
    "\\\\server",
    "\\\\?\\C:\\x",
    "\\\\.\\pipe\\x",
    "\\\\?\\UNC\\server\\share\\x",
  ]) {
    test(
      `I01: ${asked} is refused`,
      inWorkspace((ws) => refuseEveryWay(ws, asked, "SANDBOX_VIOLATION")),
    );
  }

  test(
    "I01: a folder that is really named C: does not make C:\\x.txt readable",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("C:/x.txt", "a");
      await refuseEveryWay(ws, "C:\\x.txt", "SANDBOX_VIOLATION");
      await refuseEveryWay(ws, "C:/x.txt", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "I01: the root spelled like a UNC path is refused",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const unc = `\\${ws.at("a.txt").replaceAll("/", "\\")}`;
      await refuseEveryWay(ws, unc, "SANDBOX_VIOLATION");
    }),
  );
});

describe("Windows rules, on Windows", () => {
  for (const asked of WINDOWS_NAMES) {
    test(
      `I12: ${JSON.stringify(asked)} is refused`,
      { skip: notWindows },
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        await refuseEveryWay(ws, asked, "SANDBOX_VIOLATION");
      }),
    );
  }

  test(
    "I05: an absolute path in another case, drive letter included, is inside",
    { skip: notWindows },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { content } = await readEveryWay(ws, ws.at("a.txt").toUpperCase());
      assert.equal(content, "a");
    }),
  );
});

test(
  "C07: path and message of a refusal name the odd characters asked for",
  { skip: !isLinux && "names of a Linux file system" },
  inWorkspace(async (ws) => {
    const { path } = await refuseEveryWay(ws, "日本/é😀.txt", "NOT_FOUND");
    assert.equal(path, "日本/é😀.txt");
  }),
);
