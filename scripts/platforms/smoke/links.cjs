// Symbolic links stay inside or are refused: docs/contract.md §3.
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
  inRoot,
  link,
  onLinux,
  onWindows,
  outside,
  read,
  refuses,
  root,
  skip,
  up,
} = require("./harness.cjs");

const { readFile } = addon;

const LINKS_THAT_STAY = [
  ["relative", "a.txt", "l-rel", "l-rel"],
  ["relative, up and inside", path.join("..", "a.txt"), path.join("sub", "l-up"), "sub/l-up"],
  ["absolute", inRoot("a.txt"), "l-abs", "l-abs"],
  ["to a link", "l-rel", "l-chain", "l-chain"],
  [
    "absolute, with dot-dot inside",
    `${root}${path.sep}sub${path.sep}..${path.sep}a.txt`,
    "l-dots",
    "l-dots",
  ],
];
for (const [kind, target, name, asked] of LINKS_THAT_STAY) {
  check(`a link that stays works: ${kind}`, async () => {
    const failure = link(target, name, "file");
    if (failure) return failure;
    const answer = await read(asked);
    assert.deepEqual([answer.path, answer.content], [asked, "one\ntwo\nthree"]);
  });
}

const FOLDER_LINKS_THAT_STAY = [
  ["relative", "sub", "d-rel"],
  ["absolute", inRoot("sub"), "d-abs"],
  ["to the root itself", ".", "d-root", "d-root/sub/x.txt"],
  ["to the root, absolute", root, "d-root-abs", "d-root-abs/sub/x.txt"],
];
for (const [kind, target, name, asked = `${name}/x.txt`] of FOLDER_LINKS_THAT_STAY) {
  check(`a folder link that stays works: ${kind}`, async () => {
    const failure = link(target, name, "dir");
    if (failure) return failure;
    assert.deepEqual([(await read(asked)).path, await content(asked)], [asked, "x\n"]);
    await refuses("NOT_FILE", name);
    await refuses("NOT_FOUND", `${name}/missing`);
  });
}

const LINKS_THAT_LEAVE = [
  ["relative", up("outside", "secret.txt"), "x-rel", ["x-rel", "x-rel/x"]],
  ["absolute", path.join(outside, "secret.txt"), "x-abs", ["x-abs"]],
  ["to a folder", outside, "x-dir", ["x-dir", "x-dir/secret.txt", "x-dir/missing"]],
  ["to a folder, relative", up("outside"), "x-dir-rel", ["x-dir-rel/secret.txt"]],
  ["to nothing", up("outside", "none"), "x-none", ["x-none"]],
  [
    "to the root's parent",
    "..",
    "x-parent",
    ["x-parent", "x-parent/ws/a.txt", "x-parent/outside/secret.txt"],
  ],
  ["out and back", up("ws", "a.txt"), "x-back", ["x-back"]],
  [
    "to a sibling with the root's name as prefix",
    path.join(base, "ws-evil", "x"),
    "x-prefix",
    ["x-prefix"],
  ],
  ["in a loop", "x-loop2", "x-loop1", ["x-loop1", "x-loop1/a"]],
  ["to itself", "x-self", "x-self", ["x-self"]],
];
for (const [kind, target, name, asked] of LINKS_THAT_LEAVE) {
  check(`a link that leaves is refused: ${kind}`, async () => {
    const failure = link(target, name, kind.includes("folder") ? "dir" : "file");
    if (failure) return failure;
    if (kind === "in a loop") fs.symlinkSync("x-loop1", inRoot("x-loop2"), "file");
    for (const file of asked) await refuses("SANDBOX_VIOLATION", file);
  });
}

check(
  "a dangling link inside is NOT_FOUND",
  async () =>
    link("missing", "l-dangling", "file") ?? void (await refuses("NOT_FOUND", "l-dangling")),
);

checkOn(!onWindows, "a root reached through a link: both spellings are inside", async () => {
  const linked = path.join(base, "ws-link");
  fs.symlinkSync("ws", linked);
  fs.symlinkSync(path.join(linked, "a.txt"), inRoot("l-other-spelling"));
  const where = { workspaceRoot: linked };
  for (const file of ["a.txt", path.join(linked, "a.txt"), inRoot("a.txt")])
    assert.equal((await read(file, {}, where)).path, "a.txt");
  for (const file of ["l-abs", "l-other-spelling"])
    assert.equal((await read(file, {}, where)).path, file);
});

checkOn(!onWindows, "an absolute path in other case is refused", async () => {
  if (fs.existsSync(inRoot("A.TXT"))) return skip("the volume is case-insensitive");
  await refuses("SANDBOX_VIOLATION", path.join(root.toUpperCase(), "a.txt"));
});

checkOn(onLinux, "magic links under /proc are refused", async () => {
  const proc = { workspaceRoot: "/proc/self" };
  for (const file of ["cwd", "root/etc/passwd", "exe", "fd/0", "task/../exe"])
    await refuses("SANDBOX_VIOLATION", file, {}, proc);
  fs.symlinkSync("/proc/self/root/etc/passwd", inRoot("x-magic"));
  await refuses("SANDBOX_VIOLATION", "x-magic");
});

checkOn(onLinux, "a file of /proc that reports no size is read to its end", async () => {
  const answer = await readFile({ workspaceRoot: "/proc/self" }, "status");
  assert.ok(answer.content.startsWith("Name:") && answer.meta.byte_length > 100);
});
