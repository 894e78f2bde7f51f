// Tests that need a real macOS: names with two spellings, resource forks, and volumes with and without exclusive
// rename and full sync.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, describe, test } from "node:test";
import { type CreateFileResult, createFile, nearMisses, readFile } from "../index.js";
import { readEveryWay, refuseEveryWay } from "./support/read.ts";
import { inWorkspace, SECRET } from "./support/workspace.ts";

const notMacos = process.platform !== "darwin" && "a macOS rule: this is not macOS";

/** Temporaries that a write has left. */
function leftIn(folder: string): string[] {
  return fs.readdirSync(folder).filter((name) => name.startsWith(".rf-"));
}

/** Has one file made by one of many creators, who spell its name in these ways by turns. */
async function race(workspaceRoot: string, spellings: string[]): Promise<CreateFileResult[]> {
  return Promise.all(
    Array.from({ length: 32 }, (_, index) => {
      const spelled = spellings[index % spellings.length] ?? "";
      return createFile({ workspaceRoot }, { path: spelled, content: `${index}` });
    }),
  );
}

for (const [what, one, other] of [
  ["in another case", "File.txt", "fILE.TXT"],
  ["in another normal form", "é日本が.txt".normalize("NFC"), "é日本が.txt".normalize("NFD")],
  ["in another normal form and case", "É.txt".normalize("NFD"), "é.txt".normalize("NFC")],
] as const) {
  describe(`a name ${what}`, { skip: notMacos }, () => {
    test(
      "names the same file, for reading and for creating",
      inWorkspace(async (ws) => {
        ws.write(one, "old");
        assert.equal((await readEveryWay(ws, other)).content, "old");
        const args = { path: other, content: "new" };
        assert.equal((await createFile(ws.writable, args)).errorCode, "FileExists");
        assert.equal(fs.readFileSync(ws.at(one), "utf8"), "old");
        const replaced = await createFile(ws.writable, { ...args, overwrite: true });
        assert.deepEqual([replaced.errorCode, replaced.overwritten], [null, true]);
        assert.equal(fs.readFileSync(ws.at(one), "utf8"), "new");
        assert.equal(fs.readdirSync(ws.root).length, 1, "one file, and no temporary");
      }),
    );

    test(
      "names the same folder, in which files are made",
      inWorkspace(async (ws) => {
        ws.folder(one);
        const made = await createFile(ws.writable, { path: `${other}/a.txt`, content: "a" });
        assert.equal(made.errorCode, null, made.message);
        assert.equal(fs.readFileSync(ws.at(`${one}/a.txt`), "utf8"), "a");
        assert.equal(fs.readdirSync(ws.root).length, 1);
      }),
    );

    test(
      "names the same link, which leads out all the same",
      inWorkspace(async (ws) => {
        ws.writeOutside("secret.txt");
        ws.link(one, ws.outside, "dir");
        for (const spelled of [one, other]) {
          await refuseEveryWay(ws, `${spelled}/secret.txt`, "SANDBOX_VIOLATION");
          const args = { path: `${spelled}/secret.txt`, content: "written", overwrite: true };
          assert.equal((await createFile(ws.writable, args)).errorCode, "InvalidPath");
        }
        assert.equal(fs.readFileSync(path.join(ws.outside, "secret.txt"), "utf8"), SECRET);
      }),
    );

    test(
      "is one name for creators that race for it",
      { timeout: 30_000 },
      inWorkspace(async (ws) => {
        const answers = await race(ws.root, [one, other]);
        assert.equal(answers.filter(({ created }) => created).length, 1);
        assert.equal(answers.filter(({ errorCode }) => errorCode === "FileExists").length, 31);
        assert.equal(fs.readdirSync(ws.root).length, 1);
      }),
    );
  });
}

test(
  "a near miss is named whatever the normal form of what stands there",
  { skip: notMacos },
  inWorkspace(async (ws) => {
    for (const form of ["NFC", "NFD"]) {
      const folder = ws.folder(form);
      fs.writeFileSync(path.join(folder, "café.txt".normalize(form)), "");
      const found = await nearMisses(ws.context, `${form}/cafe.txt`);
      assert.deepEqual(
        found.map((name) => name.normalize("NFC")),
        [`${form}/café.txt`.normalize("NFC")],
      );
    }
  }),
);

