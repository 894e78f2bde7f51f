/* eslint-disable */
// @ts-nocheck
/* Generated from scripts/loader.cjs by scripts/finish-build.mjs. Do not edit. */
"use strict";

const { existsSync } = require("node:fs");

const VERSION = "0.1.0";
const PLATFORMS = ["linux-x64-gnu","linux-arm64-gnu","linux-x64-musl","linux-arm64-musl","darwin-x64","darwin-arm64","win32-x64-msvc","win32-arm64-msvc"];
const OVERRIDE = "RINGFENCE_NATIVE_LIBRARY_PATH";

// The system says no more than "not found" in these ways: Node, Bun and Deno; ES modules; a single
// executable application of Node.
const MISSING = ["MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND", "ERR_UNKNOWN_BUILTIN_MODULE"];

// biome-ignore lint/correctness/noUnusedVariables: the exports below are taken from it
const binding = load();

function load() {
  const file = overridePath();
  if (file) return loadOverride(file);
  const failures = [];
  const libc = libcOfThisProcess();
  const addon = requireAddon(libc, failures);
  if (addon === undefined) throw loadError(explain(libc, failures), failures);
  const repair =
    "Install ringfence and its platform package in the same version; in a checkout, build it again.";
  return checked(addon, "the native addon that was found", repair);
}

/** The file that the host wants loaded in place of the installed one. */
function overridePath() {
  // Deno asks its user before a variable is read. No override is worth that question.
  const permissions = globalThis.Deno?.permissions;
  if (permissions && permissions.querySync({ name: "env", variable: OVERRIDE }).state !== "granted")
    return undefined;
  return process.env[OVERRIDE];
}

function loadOverride(file) {
  const { isAbsolute } = require("node:path");
  if (!isAbsolute(file) || !file.endsWith(".node")) {
    throw loadError(`${OVERRIDE} must be the absolute path of a .node file`, []);
  }
  let addon;
  try {
    // Not `require` itself: a bundler would look for what it cannot know.
    addon = require("node:module").createRequire(file)(file);
  } catch (error) {
    const what = isDisabled(error)
      ? whyDisabled()
      : `${OVERRIDE} names a file that does not load: ${reasonOf(error)}`;
    throw loadError(what, [error]);
  }
  return checked(
    addon,
    `the file that ${OVERRIDE} names`,
    "Unset the variable, or name the right file.",
  );
}

/** The addon, if it is the one of this version. */
function checked(addon, what, repair) {
  const found = Object.hasOwn(Object(addon), "RINGFENCE_VERSION")
    ? addon.RINGFENCE_VERSION
    : undefined;
  if (found !== VERSION) {
    const is = found === undefined ? "not ringfence" : `ringfence ${found}`;
    throw loadError(`${what} is ${is}, but ringfence ${VERSION} is needed. ${repair}`, []);
  }
  return addon;
}

/** `"glibc"` or `"musl"` on Linux, where that can be told; otherwise undefined. */
function libcOfThisProcess() {
  if (process.platform !== "linux") return undefined;
  // A report takes a while, and is needed only where musl is at least installed.
  if (!hasMusl()) return "glibc";
  const report = process.report;
  if (typeof report?.getReport !== "function") return undefined;
  const before = report.excludeNetwork;
  report.excludeNetwork = true;
  try {
    return report.getReport().header?.glibcVersionRuntime ? "glibc" : "musl";
  } catch {
    return undefined; // Deno refuses it without --allow-sys. Both addons are tried then.
  } finally {
    report.excludeNetwork = before;
  }
}

function hasMusl() {
  const machine = { x64: "x86_64", arm64: "aarch64" }[process.arch] ?? process.arch;
  try {
    return existsSync(`/lib/ld-musl-${machine}.so.1`);
  } catch {
    return true; // Node 20's permission model and Deno throw: the report has to say it.
  }
}

