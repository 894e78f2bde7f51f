// Arguments of createFile: a wrong value is answered with the right code and the argument's name. It never
// causes a rejection, an exception or a file. docs/contract.md §2 and §5.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { createFileSync, Workspace } from "../index.js";
import {
  type Creator,
  checkResult,
  inEveryWay,
  looseCreateFile,
  looseCreateFileSync,
  refuseCreate,
  settled,
  sha256,
  withContexts,
} from "./support/create.ts";
import { hostileProxy, revokedProxy, STRANGERS, withGetter } from "./support/hostile.ts";
import { notPosix } from "./support/platform.ts";
import { exceptionValue, looseOpen } from "./support/read.ts";
import { treeOf } from "./support/tree.mjs";
import { inWorkspace } from "./support/workspace.ts";

/** Has a call refused that would overwrite old.txt and make new/new.txt, but for `wrong`. */
async function refused(
  creator: Creator,
  wrong: object,
  code: string | string[],
  says: RegExp,
): Promise<void> {
  creator.ws.write("old.txt", "old");
  for (const target of ["old.txt", "new/new.txt"]) {
    const args = Object.defineProperties(
      { path: target, content: "new", overwrite: true },
      Object.getOwnPropertyDescriptors(wrong),
    );
    await creator.refuses(args, code, says);
  }
}

describe("path", () => {
  for (const [name, value] of [
    ...STRANGERS,
    ["a number", 1],
    ["NaN", NaN],
    ["null", null],
    ["undefined", undefined],
    ["an object that looks like a string", { toString: () => "a.txt", length: 5 }],
    ["an array of one path", ["a.txt"]],
    ["a hostile Proxy", hostileProxy()],
  ] as const) {
    test(
      `N16: path as ${name} is InvalidPath and named`,
      inEveryWay(async (creator) => {
        const args = { path: value, content: "a" };
        const result = await creator.refuses(args, "InvalidPath", /\bpath\b/);
        assert.equal(result.path, "");
      }),
    );
  }

  test(
    "N01: the message for a number as path says that a number came",
    inEveryWay((creator) =>
      creator.refuses({ path: 1, content: "a" }, "InvalidPath", /number|got 1/),
    ),
  );

  test(
    "N10: file_path and file_content are not path and content, and the message names the right keys",
    inEveryWay(async (creator) => {
      const args = { file_path: "a.txt", file_content: "a" };
      const { message } = await creator.refuses(args, "InvalidPath", /\bpath\b/);
      assert.match(message, /\bcontent\b/);
    }),
  );

  test(
    "N10: file_path beside content is refused: path is missing",
    inEveryWay((creator) =>
      creator.refuses({ file_path: "a.txt", content: "a" }, "InvalidPath", /\bpath\b/),
    ),
  );

  test(
    "a getter that throws for path is a refusal that names it",
    inEveryWay((creator) =>
      creator.refuses(
        Object.assign(withGetter("path"), { content: "a" }),
        ["InvalidPath", "UnhandledException"],
        /\bpath\b/,
      ),
    ),
  );
});

describe("content", () => {
  for (const [name, value] of [
    ...STRANGERS,
    ["a number", 1],
    ["NaN", NaN],
    ["an object", { a: 1 }],
    ["a Buffer", Buffer.from("bytes")],
    ["an array of lines", ["a", "b"]],
    ["an object that looks like a string", { toString: () => "text" }],
    ["null", null],
    ["undefined", undefined],
    ["a hostile Proxy", hostileProxy()],
  ] as const) {
    test(
      `O01: content as ${name} is refused: it must be a string`,
      inEveryWay((creator) =>
        refused(creator, { content: value }, "UnhandledException", /\bcontent\b.*\bstring\b/),
      ),
    );
  }

  test(
    "O11: content left out is refused: it must be a string",
    inEveryWay((creator) =>
      creator.refuses({ path: "a.txt" }, "UnhandledException", /\bcontent\b.*\bstring\b/),
    ),
  );

  test(
    "N01: the message for a number as content says that a number came",
    inEveryWay((creator) =>
      creator.refuses({ path: "a.txt", content: 5 }, "UnhandledException", /number|got 5/),
    ),
  );

  for (const [name, thrown] of [
    ["an Error", new Error("boom")],
    ["undefined", undefined],
    ["a symbol", Symbol("boom")],
  ] as const) {
    test(
      `a getter for content that throws ${name} is a refusal that names it`,
      inEveryWay((creator) =>
        refused(creator, withGetter("content", thrown), "UnhandledException", /\bcontent\b/),
      ),
    );
  }
});

