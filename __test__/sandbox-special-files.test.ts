// FIFOs, sockets and devices are answered at once; files of /proc are read, its magic links are not.
// docs/contract.md §3, spec read_file §4.3.

import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import { describe, test } from "node:test";
import { readFile, readFileSync, Workspace } from "../index.js";
import {
  mkfifo,
  mknodNull,
  noDevices,
  noFifos,
  noSymlinks,
  notLinux,
  notPosix,
} from "./support/platform.ts";
import { exception, refuseEveryWay, rejection } from "./support/read.ts";
import { inWorkspace } from "./support/workspace.ts";

// A read that waits for a writer would wait for ever: the test fails instead.
const AT_ONCE = { timeout: 3_000 };

describe("FIFOs", { skip: noFifos }, () => {
  test(
    "F01: a FIFO without a writer is NOT_FILE at once",
    AT_ONCE,
    inWorkspace(async (ws) => {
      mkfifo(ws.at("live.pipe"));
      const { path } = await refuseEveryWay(ws, "live.pipe", "NOT_FILE");
      assert.equal(path, "live.pipe");
    }),
  );

  test(
    "F01: a FIFO with data is NOT_FILE, and loses none of it",
    AT_ONCE,
    inWorkspace(async (ws) => {
      mkfifo(ws.at("live.pipe"));
      const fd = fs.openSync(ws.at("live.pipe"), fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
      fs.writeSync(fd, "data");
      await refuseEveryWay(ws, "live.pipe", "NOT_FILE");
      const rest = Buffer.alloc(10);
      assert.equal(fs.readSync(fd, rest), 4);
      fs.closeSync(fd);
    }),
  );

  test(
    "F01: a link in the root to a FIFO is NOT_FILE at once",
    AT_ONCE,
    inWorkspace(async (ws) => {
      mkfifo(ws.at("live.pipe"));
      ws.link("l", "live.pipe");
      ws.link("absolute", ws.at("live.pipe"));
      await refuseEveryWay(ws, "l", "NOT_FILE");
      await refuseEveryWay(ws, "absolute", "NOT_FILE");
    }),
  );

  test(
    "F01: many FIFOs at once do not hold up a file",
    AT_ONCE,
    inWorkspace(async (ws) => {
      mkfifo(ws.at("live.pipe"));
      ws.write("a.txt", "a");
      const refusals = Array.from({ length: 32 }, () =>
        rejection(() => readFile(ws.context, "live.pipe"), ws.hidden),
      );
      const { content } = await readFile(ws.context, "a.txt");
      assert.equal(content, "a");
      for (const { code } of await Promise.all(refusals)) assert.equal(code, "NOT_FILE");
    }),
  );
});

test(
  "F01: a socket is NOT_FILE at once",
  { ...AT_ONCE, skip: notPosix },
  inWorkspace(async (ws) => {
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(ws.at("sock"), resolve));
    await refuseEveryWay(ws, "sock", "NOT_FILE");
    await new Promise((resolve) => server.close(resolve));
  }),
);

describe("devices", () => {
  test(
    "F01: a device file in the root is NOT_FILE",
    { ...AT_ONCE, skip: noDevices },
    inWorkspace(async (ws) => {
      mknodNull(ws.at("null"));
      await refuseEveryWay(ws, "null", "NOT_FILE");
    }),
  );

  test(
    "G01: a link to a device outside is a violation",
    { ...AT_ONCE, skip: notPosix },
    inWorkspace(async (ws) => {
      for (const device of ["null", "zero", "tty", "stdin", "fd/0"]) {
        ws.link(device.replace("/", "-"), `/dev/${device}`);
        await refuseEveryWay(ws, device.replace("/", "-"), "SANDBOX_VIOLATION");
      }
    }),
  );

  for (const device of ["null", "zero", "random", "tty"]) {
    test(`F01: with /dev as root, ${device} is NOT_FILE at once`, {
      ...AT_ONCE,
      skip: notPosix || (!fs.existsSync(`/dev/${device}`) && "no such device"),
    }, async () => {
      const context = { workspaceRoot: "/dev" };
      const { code } = await rejection(() => readFile(context, device));
      assert.equal(code, "NOT_FILE");
    });
  }
});