/**
 * The addon of this machine's platform: the file beside this one, or else the platform package.
 * All are literals inside `try`, so that bundlers see them and `bun build --compile` embeds them.
 */
// biome-ignore lint/correctness/noUnusedFunctionParameters: the attempts use both
function requireAddon(libc, failures) {
  if (process.platform === "linux" && process.arch === "x64" && libc !== "musl") {
    try {
      return require("./ringfence.linux-x64-gnu.node");
    } catch (error) {
      failures.push(error);
    }
    try {
      return require("ringfence-linux-x64-gnu/ringfence.linux-x64-gnu.node");
    } catch (error) {
      failures.push(error);
    }
  }
  if (process.platform === "linux" && process.arch === "arm64" && libc !== "musl") {
    try {
      return require("./ringfence.linux-arm64-gnu.node");
    } catch (error) {
      failures.push(error);
    }
    try {
      return require("ringfence-linux-arm64-gnu/ringfence.linux-arm64-gnu.node");
    } catch (error) {
      failures.push(error);
    }
  }
  if (process.platform === "linux" && process.arch === "x64" && libc !== "glibc") {
    try {
      return require("./ringfence.linux-x64-musl.node");
    } catch (error) {
      failures.push(error);
    }
    try {
      return require("ringfence-linux-x64-musl/ringfence.linux-x64-musl.node");
    } catch (error) {
      failures.push(error);
    }
  }
  if (process.platform === "linux" && process.arch === "arm64" && libc !== "glibc") {
    try {
      return require("./ringfence.linux-arm64-musl.node");
    } catch (error) {
      failures.push(error);
    }
    try {
      return require("ringfence-linux-arm64-musl/ringfence.linux-arm64-musl.node");
    } catch (error) {
      failures.push(error);
    }
  }
  if (process.platform === "darwin" && process.arch === "x64") {
    try {
      return require("./ringfence.darwin-x64.node");
    } catch (error) {
      failures.push(error);
    }
    try {
      return require("ringfence-darwin-x64/ringfence.darwin-x64.node");
    } catch (error) {
      failures.push(error);
    }
  }
  if (process.platform === "darwin" && process.arch === "arm64") {
    try {
      return require("./ringfence.darwin-arm64.node");
    } catch (error) {
      failures.push(error);
    }
    try {
      return require("ringfence-darwin-arm64/ringfence.darwin-arm64.node");
    } catch (error) {
      failures.push(error);
    }
  }
  if (process.platform === "win32" && process.arch === "x64") {
    try {
      return require("./ringfence.win32-x64-msvc.node");
    } catch (error) {
      failures.push(error);
    }
    try {
      return require("ringfence-win32-x64-msvc/ringfence.win32-x64-msvc.node");
    } catch (error) {
      failures.push(error);
    }
  }
  if (process.platform === "win32" && process.arch === "arm64") {
    try {
      return require("./ringfence.win32-arm64-msvc.node");
    } catch (error) {
      failures.push(error);
    }
    try {
      return require("ringfence-win32-arm64-msvc/ringfence.win32-arm64-msvc.node");
    } catch (error) {
      failures.push(error);
    }
  }
  return undefined;
}

function isDisabled(error) {
  return error?.code === "ERR_DLOPEN_DISABLED";
}

function whyDisabled() {
  const { permission, execArgv } = process;
  const allowed = execArgv.includes("--allow-addons") || permission?.has?.("addon");
  return permission === undefined || allowed
    ? "this process was started with --no-addons, and ringfence is a native addon. Start it without that option, which may also stand in NODE_OPTIONS."
    : "this process was started with --permission, and ringfence is a native addon. Add --allow-addons to the options of Node.";
}

/** The first line of a failure; Node goes on with the stack of `require` calls. */
function reasonOf(failure) {
  return String(failure?.message ?? failure).split("\n")[0];
}

