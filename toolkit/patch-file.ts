// `patchFile`: the handler of hosts whose `apply_patch` takes the path of one file and a patch of it.

import {
  type ApplyPatchError,
  type ApplyPatchOutput,
  applyPatch,
  type CallOptions,
  isApplyPatchError,
  isReadBytesError,
  type PatchedFile,
  type ReadBytesError,
  readBytes,
  type Workspace,
  type WorkspaceContext,
} from "../index.js";
import { withName } from "./coded-error.js";
import { type HandlerContext, rootOf } from "./context.js";
import { isDenial } from "./denied-path.js";
import { shownLines } from "./tools/closest-lines.js";
import { withSignalOf } from "./tools/signal.js";

/** What `patchFile` answers. The first three keys are those of a host that runs `git apply`. */
export interface PatchFileOutput {
  /** The path relative to the workspace. */
  file_path: string;
  /** Always 0: a patch that is refused rejects. */
  exit_code: 0;
  /** Whether the file has other bytes now, or is gone. */
  changed: boolean;
  /** Always empty, for the same reason. */
  stderr: "";
}

/**
 * What `patchFile` can fail with:
 *
 * - `INVALID_ARGUMENT`: the path or the patch is no string or has a value that it cannot have, or a path leads out of
 *   the workspace.
 * - `PATH_DENIED`: the rules of the workspace deny the path, or protect it from writing.
 * - `NOT_FOUND`: there is no file at the path.
 * - `FILE_TOO_LARGE`: the file has more than 10 MiB, or would have.
 * - `APPLY_FAILED`: the patch cannot be applied, or would change another file. `cause` is the error of `applyPatch`.
 * - `INTERNAL`: the system failed, or ringfence did.
 */
export type PatchFileErrorCode =
  | "INVALID_ARGUMENT"
  | "PATH_DENIED"
  | "NOT_FOUND"
  | "FILE_TOO_LARGE"
  | "APPLY_FAILED"
  | "INTERNAL";

/** What `patchFile` rejects with: an `Error` whose `message` is `CODE: what is wrong: path`. */
export interface PatchFileError extends Error {
  name: "PatchFileError";
  code: PatchFileErrorCode;
  /** The path relative to the workspace, or `""` where the call has none. */
  path: string;
}

type Root = Workspace | WorkspaceContext;

/** The largest file that is patched, in bytes. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** How often a file that others change meanwhile is looked at anew. */
const MAX_ATTEMPTS = 100;

/**
 * Applies a patch, a unified diff or V4A, to one file, which must be there. Rejects with a `PatchFileError`. The
 * file is unchanged then, unless the code of its `cause` is `PARTIAL`. A patch that has a section for another path is
 * refused, and so is one that moves the file.
 *
 * @param path the file, relative to the workspace, or absolute inside it
 */
export async function patchFile(
  context: HandlerContext,
  path: string,
  patch: string,
  options?: CallOptions | null,
): Promise<PatchFileOutput> {
  if (typeof path !== "string" || path.trim() === "") {
    throw failure("INVALID_ARGUMENT", "path must be a string that is not empty", "");
  }
  if (typeof patch !== "string") {
    throw failure("INVALID_ARGUMENT", `patch must be a string, not ${kindOf(patch)}`, "");
  }
  return withSignalOf(context, options, (all) => applied(rootOf(context), path, patch, all));
}

async function applied(
  root: Root,
  given: string,
  patch: string,
  options: CallOptions | null,
): Promise<PatchFileOutput> {
  for (let attempt = 1; ; attempt += 1) {
    let path = "";
    let isTried = false;
    try {
      path = await pathOfFile(root, given, options);
      const tried = await applyPatch(root, { patch, dry_run: true }, options);
      const before = hashOfOnly(path, tried);
      isTried = true;
      // The hash binds the call to this file: a name in a diff may mean another one as soon as that appears.
      const expected_hashes = before === null ? null : { [path]: before };
      const done = await applyPatch(root, { patch, expected_hashes }, options);
      const { action, sha256 } = done.files.at(-1) as PatchedFile;
      // A link has no hash, neither before nor after.
      const changed = action === "delete" || sha256 !== before;
      return { file_path: path, exit_code: 0, changed, stderr: "" };
    } catch (error) {
      if (isTried && isStale(error) && attempt < MAX_ATTEMPTS) continue;
      throw known(error, path);
    }
  }
}

