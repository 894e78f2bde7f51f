// The class Workspace: opening, its properties, the root that it holds, closing. docs/contract.md §2 and §3.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { readFile, readFileSync, Workspace } from "../index.js";
import { noSymlinks, notLinux, notPosix } from "./support/platform.ts";
import {
  exception,
  exceptionValue,
  looseOpen,
  looseReadFile,
  refuseArguments,
  rejection,
} from "./support/read.ts";
import { inWorkspace } from "./support/workspace.ts";

/** Has `Workspace.open(...args)` refused by a WorkspaceError whose message `says` finds. */
function refuseOpen(args: unknown[], says: RegExp, hidden: string[] = []): void {
  const error = exceptionValue(() => looseOpen(...args));
  assert.ok(error instanceof Error, String(error));
  assert.equal(error.name, "WorkspaceError");
  assert.equal((error as { code?: unknown }).code, "INVALID_ARGUMENT");
  assert.match(error.message, /^INVALID_ARGUMENT: ./);
  assert.match(error.message, says);
  for (const secret of hidden) assert.ok(!error.message.includes(secret), error.message);
}

describe("Workspace.open", () => {
  test(
    "opens a folder, and reads in it",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const workspace = Workspace.open(ws.root);
      assert.ok(workspace instanceof Workspace);
      assert.equal((await readFile(workspace, "a.txt")).content, "a");
      assert.equal(readFileSync(workspace, "a.txt").content, "a");
      workspace.close();
    }),
  );

  for (const [name, root] of [
    ["left out", undefined],
    ["null", null],
    ["a number", 5],
    ["a BigInt", 5n],
    ["an object", {}],
    ["a context", { workspaceRoot: "/" }],
    ["empty", ""],
    ["relative", "some/folder"],
    [".", "."],
    ["a symbol", Symbol("s")],
  ] as const) {
    test(`a workspaceRoot ${name} is refused by name`, () => {
      refuseOpen([root], /^INVALID_ARGUMENT: workspaceRoot /);
    });
  }

  for (const [name, spoil] of [
    ["that is gone", (root: string) => `${root}-gone`],
    ["with a NUL", (root: string) => `${root}\0`],
    ["with a lone surrogate", (root: string) => `${root}\ud800`],
  ] as const) {
    test(
      `a workspaceRoot ${name} is refused by name, without its value`,
      inWorkspace((ws) => {
        refuseOpen([spoil(ws.root)], /^INVALID_ARGUMENT: workspaceRoot /, ws.hidden);
      }),
    );
  }

  test(
    "a workspaceRoot that is a file is refused by name, without its value",
    inWorkspace((ws) => {
      refuseOpen([ws.write("file", "")], /^INVALID_ARGUMENT: workspaceRoot /, ws.hidden);
    }),
  );

  for (const [name, options] of [
    ["a number", 5],
    ["a string", "read-only"],
    ["an array", []],
    ["a BigInt", 5n],
  ] as const) {
    test(
      `options as ${name} are refused by name`,
      inWorkspace((ws) => refuseOpen([ws.root, options], /options/, ws.hidden)),
    );
  }

  for (const key of ["writeScope", "invalidUtf8"]) {
    for (const value of [5, "nonsense", {}, true]) {
      test(
        `the option ${key} as ${JSON.stringify(value)} is refused by name`,
        inWorkspace((ws) => refuseOpen([ws.root, { [key]: value }], new RegExp(key), ws.hidden)),
      );
    }

    test(
      `a getter that throws for the option ${key} is a refusal that names it`,
      inWorkspace((ws) => {
        const options = Object.defineProperty({}, key, {
          get() {
            throw new Error("boom");
          },
        });
        refuseOpen([ws.root, options], new RegExp(key), ws.hidden);
      }),
    );
  }

  test(
    "N03, N08: null options and unknown keys are ignored",
    inWorkspace((ws) => {
      looseOpen(ws.root, null).close();
      looseOpen(ws.root, { writeScope: null, invalidUtf8: null, policy: {}, other: 5n }).close();
    }),
  );

  test("the constructor is no way in", () => {
    const construct = Workspace as unknown as new () => Workspace;
    assert.ok(exceptionValue(() => new construct()) instanceof Error);
  });
});

describe("properties of a Workspace", () => {
  for (const scope of ["read-only", "workspace-write", "unrestricted"] as const) {
    test(
      `writeScope is the ${scope} it was opened with`,
      inWorkspace((ws) => {
        const workspace = Workspace.open(ws.root, { writeScope: scope });
        assert.equal(workspace.writeScope, scope);
        workspace.close();
      }),
    );
  }

  test(
    "workspaceRoot is the root",
    inWorkspace((ws) => {
      const workspace = Workspace.open(ws.root);
      assert.equal(workspace.workspaceRoot, ws.root);
      workspace.close();
    }),
  );

  test(
    "containment says which guarantee is in force",
    inWorkspace((ws) => {
      const workspace = Workspace.open(ws.root);
      // A run of the suite on a chosen tier (by a seccomp filter, for example) checks here that it is in use.
      const expected = process.env.RINGFENCE_TEST_CONTAINMENT;
      const tiers = expected === undefined ? ["kernel", "walk"] : [expected];
      assert.ok(tiers.includes(workspace.containment), workspace.containment);
      workspace.close();
    }),
  );

  test(
    "a host may resolve paths against its workspaceRoot, also through a link",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const alias = path.join(ws.base, "alias");
      fs.symlinkSync(ws.root, alias, "dir");
      const workspace = Workspace.open(alias);
      const answer = await readFile(workspace, path.resolve(workspace.workspaceRoot, "a.txt"));
      assert.equal(answer.path, "a.txt");
      workspace.close();
    }),
  );

  for (const property of ["containment", "workspaceRoot", "writeScope"] as const) {
    test(`the getter ${property} of something else throws and nothing worse`, () => {
      const getter = Object.getOwnPropertyDescriptor(Workspace.prototype, property)?.get;
      assert.ok(getter, "a getter of the prototype");
      assert.ok(exceptionValue(() => getter.call({})) instanceof Error);
    });
  }
});

