// `readBytes`: a range of a file's bytes. docs/contract.md §13.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { describe, test } from "node:test";
import {
  isReadBytesError,
  type ReadBytesOptions,
  type ReadBytesOutput,
  readBytes,
  readFile,
  Workspace,
} from "../index.js";
import { readManyInChild } from "./support/child.ts";
import { ABORT_REASONS, hostileProxy, STRANGERS, withGetter } from "./support/hostile.ts";
import {
  mkfifo,
  mknodNull,
  noDevices,
  noFifos,
  noPermissions,
  noSymlinks,
  notLinux,
  UNPRIVILEGED,
} from "./support/platform.ts";
import { Random } from "./support/random.ts";
import { mtimeMs, type Refusal, rejectionValue } from "./support/read.ts";
import { hex, inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const MIB = 1_048_576;

const loose = readBytes as unknown as (...args: unknown[]) => Promise<ReadBytesOutput>;

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Bytes in which no two places look alike. */
function pattern(size: number): Buffer {
  const numbers = new Uint32Array(Math.ceil(size / 4)).map((_, index) => index ^ 0x5a5a5a5a);
  return Buffer.from(numbers.buffer, 0, size);
}

/** Has the call refused with `code`, in words that `says` finds, and gives the error. */
async function refuses(
  ws: TestWorkspace,
  code: string,
  says: RegExp,
  ...args: unknown[]
): Promise<Refusal> {
  const error = (await rejectionValue(() => loose(...args))) as Refusal;
  assert.ok(isReadBytesError(error), String(error));
  assert.deepEqual(Object.keys(error), ["code", "path"]);
  assert.equal(error.code, code, error.message);
  assert.ok(error.message.startsWith(`${code}: `), error.message);
  assert.match(error.message, says);
  for (const hidden of ws.hidden) assert.ok(!`${error.message}${error.path}`.includes(hidden));
  return error;
}

describe("the answer", () => {
  test(
    "has the first mebibyte of a file, and facts about all of it",
    inWorkspace(async (ws) => {
      const bytes = pattern(MIB + 10);
      ws.write("a.bin", bytes);
      const workspace = Workspace.open(ws.root);
      for (const context of [ws.context, workspace]) {
        const answer = await readBytes(context, "./a.bin");
        const keys = ["path", "bytes", "offset", "byte_length", "media_type", "mtime_ms"];
        assert.deepEqual(Object.keys(answer), keys);
        assert.ok(answer.bytes instanceof Buffer);
        assert.ok(answer.bytes.equals(bytes.subarray(0, MIB)));
        const { bytes: _, ...facts } = answer;
        assert.deepEqual(facts, {
          path: "a.bin",
          offset: 0,
          byte_length: MIB + 10,
          media_type: "application/octet-stream",
          mtime_ms: mtimeMs(ws.at("a.bin")),
        });
      }
      workspace.close();
    }),
  );

  test(
    "has the range that was asked for, as far as the file goes",
    inWorkspace(async (ws) => {
      const bytes = pattern(200_000);
      ws.write("a.bin", bytes);
      for (const [offset, length] of [
        [0, 0],
        [0, 1],
        [1, 3],
        [8_191, 2],
        [65_535, 2],
        [65_536, 65_536],
        [199_999, 1],
        [199_999, 2],
        [150_000, 16 * MIB],
        [200_000, 1],
        [200_001, 1],
        [Number.MAX_SAFE_INTEGER, 16 * MIB],
      ] as const) {
        for (const include_hash of [false, true]) {
          const answer = await readBytes(ws.context, "a.bin", { offset, length, include_hash });
          assert.ok(answer.bytes.equals(bytes.subarray(offset, offset + length)));
          assert.deepEqual([answer.offset, answer.byte_length], [offset, 200_000]);
          assert.equal(answer.sha256, include_hash ? sha256(bytes) : undefined);
          assert.equal(Object.hasOwn(answer, "sha256"), include_hash);
        }
      }
    }),
  );

  test(
    "of random ranges is a slice of the file, and the ranges joined are the file",
    inWorkspace(async (ws) => {
      const random = new Random(3);
      for (let round = 0; round < 30; round += 1) {
        const bytes = pattern(random.pick([0, 1, 100, 8_192, 8_193, 65_536, 70_000, 300_000]));
        ws.write("a.bin", bytes);
        const length = 1 + random.below(100_000);
        const parts: Uint8Array[] = [];
        for (let offset = 0; offset < bytes.length; offset += length) {
          parts.push((await readBytes(ws.context, "a.bin", { offset, length })).bytes);
        }
        assert.ok(Buffer.concat(parts).equals(bytes));
        const offset = random.below(310_000);
        const part = await readBytes(ws.context, "a.bin", { offset, length });
        assert.ok(part.bytes.equals(bytes.subarray(offset, offset + length)));
      }
    }),
  );

  test(
    "has 16 MiB at most, of a file of any size",
    inWorkspace(async (ws) => {
      ws.write("large.bin", "start");
      fs.truncateSync(ws.at("large.bin"), 3 * 1024 ** 3);
      const end = { offset: 3 * 1024 ** 3 - 10, length: 16 * MIB };
      const answer = await readBytes(ws.context, "large.bin", end);
      assert.deepEqual([answer.bytes.length, answer.byte_length], [10, 3 * 1024 ** 3]);
      const most = await readBytes(ws.context, "large.bin", { offset: 2, length: 16 * MIB });
      assert.equal(most.bytes.length, 16 * MIB);
      assert.equal(most.bytes.subarray(0, 4).toString(), "art\0");
    }),
  );

  test(
    "can be changed by the caller, and shares no memory with another",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "abc");
      const one = await readBytes(ws.context, "a.txt");
      const other = await readBytes(ws.context, "a.txt");
      one.bytes.fill(0);
      assert.equal(other.bytes.toString(), "abc");
      const empty = await readBytes(ws.context, "a.txt", { length: 0 });
      assert.ok(Buffer.isBuffer(empty.bytes));
    }),
  );
});

