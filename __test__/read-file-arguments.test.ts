// Arguments: accepted values, and the messages for wrong ones. docs/contract.md §2 and §4 "Arguments".

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { Workspace } from "../index.js";
import { hostileProxy, revokedProxy, STRANGERS, withGetter } from "./support/hostile.ts";
import { notPosix } from "./support/platform.ts";
import { looseReadFile, looseReadFileSync, refuseArguments, rejection } from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** Has `readFile(context, "a.txt", options)` refused, where the file itself is fine. */
function refuseOptions(ws: TestWorkspace, options: unknown, says: RegExp) {
  ws.write("a.txt", "a\nb\n");
  return refuseArguments([ws.context, "a.txt", options], says, ws.hidden);
}

/** Reads a file of 600 lines with these options, both ways, and gives the answer. */
async function readWith(ws: TestWorkspace, options: unknown) {
  fs.utimesSync(ws.write("a.txt", "line\n".repeat(600)), 1_000_000, 1_000_000);
  const answer = await looseReadFile(ws.context, "a.txt", options);
  assert.deepStrictEqual(looseReadFileSync(ws.context, "a.txt", options), answer);
  return answer;
}

describe("start_line and max_lines", () => {
  for (const key of ["start_line", "max_lines"]) {
    for (const value of [0, -1, -0, 1.5, 0.5, NaN, Infinity, -Infinity, 2 ** 53, 1e300]) {
      test(
        `N06: ${key} ${Object.is(value, -0) ? "-0" : value} is refused by name`,
        inWorkspace((ws) => refuseOptions(ws, { [key]: value }, new RegExp(key))),
      );
    }

    for (const [name, value] of STRANGERS) {
      test(
        `N01: ${key} as ${name} is refused by name`,
        inWorkspace((ws) => refuseOptions(ws, { [key]: value }, new RegExp(key))),
      );
    }

    test(
      `N01: ${key} "10" is refused, saying that a string came`,
      inWorkspace(async (ws) => {
        const { message } = await refuseOptions(ws, { [key]: "10" }, new RegExp(key));
        assert.match(message, /got a string/);
      }),
    );

    test(
      `N06: ${key} 2.0 is 2`,
      inWorkspace(async (ws) => {
        assert.deepStrictEqual(
          await readWith(ws, { [key]: Number("2.0") }),
          await readWith(ws, { [key]: 2 }),
        );
      }),
    );

    test(
      `N03: ${key} null or undefined is the default`,
      inWorkspace(async (ws) => {
        const byDefault = await readWith(ws, {});
        assert.deepStrictEqual(await readWith(ws, { [key]: null }), byDefault);
        assert.deepStrictEqual(await readWith(ws, { [key]: undefined }), byDefault);
      }),
    );

    test(
      `a getter that throws for ${key} is a refusal that names it`,
      inWorkspace((ws) => refuseOptions(ws, withGetter(key), new RegExp(key))),
    );

    test(
      `a getter that throws undefined for ${key} is a refusal too`,
      inWorkspace((ws) => refuseOptions(ws, withGetter(key, undefined), new RegExp(key))),
    );
  }

  test(
    "M10, D15: the message for start_line -1 has the rule and the value",
    inWorkspace(async (ws) => {
      const { message } = await refuseOptions(ws, { start_line: -1 }, /start_line/);
      assert.match(message, />= 1/);
      assert.match(message, /got -1/);
    }),
  );

  test(
    "D13: the message for max_lines 0 has the value",
    inWorkspace(async (ws) => {
      const { message } = await refuseOptions(ws, { max_lines: 0 }, /max_lines/);
      assert.match(message, /got 0/);
    }),
  );

  for (const [value, spelled] of [
    [-0, "0"],
    [1e300, "1e+300"],
    [-1e300, "-1e+300"],
    [1e21, "1e+21"],
    [123456789012345680000, "123456789012345680000"],
    [1e-7, "1e-7"],
    [5e-324, "5e-324"],
    [0.000001, "0.000001"],
    [-Infinity, "-Infinity"],
    [NaN, "NaN"],
  ] as const) {
    test(
      `M10: the message for max_lines ${spelled} has the value as JavaScript writes it`,
      inWorkspace(async (ws) => {
        const { message } = await refuseOptions(ws, { max_lines: value }, /max_lines/);
        assert.equal(/, got ([^:]*):/.exec(message)?.[1], spelled, message);
      }),
    );
  }

  for (const value of [501, 1_000, 2 ** 31, 2 ** 32 + 1, 2 ** 53 - 1]) {
    test(
      `D13: the message for max_lines ${value} has the limit`,
      inWorkspace(async (ws) => {
        const { message } = await refuseOptions(ws, { max_lines: value }, /max_lines/);
        assert.match(message, /500/);
        assert.match(message, new RegExp(`got ${value}`));
      }),
    );
  }

  test(
    "D13: max_lines 500 is legal",
    inWorkspace(async (ws) => {
      const { meta } = await readWith(ws, { max_lines: 500 });
      assert.equal(meta.returned_line_count, 500);
    }),
  );

  test(
    "D11: start_line 2^32 + 1 is legal and does not wrap to 1",
    inWorkspace(async (ws) => {
      const { content, meta } = await readWith(ws, { start_line: 2 ** 32 + 1 });
      assert.equal(content, "");
      assert.equal(meta.returned_line_count, 0);
    }),
  );

  test(
    "N03: both null are 1 and 200",
    inWorkspace(async (ws) => {
      const { meta, next_start_line } = await readWith(ws, { start_line: null, max_lines: null });
      assert.equal(meta.returned_line_count, 200);
      assert.equal(next_start_line, 201);
    }),
  );
});

