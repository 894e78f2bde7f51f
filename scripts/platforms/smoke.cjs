// The contract's §3 to §7 in one file without dependencies, for systems where the suite's own
// runner is not to be had: Node under Wine, Node under qemu, Bun on musl.
//
//     node smoke.cjs <addon.node> [containment]
//
// Prints one line per check and `N passed, N failed, N skipped`; exits 1 if one failed. With
// `containment` ("kernel" or "walk") that tier must be in force.
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");

const [, , addonPath, expectedContainment] = process.argv;
const {
  createFile,
  createFileSync,
  DirectoryStore,
  FileStore,
  readFile,
  readFileSync,
  readFileUri,
  readSourceDocument,
  Workspace,
  MAX_READ_FILE_SIZE_BYTES,
} = require(path.resolve(addonPath));
const onWindows = process.platform === "win32";
const onLinux = process.platform === "linux";

// ---- the tree ---------------------------------------------------------------------------------

// The canonical spelling, so that "the root through a link" below is the only other one.
const base = fs.realpathSync.native(fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-smoke-")));
const root = path.join(base, "ws");
const outside = path.join(base, "outside");
const inRoot = (...names) => path.join(root, ...names);
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

async function main() {
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

const content = async (file, options, where) => (await read(file, options, where)).content;

/** Asserts that both forms refuse, with a code, by the contract's error rules. */
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

// ---- §4: the answer ---------------------------------------------------------------------------

check("the answer has the specification's keys in its order", async () => {
  const answer = await read("a.txt");
  const stat = fs.statSync(inRoot("a.txt"));
  assert.deepEqual(Object.keys(answer), [
    "path",
    "content",
    "truncated",
    "next_start_line",
    "meta",
  ]);
  assert.deepEqual(Object.keys(answer.meta), [
    "byte_length",
    "line_count",
    "returned_line_count",
    "mtime_ms",
  ]);
  assert.deepEqual(answer, {
    path: "a.txt",
    content: "one\ntwo\nthree",
    truncated: false,
    next_start_line: null,
    meta: {
      byte_length: 14,
      line_count: 3,
      returned_line_count: 3,
      mtime_ms: Math.floor(stat.mtimeMs),
    },
  });
});

check("windows joined are the whole text", async () => {
  write("lines.txt", Array.from({ length: 250 }, (_, i) => `${i + 1}`).join("\r\n"));
  const first = await read("lines.txt");
  assert.deepEqual(
    [first.truncated, first.next_start_line, first.content.split("\n").length],
    [true, 201, 200],
  );
  const rest = await read("lines.txt", { start_line: 201, max_lines: 500 });
  assert.equal(
    `${first.content}\n${rest.content}`,
    fs.readFileSync(inRoot("lines.txt"), "utf8").replaceAll("\r\n", "\n"),
  );
  const past = await read("lines.txt", { start_line: 2 ** 53 - 1 });
  assert.deepEqual(
    [past.content, past.truncated, past.next_start_line, past.meta.line_count],
    ["", false, null, 250],
  );
});

check("a byte order mark is dropped, counted, and no line", async () => {
  write("bom.txt", "\uFEFFé\n");
  const answer = await read("bom.txt");
  assert.deepEqual([answer.content, answer.meta.byte_length], ["é\n", 6]);
  write("bom-only.txt", "\uFEFF");
  assert.equal((await read("bom-only.txt")).meta.line_count, 0);
});

check("what is not UTF-8 text is refused", async () => {
  write("with-nul.bin", "a\0b");
  write("latin.txt", Buffer.from([0x70, 0x31, 0x30, 0x99, 0x0a]));
  write("utf16.txt", Buffer.from([0xff, 0xfe, 0x68, 0, 0x69, 0]));
  await refuses("BINARY_NOT_SUPPORTED", "with-nul.bin");
  assert.match((await refuses("BINARY_NOT_SUPPORTED", "latin.txt")).message, /\b3\b.*\b1\b/);
  await refuses("BINARY_NOT_SUPPORTED", "utf16.txt");
});

check("the size limit is exact", async () => {
  assert.equal(MAX_READ_FILE_SIZE_BYTES, 1048576);
  write("limit.txt", "a".repeat(MAX_READ_FILE_SIZE_BYTES));
  write("over.txt", "a".repeat(MAX_READ_FILE_SIZE_BYTES + 1));
  assert.equal((await read("limit.txt")).meta.byte_length, MAX_READ_FILE_SIZE_BYTES);
  assert.match((await refuses("SIZE_LIMIT_EXCEEDED", "over.txt")).message, /1048577.*1048576/);
});

check("include_hash gives the SHA-256 of the bytes", async () => {
  const { meta } = await read("a.txt", { include_hash: true });
  assert.equal(
    meta.sha256,
    createHash("sha256")
      .update(fs.readFileSync(inRoot("a.txt")))
      .digest("hex"),
  );
});

check("null and undefined options mean the defaults", async () => {
  for (const options of [
    null,
    undefined,
    {},
    { start_line: null, max_lines: undefined, end_line: 5 },
  ]) {
    assert.equal((await read("a.txt", options)).meta.returned_line_count, 3);
  }
  assert.equal(await content("a.txt", { start_line: 2.0, max_lines: 1 }), "two");
});

check("wrong options are refused by name", async () => {
  for (const value of [0, -1, 1.5, NaN, Infinity, "10", true, {}, 10n]) {
    assert.match(
      (await refuses("INVALID_ARGUMENT", "a.txt", { start_line: value })).message,
      /start_line/,
    );
    assert.match(
      (await refuses("INVALID_ARGUMENT", "a.txt", { max_lines: value })).message,
      /max_lines/,
    );
  }
  await refuses("INVALID_ARGUMENT", "a.txt", { max_lines: 501 });
  await refuses("INVALID_ARGUMENT", "a.txt", { max_lines: 2 ** 32 + 1 });
});

check("wrong paths are refused by name", async () => {
  for (const file of [
    1,
    undefined,
    null,
    ["a"],
    {},
    { path: "a.txt" },
    "",
    " ",
    "a\0b",
    "\ud800",
  ]) {
    assert.match((await refuses("INVALID_ARGUMENT", file)).message, /path/);
  }
});

check("wrong contexts and roots are refused by name", async () => {
  const gone = path.join(base, "gone");
  for (const workspaceRoot of [undefined, 1, "", "ws", "./ws", gone, inRoot("a.txt")]) {
    assert.match(
      (await refuses("INVALID_ARGUMENT", "a.txt", {}, { workspaceRoot })).message,
      /workspaceRoot/,
    );
  }
  for (const where of [undefined, null, 1, "x"])
    await refuses("INVALID_ARGUMENT", "a.txt", {}, where);
});

check("an aborted signal rejects with its own reason", async () => {
  const reason = new Error("mine");
  await assert.rejects(
    readFile(context, "a.txt", { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
});

check("many reads at once all answer", async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => readFile(context, i % 2 ? "a.txt" : "sub/x.txt")),
  );
  for (const [i, answer] of answers.entries()) {
    assert.equal(answer.path, i % 2 ? "a.txt" : "sub/x.txt");
  }
});

// ---- §3: the sandbox, everywhere --------------------------------------------------------------

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

// ---- §3 on Windows ----------------------------------------------------------------------------

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

// ---- §3: symbolic links -----------------------------------------------------------------------

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

const up = (...names) => path.join("..", ...names);
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

// ---- §3: special files ------------------------------------------------------------------------

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

// ---- §5: createFile ----------------------------------------------------------------------------

const writable = { workspaceRoot: root };
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

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
      if (onWindows && answer.code === "PERMISSION_DENIED") continue;
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

// ---- file: URIs and source documents ----------------------------------------------------------

check("readFileUri: of a directory, in both scopes", async () => {
  fs.mkdirSync(inRoot("files"));
  write("files/notes.md", "# Notes\n");
  const roots = { space: root, chat: root };
  assert.equal((await readFileUri("file:///sub/x.txt", roots)).text, "x\n");
  const { path: where, text } = await readFileUri("file:notes.md", roots);
  assert.deepEqual([where, text], ["files/notes.md", "# Notes\n"]);
  for (const uri of ["file:///../outside/secret.txt", "file:///C:/a", "file:a%5Cb", "file:/a"]) {
    await assert.rejects(readFileUri(uri, roots), { code: "INVALID_URI" }, uri);
  }
  const missing = { message: "NOT_FOUND: Workspace file not found at /sub/none.md" };
  await assert.rejects(readFileUri("file:///sub/none.md", roots), missing);
});

check("FileStore: keeps bytes under their hash, and finds a flipped bit", async () => {
  const directory = path.join(base, "store", "made");
  const store = FileStore.open(directory);
  const stored = await Promise.all(
    Array.from({ length: 16 }, () => store.putBytes(Buffer.from("a"))),
  );
  const hash = sha256("a");
  assert.deepEqual(stored[15], { hash, size: 1 });
  const space = { store, resolve: async () => ({ hash, size: 1, mimeType: "text/plain" }) };
  assert.equal((await readFileUri("file:///a.txt", { space })).text, "a");
  fs.writeFileSync(path.join(directory, hash.slice(0, 2), hash.slice(2)), "b");
  await assert.rejects(store.getBytes(hash), { code: "CORRUPT" });
  await assert.rejects(readFileUri("file:///a.txt", { space }), { code: "CORRUPT" });
});

check(
  "readSourceDocument: by DocPath, of a directory and of a store of the host's own",
  async () => {
    const stores = [
      DirectoryStore.open(root),
      {
        get: async (docPath) =>
          docPath === "sub/x.txt" ? { bytes: Buffer.from("x\n"), sizeBytes: 2 } : null,
      },
    ];
    for (const store of stores) {
      const json = '{ "path": "sub/x.txt", "maxBytes": 1 }';
      const { file } = await readSourceDocument(json, { store });
      assert.deepEqual(file, { path: "sub/x.txt", sizeBytes: 2, content: "x", isTruncated: true });
      for (const docPath of ["../outside/secret.txt", "sub/none", "./sub/x.txt"]) {
        const { errorCode } = await readSourceDocument({ path: docPath }, { store });
        assert.equal(errorCode, "NOT_FOUND", docPath);
      }
    }
  },
);

// ---- last: it leaves the process without a working directory ---------------------------------

checkOn(!onWindows, "a deleted working directory changes nothing", async () => {
  const before = process.cwd();
  const cwd = fs.mkdtempSync(path.join(base, "cwd-"));
  process.chdir(cwd);
  fs.rmdirSync(cwd);
  try {
    assert.equal((await read("sub/x.txt")).path, "sub/x.txt");
  } finally {
    process.chdir(before);
  }
});

main();