describe("the media type", () => {
  test(
    "is told by the head of the file, then by its name, then by whether it is text",
    inWorkspace(async (ws) => {
      const png = hex("89 50 4E 47 0D 0A 1A 0A 00");
      for (const [name, bytes, expected] of [
        ["photo.txt", png, "image/png"],
        ["photo", png, "image/png"],
        ["a.jpg", hex("FF D8 FF E0 00"), "image/jpeg"],
        ["paper.bin", "%PDF-1.7\n", "application/pdf"],
        ["archive.jar", hex("50 4B 03 04 14 00"), "application/java-archive"],
        ["README.md", "# Title\n", "text/markdown"],
        ["main.ts", "let a = 1;\n", "text/typescript"],
        ["icon.svg", "<svg/>", "image/svg+xml"],
        ["empty.png", "", "image/png"],
        ["Makefile", "all:\n", "text/plain"],
        ["BM25", "BM25 ranks documents\n", "text/plain"],
        ["blob", hex("00 01 02"), "application/octet-stream"],
        ["folder.d/note", "größer\n", "text/plain"],
      ] as const) {
        ws.write(name, bytes);
        const { media_type } = await readBytes(ws.context, name);
        assert.equal(media_type, expected, name);
      }
    }),
  );

  test(
    "does not depend on the range",
    inWorkspace(async (ws) => {
      const bytes = Buffer.concat([hex("89 50 4E 47 0D 0A 1A 0A"), pattern(100_000)]);
      ws.write("photo", bytes);
      for (const [offset, length] of [
        [0, 0],
        [4, 2],
        [90_000, 5],
        [200_000, 5],
      ]) {
        for (const include_hash of [false, true]) {
          const options = { offset, length, include_hash } as ReadBytesOptions;
          assert.equal((await readBytes(ws.context, "photo", options)).media_type, "image/png");
        }
      }
    }),
  );

  test(
    "of a text whose 8,192nd byte is within a character is that of a text",
    inWorkspace(async (ws) => {
      for (const before of [8_189, 8_190, 8_191]) {
        ws.write("note", `${"a".repeat(before)}😀${"a".repeat(100)}`);
        assert.equal((await readBytes(ws.context, "note")).media_type, "text/plain");
      }
    }),
  );
});

describe("the hash", () => {
  test(
    "is the value that readFile gives, and sha256sum prints",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "\ufeffa\r\n");
      const { sha256: own } = await readBytes(ws.context, "a.txt", { include_hash: true });
      const { meta } = await readFile(ws.context, "a.txt", { include_hash: true });
      assert.equal(own, meta.sha256);
    }),
  );

  test(
    "is made of 64 MiB, and of no more",
    { timeout: 60_000 },
    inWorkspace(async (ws) => {
      ws.write("a.bin", "a");
      fs.truncateSync(ws.at("a.bin"), 64 * MIB);
      const options = { include_hash: true, length: 1 };
      const answer = await readBytes(ws.context, "a.bin", options);
      const expected = createHash("sha256").update("a");
      expected.update(Buffer.alloc(64 * MIB - 1));
      assert.equal(answer.sha256, expected.digest("hex"));
      fs.truncateSync(ws.at("a.bin"), 64 * MIB + 1);
      const says = /67108865 bytes, more than the limit of 67108864 bytes/;
      await refuses(ws, "SIZE_LIMIT_EXCEEDED", says, ws.context, "a.bin", options);
      assert.equal((await readBytes(ws.context, "a.bin", { length: 1 })).bytes.toString(), "a");
    }),
  );
});

