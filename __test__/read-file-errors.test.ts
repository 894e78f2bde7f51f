// Errors: their codes, order and messages. docs/contract.md §4 "Errors", spec read_file §4.3.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { readFile, readFileSync } from "../index.js";
import { runChild } from "./support/child.ts";
import { noPermissions, notPosix, UNPRIVILEGED } from "./support/platform.ts";
import {
  checkRefusal,
  exceptionValue,
  looseReadFile,
  looseReadFileSync,
  refuseEveryWay,
  rejection,
  rejectionValue,
} from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const TOO_BIG = "0123456\n".repeat(262_144);

describe("codes", () => {
  test(
    "P12: a missing file is exactly NOT_FOUND",
    inWorkspace(async (ws) => {
      const { path } = await refuseEveryWay(ws, "missing.txt", "NOT_FOUND");
      assert.equal(path, "missing.txt");
    }),
  );

  test(
    "a missing folder on the way is NOT_FOUND",
    inWorkspace(async (ws) => {
      const { path } = await refuseEveryWay(ws, "no/such/file.txt", "NOT_FOUND");
      assert.equal(path, "no/such/file.txt");
    }),
  );

  for (const spelling of [
    "a.txt/nested",
    "a.txt/",
    "a.txt/.",
    "a.txt//",
    "a.txt/./",
    "a.txt/x/y",
  ]) {
    test(
      `M03: ${spelling}, where a.txt is a file, is NOT_FOUND`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        await refuseEveryWay(ws, spelling, "NOT_FOUND");
      }),
    );
  }

  for (const spelling of ["dir", "dir/", "dir/.", "dir//", "./dir", "dir/sub/.."]) {
    test(
      `F09: the folder ${spelling} is NOT_FILE`,
      inWorkspace(async (ws) => {
        ws.folder("dir");
        await refuseEveryWay(ws, spelling, "NOT_FILE");
      }),
    );
  }

  for (const spelling of [".", "./", "././", "dir/.."]) {
    test(
      `H31: the root itself, as ${spelling}, is NOT_FILE`,
      inWorkspace((ws) => refuseEveryWay(ws, spelling, "NOT_FILE")),
    );
  }

  test(
    "F09: a folder named like a file is NOT_FILE",
    inWorkspace(async (ws) => {
      ws.folder("data.json");
      const { path } = await refuseEveryWay(ws, "data.json", "NOT_FILE");
      assert.equal(path, "data.json");
    }),
  );

  test(
    "a name of 256 bytes, too long for the system, is NOT_FOUND",
    inWorkspace((ws) => refuseEveryWay(ws, "x".repeat(256), "NOT_FOUND")),
  );

  test(
    "a name of 255 bytes is read",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const name = "あ".repeat(85);
      ws.write(name, "a");
      const { path } = await readFile(ws.context, name);
      assert.equal(path, name);
    }),
  );

  test(
    "a path too long for the system is NOT_FOUND",
    inWorkspace(async (ws) => {
      const { code } = await rejection(
        () => readFile(ws.context, `${"dir/".repeat(2_000)}a.txt`),
        ws.hidden,
      );
      assert.equal(code, "NOT_FOUND");
    }),
  );

  test(
    "a path of 1 MiB is NOT_FOUND",
    { timeout: 5_000 },
    inWorkspace(async (ws) => {
      const { code } = await rejection(() => readFile(ws.context, "a/".repeat(524_288)), ws.hidden);
      assert.equal(code, "NOT_FOUND");
    }),
  );

  test(
    "C07: a missing name of 200 emoji is NOT_FOUND, in well-formed words",
    inWorkspace(async (ws) => {
      const { code } = await rejection(
        () => readFile(ws.context, `a${"😀".repeat(200)}`),
        ws.hidden,
      );
      assert.equal(code, "NOT_FOUND");
    }),
  );

  test(
    "C07: a missing name of 40 emoji is named in full",
    inWorkspace(async (ws) => {
      const name = `${"😀".repeat(40)}.txt`;
      const { path } = await refuseEveryWay(ws, name, "NOT_FOUND");
      assert.equal(path, name);
    }),
  );

  test(
    "the path of an error is normalised like that of an answer",
    inWorkspace(async (ws) => {
      const { path } = await refuseEveryWay(ws, ".\\no//such/../such\\.\\file.txt", "NOT_FOUND");
      assert.equal(path, "no/such/file.txt");
    }),
  );

  test(
    "the path of an error is relative where an absolute one was asked for",
    inWorkspace(async (ws) => {
      const { path } = await refuseEveryWay(ws, ws.at("no/such.txt"), "NOT_FOUND");
      assert.equal(path, "no/such.txt");
    }),
  );
});

