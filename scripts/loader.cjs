// @ts-nocheck: the places that are marked below are filled by scripts/finish-build.mjs.
"use strict";

const { existsSync } = require("node:fs");

const VERSION = "%VERSION%";
const PLATFORMS = "%PLATFORMS%";
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
  // %ATTEMPTS%
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

// %EXPORTS%