describe("include_hash", () => {
  for (const [name, value] of [
    ["a string", "true"],
    ["a number", 1],
    ["an object", {}],
  ] as const) {
    test(
      `include_hash as ${name} is refused by name`,
      inWorkspace((ws) => refuseOptions(ws, { include_hash: value }, /include_hash/)),
    );
  }

  test(
    "N03: include_hash null is absent",
    inWorkspace(async (ws) => {
      const { meta } = await readWith(ws, { include_hash: null });
      assert.ok(!("sha256" in meta));
    }),
  );

  test(
    "a getter that throws for include_hash is a refusal that names it",
    inWorkspace((ws) => refuseOptions(ws, withGetter("include_hash"), /include_hash/)),
  );
});

describe("options", () => {
  for (const [name, value] of [
    ["a number", 5],
    ["a string", "start_line"],
    ["true", true],
    ["a BigInt", 5n],
    ["a symbol", Symbol("s")],
    ["an array", [1, 2]],
  ] as const) {
    test(
      `options as ${name} are refused by name`,
      inWorkspace((ws) => refuseOptions(ws, value, /options/)),
    );
  }

  for (const [name, value] of [
    ["null", null],
    ["undefined", undefined],
    ["an empty object", {}],
    ["an object without prototype", Object.create(null)],
    ["a frozen object", Object.freeze({})],
  ] as const) {
    test(
      `N03: options as ${name} are no options`,
      inWorkspace(async (ws) => {
        const { meta } = await readWith(ws, value);
        assert.equal(meta.returned_line_count, 200);
      }),
    );
  }

  test(
    "options as a Proxy on which everything throws are refused",
    inWorkspace((ws) =>
      refuseOptions(ws, hostileProxy(), /options|start_line|max_lines|include_hash|signal/),
    ),
  );

  test(
    "options as a revoked Proxy are refused",
    inWorkspace((ws) =>
      refuseOptions(ws, revokedProxy(), /options|start_line|max_lines|include_hash|signal/),
    ),
  );

  test(
    "options may be inherited or given by getters",
    inWorkspace(async (ws) => {
      class Options {
        get start_line() {
          return 3;
        }
      }
      const options = Object.assign(Object.create(new Options()), { max_lines: 2 });
      const { meta, next_start_line } = await readWith(ws, options);
      assert.equal(meta.returned_line_count, 2);
      assert.equal(next_start_line, 5);
    }),
  );

  for (const extra of [{ limit: 1 }, { end_line: 5 }, { offset: "x" }, { [Symbol("s")]: 1 }]) {
    test(
      `N08: the unknown key ${String(Reflect.ownKeys(extra)[0])} is ignored`,
      inWorkspace(async (ws) => {
        assert.deepStrictEqual(await readWith(ws, extra), await readWith(ws, {}));
      }),
    );
  }

  test(
    "arguments after the options are ignored",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { content } = await looseReadFile(ws.context, "a.txt", {}, "more", 5);
      assert.equal(content, "a");
    }),
  );
});

