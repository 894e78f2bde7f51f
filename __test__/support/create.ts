// Creating as every caller may do it: with a plain context and with a Workspace, by promise and at once.
// A test states one case; these helpers play it in all four ways, each in a workspace of its own.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { type CreateFileResult, createFile, createFileSync, type Workspace } from "../../index.js";
import { looseOpen, rejectionValue } from "./read.ts";
import { treeOf } from "./tree.mjs";
import { inWorkspace, type TestWorkspace } from "./workspace.ts";

export type CreateArgs = Parameters<typeof createFile>[1];

/** `createFile` without its types, for arguments that are wrong on purpose. */
export const looseCreateFile = createFile as unknown as (
  ...args: unknown[]
) => Promise<CreateFileResult>;
/** `createFileSync` without its types, for arguments that are wrong on purpose. */
export const looseCreateFileSync = createFileSync as unknown as (
  ...args: unknown[]
) => CreateFileResult;

/** The canonical seven, spec create_file §5.3. */
export const CODES = [
  "FileExists",
  "InvalidPath",
  "DirectoryCreateFailed",
  "WriteFailed",
  "TooLarge",
  "HashFailed",
  "UnhandledException",
];

const KEYS = [
  "success",
  "message",
  "path",
  "sizeBytes",
  "hash",
  "created",
  "overwritten",
  "errorCode",
];

export interface Expected {
  /** The path the result tells; by default the one asked for. */
  path?: string;
  /** Where the bytes end up, if a link leads there. */
  at?: string;
  bytes: string | Uint8Array;
  /** What `hash` must be; by default the SHA-256 of the bytes. */
  hash?: string;
}

type Settings = Record<string, unknown>;
type Way = (ws: TestWorkspace, settings: Settings, args: unknown) => Promise<CreateFileResult>;

const CONTEXT_WAYS: Record<string, Way> = {
  "createFile(context)": (ws, settings, args) =>
    settled(() => looseCreateFile({ ...ws.writable, ...settings }, args)),
  "createFileSync(context)": async (ws, settings, args) =>
    looseCreateFileSync({ ...ws.writable, ...settings }, args),
};

// Files are synced by default; by these ways they are not, so that every case is played both ways.
const WORKSPACE_WAYS: Record<string, Way> = {
  "createFile(workspace)": (ws, settings, args) =>
    withWorkspace(ws, settings, (workspace) => settled(() => looseCreateFile(workspace, args))),
  "createFileSync(workspace)": (ws, settings, args) =>
    withWorkspace(ws, settings, async (workspace) => looseCreateFileSync(workspace, args)),
};

/** One way to create, in one workspace. */
export class Creator {
  readonly ws: TestWorkspace;
  readonly #way: Way;

  constructor(ws: TestWorkspace, way: Way) {
    this.ws = ws;
    this.#way = way;
  }

