// The tree that is tried, the checks, and how they are run and reported.
"use strict";

const assert = require("node:assert/strict");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const [, , addonPath, expectedContainment] = process.argv;
const addon = require(path.resolve(addonPath));
const { readFile, readFileSync } = addon;
const onWindows = process.platform === "win32";
const onLinux = process.platform === "linux";

// ---- the tree ---------------------------------------------------------------------------------

// The canonical spelling, so that "the root through a link" below is the only other one.
const base = fs.realpathSync.native(fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-smoke-")));
const root = path.join(base, "ws");
const outside = path.join(base, "outside");
const inRoot = (...names) => path.join(root, ...names);
/** A path that begins by rising. */
const up = (...names) => path.join("..", ...names);
const write = (name, content) => fs.writeFileSync(inRoot(name), content);

fs.mkdirSync(inRoot("sub", "deep"), { recursive: true });
fs.mkdirSync(outside);
fs.mkdirSync(path.join(base, "ws-evil"));
fs.writeFileSync(path.join(outside, "secret.txt"), "secret");
fs.writeFileSync(path.join(base, "ws-evil", "x"), "evil");
write("a.txt", "one\r\ntwo\nthree");
write("sub/x.txt", "x\n");
write("sub/deep/y.txt", "y\n");
const context = { workspaceRoot: root, writeScope: "read-only", aKeyOfTheHost: 1 };

// ---- the harness ------------------------------------------------------------------------------

const checks = [];
const check = (name, run) => checks.push({ name, run });
const checkOn = (condition, name, run) => condition && check(name, run);
const SKIP = Symbol("skip");
const skip = (reason) => ({ [SKIP]: reason });

/** Runs all checks, and says how they went. */
async function runChecks() {
  let [passed, failed, skipped] = [0, 0, 0];
  for (const { name, run } of checks) {
    try {
      const reason = (await run())?.[SKIP];
      if (reason) skipped += 1;
      else passed += 1;
      console.log(reason ? `skip ${name}: ${reason}` : `ok   ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}: ${error?.message ?? error}`);
    }
  }
  try {
    fs.rmSync(base, { recursive: true, force: true });
  } catch {
    // Windows keeps a folder that a Workspace holds open; that is no failure of this library.
  }
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

/** Reads by both forms, which must agree, and answers what they answered. */
async function read(file, options, where = context) {
  const pending = readFile(where, file, options);
  assert.ok(pending instanceof Promise, "readFile must answer a promise");
  const answer = await pending;
  assert.deepEqual(readFileSync(where, file, options), answer, "readFileSync must agree");
  return answer;
}

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

const content = async (file, options, where) => (await read(file, options, where)).content;

/** Asserts that both forms refuse, with a code, by the error rules of docs/contract.md §4. */
async function refuses(code, file, options, ...rest) {
  const [where] = rest.length > 0 ? rest : [context]; // `undefined` is a context to be refused too
  const shown = JSON.stringify(file)?.slice(0, 60);
  const pending = readFile(where, file, options);
  assert.ok(pending instanceof Promise, `${shown}: readFile must reject, not throw`);
  const error = await pending.then(
    (answer) => assert.fail(`${shown}: read ${JSON.stringify(answer).slice(0, 80)}, want ${code}`),
    (reason) => reason,
  );
  assert.ok(error instanceof Error && error.name === "ReadFileError", `${shown}: got ${error}`);
  assert.equal(error.code, code, `${shown}: ${error.message}`);
  assert.ok(error.message.startsWith(`${code}: `), error.message);
  assert.ok(
    Object.keys(error).includes("code") && Object.keys(error).includes("path"),
    "enumerable keys",
  );
  for (const spelling of [base, base.replaceAll("\\", "/")]) {
    assert.ok(
      !`${error.message} ${error.path}`.includes(spelling),
      `shows the root: ${error.message}`,
    );
  }
  assert.throws(() => readFileSync(where, file, options), { code, message: error.message });
  return error;
}

/** Makes a link, or answers why the system (Wine, an unprivileged Windows user) made none. */
function link(target, name, type) {
  try {
    fs.symlinkSync(target, inRoot(name), type);
    // Wine 8 reports success and makes nothing.
    const made = fs.lstatSync(inRoot(name), { throwIfNoEntry: false });
    return made?.isSymbolicLink() ? undefined : skip("the system only said that it made the link");
  } catch (error) {
    return skip(`the system makes no ${type ?? "symbolic"} link: ${error.code}`);
  }
}

module.exports = {
  addon,
  base,
  check,
  checkOn,
  content,
  context,
  expectedContainment,
  inRoot,
  link,
  onLinux,
  onWindows,
  outside,
  read,
  refuses,
  root,
  runChecks,
  sha256,
  skip,
  up,
  write,
};