describe("path", () => {
  for (const [name, value] of [...STRANGERS, ["a number", 1], ["NaN", NaN]] as const) {
    test(
      `N16: path as ${name} is refused by name`,
      inWorkspace(async (ws) => {
        const { path } = await refuseArguments([ws.context, value], /\bpath\b/, ws.hidden);
        assert.equal(path, "");
      }),
    );
  }

  test(
    "N16: path as a tool's argument object is refused by name",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await refuseArguments([ws.context, { path: "a.txt" }], /\bpath\b/, ws.hidden);
    }),
  );

  test(
    "N16: path as an array of one path is refused by name",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await refuseArguments([ws.context, ["a.txt"]], /\bpath\b/, ws.hidden);
    }),
  );

  test(
    "N16: path as a hostile Proxy is refused by name",
    inWorkspace((ws) => refuseArguments([ws.context, hostileProxy()], /\bpath\b/, ws.hidden)),
  );

  for (const [name, args] of [
    ["null", [null]],
    ["undefined", [undefined]],
    ["left out", []],
  ] as const) {
    test(
      `N16: path ${name} is refused by name`,
      inWorkspace((ws) => refuseArguments([ws.context, ...args], /\bpath\b/, ws.hidden)),
    );
  }

  for (const blank of ["", " ", "   ", "\t", "\n", " \r\n\t "]) {
    test(
      `H31: the path ${JSON.stringify(blank)} is refused by name`,
      inWorkspace((ws) => refuseArguments([ws.context, blank], /\bpath\b/, ws.hidden)),
    );
  }

  for (const spelling of ["a\0b", "\0", "a.txt\0", "../\0", "dir/\0/x"]) {
    test(
      `H10: the path ${JSON.stringify(spelling)} with a NUL is refused`,
      inWorkspace((ws) => refuseArguments([ws.context, spelling], /\bpath\b/, ws.hidden)),
    );
  }

  for (const spelling of ["a\ud800.txt", "\udc00", "\udc00\ud800", "../\ud800", "dir/\udfff/x"]) {
    test(
      `C07: the path ${JSON.stringify(spelling)} with a lone surrogate is refused`,
      inWorkspace((ws) => refuseArguments([ws.context, spelling], /\bpath\b/, ws.hidden)),
    );
  }

  test(
    "C07: a paired surrogate is an ordinary character",
    inWorkspace(async (ws) => {
      ws.write("\ud83d\ude00.txt", "smile");
      const { path } = await looseReadFile(ws.context, "\ud83d\ude00.txt");
      assert.equal(path, "😀.txt");
    }),
  );
});

