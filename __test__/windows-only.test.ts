// Tests that need a real Windows: junctions, streams, sharing, and the many spellings of one path.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { createFile, nearMisses, readFile, Workspace, workspaceSnapshot } from "../index.js";
import { inEveryWay } from "./support/create.ts";
import { WINDOWS_NAMES } from "./support/hostile.ts";
import { noSymlinks, notWindows } from "./support/platform.ts";
import { looseReadFile, readEveryWay, refuseEveryWay } from "./support/read.ts";
import { inWorkspace, SECRET, type TestWorkspace } from "./support/workspace.ts";

/** Everything that stands outside a workspace, and must stand there unchanged. */
function outsideOf(ws: TestWorkspace): Record<string, string> {
  const files = fs.readdirSync(ws.outside).sort();
  return Object.fromEntries(
    files.map((file) => [file, fs.readFileSync(path.join(ws.outside, file), "utf8")]),
  );
}

function junction(ws: TestWorkspace, name: string, target: string): void {
  fs.symlinkSync(target, ws.at(name), "junction");
}

for (const [kind, make] of [
  ["a junction", junction],
  ["a symlink to a folder", (ws, name, target) => void ws.link(name, target, "dir")],
] satisfies [string, typeof junction][]) {
  const skip = notWindows || (make === junction ? false : noSymlinks);

  describe(`${kind} that leads out`, { skip }, () => {
    test(
      "is not read through, and what lies behind is never called missing",
      inWorkspace(async (ws) => {
        ws.writeOutside("secret.txt");
        make(ws, "out", ws.outside);
        ws.folder("dir");
        make(ws, "dir/parent", path.dirname(ws.root));
        for (const asked of [
          "out",
          "out/secret.txt",
          "out/absent.txt",
          "out\\secret.txt",
          "OUT/SECRET.TXT",
          "dir/../out/secret.txt",
          "dir/parent/outside/secret.txt",
          "dir/parent/ws/out/secret.txt",
        ]) {
          await refuseEveryWay(ws, asked, "SANDBOX_VIOLATION");
        }
      }),
    );

    test(
      "is not written through: no file is made, none replaced, no folder made",
      inEveryWay(async (creator) => {
        const { ws } = creator;
        ws.writeOutside("secret.txt");
        make(ws, "out", ws.outside);
        for (const file of ["out", "out/secret.txt", "out/new.txt", "out/new/new.txt"]) {
          for (const overwrite of [false, true]) {
            await creator.refuses({ path: file, content: "written", overwrite }, "InvalidPath");
          }
        }
        assert.deepEqual(outsideOf(ws), { "secret.txt": SECRET });
      }),
    );

    test(
      "is listed and not followed",
      inWorkspace(async (ws) => {
        ws.writeOutside("secret.txt");
        make(ws, "out", ws.outside);
        ws.write("a.txt", "");
        const { text } = await workspaceSnapshot(ws.context);
        assert.equal(text, "a.txt\nout (link)");
        assert.deepEqual(await nearMisses(ws.context, "out/secrets.txt"), []);
      }),
    );

    test(
      "is never read through while it is exchanged for one that stays inside",
      { timeout: 60_000 },
      inWorkspace(async (ws) => {
        ws.writeOutside("a.txt");
        ws.write("in/a.txt", "inside");
        const seen = new Set<string>();
        for (let round = 0; round < 300; round++) {
          const reads = Array.from({ length: 4 }, () => readFile(ws.context, "swapped/a.txt"));
          // Windows may keep the name for a moment, for the sake of those who still have it open.
          attempt(() => fs.rmdirSync(ws.at("swapped")));
          attempt(() => make(ws, "swapped", round % 2 === 0 ? ws.at("in") : ws.outside));
          for (const read of await Promise.allSettled(reads)) {
            seen.add(read.status === "fulfilled" ? read.value.content : read.reason.code);
          }
        }
        assert.ok(!seen.has(SECRET), "read through");
        assert.ok(seen.has("inside") && seen.has("SANDBOX_VIOLATION"), `no race: ${[...seen]}`);
      }),
    );
  });

  test(
    `${kind} that stays inside is walked like a folder`,
    { skip },
    inWorkspace(async (ws) => {
      ws.write("dir/a.txt", "inside");
      make(ws, "in", ws.at("dir"));
      assert.equal((await readEveryWay(ws, "in/a.txt")).content, "inside");
      const args = { path: "in/new/b.txt", content: "b" };
      assert.equal((await createFile(ws.writable, args)).errorCode, null);
      assert.equal(fs.readFileSync(ws.at("dir/new/b.txt"), "utf8"), "b");
    }),
  );
}

