// The rules of docs/contract.md §3 that Windows alone has.
"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const {
  addon,
  checkOn,
  content,
  context,
  inRoot,
  link,
  onWindows,
  outside,
  read,
  refuses,
  root,
} = require("./harness.cjs");

const { readFile } = addon;

checkOn(onWindows, "device names are refused, with extensions and in folders", async () => {
  for (const file of [
    "nul",
    "NUL",
    "nul.txt",
    "nul .txt",
    "con",
    "CON.md",
    "aux.c",
    "prn",
    "com1",
    "com9.log",
    "lpt1",
    "COM¹",
    "conin$",
    "sub/nul",
    "sub\\con.txt",
  ]) {
    await refuses("SANDBOX_VIOLATION", file);
  }
});

checkOn(onWindows, "streams and drive-relative paths are refused", async () => {
  const drive = root.slice(0, 2);
  for (const file of [
    "a.txt::$DATA",
    "a.txt:stream",
    "sub::$INDEX_ALLOCATION/x.txt",
    "sub:x/x.txt",
    `${drive}a.txt`,
    `${drive}sub\\x.txt`,
    drive,
  ]) {
    await refuses("SANDBOX_VIOLATION", file);
  }
});

checkOn(onWindows, "trailing dots and spaces are refused", async () => {
  for (const file of ["a.txt.", "a.txt ", "a.txt. .", "sub./x.txt", "sub /x.txt", "..."])
    await refuses("SANDBOX_VIOLATION", file);
});

checkOn(onWindows, "characters that Windows keeps for patterns are refused", async () => {
  for (const file of ["a.t?t", "*.txt", "a<b", "a>b", 'a"b', "a|b", "a\u0001b"])
    await refuses("SANDBOX_VIOLATION", file);
});

checkOn(onWindows, "a name in other case is the same file", async () => {
  assert.equal(await content("SUB/X.TXT"), "x\n");
  assert.equal((await read(path.join(root.toUpperCase(), "a.txt"))).path, "a.txt");
  assert.equal((await read(path.join(root.toLowerCase(), "a.txt"))).path, "a.txt");
  const otherDrive =
    root[0] === root[0].toUpperCase() ? root[0].toLowerCase() : root[0].toUpperCase();
  const otherRoot = { workspaceRoot: otherDrive + root.slice(1) };
  assert.equal((await read(inRoot("a.txt"), {}, otherRoot)).path, "a.txt");
});

checkOn(onWindows, "\\\\?\\ before the root is refused, or answered without it", async () => {
  const answer = await readFile(context, `\\\\?\\${inRoot("a.txt")}`).catch((error) => error);
  assert.ok(answer.path === "a.txt" || answer.code === "SANDBOX_VIOLATION", answer.message);
});

checkOn(onWindows, "a root with a trailing backslash or forward slashes works", async () => {
  for (const workspaceRoot of [`${root}\\`, root.replaceAll("\\", "/"), `${root}\\sub\\..`]) {
    assert.equal(await content("sub/x.txt", {}, { workspaceRoot }), "x\n");
  }
});

checkOn(onWindows, "a junction that leads outside is refused", async () => {
  const failure = link(outside, "junction-out", "junction");
  if (failure) return failure;
  for (const file of ["junction-out/secret.txt", "junction-out/missing", "junction-out"])
    await refuses("SANDBOX_VIOLATION", file);
});

checkOn(onWindows, "a junction that stays inside works", async () => {
  const failure = link(inRoot("sub"), "junction-in", "junction");
  if (failure) return failure;
  assert.deepEqual(
    [(await read("junction-in/x.txt")).path, await content("junction-in/x.txt")],
    ["junction-in/x.txt", "x\n"],
  );
});
