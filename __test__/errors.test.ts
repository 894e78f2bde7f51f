// Errors: their stacks, and the guards that recognise them. docs/cases.md, second look F19, F21, F23 and H7.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import {
  applyPatch,
  contentHash,
  createFile,
  DirectoryStore,
  deleteFile,
  editFile,
  FileStore,
  findFiles,
  isApplyPatchError,
  isContentHashError,
  isDeleteFileError,
  isDocumentStoreError,
  isEditFileError,
  isFileStoreError,
  isFileUriError,
  isFindFilesError,
  isMoveFileError,
  isReadBytesError,
  isReadFileError,
  isReadFilesError,
  isSearchFilesError,
  isTreeError,
  isWorkspaceError,
  isWorkspaceSnapshotError,
  moveFile,
  nearMisses,
  type ReadFileOptions,
  readBytes,
  readFile,
  readFiles,
  readFileUri,
  searchFiles,
  tree,
  Workspace,
  workspaceSnapshot,
} from "../index.js";
import { hostileProxy, revokedProxy, withGetter } from "./support/hostile.ts";
import { exceptionValue, refuseArguments, rejectionValue } from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** Each class of errors: a call that fails with it, and its guard. */
const FAILURES: Record<string, [(ws: TestWorkspace) => unknown, (value: unknown) => boolean]> = {
  ReadFileError: [(ws) => readFile(ws.context, "missing.txt"), isReadFileError],
  ReadFilesError: [(ws) => readFiles(ws.context, { files: [] }), isReadFilesError],
  ReadBytesError: [(ws) => readBytes(ws.context, "missing.txt"), isReadBytesError],
  WorkspaceError: [() => Workspace.open("/no/such/root"), isWorkspaceError],
  WorkspaceSnapshotError: [
    () => workspaceSnapshot({ workspaceRoot: "/no/such/root" }),
    isWorkspaceSnapshotError,
  ],
  EditFileError: [(ws) => editFile(ws.writable, { path: "a" } as never), isEditFileError],
  ApplyPatchError: [(ws) => applyPatch(ws.writable, { patch: "" }), isApplyPatchError],
  MoveFileError: [(ws) => moveFile(ws.writable, { path: "a" } as never), isMoveFileError],
  DeleteFileError: [(ws) => deleteFile(ws.writable, { path: "a" }), isDeleteFileError],
  SearchFilesError: [(ws) => searchFiles(ws.context, { pattern: "(" }), isSearchFilesError],
  FindFilesError: [(ws) => findFiles(ws.context, { patterns: "[" }), isFindFilesError],
  TreeError: [(ws) => tree(ws.context, "missing"), isTreeError],
  ContentHashError: [() => contentHash(5 as never), isContentHashError],
  FileUriError: [(ws) => readFileUri("file:///missing.txt", { space: ws.root }), isFileUriError],
  FileStoreError: [(ws) => FileStore.open(ws.root).getBytes("0".repeat(64)), isFileStoreError],
  DocumentStoreError: [
    (ws) => {
      const store = DirectoryStore.open(ws.root);
      return store.get("a", { maxBytes: 0.5 } as never);
    },
    isDocumentStoreError,
  ],
};

async function failure(call: () => unknown): Promise<Error> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  return assert.fail("must fail");
}

// F19: the stack of an error has the line of the program that made the call.
describe("second look F19: stacks", () => {
  for (const [name, [call]] of Object.entries(FAILURES)) {
    test(
      `second look F19: the stack of a ${name} has a frame of the caller`,
      inWorkspace(async (ws) => {
        const error = await failure(() => theCaller(ws));
        function theCaller(ws: TestWorkspace): unknown {
          return call(ws);
        }
        assert.match(error.stack ?? "", /theCaller|errors\.test/);
        assert.ok(error.stack?.startsWith(`${name}: ${error.message}`), String(error.stack));
        assert.ok(!Object.keys(error).includes("stack"));
      }),
    );
  }

  test(
    "second look F19: with a signal, and where one call is not awaited",
    inWorkspace(async (ws) => {
      const { signal } = new AbortController();
      function theCaller() {
        return nearMisses(ws.context, "../x", { signal });
      }
      const pending = theCaller();
      const error = (await rejectionValue(() => pending)) as Error;
      assert.match(error.stack ?? "", /theCaller|errors\.test/);
    }),
  );

  test(
    "second look F19: a hook for stacks that answers nonsense harms nothing",
    inWorkspace(async (ws) => {
      const original = Error.prepareStackTrace;
      for (const hook of [() => 5, () => null, () => ({})]) {
        Error.prepareStackTrace = hook as never;
        try {
          const error = (await rejectionValue(() => readFile(ws.context, "missing.txt"))) as Error;
          assert.equal((error as { code?: unknown }).code, "NOT_FOUND");
        } finally {
          Error.prepareStackTrace = original;
        }
      }
    }),
  );
});