describe("context", () => {
  for (const [name, value] of [
    ["undefined", undefined],
    ["null", null],
    ["a number", 5],
    ["true", true],
    ["a BigInt", 5n],
    ["a symbol", Symbol("s")],
  ] as const) {
    test(`context as ${name} is refused by name`, async () => {
      await refuseArguments([value, "a.txt"], /\bcontext\b/);
    });
  }

  test(
    "context as a path string is refused by name",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await refuseArguments([ws.root, "a.txt"], /\bcontext\b/, ws.hidden);
    }),
  );

  test("no arguments at all are refused", async () => {
    await refuseArguments([], /context|path/);
  });

  for (const [name, context] of [
    ["missing", {}],
    ["null", { workspaceRoot: null }],
    ["undefined", { workspaceRoot: undefined }],
    ["a number", { workspaceRoot: 5 }],
    ["a BigInt", { workspaceRoot: 5n }],
    ["an object", { workspaceRoot: {} }],
    ["an array", { workspaceRoot: ["/tmp"] }],
    ["a URL", { workspaceRoot: new URL("file:///tmp") }],
    ["a Buffer", { workspaceRoot: Buffer.from("/tmp") }],
    ["empty", { workspaceRoot: "" }],
    ["blank", { workspaceRoot: " " }],
    ["a getter that throws", withGetter("workspaceRoot")],
    ["a getter that throws null", withGetter("workspaceRoot", null)],
  ] as const) {
    test(`workspaceRoot ${name} is refused by name`, async () => {
      await refuseArguments([context, "a.txt"], /workspaceRoot/);
    });
  }

  for (const root of [".", "..", "relative-root", "./relative-root", "~/relative-root"]) {
    test(`a relative workspaceRoot ${JSON.stringify(root)} is refused by name, without its value`, async () => {
      const { message } = await refuseArguments(
        [{ workspaceRoot: root }, "a.txt"],
        /workspaceRoot/,
      );
      assert.ok(!message.includes("relative-root"), message);
    });
  }

  test(
    "a workspaceRoot that is gone is refused by name, without its value",
    inWorkspace((ws) =>
      refuseArguments(
        [{ workspaceRoot: path.join(ws.base, "gone") }, "a.txt"],
        /workspaceRoot/,
        ws.hidden,
      ),
    ),
  );

  test(
    "a workspaceRoot that is a file is refused by name, without its value",
    inWorkspace((ws) =>
      refuseArguments(
        [{ workspaceRoot: ws.write("file", "") }, "a.txt"],
        /workspaceRoot/,
        ws.hidden,
      ),
    ),
  );

  test(
    "a workspaceRoot below a file is refused by name",
    inWorkspace((ws) =>
      refuseArguments(
        [{ workspaceRoot: path.join(ws.write("file", ""), "x") }, "a.txt"],
        /workspaceRoot/,
        ws.hidden,
      ),
    ),
  );

  for (const [name, tail] of [
    ["a NUL", "\0"],
    ["a lone surrogate", "\ud800"],
  ] as const) {
    test(
      `a workspaceRoot with ${name} is refused by name, without its value`,
      inWorkspace((ws) =>
        refuseArguments(
          [{ workspaceRoot: `${ws.root}${tail}` }, "a.txt"],
          /workspaceRoot/,
          ws.hidden,
        ),
      ),
    );
  }

  test(
    "a workspaceRoot with a component that is too long is refused by name",
    inWorkspace((ws) =>
      refuseArguments(
        [{ workspaceRoot: path.join(ws.base, "x".repeat(300)) }, "a.txt"],
        /workspaceRoot/,
        ws.hidden,
      ),
    ),
  );

  test("context as a Proxy on which everything throws is refused", async () => {
    await refuseArguments([hostileProxy(), "a.txt"], /context|workspaceRoot/);
  });

  test("context as a revoked Proxy is refused", async () => {
    await refuseArguments([revokedProxy(), "a.txt"], /context|workspaceRoot/);
  });

  test("an object that only pretends to be a Workspace is refused", async () => {
    await refuseArguments([Object.create(Workspace.prototype), "a.txt"], /context|workspaceRoot/);
  });

  test(
    "a Proxy around a Workspace is answered or refused, never a crash",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const workspace = Workspace.open(ws.root);
      const outcome = await looseReadFile(new Proxy(workspace, {}), "a.txt").then(
        ({ content }) => content,
        (error: Error) => rejection(() => Promise.reject(error), ws.hidden).then((e) => e.code),
      );
      assert.ok(["a", "INVALID_ARGUMENT"].includes(outcome), outcome);
      workspace.close();
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
      ws.write("a.txt", "a");
      const { content } = await looseReadFile(Object.freeze(new ToolContext()), "a.txt");
      assert.equal(content, "a");
    }),
  );

  test(
    "a context may have no prototype",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const context = Object.assign(Object.create(null), { workspaceRoot: ws.root });
      const { content } = await looseReadFile(context, "a.txt");
      assert.equal(content, "a");
    }),
  );

  test(
    "a context needs no writeScope for reading",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { content } = await looseReadFile({ workspaceRoot: ws.root }, "a.txt");
      assert.equal(content, "a");
    }),
  );

  test(
    "the setting invalidUtf8 of a context is checked by name",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      await refuseArguments([{ ...ws.context, invalidUtf8: 5 }, "a.txt"], /invalidUtf8/, ws.hidden);
      await refuseArguments(
        [{ ...ws.context, invalidUtf8: "lossy" }, "a.txt"],
        /invalidUtf8/,
        ws.hidden,
      );
    }),
  );

  test(
    "N03: the setting invalidUtf8 null is absent",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { meta } = await looseReadFile({ ...ws.context, invalidUtf8: null }, "a.txt");
      assert.ok(!("replaced_count" in meta));
    }),
  );

  test(
    "a workspaceRoot is taken to the letter: spaces, %, # and a backslash",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const odd = ws.folder("odd %20#[x]\\ dir ");
      ws.write("odd %20#[x]\\ dir /a.txt", "a");
      const { content, path } = await looseReadFile({ workspaceRoot: odd }, "a.txt");
      assert.equal(content, "a");
      assert.equal(path, "a.txt");
    }),
  );

  for (const tail of ["/", "//", "/.", "/./"]) {
    test(
      `a workspaceRoot that ends in ${tail} is the same root`,
      inWorkspace(async (ws) => {
        ws.write("sub/a.txt", "a");
        const context = { workspaceRoot: `${ws.root}${tail}` };
        const byName = await looseReadFile(context, "sub/a.txt");
        const byAbsolutePath = await looseReadFile(context, ws.at("sub/a.txt"));
        assert.equal(byName.path, "sub/a.txt");
        assert.deepStrictEqual(byAbsolutePath, byName);
      }),
    );
  }
});
