// `createSecureTool`: the arguments that reach a handler, and the failure for an error that it throws.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import vm from "node:vm";
import { createAgentToolkit, createSecureTool, type ToolFailure } from "../dist/index.js";
import { createFileSync, readFile, readFileSync, resolveWorkspacePath } from "../index.js";
import { hostileProxy, withGetter } from "./support/hostile.ts";
import { notPosix } from "./support/platform.ts";
import { rejection } from "./support/read.ts";
import { inWorkspace } from "./support/workspace.ts";

const META = { name: "mine", isWriteOp: false };

/** A secure tool's answer to a path, and the paths that its handler saw. */
async function resolved(workspaceRoot: string, given: string) {
  const seen: unknown[] = [];
  const tool = createSecureTool(META, (_context, file: string) => {
    seen.push(file);
    return "data";
  });
  return { result: await tool({ workspaceRoot }, given), seen };
}

/** The failure of a handler that throws. */
async function failureOf(workspaceRoot: string, thrown: unknown): Promise<ToolFailure> {
  const tool = createSecureTool(META, () => {
    throw thrown;
  });
  const result = await tool({ workspaceRoot });
  assert.notEqual(result.status, "success");
  return result as ToolFailure;
}

const ROOT = path.resolve("/srv/my project");

// B10: paths that reach a handler unresolved.
describe("second look B10", () => {
  for (const given of ["", " ", "\t\n", "\u3000", "\u00a0\u2003", "\u0085"]) {
    test(`second look B10: the blank path ${JSON.stringify(given)} reaches no handler`, async () => {
      const { result, seen } = await resolved(ROOT, given);
      assert.deepEqual(seen, []);
      assert.equal(result.status, "failure");
      const { error, message } = result as ToolFailure;
      assert.equal(error.details.code, "INVALID_ARGUMENT");
      assert.match(message, /INVALID_ARGUMENT: path must not be empty or blank/);
    });
  }
});

// B11: strings that a path library would change.
describe("second look B11", () => {
  test(
    "second look B11: a lone surrogate or a NUL is refused, and no file of a like name is read",
    inWorkspace(async (ws) => {
      ws.write("a\ufffd.txt", "secret");
      ws.write("a", "secret");
      const toolkit = createAgentToolkit(ws.context);
      for (const given of ["a\ud800.txt", "a\udc00.txt", "\udc00\ud800", "a\0.txt", "a\0"]) {
        const { seen, result } = await resolved(ws.root, given);
        assert.deepEqual(seen, []);
        assert.equal((result as ToolFailure).error.details.code, "INVALID_ARGUMENT");
        const read = (await toolkit.invoke("read_file", { path: given })) as ToolFailure;
        assert.equal(read.status, "failure");
        assert.equal(read.error.details.code, "INVALID_ARGUMENT");
        assert.equal(Buffer.from(read.message).toString(), read.message);
      }
      toolkit.close();
    }),
  );
});