// F19: a program's own hook for stacks changes the stack only, not the answer or a later call.
test(
  "second look F19: a hook for stacks that throws harms nothing, nor the calls after it",
  inWorkspace(async (ws) => {
    ws.write("a.txt", "a");
    const { signal } = new AbortController();
    const calls: [() => unknown, string][] = [
      [() => readFile(ws.context, "missing.txt"), "NOT_FOUND"],
      [() => readFile(ws.context, "missing.txt", { signal }), "NOT_FOUND"],
      [() => readFile(ws.context, 5 as never), "INVALID_ARGUMENT"],
      [() => contentHash(5 as never), "INVALID_ARGUMENT"],
      [() => Workspace.open("relative"), "INVALID_ARGUMENT"],
    ];
    const original = Error.prepareStackTrace;
    const outcomes: unknown[] = [];
    for (const [call] of calls) {
      Error.prepareStackTrace = () => {
        throw "boom";
      };
      try {
        outcomes.push(await call());
      } catch (error) {
        outcomes.push((error as { code?: unknown }).code ?? error);
      } finally {
        Error.prepareStackTrace = original;
      }
      outcomes.push((await readFile(ws.context, "a.txt")).content);
    }
    assert.deepEqual(
      outcomes,
      calls.flatMap(([, code]) => [code, "a"]),
    );
  }),
);

describe("second look F19: type guards", () => {
  for (const [name, [call, guard]] of Object.entries(FAILURES)) {
    test(
      `second look F19: the guard of ${name} knows its errors and no others`,
      inWorkspace(async (ws) => {
        assert.equal(guard(await failure(() => call(ws))), true);
        for (const [other, [callOther]] of Object.entries(FAILURES)) {
          if (other !== name) assert.equal(guard(await failure(() => callOther(ws))), false, other);
        }
        const named = Object.assign(new Error("x"), { name });
        const strangers = [
          new Error("x"),
          named,
          { name, code: "NOT_FOUND", message: "x" },
          name,
          null,
          undefined,
          5,
          Symbol("s"),
          hostileProxy(),
          revokedProxy(),
          withGetter("name"),
        ];
        for (const stranger of strangers) assert.equal(guard(stranger), false);
      }),
    );
  }
});

describe("second look F21: option names of another style", () => {
  test("second look F21: the types refuse them, in a variable too", () => {
    // @ts-expect-error the name is max_lines
    const literal: ReadFileOptions = { maxLines: 3 };
    const options = { max_lines: 2, startLine: 3 };
    // @ts-expect-error the name is start_line
    const variable: ReadFileOptions = options;
    assert.ok(literal && variable);
  });
});

// H7: a cloned `Workspace` is no `Workspace`, and the message says so.
describe("second look H7: a Workspace that was sent", () => {
  test(
    "second look H7: the received value is refused with a sentence that says how to repair it",
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root);
      const { port1, port2 } = new MessageChannel();
      const sent: unknown[] = [];
      try {
        port1.postMessage(workspace);
        sent.push(receiveMessageOnPort(port2)?.message);
        sent.push(structuredClone(workspace));
      } catch {
        // Refused at the sender.
      }
      port1.close();
      for (const arrived of [...sent, {}]) {
        await refuseArguments(
          [arrived, "a.txt"],
          /workspaceRoot.*cannot be sent to another thread/,
        );
        const result = await createFile(arrived as never, { path: "a.txt", content: "" });
        assert.match(result.message, /cannot be sent to another thread/);
        const error = exceptionValue(() => Workspace.open(arrived as never)) as Error;
        assert.match(error.message, /workspaceRoot must be an absolute path/);
      }
      await refuseArguments([{ other: 1 }, "a.txt"], /workspaceRoot must be an absolute path, got/);
      workspace.close();
    }),
  );
});
