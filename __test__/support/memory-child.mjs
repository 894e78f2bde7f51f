// What a process does that has hardly any memory left: node memory-child.mjs <folder>. It loads
// everything, makes what it needs, has prlimit (util-linux) forbid it to take more than 160 MiB, and
// prints how each call ended, as JSON. Linux.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { FileStore, readFileUri, readSourceDocument } from "../../index.js";

const MIB = 1024 * 1024;
const folder = process.argv[2];
const store = FileStore.open(path.join(folder, "store"));
const large = new Uint8Array(300 * MIB).fill(0x61);
// The engine's own memory for a text of other letters than Latin ones is twice its length.
for (const [name, letter] of [
  ["latin.txt", "a"],
  ["wide.txt", "я"],
  ["broken.txt", "\xff"],
]) {
  const encoding = name === "broken.txt" ? "latin1" : "utf8";
  const file = fs.openSync(path.join(folder, name), "w");
  const chunk = Buffer.from(letter.repeat(MIB), encoding);
  for (let i = 0; i < 200; i++) fs.writeSync(file, chunk);
  fs.closeSync(file);
}

const document = (bytes) => ({ get: () => ({ bytes, sizeBytes: bytes.length }) });
const wide = { space: folder, maxBytes: 500 * MIB };
const reports = [];
const onError = (error) => reports.push(error.code);
const CALLS = {
  putBytes: () => store.putBytes(large),
  directory: () => readSourceDocument({ path: "latin.txt" }, { store: folder, onError }),
  wide: () => readSourceDocument({ path: "wide.txt" }, { store: folder, onError }),
  host: () => readSourceDocument({ path: "a" }, { store: document(large), onError }),
  uri: () => readFileUri("file:///latin.txt", wide),
  broken: () => readFileUri("file:///broken.txt", wide),
};

const outcomes = async () => {
  const ended = {};
  for (const [name, call] of Object.entries(CALLS)) {
    try {
      const { errorCode } = await call();
      ended[name] = errorCode ?? "done";
    } catch (error) {
      ended[name] = error.code;
    }
  }
  return ended;
};

// The threads of the pool take their memory before there is none.
await Promise.all(
  Array.from({ length: 16 }, () => readSourceDocument({ path: "x" }, { store: folder })),
);
await store.putBytes(Buffer.from("small"));
const size = Number(/VmSize:\s+(\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))?.[1]);
const limit = size * 1024 + 160 * MIB;
execFileSync("prlimit", ["--pid", String(process.pid), `--as=${limit}`]);
const near = await outcomes();
await store.putBytes(Buffer.from("small again"));
fs.writeSync(1, `${JSON.stringify({ near, reports })}\n`);
process.exit(0);
