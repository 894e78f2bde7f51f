// Sizes from outside: an error if there is not enough memory, and a refusal before reading if no string could
// hold the text.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { memoryStore, unstorageStore } from "../dist/stores/index.js";
import { DirectoryStore, readFileUri, readSourceDocument } from "../index.js";
import { notLinux } from "./support/platform.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const CHILD = fileURLToPath(new URL("./support/memory-child.mjs", import.meta.url));
const SEARCHES = fileURLToPath(new URL("./support/search-memory.mjs", import.meta.url));
const noLimits = notLinux || (spawnSync("prlimit", ["--version"]).error ? "no prlimit" : false);

// F23: a failed allocation ends the process, so each allocation of a size from outside is tested.
test(
  "second look F23: near its memory limit the process lives, and every call ends with a code",
  { skip: noLimits, timeout: 120_000 },
  inWorkspace((ws) => {
    const child = spawnSync(process.execPath, [CHILD, ws.root], { encoding: "utf8" });
    assert.equal(child.status, 0, child.stderr);
    assert.deepEqual(JSON.parse(child.stdout), {
      near: {
        putBytes: "INTERNAL",
        directory: "INTERNAL_ERROR",
        wide: "INTERNAL_ERROR",
        host: "INTERNAL_ERROR",
        uri: "INTERNAL",
        broken: "INTERNAL",
      },
      reports: ["INTERNAL", "INTERNAL", "INTERNAL"],
    });
  }),
);

// Large files are searched one at a time, so threads do not add up what they take.
test(
  "the worst searches of the worst tree take less than 256 MiB",
  { skip: notLinux, timeout: 120_000 },
  inWorkspace((ws) => {
    const child = spawnSync(process.execPath, [SEARCHES, ws.root], { encoding: "utf8" });
    assert.equal(child.status, 0, child.stderr);
    const searches = JSON.parse(child.stdout) as Record<
      string,
      { mebibytes: number; ended: string }
    >;
    assert.equal(Object.keys(searches).length, 6);
    for (const [name, { mebibytes, ended }] of Object.entries(searches)) {
      assert.ok(mebibytes < 256, `${name}: ${mebibytes} MiB`);
      assert.ok(["done", "TIMEOUT"].includes(ended), `${name}: ${ended}`);
    }
  }),
);

// F23: a document that cannot be answered because of its size is refused before it is read.
describe("second look F23: more than a string can hold is refused before it is read", () => {
  const GIB = 1024 ** 3;
  /** A file that takes no room on the disk. */
  const lay = (ws: TestWorkspace) => {
    const file = path.join(ws.root, "large.txt");
    fs.writeFileSync(file, "");
    fs.truncateSync(file, 2 * GIB);
  };
  /** How much memory the process has had at most, in bytes. */
  const peak = () => process.resourceUsage().maxRSS * 1024;

  for (const maxBytes of [undefined, 1e9, Number.MAX_SAFE_INTEGER]) {
    test(
      `second look F23: a document in a directory, maxBytes ${maxBytes}`,
      inWorkspace(async (ws) => {
        lay(ws);
        const before = peak();
        const codes: unknown[] = [];
        const args = maxBytes === undefined ? {} : { maxBytes };
        for (const store of [ws.root, DirectoryStore.open(ws.root)]) {
          const onError = (error: unknown) => codes.push((error as { code?: unknown }).code);
          const context = { store, onError };
          const result = await readSourceDocument({ path: "large.txt", ...args }, context);
          assert.equal(result.errorCode, "INTERNAL_ERROR");
        }
        assert.deepEqual(codes, ["TOO_LARGE", "TOO_LARGE"]);
        await assert.rejects(() => DirectoryStore.open(ws.root).get("large.txt", args), {
          code: "TOO_LARGE",
        });
        await assert.rejects(readFileUri("file:///large.txt", { space: ws.root, ...args }), {
          code: "TOO_LARGE",
        });
        assert.ok(peak() - before < 64 * 1024 * 1024, `${peak() - before} bytes more`);
      }),
    );
  }

  test("second look F23: a document that its store declares larger than a string is not copied", async () => {
    const before = peak();
    const bytes = new Uint8Array(16);
    const told: unknown[] = [];
    const context = {
      store: { get: () => ({ bytes, sizeBytes: 2 * GIB }) },
      onError: (error: unknown) => told.push((error as { code?: unknown }).code),
    };
    await readSourceDocument({ path: "a" }, context);
    await readSourceDocument({ path: "a", maxBytes: 1e9 }, context);
    assert.deepEqual(told, ["TOO_LARGE", "TOO_LARGE"]);
    assert.ok(peak() - before < 64 * 1024 * 1024);
  });

  test("second look F23: a small document is read with every maxBytes", async () => {
    for (const maxBytes of [1e9, Number.MAX_SAFE_INTEGER]) {
      for (const store of [memoryStore({ a: "text" }), unstorageStore({ getItem: () => "text" })]) {
        const { file } = await readSourceDocument({ path: "a", maxBytes }, { store });
        assert.equal(file?.content, "text");
      }
    }
  });
});