describe("what is no file of the workspace", () => {
  test(
    "is refused as readFile refuses it, in its words",
    inWorkspace(async (ws) => {
      ws.folder("folder");
      ws.write("a.txt", "a");
      for (const path of [
        "missing",
        "./x/../missing",
        "a.txt/x",
        "a.txt/",
        "n".repeat(300),
        "a".repeat(100_000),
        "folder",
        ".",
        "../x",
        "/etc/passwd",
        "C:\\x",
        "",
        " ",
        "a\0b",
        "a\ud800",
        ws.at("missing"),
        `file://${ws.at("a.txt")}`,
        5,
        null,
        undefined,
        {},
      ]) {
        const alone = (await rejectionValue(() => readFile(ws.context, path as string))) as Refusal;
        const own = await refuses(ws, alone.code, /./, ws.context, path);
        assert.deepEqual([own.message, own.path], [alone.message, alone.path]);
      }
    }),
  );

  test(
    "a link is followed inside, and refused where it leads out or nowhere",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write("real.bin", "real");
      ws.writeOutside("secret.txt");
      ws.link("inside", "real.bin");
      ws.link("out", "../outside/secret.txt");
      ws.link("dangling", "gone");
      assert.equal((await readBytes(ws.context, "inside")).bytes.toString(), "real");
      await refuses(ws, "SANDBOX_VIOLATION", /leads out/, ws.context, "out");
      await refuses(ws, "NOT_FOUND", /no such file/, ws.context, "dangling");
    }),
  );

  test(
    "a FIFO is refused at once, with a hash, too",
    { skip: noFifos, timeout: 5_000 },
    inWorkspace(async (ws) => {
      mkfifo(ws.at("pipe"));
      const fd = fs.openSync(ws.at("pipe"), fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
      for (const include_hash of [false, true]) {
        await refuses(ws, "NOT_FILE", /FIFO/, ws.context, "pipe", { include_hash });
      }
      fs.closeSync(fd);
    }),
  );

  test(
    "a device is refused at once",
    { skip: noDevices, timeout: 5_000 },
    inWorkspace(async (ws) => {
      mknodNull(ws.at("null"));
      await refuses(ws, "NOT_FILE", /device/, ws.context, "null");
    }),
  );

  test(
    "what the process may not read is PERMISSION_DENIED, here and in readFiles",
    { skip: noPermissions },
    inWorkspace(async (ws) => {
      ws.write("closed.txt", "secret");
      fs.chmodSync(ws.at("closed.txt"), 0);
      for (const place of [ws.base, ws.root]) fs.chmodSync(place, 0o755);
      const { context } = ws;
      const [bytes, many] = await readManyInChild({
        user: UNPRIVILEGED,
        byteReads: [{ context, path: "closed.txt" }],
        manyReads: [{ context, args: { files: ["closed.txt"] } }],
      });
      assert.ok(bytes && "error" in bytes);
      assert.deepEqual(
        [bytes.error.name, bytes.error.code],
        ["ReadBytesError", "PERMISSION_DENIED"],
      );
      assert.ok(many && "answer" in many);
      const [item] = many.answer.items as { error: { code: string } }[];
      assert.equal(item?.error.code, "PERMISSION_DENIED");
    }),
  );
});