/** Why no addon was loaded, and what to do. */
function explain(libc, failures) {
  if (failures.some(isDisabled)) return whyDisabled();

  const { platform, arch } = process;
  const system = `${platform}-${arch}`;
  const names = PLATFORMS.filter((name) => name === system || name.startsWith(`${system}-`));
  const wanted =
    names.length < 2
      ? names
      : names.filter((name) => name.endsWith(libc === "musl" ? "-musl" : "-gnu"));
  if (wanted.length === 0) {
    return `there is no native addon for ${platform} on ${arch}, only for ${PLATFORMS.join(", ")}. Build one from the repository, and let ${OVERRIDE} name it.`;
  }

  const refusal = failures.find((error) => !MISSING.includes(error?.code));
  if (refusal !== undefined) {
    return `the native addon for ${wanted[0]} is installed, but it was not loaded: ${reasonOf(refusal)}`;
  }
  return (
    `the native addon for ${wanted[0]} is missing: the package ringfence-${wanted[0]} is not installed. ` +
    "Install the dependencies on the system that runs them, with optional ones (npm install --include=optional). " +
    "In a checkout, run npm run build. A bundler has to leave ringfence out of its bundle."
  );
}

function loadError(what, failures) {
  const error = new Error(
    `ringfence cannot be loaded: ${what}\nSee docs/troubleshooting.md in the package.`,
  );
  error.code = "ERR_RINGFENCE_NOT_LOADED";
  if (failures.length > 0)
    error.cause = failures.length === 1 ? failures[0] : new AggregateError(failures);
  return error;
}

module.exports.DirectoryStore = binding.DirectoryStore;
module.exports.FileStore = binding.FileStore;
module.exports.Workspace = binding.Workspace;
module.exports.applyPatch = binding.applyPatch;
module.exports.contentHash = binding.contentHash;
module.exports.createFile = binding.createFile;
module.exports.createFileSync = binding.createFileSync;
module.exports.deleteFile = binding.deleteFile;
module.exports.editFile = binding.editFile;
module.exports.findFiles = binding.findFiles;
module.exports.isApplyPatchError = binding.isApplyPatchError;
module.exports.isContentHashError = binding.isContentHashError;
module.exports.isDeleteFileError = binding.isDeleteFileError;
module.exports.isDocumentStoreError = binding.isDocumentStoreError;
module.exports.isEditFileError = binding.isEditFileError;
module.exports.isFileStoreError = binding.isFileStoreError;
module.exports.isFileUriError = binding.isFileUriError;
module.exports.isFindFilesError = binding.isFindFilesError;
module.exports.isMoveFileError = binding.isMoveFileError;
module.exports.isReadBytesError = binding.isReadBytesError;
module.exports.isReadFileError = binding.isReadFileError;
module.exports.isReadFilesError = binding.isReadFilesError;
module.exports.isSearchFilesError = binding.isSearchFilesError;
module.exports.isTextMediaType = binding.isTextMediaType;
module.exports.isTreeError = binding.isTreeError;
module.exports.isWorkspaceError = binding.isWorkspaceError;
module.exports.isWorkspaceSnapshotError = binding.isWorkspaceSnapshotError;
module.exports.MAX_READ_FILE_SIZE_BYTES = binding.MAX_READ_FILE_SIZE_BYTES;
module.exports.moveFile = binding.moveFile;
module.exports.nearMisses = binding.nearMisses;
module.exports.readBytes = binding.readBytes;
module.exports.readFile = binding.readFile;
module.exports.readFiles = binding.readFiles;
module.exports.readFileSync = binding.readFileSync;
module.exports.readFileUri = binding.readFileUri;
module.exports.readSourceDocument = binding.readSourceDocument;
module.exports.resolveFileUri = binding.resolveFileUri;
module.exports.resolveWorkspacePath = binding.resolveWorkspacePath;
module.exports.searchFiles = binding.searchFiles;
module.exports.tree = binding.tree;
module.exports.workspaceSnapshot = binding.workspaceSnapshot;
module.exports.workspaceSnapshotSync = binding.workspaceSnapshotSync;
