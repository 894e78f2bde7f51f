// Source documents: the function without its types, stores of the tests' own, and the form that contract
// §7 and specification TUL-001 give a result.

import assert from "node:assert/strict";
import { type ReadSourceResult, readSourceDocument } from "../../index.js";
import { rejectionValue } from "./read.ts";

/** `readSourceDocument` without its types, for arguments that are wrong on purpose. */
export const looseReadSource = readSourceDocument as unknown as (
  ...args: unknown[]
) => Promise<ReadSourceResult>;

const KEYS = ["success", "errorCode", "errors", "file", "sessionId", "conversationId"];
const FILE_KEYS = ["path", "sizeBytes", "content", "isTruncated"];
const CODES = ["ALREADY_IN_CONTEXT", "NOT_FOUND", "INVALID_ARGUMENT", "INTERNAL_ERROR"];

/** A store in memory, which records its calls. */
export class MemoryStore {
  readonly documents = new Map<string, Uint8Array>();
  readonly asked: string[] = [];
  readonly options: { maxBytes?: unknown; signal?: AbortSignal }[] = [];
  readonly receivers: unknown[] = [];

  constructor(documents: Record<string, string | Uint8Array> = {}) {
    for (const [path, data] of Object.entries(documents)) {
      this.documents.set(path, new Uint8Array(Buffer.from(data as Uint8Array)));
    }
  }

  get(path: string, options: { maxBytes?: unknown; signal?: AbortSignal }): unknown {
    this.asked.push(path);
    this.options.push(options);
    this.receivers.push(this);
    const bytes = this.documents.get(path);
    return bytes === undefined ? null : { bytes, sizeBytes: bytes.length };
  }
}

/** A store whose every answer is that of `get`. */
export function storeOf(get: (...args: unknown[]) => unknown): { get: typeof get } {
  return { get };
}

/** Calls, and checks that the answer is a result of the form of docs/contract.md §7, from a real promise. */
export async function readSource(
  args: unknown,
  context: unknown,
  hidden: readonly string[] = [],
): Promise<ReadSourceResult> {
  let promise: Promise<ReadSourceResult>;
  try {
    promise = looseReadSource(args, context);
  } catch (error) {
    return assert.fail(`threw instead of answering: ${String(error)}`);
  }
  assert.ok(promise instanceof Promise, "a real promise");
  const result = await promise.catch((reason: unknown) =>
    assert.fail(`rejected: ${reason instanceof Error ? reason.message : String(reason)}`),
  );
  return checkSource(result, hidden);
}

export function checkSource(value: unknown, hidden: readonly string[] = []): ReadSourceResult {
  assert.ok(typeof value === "object" && value !== null, String(value));
  assert.equal(Object.getPrototypeOf(value), Object.prototype, "a plain object");
  assert.deepEqual(Object.keys(value), KEYS, "the keys of docs/contract.md §7, in its order");
  const result = value as ReadSourceResult;
  const text = JSON.stringify(result);
  assert.deepEqual(JSON.parse(text), result, "JSON tells the whole result");
  assert.ok(Array.isArray(result.errors));
  if (result.success) {
    assert.equal(result.success, true);
    assert.equal(result.errorCode, null);
    assert.deepEqual(result.errors, []);
    assert.ok(result.file);
    assert.deepEqual(Object.keys(result.file), FILE_KEYS, "the file's keys in the spec's order");
    assert.doesNotMatch(result.file.content, /\p{Surrogate}/u);
  } else {
    assert.equal(result.success, false);
    assert.ok(CODES.includes(result.errorCode as string), text);
    assert.equal(result.file, null);
    assert.ok(result.errors.length > 0, "it says what is wrong");
    for (const error of result.errors) {
      assert.ok(typeof error === "string" && /\S/.test(error), text);
      assert.doesNotMatch(error, /\n|\p{Surrogate}/u, "one well-formed line");
    }
  }
  for (const secret of [process.cwd(), ...hidden]) assert.ok(!text.includes(secret), text);
  return result;
}

/** Has a read refused with `code`, in words that `says` finds. */
export async function refuseSource(
  args: unknown,
  context: unknown,
  code: string | readonly string[],
  says: RegExp = /./,
  hidden: readonly string[] = [],
): Promise<ReadSourceResult> {
  const result = await readSource(args, context, hidden);
  assert.ok([code].flat().includes(result.errorCode ?? "success"), JSON.stringify(result));
  assert.match(result.errors.join("\n"), says);
  return result;
}

/** What a call with an aborted signal rejects with. */
export function abortOf(args: unknown, context: unknown): Promise<unknown> {
  return rejectionValue(() => looseReadSource(args, context));
}

export interface Cut {
  content: string;
  isTruncated: boolean;
}

/**
 * A document of well-formed UTF-8 cut to `maxBytes`, as docs/contract.md §7 has it: character by character, as
 * long as the next one fits. A leading byte order mark is one of them, and is then dropped.
 */
export function cutModel(text: string, maxBytes = Number.POSITIVE_INFINITY): Cut {
  const characters = [...text];
  let kept = "";
  let bytes = 0;
  let count = 0;
  for (const character of characters) {
    const length = Buffer.byteLength(character);
    if (bytes + length > maxBytes) break;
    bytes += length;
    kept += character;
    count++;
  }
  return {
    content: kept.startsWith("\ufeff") ? kept.slice(1) : kept,
    isTruncated: count < characters.length,
  };
}