describe("overwrite", () => {
  for (const [name, value] of [
    ...STRANGERS.filter(([name]) => name !== "true"),
    ['"true"', "true"],
    ['"false"', "false"],
    ["an empty string", ""],
    ["1", 1],
    ["0", 0],
    ["NaN", NaN],
    ["a boxed boolean", Object(true)],
    ["a hostile Proxy", hostileProxy()],
  ] as const) {
    test(
      `N12: overwrite as ${name} never overwrites: it must be a boolean`,
      inEveryWay((creator) =>
        refused(creator, { overwrite: value }, "UnhandledException", /\boverwrite\b.*\bboolean\b/),
      ),
    );
  }

  for (const overwrite of [null, undefined]) {
    test(
      `N03: overwrite ${overwrite} is absent, so false`,
      inEveryWay(async (creator) => {
        creator.ws.write("old.txt", "old");
        await creator.refuses({ path: "old.txt", content: "a", overwrite }, "FileExists");
        await creator.creates({ path: "new.txt", content: "a", overwrite }, { bytes: "a" });
      }),
    );
  }

  test(
    "a getter that throws for overwrite is a refusal that names it",
    inEveryWay((creator) =>
      refused(creator, withGetter("overwrite"), "UnhandledException", /\boverwrite\b/),
    ),
  );
});

describe("expectedHash", () => {
  for (const [name, value] of [
    ...STRANGERS,
    ["a number", 5],
    ["a Buffer", Buffer.alloc(32)],
    ["a hostile Proxy", hostileProxy()],
  ] as const) {
    test(
      `expectedHash as ${name} never overwrites, and is named`,
      inEveryWay((creator) =>
        refused(creator, { expectedHash: value }, "UnhandledException", /\bexpectedHash\b/),
      ),
    );
  }

  for (const [name, value] of [
    ["empty", ""],
    ["too short", sha256("old").slice(1)],
    ["too long", `${sha256("old")}0`],
    ["with a space", ` ${sha256("old")}`],
    ["with a prefix", `sha256:${sha256("old")}`],
    ["no hash at all", "the file I read"],
    ["of a lone surrogate", "\ud800"],
  ] as const) {
    test(
      `an expectedHash ${name} never overwrites`,
      inEveryWay((creator) =>
        refused(creator, { expectedHash: value }, ["UnhandledException", "WriteFailed"], /./),
      ),
    );
  }

  for (const expectedHash of [null, undefined]) {
    test(
      `N03: expectedHash ${expectedHash} is absent`,
      inEveryWay(async (creator) => {
        creator.ws.write("old.txt", "old");
        const args = { path: "old.txt", content: "new", overwrite: true, expectedHash };
        await creator.creates(args, { bytes: "new" });
      }),
    );
  }

  test(
    "a getter that throws for expectedHash is a refusal that names it",
    inEveryWay((creator) =>
      refused(creator, withGetter("expectedHash"), "UnhandledException", /\bexpectedHash\b/),
    ),
  );
});

