// createFile: docs/contract.md §5.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const {
  addon,
  base,
  check,
  checkOn,
  content,
  context,
  inRoot,
  link,
  onWindows,
  outside,
  read,
  root,
  sha256,
  skip,
  up,
} = require("./harness.cjs");

const { createFile, createFileSync, readFile } = addon;

const writable = { workspaceRoot: root };

/** Creates, and checks the answer and what is on disk then. */
async function creates(file, text, args = {}) {
  const answer = await createFile(writable, { path: file, content: text, ...args });
  assert.equal(answer.errorCode, null, `${file}: ${answer.message}`);
  assert.equal(answer.sizeBytes, Buffer.byteLength(text));
  assert.equal(answer.hash, sha256(text));
  assert.equal(fs.readFileSync(inRoot(...answer.path.split("/")), "utf8"), text);
  return answer;
}

/** Asserts that both forms refuse, with overwrite and without, unless the arguments say which. */
async function createRefused(code, file, args = {}, where = writable) {
  for (const overwrite of [false, true]) {
    const all = { path: file, content: "refused", overwrite, ...args };
    const answer = await createFile(where, all);
    const shown = `${JSON.stringify(file).slice(0, 60)}: ${answer.message}`;
    assert.deepEqual([answer.success, answer.errorCode, answer.hash], [false, code, ""], shown);
    assert.ok(!`${answer.message} ${answer.path}`.includes(base), `shows the root: ${shown}`);
    assert.deepEqual(createFileSync(where, all), answer);
  }
}

/** Every name below a folder. Links are not followed: some here lead back up. */
function namesBelow(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const below = path.join(folder, entry.name);
    return entry.isDirectory() ? [below, ...namesBelow(below)] : [below];
  });
}

/** Every temporary in the tree. */
const temporaries = () => namesBelow(root).filter((name) => name.includes(".rf-"));

check("createFile: a new file comes with its folders", async () => {
  const answer = await creates("made/a/b.txt", "b\n");
  assert.deepEqual(Object.keys(answer), [
    "success",
    "message",
    "path",
    "sizeBytes",
    "hash",
    "created",
    "overwritten",
    "errorCode",
  ]);
  assert.deepEqual([answer.created, answer.overwritten], [true, false]);
  assert.equal((await creates("made\\a\\.\\c.txt", "c")).path, "made/a/c.txt");
  assert.equal((await creates("made/n/日本語 🎉.txt", "")).path, "made/n/日本語 🎉.txt");
  const crlf = createFileSync(writable, { path: "made/crlf.txt", content: "\uFEFFa\r\nb\r" });
  assert.deepEqual([crlf.sizeBytes, crlf.hash], [4, sha256("a\nb\n")]);
  assert.deepEqual(temporaries(), []);
});

check("createFile: what exists is replaced if overwrite says so", async () => {
  await creates("replaced.txt", "one");
  await createRefused("FileExists", "replaced.txt", { overwrite: false });
  assert.equal(fs.readFileSync(inRoot("replaced.txt"), "utf8"), "one");
  const answer = await creates("replaced.txt", "two", { overwrite: true });
  assert.deepEqual([answer.created, answer.overwritten], [false, true]);
  assert.equal(await content("replaced.txt"), "two");
  assert.deepEqual(temporaries(), []);
});

check("createFile: only the expected file is replaced", async () => {
  await creates("expected.txt", "one");
  const stale = { overwrite: true, expectedHash: sha256("older") };
  await createRefused("WriteFailed", "expected.txt", stale);
  await createRefused("WriteFailed", "expected-none.txt", stale);
  assert.equal(fs.readFileSync(inRoot("expected.txt"), "utf8"), "one");
  const { meta } = await read("expected.txt", { include_hash: true });
  await creates("expected.txt", "two", { overwrite: true, expectedHash: meta.sha256 });
  assert.deepEqual(temporaries(), []);
});