test(
  "a symlink to a file that leads out is neither read nor replaced",
  { skip: notWindows || noSymlinks },
  inEveryWay(async (creator) => {
    const { ws } = creator;
    const secret = ws.writeOutside("secret.txt");
    ws.link("absolute.txt", secret, "file");
    ws.link("relative.txt", "..\\outside\\secret.txt", "file");
    // Relative to the drive: it begins with a backslash and names no drive.
    ws.link("rooted.txt", secret.slice(2), "file");
    for (const file of ["absolute.txt", "relative.txt", "rooted.txt"]) {
      await refuseEveryWay(ws, file, "SANDBOX_VIOLATION");
      await creator.refuses({ path: file, content: "written", overwrite: true }, "InvalidPath");
    }
    assert.deepEqual(outsideOf(ws), { "secret.txt": SECRET });
  }),
);

describe("names that Windows gives another meaning", { skip: notWindows }, () => {
  for (const name of [...WINDOWS_NAMES, "COM¹", "lpt9.log", "conin$", "a?b", "dir\\nul", "..."]) {
    test(
      `${name} is refused by its spelling`,
      inEveryWay(async (creator) => {
        creator.ws.write("a.txt", "a");
        creator.ws.folder("dir");
        await refuseEveryWay(creator.ws, name, "SANDBOX_VIOLATION");
        for (const overwrite of [false, true]) {
          await creator.refuses({ path: name, content: "written", overwrite }, "InvalidPath");
        }
      }),
    );
  }

  test(
    "a stream of a file is not reached, though it is there",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "plain");
      fs.writeFileSync(`${ws.at("a.txt")}:stream`, SECRET);
      for (const asked of ["a.txt:stream", "a.txt:stream:$DATA", "./a.txt:stream"]) {
        await refuseEveryWay(ws, asked, "SANDBOX_VIOLATION");
      }
      const { content, meta } = await readEveryWay(ws, "a.txt");
      assert.deepEqual([content, meta.byte_length], ["plain", 5]);
    }),
  );
});

describe("another case", { skip: notWindows }, () => {
  test(
    "names the same file, for reading and for creating",
    inWorkspace(async (ws) => {
      ws.write("Dir/File.txt", "old");
      assert.equal((await readEveryWay(ws, "dir/FILE.TXT")).content, "old");
      const args = { path: "DIR/file.txt", content: "new" };
      assert.equal((await createFile(ws.writable, args)).errorCode, "FileExists");
      const replaced = await createFile(ws.writable, { ...args, overwrite: true });
      assert.deepEqual([replaced.errorCode, replaced.overwritten], [null, true]);
      assert.equal(fs.readdirSync(ws.at("Dir")).length, 1);
      assert.equal(fs.readFileSync(ws.at("Dir/File.txt"), "utf8"), "new");
    }),
  );

  test(
    "of the root is the root, in every spelling of its drive",
    inWorkspace(async (ws) => {
      const file = ws.write("a.txt", "a");
      for (const asked of [file, file.toUpperCase(), file.toLowerCase(), toSlashes(file)]) {
        assert.equal((await readEveryWay(ws, asked)).content, "a");
      }
    }),
  );

  test(
    "of one name is one file for creators that race for it",
    { timeout: 60_000 },
    inWorkspace(async (ws) => {
      const answers = await Promise.all(
        Array.from({ length: 32 }, (_, index) =>
          createFile(ws.writable, {
            path: index % 2 === 0 ? "race.txt" : "RACE.TXT",
            content: `${index}`,
          }),
        ),
      );
      assert.equal(answers.filter(({ created }) => created).length, 1);
      assert.equal(answers.filter(({ errorCode }) => errorCode === "FileExists").length, 31);
      assert.equal(fs.readdirSync(ws.root).length, 1);
    }),
  );
});