/** Whether the file has changed since the patch was tried, or is gone, so that another one would have been meant. */
function isStale(error: unknown): boolean {
  if (!isApplyPatchError(error)) return false;
  return error.code === "STALE" || error.code === "INVALID_ARGUMENT";
}

/** The file's path relative to the workspace. Rejects if there is no file, or it is too large. */
async function pathOfFile(root: Root, given: string, options: CallOptions | null): Promise<string> {
  const { path, byte_length } = await readBytes(root, given, { ...options, length: 0 });
  if (byte_length > MAX_FILE_BYTES) {
    const what = `the file has ${byte_length} bytes, and the limit is ${MAX_FILE_BYTES}`;
    throw failure("FILE_TOO_LARGE", what, path);
  }
  return path;
}

/** The hash that the one file has before the patch. Throws if the patch has a section for another path. */
function hashOfOnly(path: string, { files }: ApplyPatchOutput): string | null {
  for (const file of files) {
    const other = [file.from_path, file.path].find((named) => named !== null && named !== path);
    if (other != null) throw namesOther(path, other);
  }
  return files[0]?.before_sha256 ?? null;
}

function namesOther(path: string, other: string, cause?: Error): PatchFileError {
  const what = `the patch has a section for ${other}, and this call changes one file only`;
  return failure("APPLY_FAILED", `${what}; send the sections of that file alone`, path, cause);
}

const CODES: Readonly<Record<string, PatchFileErrorCode>> = {
  INVALID_ARGUMENT: "INVALID_ARGUMENT",
  SANDBOX_VIOLATION: "INVALID_ARGUMENT",
  PATH_DENIED: "PATH_DENIED",
  NOT_FOUND: "NOT_FOUND",
  SIZE_LIMIT_EXCEEDED: "FILE_TOO_LARGE",
  INTERNAL: "INTERNAL",
};

/** The error of this function for one of a native function. Others, such as the reason of an abort, stay as they are. */
function known(error: unknown, path: string): unknown {
  if (isReadBytesError(error)) {
    return withCode(CODES[error.code] ?? "APPLY_FAILED", error, error.path);
  }
  if (!isApplyPatchError(error)) return error;
  const ofOther = error.path !== "" && error.path !== path;
  if (ofOther && error.code !== "SANDBOX_VIOLATION" && !isDenial(error))
    return namesOther(path, error.path, error);
  return withCode(CODES[error.code] ?? "APPLY_FAILED", error, error.path || path);
}

/**
 * The error with another code, at a path. Its own code stays in the message where it tells more: a host may pass on
 * nothing but the message, so that also has what a model needs to repair the patch.
 */
function withCode(
  code: PatchFileErrorCode,
  error: ApplyPatchError | ReadBytesError,
  path: string,
): PatchFileError {
  const own = code === error.code ? error.message.slice(code.length + 2) : error.message;
  const closest = isApplyPatchError(error) ? error.closest : null;
  // An error of the patch as a whole has no path.
  const where = error.path === path ? "" : `: ${path}`;
  const message = `${code}: ${own}${where}${closest ? `\n${shownLines(closest)}` : ""}`;
  return named(new Error(message, { cause: error }), code, path);
}

function failure(
  code: PatchFileErrorCode,
  what: string,
  path: string,
  cause?: Error,
): PatchFileError {
  const where = path === "" ? "" : `: ${path}`;
  const made = new Error(`${code}: ${what}${where}`, cause === undefined ? {} : { cause });
  return named(made, code, path);
}

function named(error: Error, code: PatchFileErrorCode, path: string): PatchFileError {
  return Object.assign(withName(error, "PatchFileError"), { code, path }) as PatchFileError;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}