describe("args", () => {
  for (const [name, args] of [
    ["null", null],
    ["undefined", undefined],
    ["a number", 5],
    ["true", true],
    ["a BigInt", 5n],
    ["a symbol", Symbol("s")],
    ["a path", "a.txt"],
    ["JSON text", '{"path":"a.txt","content":"a"}'],
  ] as const) {
    test(
      `args as ${name} is refused by name`,
      inEveryWay(async (creator) => {
        const result = await creator.refuses(args, "UnhandledException", /args|arguments?|object/);
        assert.equal(result.path, "");
      }),
    );
  }

  for (const [name, args] of [
    ["an empty object", {}],
    ["an array", ["a.txt", "a"]],
    ["a function", () => undefined],
    ["a Map", new Map([["path", "a.txt"]])],
    ["a Proxy on which everything throws", hostileProxy()],
    ["a revoked Proxy", revokedProxy()],
  ] as const) {
    test(
      `args as ${name} is refused`,
      inEveryWay(async (creator) => {
        const result = await creator.refuses(args, ["UnhandledException", "InvalidPath"]);
        assert.equal(result.path, "");
      }),
    );
  }

  test(
    "path and content side by side, as readFile takes its path, are refused",
    inWorkspace(async (ws) => {
      const args = [ws.writable, "a.txt", "content"];
      await refuseCreate(args, "UnhandledException", /args|arguments?|object/, ws.hidden);
      assert.deepEqual(treeOf(ws.root), {});
    }),
  );

  // Second look B21: a model's arguments are what it sent, and nothing that an object inherits.
  test(
    "args may not be inherited",
    inEveryWay(async (creator) => {
      const args = Object.create({ path: "dir/a.txt", content: "a" });
      await creator.refuses(args, "InvalidPath", /path is missing/);
    }),
  );

  for (const [name, make] of [
    ["without a prototype", (args: object) => Object.assign(Object.create(null), args)],
    ["frozen", (args: object) => Object.freeze({ ...args })],
    ["a Proxy", (args: object) => new Proxy(args, {})],
    [
      "given by getters",
      (args: object) =>
        Object.defineProperties(
          {},
          Object.fromEntries(
            Object.entries(args).map(([key, value]) => [key, { get: () => value }]),
          ),
        ),
    ],
  ] as const) {
    test(
      `args may be ${name}`,
      inEveryWay(async (creator) => {
        const args = make({ path: "dir/a.txt", content: "a" });
        await creator.creates(args, { path: "dir/a.txt", bytes: "a" });
      }),
    );
  }

  for (const extra of [
    { mode: 0o777 },
    { encoding: "latin1" },
    { append: true },
    { file_path: "b.txt" },
    { description: 5n },
    { [Symbol("s")]: 1 },
  ]) {
    test(
      `N08: the unknown key ${String(Reflect.ownKeys(extra)[0])} is ignored`,
      inEveryWay((creator) =>
        creator.creates({ path: "a.txt", content: "é", ...extra }, { bytes: "é" }),
      ),
    );
  }

  test(
    "arguments after args are ignored",
    inWorkspace(async (ws) => {
      const result = await looseCreateFile(ws.writable, { path: "a.txt", content: "a" }, 5, {});
      assert.equal(checkResult(result).success, true);
    }),
  );

  test(
    "the caller's object is left as it was",
    inEveryWay(async (creator) => {
      const args = Object.freeze({ path: ".\\a.txt", content: "\ufeffa\r\n", overwrite: true });
      await creator.create(args);
      assert.deepEqual(args, { path: ".\\a.txt", content: "\ufeffa\r\n", overwrite: true });
    }),
  );

  test(
    "a path that changes each time it is read leads nowhere outside",
    inEveryWay(async (creator) => {
      let reads = 0;
      const args = {
        get path() {
          return reads++ === 0 ? "a.txt" : "../outside/a.txt";
        },
        content: "a",
        overwrite: true,
      };
      await creator.create(args);
      await creator.create(args);
      assert.deepEqual(fs.readdirSync(creator.ws.outside), []);
      assert.deepEqual(fs.readdirSync(creator.ws.base).sort(), ["outside", "ws"]);
    }),
  );

  test(
    "a getter that creates another file meanwhile does no harm",
    inEveryWay(async (creator) => {
      const args = {
        path: "a.txt",
        get content() {
          createFileSync(creator.ws.writable, { path: "b.txt", content: "b" });
          return "a";
        },
      };
      assert.equal((await creator.create(args)).success, true);
      assert.deepEqual(fs.readdirSync(creator.ws.root).sort(), ["a.txt", "b.txt"]);
    }),
  );

  test(
    "a getter that closes the Workspace meanwhile does no harm",
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root);
      const args = {
        path: "a.txt",
        get content() {
          workspace.close();
          return "a";
        },
      };
      const result = checkResult(await settled(() => looseCreateFile(workspace, args)), ws.hidden);
      assert.ok([null, "UnhandledException"].includes(result.errorCode), JSON.stringify(result));
    }),
  );
});