  /** Calls with these arguments and gives the result, checked for its form. */
  async create(args: unknown, settings: Settings = {}): Promise<CreateFileResult> {
    return checkResult(await this.#way(this.ws, settings, args), [this.ws.root]);
  }

  /** Has the file made or replaced, and demands the whole result, the bytes, and that nothing else changes. */
  async creates(
    args: CreateArgs & { path: string },
    expected: Expected,
    settings: Settings = {},
  ): Promise<CreateFileResult> {
    const { path: shown = args.path, at = shown } = expected;
    const bytes = Buffer.from(expected.bytes as Uint8Array);
    const target = this.ws.at(at);
    const existed = fs.existsSync(target);
    const before = treeOf(this.ws.base);
    const result = await this.create(args, settings);
    assert.deepStrictEqual(
      { ...result },
      {
        success: true,
        message: existed ? "File overwritten." : "File created.",
        path: shown,
        sizeBytes: bytes.length,
        hash: expected.hash ?? sha256(bytes),
        created: !existed,
        overwritten: existed,
        errorCode: null,
      },
    );
    assertBytes(fs.readFileSync(target), bytes);
    const changed = path.relative(this.ws.base, target).replaceAll(path.sep, "/");
    assertOnlyNew(before, treeOf(this.ws.base), changed);
    return result;
  }

  /** Has the arguments refused with `code`, and demands that nothing changes. */
  async refuses(
    args: unknown,
    code: string | string[],
    says: RegExp = /./,
    settings: Settings = {},
  ): Promise<CreateFileResult> {
    const before = treeOf(this.ws.base);
    const result = await this.create(args, settings);
    assert.ok([code].flat().includes(result.errorCode ?? "success"), JSON.stringify(result));
    assert.match(result.message, says);
    assert.deepEqual(treeOf(this.ws.base), before, "a refusal changes nothing");
    return result;
  }
}

/** A test body that is played in all four ways, each time in a workspace of its own. */
export function inEveryWay(body: (creator: Creator) => unknown): () => Promise<void> {
  return inWays({ ...CONTEXT_WAYS, ...WORKSPACE_WAYS }, body);
}

/** Like inEveryWay, for settings that a Workspace refuses when it is opened. */
export function withContexts(body: (creator: Creator) => unknown): () => Promise<void> {
  return inWays(CONTEXT_WAYS, body);
}

function inWays(
  ways: Record<string, Way>,
  body: (creator: Creator) => unknown,
): () => Promise<void> {
  return async () => {
    for (const [name, way] of Object.entries(ways)) {
      try {
        await inWorkspace((ws) => body(new Creator(ws, way)))();
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        throw new Error(`by ${name}: ${message}`, { cause: error });
      }
    }
  };
}

async function withWorkspace<T>(
  ws: TestWorkspace,
  settings: Settings,
  body: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const workspace = looseOpen(ws.root, { durability: "none", ...settings });
  try {
    return await body(workspace);
  } finally {
    workspace.close();
  }
}

/** What a call resolves to. It must return a real promise, must not throw and must not reject. */
export async function settled(call: () => Promise<CreateFileResult>): Promise<CreateFileResult> {
  let promise: Promise<CreateFileResult>;
  try {
    promise = call();
  } catch (error) {
    return assert.fail(`threw instead of answering: ${String(error)}`);
  }
  assert.ok(promise instanceof Promise, "a real promise");
  return promise.catch((reason: unknown) => assert.fail(`rejected: ${String(reason)}`));
}

/** Has these very arguments refused by both functions with one result, in words that `says` finds. */
export async function refuseCreate(
  args: unknown[],
  code: string | string[],
  says: RegExp = /./,
  hidden: string[] = [],
): Promise<CreateFileResult> {
  const result = checkResult(await settled(() => looseCreateFile(...args)), hidden);
  assert.ok([code].flat().includes(result.errorCode ?? "success"), JSON.stringify(result));
  assert.match(result.message, says);
  const atOnce = checkResult(looseCreateFileSync(...args), hidden);
  assert.deepStrictEqual(atOnce, result, "createFileSync must refuse like createFile");
  return result;
}

/** What both functions fail with when `context.signal` is aborted: one and the same value. */
export async function abortValue(context: unknown, args: unknown): Promise<unknown> {
  const rejected = await rejectionValue(() => looseCreateFile(context, args));
  try {
    looseCreateFileSync(context, args);
  } catch (thrown) {
    assert.equal(thrown, rejected, "createFileSync must throw what createFile rejects with");
    return rejected;
  }
  return assert.fail("createFileSync must throw the reason");
}

/** Checks the form that spec create_file §4.3 and docs/contract.md §5 give every result. */
export function checkResult(value: unknown, hidden: string[] = []): CreateFileResult {
  assert.ok(typeof value === "object" && value !== null, String(value));
  assert.equal(Object.getPrototypeOf(value), Object.prototype, "a plain object");
  assert.deepEqual(Object.keys(value), KEYS, "the spec's keys in the spec's order");
  const result = value as CreateFileResult;
  const text = JSON.stringify(result);
  assert.deepStrictEqual(JSON.parse(text), { ...result }, "JSON tells the whole result");
  assert.ok(typeof result.message === "string" && /\S/.test(result.message), text);
  assert.doesNotMatch(result.message, /\n|\p{Surrogate}/u, "one well-formed line");
  assert.equal(typeof result.path, "string", text);
  for (const secret of hidden)
    assert.ok(!text.includes(secret), `must not show ${secret}: ${text}`);
  if (result.success) {
    assert.equal(result.errorCode, null, text);
    assert.match(result.hash, /^[0-9a-f]{64}$/, text);
    assert.ok(Number.isSafeInteger(result.sizeBytes) && result.sizeBytes >= 0, text);
    assert.equal(result.created, !result.overwritten, text);
    assert.doesNotMatch(result.path, /^\/|\\/, text);
  } else {
    const { success, sizeBytes, hash, created, overwritten, errorCode } = result;
    assert.deepEqual(
      { success, sizeBytes, hash, created, overwritten },
      { success: false, sizeBytes: 0, hash: "", created: false, overwritten: false },
    );
    assert.ok(CODES.includes(errorCode as string), `a canonical code: ${text}`);
  }
  return result;
}

/** That between two looks at a tree only `target`, and folders that it needs, came up or changed. */
function assertOnlyNew(
  before: Record<string, string>,
  after: Record<string, string>,
  target: string,
): void {
  for (const [name, was] of Object.entries(before)) {
    if (name !== target) assert.equal(after[name], was, `${name} must stay as it was`);
  }
  for (const [name, is] of Object.entries(after)) {
    if (name in before || name === target) continue;
    const needed = is.startsWith("folder") && target.startsWith(`${name}/`);
    assert.ok(needed, `nothing but the target comes up: ${name}, ${is}`);
  }
}

/** Compares bytes and, where they differ, shows no more than the place. */
export function assertBytes(actual: Uint8Array, expected: string | Uint8Array): void {
  const wanted = Buffer.from(expected as Uint8Array);
  if (wanted.equals(actual)) return;
  const at = wanted.findIndex((byte, i) => byte !== actual[i]);
  const place = at === -1 ? wanted.length : at;
  const show = (bytes: Uint8Array) =>
    Buffer.from(bytes.subarray(Math.max(0, place - 8), place + 16)).toString("hex");
  assert.fail(
    `${actual.length} bytes instead of ${wanted.length}; at ${place}: ${show(actual)} instead of ${show(wanted)}`,
  );
}

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** The names in a folder of the workspace that look like temporaries of ours. */
export function temporaries(folder: string): string[] {
  return fs.readdirSync(folder).filter((name) => name.startsWith(".rf-"));
}

/**
 * The canonical content hash of docs/contract.md §5, word for word: CRLF→LF, then CR→LF; split at LF; cut
 * every line to 500 UTF-16 units; LF after every line, the last too; UTF-8; SHA-256.
 */
export function aptixModel(text: string): string {
  const normalised = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  let joined = "";
  for (const line of normalised.split("\n")) joined += `${line.slice(0, 500)}\n`;
  return sha256(new TextEncoder().encode(joined));
}

/** The bytes that docs/contract.md §5 makes of a text: one leading U+FEFF dropped, CRLF and lone CR as LF. */
export function contentModel(text: string): Uint8Array {
  let kept = "";
  for (let i = text.startsWith("\ufeff") ? 1 : 0; i < text.length; i++) {
    if (text[i] === "\r" && text[i + 1] === "\n") continue;
    kept += text[i] === "\r" ? "\n" : text[i];
  }
  return new TextEncoder().encode(kept);
}

/** Creates these files, by path and content, and demands success. */
export async function createEach(ws: TestWorkspace, files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const result = checkResult(await createFile(ws.writable, { path, content }));
    assert.ok(result.success, result.message);
  }
}