describe("files that are not as the system says", () => {
  test(
    "a file in /proc, of which it says 0 bytes, is read to its end",
    { skip: notLinux },
    inWorkspace(async (ws) => {
      const context = { workspaceRoot: "/proc/self" };
      const whole = await readBytes(context, "limits");
      assert.match(whole.bytes.toString(), /^Limit/);
      assert.equal(whole.byte_length, whole.bytes.length);
      assert.equal(whole.media_type, "text/plain");
      const part = await readBytes(context, "limits", { offset: 1, length: 4, include_hash: true });
      assert.equal(part.bytes.toString(), "imit");
      assert.deepEqual([part.byte_length, part.sha256], [whole.byte_length, sha256(whole.bytes)]);
      const past = await readBytes(context, "limits", { offset: 1_000_000 });
      assert.deepEqual([past.bytes.length, past.byte_length], [0, whole.byte_length]);
      await refuses(ws, "SANDBOX_VIOLATION", /magic link/, context, "exe");
    }),
  );

  test(
    "of a file that grows, the answer has one size, and no bytes beyond it",
    inWorkspace(async (ws) => {
      ws.write("log.txt", "x".repeat(100_000));
      let isGrowing = true;
      const growing = (async () => {
        for (let size = 100_000; isGrowing && size < MIB; size += 1_000) {
          fs.appendFileSync(ws.at("log.txt"), "y".repeat(1_000));
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      for (let round = 0; round < 40; round += 1) {
        const options = { length: 16 * MIB, include_hash: round % 2 === 0 };
        const answer = await readBytes(ws.context, "log.txt", options);
        assert.equal(answer.bytes.length, answer.byte_length);
        if (options.include_hash) assert.equal(answer.sha256, sha256(answer.bytes));
      }
      isGrowing = false;
      await growing;
    }),
  );
});

describe("arguments", () => {
  test(
    "of the wrong type or value are refused by name, and none is coerced",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const strangers = STRANGERS.map(([, stranger]) => stranger);
      const refused = (options: unknown, says: RegExp) =>
        refuses(ws, "INVALID_ARGUMENT", says, ws.context, "a.txt", options);
      for (const value of [-1, 0.5, "1", Number.NaN, Number.POSITIVE_INFINITY, ...strangers]) {
        await refused({ offset: value }, /offset must be an integer >= 0, got/);
        await refused({ length: value }, /length must be an integer >= 0 and <= 16777216, got/);
      }
      await refused({ offset: 2 ** 53 }, /offset must be an integer >= 0, got 9007199254740992/);
      await refused({ length: 16 * MIB + 1 }, /length must be .* got 16777217: a\.txt$/);
      await refused({ length: 2 ** 32 }, /length must be .* got 4294967296/);
      await refused({ include_hash: 1 }, /include_hash must be true or false, got 1/);
      await refused({ signal: {} }, /signal must be an AbortSignal/);
      for (const options of [5, "x", [], true]) await refused(options, /options must be an object/);
      for (const key of ["offset", "length", "include_hash"]) {
        await refused(withGetter(key), new RegExp(`${key} could not be read`));
      }
      await refused(hostileProxy(), /could not be read/);
    }),
  );

  test(
    "null and undefined are absent, -0 and 2.0 are integers, and unknown keys are ignored",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "abc");
      for (const nothing of [null, undefined]) {
        const options = {
          offset: nothing,
          length: nothing,
          include_hash: nothing,
          signal: nothing,
        };
        assert.equal((await readBytes(ws.context, "a.txt", options)).bytes.toString(), "abc");
        assert.equal((await readBytes(ws.context, "a.txt", nothing)).bytes.toString(), "abc");
      }
      const answer = await loose(ws.context, "a.txt", { offset: -0, length: 2.0, limit: 1 });
      assert.equal(answer.bytes.toString(), "ab");
      assert.ok(Object.is(answer.offset, 0));
    }),
  );

  test(
    "a context without a usable root is refused",
    inWorkspace(async (ws) => {
      for (const context of [{}, { workspaceRoot: "x" }, { workspaceRoot: ws.at("gone") }]) {
        await refuses(ws, "INVALID_ARGUMENT", /workspaceRoot/, context, "a.txt");
      }
      await refuses(ws, "INVALID_ARGUMENT", /context must be/, null, "a.txt");
    }),
  );
});

describe("abort", () => {
  for (const [name, reason] of ABORT_REASONS) {
    test(
      `a signal that is aborted already ends the call with its reason, ${name}`,
      inWorkspace(async (ws) => {
        const signal = AbortSignal.abort(reason);
        for (const args of [
          [ws.context, "a.txt", { signal }],
          [ws.context, 5, { signal, offset: -1 }],
          [{ ...ws.context, signal }, "a.txt"],
        ]) {
          assert.equal(await rejectionValue(() => loose(...args)), reason);
        }
      }),
    );
  }

  test(
    "a call under way rejects with the reason, and its worker hashes no further",
    inWorkspace(async (ws) => {
      ws.write("large.bin", "a");
      fs.truncateSync(ws.at("large.bin"), 64 * MIB);
      const controller = new AbortController();
      const options = { include_hash: true, signal: controller.signal };
      const calls = Array.from({ length: 8 }, () =>
        rejectionValue(() => readBytes(ws.context, "large.bin", options)),
      );
      setTimeout(() => controller.abort("enough"), 5);
      assert.deepEqual(await Promise.all(calls), Array(8).fill("enough"));
      const began = performance.now();
      const next = Array.from({ length: 8 }, () => readBytes(ws.context, "large.bin"));
      assert.equal((await Promise.all(next)).length, 8);
      assert.ok(performance.now() - began < 2_000, "the workers are free");
    }),
  );
});
