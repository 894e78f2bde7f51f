// What leaves the workspace and what is special is refused: docs/contract.md §3.
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const net = require("node:net");
const path = require("node:path");
const {
  addon,
  base,
  check,
  checkOn,
  content,
  context,
  expectedContainment,
  inRoot,
  onWindows,
  outside,
  read,
  refuses,
  root,
  skip,
  write,
} = require("./harness.cjs");

const { readFile, Workspace } = addon;

check(`containment is ${expectedContainment ?? "named"}`, async () => {
  const workspace = Workspace.open(root);
  assert.ok(["kernel", "walk"].includes(workspace.containment), workspace.containment);
  if (expectedContainment) assert.equal(workspace.containment, expectedContainment);
  assert.equal(await content("sub/x.txt", {}, workspace), "x\n");
});

check("separators, dots and dot-dots collapse", async () => {
  const spellings = [
    "sub\\x.txt",
    "sub//.\\x.txt",
    "nope/../sub/x.txt",
    "sub/deep/../x.txt",
    "./sub/x.txt",
  ];
  for (const file of spellings) assert.equal((await read(file)).path, "sub/x.txt", file);
});

check("names with dots, brackets and letters of any script are names", async () => {
  const names = [
    "..foo",
    "a..b",
    "[id]",
    "a%2Fb",
    "日本語 🎉.txt",
    ...(onWindows ? [] : ["...", "aux.c", "C:", "a ", "nul"]),
  ];
  for (const name of names) {
    write(name, name);
    assert.deepEqual([await content(name), (await read(name)).path], [name, name]);
  }
});

check("rising above the root is refused", async () => {
  for (const file of [
    "..",
    "../outside/secret.txt",
    "sub/../../outside/secret.txt",
    "..\\ws-evil\\x",
    "../ws-evil/x",
    "../ws/a.txt",
  ]) {
    await refuses("SANDBOX_VIOLATION", file);
  }
});

check("drives, shares and absolute paths elsewhere are refused", async () => {
  const spellings = [
    "C:\\Users\\me",
    "C:/Users/me",
    "z:\\nope",
    "\\\\server\\share\\x",
    "\\\\?\\C:\\x",
    "\\\\.\\nul",
    "/etc/passwd",
    "\\a.txt",
    "/a.txt",
  ];
  for (const file of [
    ...spellings,
    path.join(outside, "secret.txt"),
    `${root}-evil${path.sep}x`,
    `${root}${path.sep}..${path.sep}outside`,
  ]) {
    await refuses("SANDBOX_VIOLATION", file);
  }
});

check("an absolute path inside the root is accepted", async () => {
  const spellings = [
    inRoot("sub", "x.txt"),
    `${root}/sub/./x.txt`,
    `${root.replaceAll("\\", "/")}/sub/x.txt`,
  ];
  for (const file of spellings) assert.equal((await read(file)).path, "sub/x.txt", file);
});

check("what is missing is NOT_FOUND, a folder NOT_FILE", async () => {
  const missing = [
    "missing.txt",
    "missing/x",
    "a.txt/x",
    "a.txt/",
    "a.txt/.",
    "sub/a.txt",
    "n".repeat(300),
    "🎉".repeat(200),
    "~/a.txt",
  ];
  for (const file of missing) await refuses("NOT_FOUND", file);
  for (const file of ["sub", "sub/", "sub/.", ".", "./", "sub/..", root])
    await refuses("NOT_FILE", file);
});

check("a file can be renamed and removed while it is read", async () => {
  for (let round = 0; round < 30; round += 1) {
    write("moving.txt", "m".repeat(500_000));
    const pending = [readFile(context, "moving.txt"), readFile(context, "moving.txt")];
    await new Promise((resolve) => (round % 2 ? setImmediate(resolve) : process.nextTick(resolve)));
    fs.renameSync(inRoot("moving.txt"), inRoot("moved.txt"));
    fs.rmSync(inRoot("moved.txt"));
    for (const outcome of await Promise.allSettled(pending)) {
      if (outcome.status === "fulfilled") assert.equal(outcome.value.meta.byte_length, 500_000);
      else assert.equal(outcome.reason.code, "NOT_FOUND", outcome.reason.message);
    }
  }
});

check("a root that is removed while open is the host's mistake", async () => {
  const doomed = path.join(base, "doomed");
  fs.mkdirSync(doomed);
  const workspace = Workspace.open(doomed);
  try {
    fs.rmdirSync(doomed);
  } catch (error) {
    return skip(`the system keeps an open directory: ${error.code}`);
  }
  // Windows removes the name when the last handle goes: there the folder may just be empty.
  const error = await readFile(workspace, "a.txt").catch((reason) => reason);
  assert.ok(
    (onWindows ? ["INVALID_ARGUMENT", "NOT_FOUND"] : ["INVALID_ARGUMENT"]).includes(error.code),
    error.message,
  );
  if (error.code === "INVALID_ARGUMENT") assert.match(error.message, /workspaceRoot/);
});

checkOn(!onWindows, "a FIFO answers at once", async () => {
  if (spawnSync("mkfifo", [inRoot("live.pipe")]).status !== 0) return skip("no mkfifo");
  const started = Date.now();
  await refuses("NOT_FILE", "live.pipe");
  assert.ok(Date.now() - started < 1000, "waited");
});

checkOn(!onWindows, "sockets and devices answer at once", async () => {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(inRoot("s.sock"), resolve));
  try {
    await refuses("NOT_FILE", "s.sock");
  } finally {
    server.close();
  }
  for (const device of ["null", "zero", "tty"]) {
    if (fs.existsSync(`/dev/${device}`))
      await refuses("NOT_FILE", device, {}, { workspaceRoot: "/dev" });
  }
});
