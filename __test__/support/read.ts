// Reading as every caller may do it: with a plain context and with a Workspace, by promise and at once.
// A test states one case; these helpers put it to all four and demand one answer.

import assert from "node:assert/strict";
import fs from "node:fs";
import { type ReadFileOutput, readFile, readFileSync, Workspace } from "../../index.js";
import { windowOf } from "./model.ts";
import type { TestWorkspace } from "./workspace.ts";

/** `readFile` without its types, for arguments that are wrong on purpose. */
export const looseReadFile = readFile as unknown as (...args: unknown[]) => Promise<ReadFileOutput>;
/** `readFileSync` without its types, for arguments that are wrong on purpose. */
export const looseReadFileSync = readFileSync as unknown as (...args: unknown[]) => ReadFileOutput;
/** `Workspace.open` without its types, for arguments that are wrong on purpose. */
export const looseOpen = ((...args: unknown[]) =>
  (Workspace.open as unknown as (...args: unknown[]) => Workspace).apply(Workspace, args)) as (
  ...args: unknown[]
) => Workspace;

export interface Refusal extends Error {
  code: string;
  path: string;
}

export interface Options {
  start_line?: number;
  max_lines?: number;
  include_hash?: boolean;
}

/** Reads `path` in all four ways and gives the one answer. */
export async function readEveryWay(
  ws: TestWorkspace,
  path: string,
  options?: Options,
  settings: Record<string, unknown> = {},
): Promise<ReadFileOutput> {
  const { workspaceRoot } = ws.context;
  const context = { ...ws.context, ...settings };
  const workspace = looseOpen(workspaceRoot, settings);
  try {
    const answer = await looseReadFile(context, path, options);
    const others = {
      "readFileSync(context)": looseReadFileSync(context, path, options),
      "readFile(workspace)": await looseReadFile(workspace, path, options),
      "readFileSync(workspace)": looseReadFileSync(workspace, path, options),
    };
    for (const [way, other] of Object.entries(others)) {
      assert.deepStrictEqual(other, answer, `${way} must answer like readFile(context)`);
    }
    return answer;
  } finally {
    workspace.close();
  }
}

/** Has `path` refused with `code` in all four ways, always with one message, and gives the error. */
export async function refuseEveryWay(
  ws: TestWorkspace,
  path: string,
  code: string,
  options?: Options,
  settings: Record<string, unknown> = {},
): Promise<Refusal> {
  const context = { ...ws.context, ...settings };
  const workspace = looseOpen(ws.root, settings);
  try {
    const refusal = await rejection(() => looseReadFile(context, path, options), ws.hidden);
    assert.equal(refusal.code, code, refusal.message);
    // A message is one line, so a control character of a name may be shown in another way there.
    assert.ok(
      /\p{Cc}/u.test(refusal.path) || refusal.message.endsWith(`: ${refusal.path}`),
      `the message ends with the path ${refusal.path}: ${refusal.message}`,
    );
    const others = {
      "readFileSync(context)": exception(
        () => looseReadFileSync(context, path, options),
        ws.hidden,
      ),
      "readFile(workspace)": await rejection(
        () => looseReadFile(workspace, path, options),
        ws.hidden,
      ),
      "readFileSync(workspace)": exception(
        () => looseReadFileSync(workspace, path, options),
        ws.hidden,
      ),
    };
    for (const [way, other] of Object.entries(others)) {
      assert.deepEqual(
        { code: other.code, path: other.path, message: other.message },
        { code: refusal.code, path: refusal.path, message: refusal.message },
        `${way} must refuse like readFile(context)`,
      );
    }
    return refusal;
  } finally {
    workspace.close();
  }
}

/** Has these very arguments refused as INVALID_ARGUMENT by both functions, each time in words that `says` finds. */
export async function refuseArguments(
  args: unknown[],
  says: RegExp,
  hidden: string[] = [],
): Promise<Refusal> {
  const refusal = await rejection(() => looseReadFile(...args), hidden);
  const atOnce = exception(() => looseReadFileSync(...args), hidden);
  assert.equal(refusal.code, "INVALID_ARGUMENT", refusal.message);
  assert.match(refusal.message, says);
  assert.deepEqual(
    { code: atOnce.code, path: atOnce.path, message: atOnce.message },
    { code: refusal.code, path: refusal.path, message: refusal.message },
    "readFileSync must refuse like readFile",
  );
  return refusal;
}