describe("spellings of the root", { skip: notMacos }, () => {
  test(
    "/tmp and /private/tmp are the same root, from either side",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      assert.match(ws.root, /^\/private\/tmp\//);
      const short = ws.root.slice("/private".length);
      for (const workspaceRoot of [ws.root, short]) {
        for (const spelled of [ws.root, short]) {
          assert.equal((await readFile({ workspaceRoot }, `${spelled}/a.txt`)).path, "a.txt");
          const outside = `${path.dirname(spelled)}/outside`;
          await assert.rejects(readFile({ workspaceRoot }, outside), { code: "SANDBOX_VIOLATION" });
        }
      }
    }, "/tmp"),
  );

  test(
    "the root in another case is the root, a sibling is not",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      fs.mkdirSync(`${ws.root}-evil`);
      fs.writeFileSync(`${ws.root}-evil/a.txt`, SECRET);
      assert.equal((await readEveryWay(ws, `${ws.root.toUpperCase()}/a.txt`)).path, "a.txt");
      for (const asked of [`${ws.root}-evil/a.txt`, `${ws.root.toUpperCase()}-EVIL/a.txt`]) {
        await refuseEveryWay(ws, asked, "SANDBOX_VIOLATION");
      }
    }),
  );

  test(
    "a file's number is no way in",
    inWorkspace(async (ws) => {
      const { dev, ino } = fs.statSync(ws.write("a.txt", "a"));
      await refuseEveryWay(ws, `/.vol/${dev}/${ino}`, "SANDBOX_VIOLATION");
    }),
  );
});

test(
  "a resource fork is neither read nor written through its file's name",
  { skip: notMacos },
  inWorkspace(async (ws) => {
    const fork = `${ws.write("a.txt", "plain")}/..namedfork/rsrc`;
    fs.writeFileSync(fork, SECRET);
    await refuseEveryWay(ws, "a.txt/..namedfork/rsrc", "NOT_FOUND");
    await refuseEveryWay(ws, "a.txt/rsrc", "NOT_FOUND");
    for (const overwrite of [false, true]) {
      const args = { path: "a.txt/..namedfork/rsrc", content: "written", overwrite };
      assert.equal((await createFile(ws.writable, args)).errorCode, "DirectoryCreateFailed");
    }
    assert.equal(fs.readFileSync(fork, "utf8"), SECRET);
    assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "plain");
  }),
);

// Files are synced by default, so each of these has passed F_FULLFSYNC, or was told that the volume has none.
for (const fileSystem of ["APFS", "Case-sensitive APFS", "HFS+", "ExFAT"]) {
  const folder = notMacos ? "" : fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-volume-"));
  const volume = path.join(folder, "volume");
  const skip = notMacos || whyNoVolume(fileSystem, folder, volume);

  describe(`a volume of ${fileSystem}`, { skip }, () => {
    after(() => {
      if (skip) return;
      hdiutil("detach", "-quiet", "-force", volume);
      fs.rmSync(folder, { recursive: true, force: true });
    });

    test(
      "files are made, kept from being replaced, and replaced",
      inWorkspace(async (ws) => {
        for (const [args, code] of [
          [{ path: "dir/a.txt", content: "one" }, null],
          [{ path: "dir/a.txt", content: "two" }, "FileExists"],
          [{ path: "dir/a.txt", content: "three", overwrite: true }, null],
        ] as const) {
          const { errorCode, message } = await createFile(ws.writable, args);
          assert.equal(errorCode, code, message);
        }
        assert.equal((await readEveryWay(ws, "dir/a.txt")).content, "three");
        assert.deepEqual(leftIn(ws.at("dir")), []);
      }, volume),
    );

    test(
      "one of many creators wins",
      { timeout: 30_000 },
      inWorkspace(async (ws) => {
        const answers = await race(ws.root, ["race.txt"]);
        assert.equal(answers.filter(({ created }) => created).length, 1);
        assert.equal(answers.filter(({ errorCode }) => errorCode === "FileExists").length, 31);
        assert.deepEqual(leftIn(ws.root), []);
      }, volume),
    );
  });
}

/** Makes and mounts a disk image, or says why there is none. */
function whyNoVolume(fileSystem: string, folder: string, volume: string): false | string {
  const image = path.join(folder, "image.dmg");
  const kind = ["-size", "64m", "-fs", fileSystem, "-volname", "ringfence"];
  try {
    hdiutil("create", "-quiet", ...kind, image);
    hdiutil("attach", "-quiet", "-nobrowse", "-mountpoint", volume, image);
    return false;
  } catch (error) {
    return `hdiutil makes no such volume here: ${error}`;
  }
}

function hdiutil(...args: string[]): void {
  execFileSync("hdiutil", args, { stdio: ["ignore", "ignore", "pipe"] });
}