// B12: the root in messages of other programs. B13: parts of such messages that are not the root.
describe("second look B12", { skip: notPosix }, () => {
  const encoded = "/srv/my%20project";
  for (const [said, told] of [
    [`\u001b[36m${ROOT}/a.mjs\u001b[39m`, "a.mjs"],
    [`\\u001b[36m${ROOT}/a.mjs`, "a.mjs"],
    [`gcc -I${ROOT}/inc`, "inc"],
    [`--root=${ROOT}/inc`, "inc"],
    [`"x\\n${ROOT}/a"`, "a"],
    [`"x\\t${ROOT}/a"`, "a"],
    [`パス${ROOT}/a`, "a"],
    [`${ROOT}を開けません`, "を開けません"],
    [`Cannot find file://${encoded}/x.mjs`, "x.mjs"],
    [`Cannot find file://localhost${encoded}/x.mjs`, "x.mjs"],
    [`at ${encoded.replaceAll("/", "%2F")}%2Fx.mjs`, "x.mjs"],
    [`${ROOT.replaceAll("/", "\\/")}\\/x`, "x"],
    [`(${ROOT}/a.js:1:2)`, "a.js:1:2"],
    [`${ROOT}:12`, ":12"],
    [`//srv//./my project//a`, "a"],
    [`../../..${ROOT}/a`, "a"],
  ] as const) {
    test(`second look B12: the root is removed: ${JSON.stringify(said)}`, async () => {
      for (const thrown of [new Error(said), said, { message: said }]) {
        const { message } = await failureOf(ROOT, thrown);
        assert.doesNotMatch(message, /srv|my( |%20)project/);
        assert.ok(message.includes(told), message);
      }
    });
  }

  for (const before of "‘ “ „ « » （ 「 ： → @ # ! & \x07 \\u0007 \\x07 \u200b ✗ + - cat@".split(
    " ",
  )) {
    const shown = JSON.stringify(before);
    test(`second look B12: a root of one or two names is removed after ${shown}`, async () => {
      for (const root of ["/tmp", "/srv/app"]) {
        const { message } = await failureOf(root, new Error(`cannot stat ${before}${root}/x’`));
        const isWord = /\p{L}$/u.test(before);
        assert.equal(message, `cannot stat ${before}${isWord ? "./" : ""}x’`);
        const { message: alone } = await failureOf(root, new Error(`in ${before}${root}/’`));
        assert.equal(alone, `in ${before}./’`);
      }
    });
  }

  test("second look B12: a root is removed whose slashes are escaped as in JSON or JavaScript", async () => {
    for (const root of ["/tmp", "/srv/my project"]) {
      for (const slash of ["\\u002f", "\\u002F", "\\x2f", "\\x2F"]) {
        const said = `open "${`${root}/a`.replaceAll("/", slash)}"`;
        assert.equal((await failureOf(root, new Error(said))).message, 'open "a"', said);
      }
      const all = [...`${root}/`].map((c) => `\\x${c.charCodeAt(0).toString(16)}`).join("");
      assert.equal((await failureOf(root, new Error(`open ${all}a`))).message, "open a");
    }
  });

  test("second look B12: characters beyond ASCII are found raw, encoded and as JSON", async () => {
    const root = "/srv/プロジェ/é";
    for (const form of [
      root,
      root.normalize("NFD"),
      encodeURI(root),
      encodeURI(root).toLowerCase(),
      root.replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`),
    ]) {
      const { message } = await failureOf(root, new Error(`open ${form}/a.txt`));
      assert.equal(message, "open a.txt", form);
    }
  });

  for (const [root, said] of [
    ["/tmp", "no such file: packages/tmp/missing.ts"],
    ["/app", "no such file: src/(group)/app/x.ts"],
    ["/src", "no such file: a-b/src/x.ts"],
    ["/app", "no such file: src/[id]/app/x.ts"],
    ["/app", "no such file: caf\\u00e9/app/x.ts"],
    ["/app", "no such file: ~/app/x.ts"],
    ["/app", "no such file: c++/app/x.ts"],
    ["/srv/app", "open '/mnt/srv/app/a'"],
    ["/tmp", "open '/tmp2/a' and '/tmp.old/a' and /tmp-x"],
  ] as const) {
    test(`second look B13: other paths stay as they are: ${said} in ${root}`, async () => {
      assert.equal((await failureOf(root, new Error(said))).message, said);
    });
  }

  test("second look B12: a very long text is searched in no time", async () => {
    const began = performance.now();
    await failureOf("/a/b", new Error("/a/".repeat(300_000)));
    await failureOf("/a/b", new Error("/./\\u002f.".repeat(100_000)));
    await failureOf("/a/b/c", new Error(`${"\\".repeat(20_000)} ${"/".repeat(20_000)}`));
    assert.ok(performance.now() - began < 5_000);
  });
});

// B14: roots that a path library would read differently.
describe("second look B14", { skip: notPosix }, () => {
  test(
    "second look B14: a root with a backslash in its name is inside itself",
    inWorkspace(async (ws) => {
      const root = ws.folder("we\\ird");
      ws.write("we\\ird/sub/a.txt", "a");
      const toolkit = createAgentToolkit({ workspaceRoot: root });
      for (const given of ["sub/a.txt", "sub\\a.txt", `${root}/sub/a.txt`, `${root}\\sub\\a.txt`]) {
        const { seen } = await resolved(root, given);
        assert.deepEqual(seen, [`${root}/sub/a.txt`], given);
        const read = await toolkit.invoke("read_file", { path: given });
        assert.equal(read.status, "success", JSON.stringify(read));
        assert.equal((await readFile({ workspaceRoot: root }, given)).path, "sub/a.txt");
      }
      for (const given of ["../we\\ird/sub/a.txt", `${root}/../x`, `${root}2/a`]) {
        const { seen, result } = await resolved(root, given);
        assert.deepEqual(seen, []);
        assert.equal(result.status, "denied");
      }
      toolkit.close();
    }),
  );
});

// B16: thrown values that are no errors.
describe("second look B16", () => {
  for (const [thrown, told] of [
    ["disk full", "disk full"],
    [7, "7"],
    [7n, "7"],
    [vm.runInNewContext("new Error('far away')"), "far away"],
    [Object.assign(Object.create(null), { message: "bare" }), "bare"],
    ["  ", "The tool failed."],
    [withGetter("message"), "The tool failed."],
    [hostileProxy(), "The tool failed."],
  ] as const) {
    test(`second look B16: the message for a handler that throws another value: ${told}`, async () => {
      assert.equal((await failureOf(ROOT, thrown)).message, told);
    });
  }

  test("second look B16: the root is taken out of a string, and codes are kept", async () => {
    assert.equal((await failureOf(ROOT, `open ${ROOT}/a`)).message, "open a");
    const coded = await failureOf(ROOT, { code: "E_MINE", message: "no" });
    assert.equal(coded.error.details.code, "E_MINE");
  });
});

// B17, B27: refusals by spelling, the same as readFile's, before anything is resolved.
describe("second look B17 and B27", () => {
  test(
    "second look B17: a path refused by its spelling is named, with readFile's code and words",
    inWorkspace(async (ws) => {
      const toolkit = createAgentToolkit(ws.context);
      for (const given of [
        "../secret.txt",
        "a/../../b\u202e\u001b.txt",
        "C:\\x\\y.txt",
        "\\\\server\\share\\x",
        "/nowhere/else.txt",
        " ",
        "a\0b",
      ]) {
        const { code, message } = await rejection(() => readFile(ws.context, given));
        const { result } = await resolved(ws.root, given);
        const read = (await toolkit.invoke("read_file", { path: given })) as ToolFailure;
        for (const failure of [result as ToolFailure, read]) {
          assert.equal(failure.message, message);
          assert.equal(failure.error.details.code, code);
        }
      }
      toolkit.close();
    }),
  );

  test(
    "second look B27: a path that leaves by its spelling is denied, whichever names the folders above have",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const name = path.basename(ws.root);
      const above = path.basename(ws.base);
      const toolkit = createAgentToolkit(ws.context);
      const denied: unknown[] = [];
      for (const given of [
        `../${name}/a.txt`,
        "../wrong/a.txt",
        `..\\${name}\\a.txt`,
        `../../${above}/${name}/a.txt`,
        `a/../../${name}/a.txt`,
        `${ws.root}/../${name}/a.txt`,
      ]) {
        const { seen, result } = await resolved(ws.root, given);
        assert.deepEqual(seen, []);
        const read = (await toolkit.invoke("read_file", { path: given })) as ToolFailure;
        for (const failure of [result as ToolFailure, read]) {
          assert.equal(failure.status, "denied", given);
          assert.equal(failure.error.details.code, "SANDBOX_VIOLATION");
          denied.push(failure.message.replace(/: [^:]*$/, ""));
        }
      }
      assert.equal(new Set(denied).size, 1, "one sentence for all");
      toolkit.close();
    }),
  );

  test("second look B27: a resolved path leads to the file that readFile reads", {
    skip: notPosix,
  }, () => {
    for (const [given, expected] of [
      ["src\\a.ts", "/ws/src/a.ts"],
      ["./a//b/../c", "/ws/a/c"],
      ["a/", "/ws/a/"],
      [".", "/ws"],
      ["/ws/a", "/ws/a"],
      ["/x/../ws/a/./b", "/ws/a/b"],
    ] as const) {
      assert.equal(resolveWorkspacePath("/ws", given), expected);
    }
    assert.equal(resolveWorkspacePath("/", "a"), "/a");
    assert.equal(resolveWorkspacePath("/", "/"), "/");
  });
});

/** Runs `body` while `Object.prototype`, here or in another realm, has these properties. */
async function polluted(
  properties: PropertyDescriptorMap,
  body: () => unknown,
  prototype: object = Object.prototype,
): Promise<void> {
  for (const key of Object.keys(properties)) {
    Object.defineProperty(prototype, key, { ...properties[key], configurable: true });
  }
  try {
    await body();
  } finally {
    for (const key of Object.keys(properties)) Reflect.deleteProperty(prototype, key);
  }
}

// B21: properties that a program adds to `Object.prototype`, as a merge of hostile JSON does.
describe("second look B21", () => {
  const boom = {
    get: () => {
      throw new Error("boom");
    },
  };

  test(
    "second look B21: arguments inherit nothing",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "old");
      const toolkit = createAgentToolkit(ws.writable);
      await polluted({ overwrite: { value: true }, expectedHash: boom }, async () => {
        const args = { path: "a.txt", content: "new" };
        assert.equal(createFileSync(ws.writable, args).errorCode, "FileExists");
        const result = (await toolkit.invoke("workspace_create_file", args)) as ToolFailure;
        assert.equal(result.error.details.code, "FileExists");
      });
      await polluted({ path: { value: "a.txt" }, content: { value: "new" } }, async () => {
        for (const args of [{ overwrite: true }, Object.create({ path: "b", content: "" })]) {
          assert.equal(createFileSync(ws.writable, args).errorCode, "InvalidPath");
        }
      });
      toolkit.close();
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "old");
    }),
  );

  test(
    "second look B21: contexts and options have the properties of their object and its classes",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "1\n2\n3\n");
      class HostContext {
        get workspaceRoot() {
          return ws.root;
        }
      }
      class SessionContext extends HostContext {
        #scope = "read-only" as const;
        get writeScope() {
          return this.#scope;
        }
      }
      const session = new SessionContext();
      const args = { path: "b.txt", content: "" };
      assert.equal(createFileSync(session, args).errorCode, "WriteFailed");
      const pollution = {
        max_lines: { value: 1 },
        invalidUtf8: { value: "nonsense" },
        signal: { value: AbortSignal.abort(new Error("polluted")) },
        writeScope: { value: "unrestricted" },
        start_line: boom,
      };
      await polluted(pollution, async () => {
        const { content } = await readFile({ workspaceRoot: ws.root }, "a.txt", {});
        assert.equal(content, "1\n2\n3\n");
        assert.equal(readFileSync(session, "a.txt", {}).content, "1\n2\n3\n");
        assert.equal(createFileSync(session, args).errorCode, "WriteFailed");
        assert.equal(createFileSync(Object.create(ws.context), args).errorCode, "WriteFailed");
      });
      await polluted({ workspaceRoot: { value: ws.root } }, async () => {
        const { code } = await rejection(() => readFile({} as never, "a.txt"));
        assert.equal(code, "INVALID_ARGUMENT");
      });
    }),
  );

  test(
    "second look B21: another realm's Object.prototype counts as little",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "1\n2\n");
      const realm = vm.createContext({ root: ws.root });
      const context = vm.runInContext("({ workspaceRoot: root })", realm) as {
        workspaceRoot: string;
      };
      const options = vm.runInContext("({})", realm) as object;
      const prototype = Object.getPrototypeOf(options) as object;
      await polluted(
        { max_lines: { value: 1 }, invalidUtf8: { value: 1 } },
        async () => {
          assert.equal((await readFile(context, "a.txt", options)).content, "1\n2\n");
        },
        prototype,
      );
    }),
  );

  test("second look B21: a policy is not filled in, nor an approval or a scope", async () => {
    const tool = createSecureTool({ name: "mine", isWriteOp: true }, () => "data");
    const pollution = {
      defaultPolicy: { value: "allow" },
      tools: { value: { mine: "allow" } },
      approve: { value: () => "allow" },
    };
    await polluted(pollution, async () => {
      const result = await tool({ workspaceRoot: ROOT, policy: {} });
      assert.equal((result as ToolFailure).error.code, "POLICY_DENIED");
      const asking = { tools: { mine: "ask" as const } };
      assert.notEqual((await tool({ workspaceRoot: ROOT, policy: asking })).status, "success");
    });
    await polluted({ policy: { value: { defaultPolicy: "deny" } } }, async () => {
      assert.equal((await tool({ workspaceRoot: ROOT })).status, "success");
    });
    await polluted({ success: { value: false }, errorCode: { value: "X" } }, async () => {
      const own = createSecureTool(META, () => ({ mine: 1 }));
      assert.equal((await own({ workspaceRoot: ROOT })).status, "success");
    });
  });

  test(
    "second look B21: a proxy that only answers `get` is a context as before",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const get = (_target: object, key: string | symbol) =>
        key === "workspaceRoot" ? ws.root : undefined;
      const context = new Proxy({}, { get }) as { workspaceRoot: string };
      assert.equal((await readFile(context, "a.txt")).content, "a");
    }),
  );
});