describe("context", () => {
  const ARGS = { path: "a.txt", content: "a" };

  for (const [name, value] of [
    ["undefined", undefined],
    ["null", null],
    ["a number", 5],
    ["true", true],
    ["a BigInt", 5n],
    ["a symbol", Symbol("s")],
    ["a path string", "/tmp"],
  ] as const) {
    test(`context as ${name} is refused by name`, async () => {
      const result = await refuseCreate([value, ARGS], "UnhandledException", /\bcontext\b/);
      assert.equal(result.path, "a.txt");
    });
  }

  test("no arguments at all are refused", async () => {
    await refuseCreate([], ["UnhandledException", "InvalidPath"]);
  });

  for (const [name, context] of [
    ["missing", {}],
    ["null", { workspaceRoot: null }],
    ["a number", { workspaceRoot: 5 }],
    ["an object", { workspaceRoot: {} }],
    ["a URL", { workspaceRoot: new URL("file:///tmp") }],
    ["empty", { workspaceRoot: "" }],
    ["blank", { workspaceRoot: " " }],
    ["relative", { workspaceRoot: "relative-root" }],
    [".", { workspaceRoot: "." }],
    ["with a NUL", { workspaceRoot: "/tmp\0" }],
    ["with a lone surrogate", { workspaceRoot: "/tmp\ud800" }],
    ["a getter that throws", withGetter("workspaceRoot")],
    ["a getter that throws null", withGetter("workspaceRoot", null)],
  ] as const) {
    test(`workspaceRoot ${name} is refused by name, without its value`, async () => {
      const result = await refuseCreate([context, ARGS], "UnhandledException", /workspaceRoot/, [
        "relative-root",
        "/tmp",
      ]);
      assert.equal(result.path, "a.txt");
    });
  }

  for (const [name, root] of [
    ["that is gone", (base: string) => path.join(base, "gone")],
    ["that is a file", (base: string) => path.join(base, "file")],
    ["below a file", (base: string) => path.join(base, "file", "x")],
    ["too long", (base: string) => path.join(base, "x".repeat(300))],
  ] as const) {
    test(
      `a workspaceRoot ${name} is refused by name, without its value, and never made`,
      inWorkspace(async (ws) => {
        fs.writeFileSync(path.join(ws.base, "file"), "");
        const before = treeOf(ws.base);
        const context = { workspaceRoot: root(ws.base) };
        await refuseCreate([context, ARGS], "UnhandledException", /workspaceRoot/, ws.hidden);
        assert.deepEqual(treeOf(ws.base), before);
      }),
    );
  }

  for (const [name, context] of [
    ["a Proxy on which everything throws", hostileProxy()],
    ["a revoked Proxy", revokedProxy()],
    ["an object that only pretends to be a Workspace", Object.create(Workspace.prototype)],
  ] as const) {
    test(`context as ${name} is refused`, async () => {
      await refuseCreate([context, ARGS], "UnhandledException", /context|workspaceRoot/);
    });
  }

  test(
    "a closed Workspace is refused",
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root);
      workspace.close();
      await refuseCreate([workspace, ARGS], "UnhandledException", /closed/, ws.hidden);
      assert.deepEqual(treeOf(ws.root), {});
    }),
  );

  test(
    "a context may be a class instance with getters, frozen, with keys of its own",
    inWorkspace(async (ws) => {
      class ToolContext {
        readonly writeScope = "workspace-write";
        readonly policy = { tools: {}, defaultPolicy: "allow" };
        readonly turnId = 5n;
        get workspaceRoot() {
          return ws.root;
        }
      }
      const result = await looseCreateFile(Object.freeze(new ToolContext()), ARGS);
      assert.equal(checkResult(result).success, true);
    }),
  );

  for (const tail of ["/", "//", "/."]) {
    test(
      `a workspaceRoot that ends in ${tail} is the same root`,
      inWorkspace((ws) => {
        const context = { workspaceRoot: `${ws.root}${tail}` };
        assert.equal(checkResult(looseCreateFileSync(context, ARGS)).path, "a.txt");
        assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
      }),
    );
  }

  test(
    "a workspaceRoot is taken to the letter: spaces, %, # and a backslash",
    { skip: notPosix },
    inWorkspace((ws) => {
      const workspaceRoot = ws.folder("odd %20#[x]\\ dir ");
      assert.equal(checkResult(looseCreateFileSync({ workspaceRoot }, ARGS)).success, true);
      assert.deepEqual(fs.readdirSync(workspaceRoot), ["a.txt"]);
    }),
  );
});

describe("settings", () => {
  for (const key of ["writeScope", "durability", "contentHash"]) {
    for (const value of [5, "nonsense", "", true, {}, []]) {
      test(
        `${key} as ${JSON.stringify(value)} in a context is refused by name`,
        withContexts((creator) =>
          creator.refuses({ path: "a.txt", content: "a" }, "UnhandledException", new RegExp(key), {
            [key]: value,
          }),
        ),
      );

      test(
        `${key} as ${JSON.stringify(value)} is refused by name when a Workspace is opened`,
        inWorkspace((ws) => {
          const error = exceptionValue(() => looseOpen(ws.root, { [key]: value }));
          assert.equal((error as { code?: string }).code, "INVALID_ARGUMENT");
          assert.match((error as Error).message, new RegExp(key));
        }),
      );
    }

    test(
      `a getter that throws for ${key} of a context is a refusal that names it`,
      inWorkspace(async (ws) => {
        const context = Object.assign(withGetter(key), { workspaceRoot: ws.root });
        const args = { path: "a.txt", content: "a" };
        await refuseCreate([context, args], "UnhandledException", new RegExp(key), ws.hidden);
        assert.deepEqual(treeOf(ws.root), {});
      }),
    );

    test(
      `N03: ${key} null is absent`,
      inEveryWay((creator) =>
        creator.creates({ path: "a.txt", content: "a" }, { bytes: "a" }, { [key]: null }),
      ),
    );
  }

  for (const settings of [
    { durability: "full" },
    { durability: "none" },
    { contentHash: "sha256" },
    { invalidUtf8: "replace" },
  ]) {
    test(
      `the setting ${JSON.stringify(settings)} is accepted`,
      inEveryWay(async (creator) => {
        await creator.creates({ path: "a.txt", content: "a" }, { bytes: "a" }, settings);
        const args = { path: "a.txt", content: "b", overwrite: true };
        await creator.creates(args, { bytes: "b" }, settings);
      }),
    );
  }
});