describe("precedence", () => {
  for (const [name, path] of [
    ["the sandbox", "../outside/secret.txt"],
    ["not found", "missing.txt"],
    ["not a file", "dir"],
    ["size", "big.txt"],
    ["binary", "binary"],
  ] as const) {
    test(
      `a wrong argument comes before ${name}`,
      inWorkspace(async (ws) => {
        ws.folder("dir");
        ws.write("big.txt", TOO_BIG);
        ws.write("binary", "\0");
        const { code } = await rejection(
          () => readFile(ws.context, path, { start_line: 0 }),
          ws.hidden,
        );
        assert.equal(code, "INVALID_ARGUMENT");
      }),
    );
  }

  test(
    "the sandbox comes before not found",
    inWorkspace((ws) => refuseEveryWay(ws, "../missing.txt", "SANDBOX_VIOLATION")),
  );

  test(
    "a NUL in a path that also escapes is a wrong argument first",
    inWorkspace(async (ws) => {
      const { code } = await rejection(() => readFile(ws.context, "../a\0b"), ws.hidden);
      assert.equal(code, "INVALID_ARGUMENT");
    }),
  );

  test(
    "size comes before binary",
    inWorkspace(async (ws) => {
      ws.write("a.bin", new Uint8Array(1_048_577));
      await refuseEveryWay(ws, "a.bin", "SIZE_LIMIT_EXCEEDED");
    }),
  );
});

describe("permission", { skip: noPermissions }, () => {
  /** Reads `paths` as a user whom the permission bits bind, and gives their codes. */
  async function codesAsUser(ws: TestWorkspace, paths: string[]): Promise<string[]> {
    fs.chmodSync(ws.base, 0o755);
    const outcomes = await runChild({
      reads: paths.map((path) => ({ context: ws.context, path })),
      user: UNPRIVILEGED,
    });
    return outcomes.map((outcome) => {
      if ("answer" in outcome) return `read: ${outcome.answer.content}`;
      for (const secret of ws.hidden) {
        assert.ok(!JSON.stringify(outcome).includes(secret), outcome.error.message);
      }
      assert.ok(outcome.error.message.startsWith(`${outcome.error.code}: `));
      return outcome.error.code;
    });
  }

  /** Sets permission bits for the length of `body`, so that the workspace can be removed again. */
  async function withMode<T>(absolute: string, mode: number, body: () => Promise<T>): Promise<T> {
    fs.chmodSync(absolute, mode);
    try {
      return await body();
    } finally {
      fs.chmodSync(absolute, 0o755);
    }
  }

  test(
    "the unprivileged child is bound by permission bits, and reads files that it may read",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "fine");
      assert.deepEqual(await codesAsUser(ws, ["a.txt"]), ["read: fine"]);
    }),
  );

  test(
    "M01: a file that may not be read is PERMISSION_DENIED, never not found",
    inWorkspace(async (ws) => {
      const codes = await withMode(ws.write("a.txt", "a"), 0, () => codesAsUser(ws, ["a.txt"]));
      assert.deepEqual(codes, ["PERMISSION_DENIED"]);
    }),
  );

  test(
    "M01: a link in the root to a file that may not be read is PERMISSION_DENIED",
    inWorkspace(async (ws) => {
      ws.link("link", "a.txt");
      const codes = await withMode(ws.write("a.txt", "a"), 0, () => codesAsUser(ws, ["link"]));
      assert.deepEqual(codes, ["PERMISSION_DENIED"]);
    }),
  );

  test(
    "M01: a path in a folder that may not be entered is PERMISSION_DENIED, whether it exists or not",
    inWorkspace(async (ws) => {
      ws.write("dir/a.txt", "a");
      const codes = await withMode(ws.at("dir"), 0, () =>
        codesAsUser(ws, ["dir/a.txt", "dir/missing.txt"]),
      );
      assert.deepEqual(codes, ["PERMISSION_DENIED", "PERMISSION_DENIED"]);
    }),
  );

  test(
    "a folder that may be entered but not listed (0111) is read through",
    inWorkspace(async (ws) => {
      ws.write("dir/a.txt", "through");
      const codes = await withMode(ws.at("dir"), 0o111, () => codesAsUser(ws, ["dir/a.txt"]));
      assert.deepEqual(codes, ["read: through"]);
    }),
  );

  test(
    "a root that may be entered but not listed (0111) is read through",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "through");
      const codes = await withMode(ws.root, 0o111, () => codesAsUser(ws, ["a.txt"]));
      assert.deepEqual(codes, ["read: through"]);
    }),
  );

  test(
    "permission comes before not a file",
    inWorkspace(async (ws) => {
      const codes = await withMode(ws.folder("dir"), 0, () => codesAsUser(ws, ["dir"]));
      assert.deepEqual(codes, ["PERMISSION_DENIED"]);
    }),
  );

  test(
    "permission comes before size",
    inWorkspace(async (ws) => {
      const codes = await withMode(ws.write("a.txt", TOO_BIG), 0, () => codesAsUser(ws, ["a.txt"]));
      assert.deepEqual(codes, ["PERMISSION_DENIED"]);
    }),
  );

  test(
    "the sandbox comes before permission",
    inWorkspace(async (ws) => {
      ws.link("link", ws.writeOutside("secret.txt"));
      const codes = await withMode(`${ws.outside}/secret.txt`, 0, () => codesAsUser(ws, ["link"]));
      assert.deepEqual(codes, ["SANDBOX_VIOLATION"]);
    }),
  );
});