describe("/proc", { skip: notLinux }, () => {
  const self = { workspaceRoot: "/proc/self" };
  const everything = { workspaceRoot: "/" };

  /** A status file is text of many lines, though stat says that it holds 0 bytes. */
  function looksLikeStatus({ content, meta }: Awaited<ReturnType<typeof readFile>>): void {
    assert.match(content, /^Name:\t/);
    assert.equal(meta.byte_length, Buffer.byteLength(content));
    assert.equal(meta.line_count, content.split("\n").length - 1);
  }

  test("F04: with /proc/self as root, status is read to its end", async () => {
    looksLikeStatus(await readFile(self, "status"));
    looksLikeStatus(readFileSync(self, "status"));
  });

  test("F04: with /proc/self as root of a Workspace, status is this process's", async () => {
    const workspace = Workspace.open("/proc/self");
    const { content } = await readFile(workspace, "status");
    workspace.close();
    assert.match(content, new RegExp(`^Pid:\\t${process.pid}$`, "m"));
  });

  test("F04: with / as root, proc/self/status is read to its end", async () => {
    const answer = await readFile(everything, "proc/self/status");
    looksLikeStatus(answer);
    assert.equal(answer.path, "proc/self/status");
  });

  test("F04: with / as root, an absolute path is inside", async () => {
    const answer = await readFile(everything, "/proc/self/status");
    looksLikeStatus(answer);
    assert.equal(answer.path, "proc/self/status");
  });

  test("F04: with / as root, nothing rises above it", async () => {
    const { code } = await rejection(() => readFile(everything, "../etc/passwd"));
    assert.equal(code, "SANDBOX_VIOLATION");
  });

  test(
    "F04: with / as root, an absolute link is followed",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.link("l", ws.write("a.txt", "a"));
      const { content } = await readFile(everything, ws.at("l"));
      assert.equal(content, "a");
    }),
  );

  for (const magic of [
    "exe",
    "cwd",
    "root",
    "cwd/package.json",
    "root/etc/passwd",
    "fd/0",
    "ns/mnt",
    "task/../exe",
  ]) {
    test(`F04: the magic link ${magic} is a violation`, AT_ONCE, async () => {
      const { code } = await rejection(() => readFile(self, magic));
      assert.equal(code, "SANDBOX_VIOLATION");
      assert.equal(exception(() => readFileSync(self, magic)).code, "SANDBOX_VIOLATION");
    });
  }

  for (const magic of ["proc/self/exe", "proc/self/root/etc/passwd", "dev/stdin", "dev/fd/0"]) {
    test(`F04: with / as root, the magic link ${magic} is a violation`, {
      ...AT_ONCE,
      skip: !fs.existsSync("/dev/fd/0") && "no /dev/fd/0",
    }, async () => {
      const { code } = await rejection(() => readFile(everything, magic));
      assert.equal(code, "SANDBOX_VIOLATION");
    });
  }

  test(
    "F04: a magic link is no way even to a file inside the root",
    inWorkspace(async (ws) => {
      const fd = fs.openSync(ws.write("a.txt", "a"), "r");
      const { code } = await rejection(() => readFile(everything, `proc/self/fd/${fd}`));
      fs.closeSync(fd);
      assert.equal(code, "SANDBOX_VIOLATION");
    }),
  );

  test("F04: a file that says 0 bytes and has NULs is binary", async () => {
    const { code } = await rejection(() => readFile(self, "cmdline"));
    assert.equal(code, "BINARY_NOT_SUPPORTED");
  });

  test("E03: a file that says 0 bytes and has more than the cap is SIZE_LIMIT_EXCEEDED", {
    skip: kallsymsIsShort(),
  }, async () => {
    const { code } = await rejection(() => readFile({ workspaceRoot: "/proc" }, "kallsyms"));
    assert.equal(code, "SIZE_LIMIT_EXCEEDED");
  });

  function kallsymsIsShort(): false | string {
    try {
      const fd = fs.openSync("/proc/kallsyms", "r");
      const long = fs.readSync(fd, Buffer.alloc(10), 0, 10, 1_048_576) > 0;
      fs.closeSync(fd);
      return !long && "this kernel's /proc/kallsyms is short";
    } catch {
      return "no /proc/kallsyms to read";
    }
  }
});