check("createFile: paths that leave, or name no file", async () => {
  const spellings = [
    "",
    " ",
    ".",
    "made/",
    "made/.",
    "made",
    "../x",
    "made/../../x",
    "~/x",
    "/x",
    "\\x",
    "C:\\x",
    "c:/x",
    "\\\\server\\share\\x",
    "\\\\?\\C:\\x",
    "\\\\.\\nul",
    "a\u0001b",
    "a\u200bb",
    "n".repeat(256),
    inRoot("absolute.txt"),
  ];
  for (const file of spellings) await createRefused("InvalidPath", file);
  await createRefused("DirectoryCreateFailed", "a.txt/x");
  await createRefused("DirectoryCreateFailed", "a.txt/x/y");
  assert.deepEqual(temporaries(), []);
});

checkOn(onWindows, "createFile: names that Windows gives another meaning", async () => {
  const before = fs.readdirSync(root);
  for (const file of [
    "nul",
    "con",
    "made/nul.txt",
    "COM1",
    "a.txt::$DATA",
    "a.txt:stream",
    "c:x",
    "new.txt.",
    "new.txt ",
    "made./x",
    "a?b",
    "a*b",
  ]) {
    await createRefused("InvalidPath", file);
  }
  assert.deepEqual(fs.readdirSync(root), before);
});

check("createFile: a workspace that is read-only, a file that is", async () => {
  await createRefused("WriteFailed", "scope/none.txt", {}, context);
  assert.ok(!fs.existsSync(inRoot("scope")));
  if (process.getuid?.() === 0) return skip("root may write to any file");
  await creates("read-only.txt", "one");
  fs.chmodSync(inRoot("read-only.txt"), 0o444);
  await createRefused("WriteFailed", "read-only.txt", { overwrite: true });
  assert.equal(fs.readFileSync(inRoot("read-only.txt"), "utf8"), "one");
  fs.chmodSync(inRoot("read-only.txt"), 0o666);
});

check("createFile: of many creators one wins", async () => {
  const answers = await Promise.all(
    Array.from({ length: 32 }, (_, i) =>
      createFile(writable, { path: "race/deep/one.txt", content: `creator ${i}` }),
    ),
  );
  const [winner, ...others] = answers.toSorted((a, b) => b.sizeBytes - a.sizeBytes);
  assert.ok(winner.created);
  assert.ok(others.every((other) => other.errorCode === "FileExists"));
  assert.equal(sha256(fs.readFileSync(inRoot("race", "deep", "one.txt"))), winner.hash);
  assert.deepEqual(temporaries(), []);
});

check("createFile: of many replacers all get through, and readers see whole files", async () => {
  const texts = Array.from({ length: 16 }, (_, i) => `${i}`.repeat(50_000));
  await creates("whole.txt", texts[0]);
  const whole = new Set(texts);
  let done = false;
  const reading = (async () => {
    while (!done) {
      const answer = await readFile(context, "whole.txt").catch((error) => error);
      // Windows may keep a reader out for a moment.
      if (onWindows && answer.code === "CONTENDED") continue;
      assert.ok(whole.has(answer.content), answer.message);
    }
  })();
  const answers = await Promise.all(
    texts.map((text) =>
      createFile(writable, { path: "whole.txt", content: text, overwrite: true }),
    ),
  );
  done = true;
  await reading;
  for (const answer of answers) assert.ok(answer.overwritten, answer.message);
  assert.ok(whole.has(fs.readFileSync(inRoot("whole.txt"), "utf8")));
  assert.deepEqual(temporaries(), []);
});

check("createFile: links lead to what is replaced, and never out", async () => {
  const failure =
    link(up("outside", "secret.txt"), "w-out", "file") ??
    link(up("outside"), "w-out-dir", "dir") ??
    link("replaced.txt", "w-in", "file");
  if (failure) return failure;
  await createRefused("InvalidPath", "w-out");
  await createRefused("InvalidPath", "w-out-dir/new.txt");
  await createRefused("InvalidPath", "w-out-dir/new/new.txt");
  assert.equal(fs.readFileSync(path.join(outside, "secret.txt"), "utf8"), "secret");
  assert.deepEqual(fs.readdirSync(outside), ["secret.txt"]);
  await creates("w-in", "three", { overwrite: true });
  assert.ok(fs.lstatSync(inRoot("w-in")).isSymbolicLink());
  assert.equal(fs.readFileSync(inRoot("replaced.txt"), "utf8"), "three");
});