describe("the error object", () => {
  /** One example of each error that needs no special rights. */
  function examples(ws: TestWorkspace): Record<string, unknown[]> {
    ws.folder("dir");
    ws.write("big.txt", TOO_BIG);
    ws.write("binary", "\0");
    return {
      INVALID_ARGUMENT: [ws.context, "a.txt", { start_line: 0 }],
      SANDBOX_VIOLATION: [ws.context, "../secret.txt"],
      NOT_FOUND: [ws.context, "missing.txt"],
      NOT_FILE: [ws.context, "dir"],
      SIZE_LIMIT_EXCEEDED: [ws.context, "big.txt"],
      BINARY_NOT_SUPPORTED: [ws.context, "binary"],
    };
  }

  test(
    "P17: every error is a ReadFileError with its code, by promise and at once",
    inWorkspace(async (ws) => {
      for (const [code, args] of Object.entries(examples(ws))) {
        const rejected = checkRefusal(
          await rejectionValue(() => looseReadFile(...args)),
          ws.hidden,
        );
        const thrown = checkRefusal(
          exceptionValue(() => readFileSync(...(args as Parameters<typeof readFileSync>))),
          ws.hidden,
        );
        assert.equal(rejected.code, code);
        assert.equal(thrown.code, code);
      }
    }),
  );

  test(
    "P17: every rejection arrives once",
    inWorkspace(async (ws) => {
      const settled: string[] = [];
      const pending = Object.entries(examples(ws)).map(([code, args]) =>
        looseReadFile(...args).then(
          () => settled.push(`${code} resolved`),
          () => settled.push(code),
        ),
      );
      await Promise.all(pending);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.deepEqual(settled.toSorted(), Object.keys(examples(ws)).toSorted());
    }),
  );

  test(
    "code and path survive a spread and JSON",
    inWorkspace(async (ws) => {
      const error = await rejection(() => readFile(ws.context, "missing.txt"), ws.hidden);
      const { code, path } = { ...error };
      assert.deepEqual({ code, path }, { code: "NOT_FOUND", path: "missing.txt" });
      const json = JSON.parse(JSON.stringify(error));
      assert.equal(json.code, "NOT_FOUND");
      assert.equal(json.path, "missing.txt");
    }),
  );

  test(
    "P17: every error has a stack, by promise and at once",
    inWorkspace(async (ws) => {
      for (const [code, args] of Object.entries(examples(ws))) {
        const rejected = await rejectionValue(() => looseReadFile(...args));
        const thrown = exceptionValue(() => looseReadFileSync(...args));
        assert.match((rejected as Error).stack ?? "", /./, `${code}, rejected`);
        assert.match((thrown as Error).stack ?? "", /./, `${code}, thrown`);
      }
    }),
  );

  test(
    "P17: the stack is not among the keys, and says what is wrong",
    inWorkspace(async (ws) => {
      const error = await rejection(() => readFile(ws.context, "missing.txt"), ws.hidden);
      const { stack = "" } = error;
      assert.ok(!Object.keys(error).includes("stack"));
      assert.match(stack, /NOT_FOUND: .+: missing\.txt/);
      for (const secret of ws.hidden) assert.ok(!stack.includes(secret), stack);
    }),
  );

  test(
    "the error prints with its name, code and path",
    inWorkspace(async (ws) => {
      const error = await rejection(() => readFile(ws.context, "missing.txt"), ws.hidden);
      assert.match(String(error), /^ReadFileError: NOT_FOUND: .+: missing\.txt$/);
    }),
  );
});