describe("spellings of an absolute path", { skip: notWindows }, () => {
  test(
    "\\\\?\\, \\\\.\\ and a share are refused, even where they name a file inside",
    inWorkspace(async (ws) => {
      const file = ws.write("a.txt", "a");
      const share = file.replace(/^(.):/, "\\\\localhost\\$1$$");
      for (const asked of [`\\\\?\\${file}`, `\\\\.\\${file}`, share, toSlashes(share)]) {
        await refuseEveryWay(ws, asked, "SANDBOX_VIOLATION");
      }
    }),
  );

  test(
    "a root may be given with \\\\?\\, with slashes, and by its short name",
    inWorkspace(async (ws) => {
      const file = ws.write("a.txt", "a");
      const long = fs.realpathSync.native(ws.root);
      for (const workspaceRoot of [`\\\\?\\${long}`, toSlashes(ws.root), `${ws.root}\\`, long]) {
        const { content, path: shown } = await looseReadFile({ workspaceRoot }, "a.txt");
        assert.deepEqual([content, shown], ["a", "a.txt"]);
      }
      // The temporary folder of many users has a short name, such as RUNNER~1, in its path.
      for (const asked of [file, path.join(long, "a.txt")]) {
        assert.equal((await readEveryWay(ws, asked)).path, "a.txt");
      }
    }),
  );

  test(
    "a root on a share is a sandbox like any other",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.writeOutside("secret.txt");
      const share = ws.root.replace(/^(.):/, "\\\\localhost\\$1$$");
      if (!fs.existsSync(share)) return; // only administrators have the share of a drive
      junction(ws, "out", ws.outside);
      const context = { workspaceRoot: share };
      assert.equal((await readFile(context, "a.txt")).content, "a");
      assert.equal((await readFile(context, `${share}\\a.txt`)).path, "a.txt");
      for (const asked of ["out/secret.txt", "../outside/secret.txt", `${share}\\..\\outside`]) {
        await assert.rejects(readFile(context, asked), { code: "SANDBOX_VIOLATION" });
      }
      const made = await createFile(context, { path: "dir/new.txt", content: "new" });
      assert.equal(made.errorCode, null, made.message);
    }),
  );
});

/** libuv opens a file without sharing it if the flags have this bit (`UV_FS_O_EXLOCK` of uv/win.h). */
const WITHOUT_SHARING = 0x1000_0000;
const noExclusive = notWindows || ("Bun" in globalThis && "Bun shares every file that it opens");

describe("a file that another program shares with nobody", { skip: noExclusive }, () => {
  test(
    "is waited for and then CONTENDED, and read once it is let go",
    { timeout: 30_000 },
    inWorkspace(async (ws) => {
      const held = fs.openSync(ws.write("a.txt", "a"), fs.constants.O_RDWR | WITHOUT_SHARING);
      try {
        await refuseEveryWay(ws, "a.txt", "CONTENDED");
      } finally {
        setTimeout(() => fs.closeSync(held), 200);
      }
      assert.equal((await readFile(ws.context, "a.txt")).content, "a");
    }),
  );

  test(
    "is not replaced, stays what it was, and nothing is left beside it",
    { timeout: 30_000 },
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root);
      const held = fs.openSync(ws.write("a.txt", "old"), fs.constants.O_RDWR | WITHOUT_SHARING);
      const args = { path: "a.txt", content: "new", overwrite: true };
      try {
        const refused = await createFile(workspace, args);
        assert.equal(refused.errorCode, "WriteFailed", refused.message);
        assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
      } finally {
        fs.closeSync(held);
      }
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "old");
      assert.equal((await createFile(workspace, args)).errorCode, null);
      workspace.close();
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "new");
    }),
  );
});

test(
  "a file that another program reads is replaced under its hands",
  { skip: notWindows },
  inWorkspace(async (ws) => {
    const reader = fs.openSync(ws.write("a.txt", "old"), "r");
    try {
      const args = { path: "a.txt", content: "new", overwrite: true };
      const replaced = await createFile(ws.writable, args);
      assert.equal(replaced.errorCode, null, replaced.message);
      assert.equal(fs.readFileSync(reader, "utf8"), "old");
    } finally {
      fs.closeSync(reader);
    }
    assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "new");
  }),
);

function toSlashes(spelled: string): string {
  return spelled.replaceAll("\\", "/");
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // The next round tries again.
  }
}
