// What the tests of file: URIs and of content-addressed stores share: the functions without their types,
// and the form that docs/contract.md §6 gives answers and errors.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import {
  FileStore,
  type FileUriContent,
  type ResolvedFileUri,
  readFileUri,
  resolveFileUri,
} from "../../index.js";
import { exceptionValue, rejectionValue } from "./read.ts";
import type { TestWorkspace } from "./workspace.ts";

/** `resolveFileUri` without its types, for arguments that are wrong on purpose. */
export const looseResolve = resolveFileUri as unknown as (...args: unknown[]) => ResolvedFileUri;
/** `readFileUri` without its types, for arguments that are wrong on purpose. */
export const looseReadUri = readFileUri as unknown as (
  ...args: unknown[]
) => Promise<FileUriContent>;

/** A `FileStore` without its types, for arguments that are wrong on purpose. */
export interface LooseStore {
  putBytes(...args: unknown[]): Promise<{ hash: string; size: number }>;
  getBytes(...args: unknown[]): Promise<Uint8Array>;
  exists(...args: unknown[]): Promise<boolean>;
}

/** `FileStore.open` without its types, for arguments that are wrong on purpose. */
export const looseOpenStore = ((...args: unknown[]) =>
  (FileStore.open as unknown as (...args: unknown[]) => LooseStore).apply(FileStore, args)) as (
  ...args: unknown[]
) => LooseStore;

export interface CodedError extends Error {
  code: string;
}

const URI_CODES = [
  "INVALID_ARGUMENT",
  "INVALID_URI",
  "NO_SPACE",
  "NO_CHAT",
  "SANDBOX_VIOLATION",
  "NOT_FOUND",
  "PERMISSION_DENIED",
  "NOT_TEXT",
  "TOO_LARGE",
  "CORRUPT",
  "INTERNAL",
];

const STORE_CODES = ["INVALID_ARGUMENT", "NOT_FOUND", "CORRUPT", "PERMISSION_DENIED", "INTERNAL"];

function checkCoded(
  error: unknown,
  name: string,
  codes: readonly string[],
  hidden: readonly string[],
): CodedError {
  assert.ok(error instanceof Error, `an Error, not ${String(error)}`);
  assert.equal(error.name, name, String(error));
  const { code } = error as Partial<CodedError>;
  assert.ok(typeof code === "string" && codes.includes(code), `a code of docs/errors.md: ${code}`);
  assert.ok(Object.keys(error).includes("code"), "code is enumerable");
  assert.ok(error.message.startsWith(`${code}: `), error.message);
  assert.ok(error.message.length > `${code}: `.length, "the message says what is wrong");
  assert.doesNotMatch(error.message, /\p{Surrogate}/u, "a well-formed message");
  assert.ok(![...error.message].some(isControl), `one line: ${JSON.stringify(error.message)}`);
  const shown = `${error.message}\n${JSON.stringify({ ...error, cause: undefined })}`;
  for (const secret of [process.cwd(), ...hidden]) {
    assert.ok(!shown.includes(secret), `must not show ${secret}: ${shown}`);
  }
  return error as CodedError;
}

function isControl(character: string): boolean {
  return character < " " || character === "\x7f";
}

/** Checks the form that docs/contract.md §6 gives a FileUriError. */
export function checkUriError(error: unknown, hidden: readonly string[] = []): CodedError {
  return checkCoded(error, "FileUriError", URI_CODES, hidden);
}

/** Checks the form that docs/contract.md §6 gives a FileStoreError. */
export function checkStoreError(error: unknown, hidden: readonly string[] = []): CodedError {
  return checkCoded(error, "FileStoreError", STORE_CODES, hidden);
}

/** Has `resolveFileUri(...args)` refused with `code`, in words that `says` finds. */
export function refuseResolve(args: unknown[], code: string, says: RegExp = /./): CodedError {
  const error = checkUriError(exceptionValue(() => looseResolve(...args)));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, says);
  assert.ok(!("cause" in error), "no cause");
  return error;
}

/** Has `readFileUri(...args)` refused with `code`, in words that `says` finds. */
export async function refuseRead(
  args: unknown[],
  code: string | readonly string[],
  says: RegExp = /./,
  hidden: readonly string[] = [],
): Promise<CodedError> {
  const error = checkUriError(await rejectionValue(() => looseReadUri(...args)), hidden);
  assert.ok([code].flat().includes(error.code), error.message);
  assert.match(error.message, says);
  return error;
}

const CONTENT_KEYS = ["uri", "scope", "path", "text", "mimeType", "sizeBytes"];

/** Reads and checks the form of the answer: a plain object with the keys of docs/contract.md §6, in its order. */
export async function readUri(uri: string, context: unknown): Promise<FileUriContent> {
  const content = await looseReadUri(uri, context);
  assert.equal(Object.getPrototypeOf(content), Object.prototype, "a plain object");
  assert.deepEqual(
    Object.keys(content),
    CONTENT_KEYS,
    "the keys of docs/contract.md §6, in its order",
  );
  assert.equal(content.uri, uri);
  return content;
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Where the bytes of a hash are, as the virtual-space host lays its store out (docs/contract.md §1). */
export function storedAt(dir: string, hash: string): string {
  return path.join(dir, hash.slice(0, 2), hash.slice(2));
}

/** Writes any bytes at the place of `hash` in a store, without the store. */
export function plant(dir: string, hash: string, bytes: string | Uint8Array): string {
  fs.mkdirSync(path.dirname(storedAt(dir, hash)), { recursive: true });
  fs.writeFileSync(storedAt(dir, hash), bytes);
  return storedAt(dir, hash);
}

/** The directory of a store beside the workspace. */
export function storeDir(ws: TestWorkspace): string {
  return path.join(ws.base, "store");
}