/** The error a call rejects with, checked to be a ReadFileError as docs/contract.md §4 has it. */
export async function rejection(
  call: () => Promise<unknown>,
  hidden: string[] = [],
): Promise<Refusal> {
  return checkRefusal(await rejectionValue(call), hidden);
}

/** The value that a call rejects with. The call must return a real promise and never throw. */
export async function rejectionValue(call: () => Promise<unknown>): Promise<unknown> {
  let promise: Promise<unknown>;
  try {
    promise = call();
  } catch (error) {
    return assert.fail(`threw instead of rejecting: ${String(error)}`);
  }
  assert.ok(promise instanceof Promise, "a real promise");
  return promise.then(
    (value) => assert.fail(`expected a rejection, got ${JSON.stringify(value)?.slice(0, 500)}`),
    (reason: unknown) => reason,
  );
}

/** The error a call throws, checked to be a ReadFileError as docs/contract.md §4 has it. */
export function exception(call: () => unknown, hidden: string[] = []): Refusal {
  return checkRefusal(exceptionValue(call), hidden);
}

/** The value that a call throws. */
export function exceptionValue(call: () => unknown): unknown {
  let value: unknown;
  try {
    value = call();
  } catch (error) {
    return error;
  }
  return assert.fail(`expected an exception, got ${JSON.stringify(value)?.slice(0, 500)}`);
}

const CODES = [
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "NOT_FILE",
  "BINARY_NOT_SUPPORTED",
  "SIZE_LIMIT_EXCEEDED",
  "INTERNAL",
  "SANDBOX_VIOLATION",
  "PERMISSION_DENIED",
  "CONTENDED",
];

/** Checks the form that docs/contract.md §4 gives every error. */
export function checkRefusal(error: unknown, hidden: string[] = []): Refusal {
  assert.ok(error instanceof Error, `an Error, not ${String(error)}`);
  assert.equal(error.name, "ReadFileError", String(error));
  const { code, path } = error as Partial<Refusal>;
  assert.ok(typeof code === "string" && CODES.includes(code), `a code of docs/errors.md: ${code}`);
  assert.ok(typeof path === "string", "path is a string");
  const keys = Object.keys(error);
  assert.ok(keys.includes("code") && keys.includes("path"), `code and path enumerable: ${keys}`);
  assert.ok(error.message.startsWith(`${code}: `), error.message);
  assert.ok(error.message.length > `${code}: `.length, "the message says what is wrong");
  assert.ok(path !== "" || !/:\s*$/.test(error.message), `no empty tail: ${error.message}`);
  assert.doesNotMatch(error.message, /\p{Surrogate}/u, "a well-formed message");
  assert.doesNotMatch(path, /\p{Surrogate}/u, "a well-formed path");
  const shown = `${error.message}\n${path}\n${JSON.stringify(error)}`;
  for (const secret of hidden) {
    assert.ok(!shown.includes(secret), `must not show ${secret}: ${shown}`);
  }
  return error as Refusal;
}

/** Reads `path`, which holds `bytes`, and demands every key of the answer that the model gives. */
export async function readLikeModel(
  ws: TestWorkspace,
  path: string,
  bytes: Uint8Array,
  options: Options = {},
): Promise<ReadFileOutput> {
  const answer = await readEveryWay(ws, path, options);
  assert.deepStrictEqual(
    answer,
    modelAnswer(ws, path, bytes, options.start_line, options.max_lines),
  );
  return answer;
}

/** The whole answer that the model gives for a file already written at `path`. */
export function modelAnswer(
  ws: TestWorkspace,
  path: string,
  bytes: Uint8Array,
  startLine?: number,
  maxLines?: number,
): ReadFileOutput {
  const window = windowOf(bytes, startLine, maxLines);
  return {
    path,
    content: window.content,
    truncated: window.truncated,
    next_start_line: window.next_start_line,
    meta: {
      byte_length: bytes.length,
      line_count: window.line_count,
      returned_line_count: window.returned_line_count,
      mtime_ms: mtimeMs(ws.at(path)),
    },
  };
}

/** The modification time in whole milliseconds, rounded down (towards the past, before 1970 too). */
export function mtimeMs(absolute: string): number {
  const { mtimeNs } = fs.statSync(absolute, { bigint: true });
  const floor = mtimeNs / 1_000_000n - (mtimeNs % 1_000_000n < 0n ? 1n : 0n);
  return Number(floor);
}