describe("the root that a Workspace holds", () => {
  test(
    "a root that is renamed meanwhile is still its root",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "the first");
      const workspace = Workspace.open(ws.root);
      fs.renameSync(ws.root, `${ws.root}.moved`);
      ws.write("a.txt", "the second");
      assert.equal((await readFile(workspace, "a.txt")).content, "the first");
      assert.equal((await readFile(ws.context, "a.txt")).content, "the second");
      workspace.close();
    }),
  );

  for (const asked of ["a.txt", "dir/a.txt", ".", "..", "../x", "/etc/x", "C:\\x", "link"]) {
    test(
      `a root that is removed meanwhile is a wrong workspaceRoot, for every path: ${asked}`,
      { skip: notPosix },
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        ws.link("link", "/etc/hostname");
        const workspace = Workspace.open(ws.root);
        fs.rmSync(ws.root, { recursive: true });
        await refuseArguments([workspace, asked], /workspaceRoot/, ws.hidden);
        workspace.close();
      }),
    );
  }

  test(
    "an absolute path into a root that is removed meanwhile is a wrong workspaceRoot",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root);
      fs.rmSync(ws.root, { recursive: true });
      await refuseArguments([workspace, ws.at("a.txt")], /workspaceRoot/, ws.hidden);
      workspace.close();
    }),
  );

  test(
    "a root that is removed and made anew is another root",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root);
      fs.rmSync(ws.root, { recursive: true });
      ws.write("a.txt", "the second");
      await refuseArguments([workspace, "a.txt"], /workspaceRoot/, ws.hidden);
      workspace.close();
    }),
  );

  test(
    "neither reads nor refusals leave a file open, and close lets go of the root",
    { skip: notLinux },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write("binary", "\0");
      ws.folder("dir");
      ws.link("abs", ws.at("a.txt"));
      ws.link("loop", "loop");
      const workspace = Workspace.open(ws.root);
      assert.equal(openBelow(ws.base), 1, "the root is held open");
      for (let i = 0; i < 20; i++) {
        for (const name of ["a.txt", "abs", "binary", "dir", "loop", "missing", "../x", "a.txt/"]) {
          for (const context of [workspace, ws.context]) {
            await readFile(context, name).catch(() => undefined);
            await Promise.resolve()
              .then(() => readFileSync(context, name))
              .catch(() => undefined);
          }
        }
      }
      assert.equal(openBelow(ws.base), 1);
      workspace.close();
      assert.equal(openBelow(ws.base), 0);
    }),
  );

  /** How many descriptors of this process stand at `base` or below. */
  function openBelow(base: string): number {
    return fs.readdirSync("/proc/self/fd").filter((fd) => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(base);
      } catch {
        return false;
      }
    }).length;
  }
});

describe("Workspace.close", () => {
  test(
    "a closed Workspace is refused as an argument",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const workspace = Workspace.open(ws.root);
      workspace.close();
      const rejected = await rejection(() => readFile(workspace, "a.txt"), ws.hidden);
      assert.equal(rejected.code, "INVALID_ARGUMENT");
      assert.match(rejected.message, /closed/);
      assert.equal(
        exception(() => readFileSync(workspace, "a.txt"), ws.hidden).code,
        "INVALID_ARGUMENT",
      );
    }),
  );

  test(
    "closing twice is closing once",
    inWorkspace((ws) => {
      const workspace = Workspace.open(ws.root);
      workspace.close();
      workspace.close();
    }),
  );

  test(
    "reads that are under way when it is closed are finished",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a".repeat(1_000_000));
      const workspace = Workspace.open(ws.root);
      const reads = Array.from({ length: 16 }, () => readFile(workspace, "a.txt"));
      workspace.close();
      for (const { content } of await Promise.all(reads)) assert.equal(content.length, 1_000_000);
    }),
  );

  test(
    "a getter of the options that closes it meanwhile does no harm",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const workspace = Workspace.open(ws.root);
      const options = {
        get start_line() {
          workspace.close();
          return 1;
        },
      };
      const outcome = await looseReadFile(workspace, "a.txt", options).then(
        ({ content }) => content,
        (error: { code: string }) => error.code,
      );
      assert.ok(["a", "INVALID_ARGUMENT"].includes(outcome), outcome);
    }),
  );
});
