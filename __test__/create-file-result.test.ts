// The result of createFile: its shape, codes, messages and path, and the order of refusals.
// Spec create_file §4.3 and §5.3, docs/contract.md §5.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { createFile, createFileSync, MAX_READ_FILE_SIZE_BYTES, Workspace } from "../index.js";
import {
  checkResult,
  inEveryWay,
  looseCreateFile,
  refuseCreate,
  sha256,
} from "./support/create.ts";
import { mkfifo, noFifos, noSymlinks, notPosix } from "./support/platform.ts";
import { inWorkspace } from "./support/workspace.ts";

const TOO_LARGE = "a".repeat(MAX_READ_FILE_SIZE_BYTES + 1);

describe("success", () => {
  test(
    "O13: a new file is created, not overwritten",
    inEveryWay((creator) => creator.creates({ path: "a.txt", content: "x" }, { bytes: "x" })),
  );

  test(
    "an existing file is overwritten, not created",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old and longer");
      await creator.creates({ path: "a.txt", content: "new", overwrite: true }, { bytes: "new" });
    }),
  );

  test(
    "overwrite without an existing file is a normal create",
    inEveryWay((creator) =>
      creator.creates({ path: "a.txt", content: "new", overwrite: true }, { bytes: "new" }),
    ),
  );

  test(
    "a file that already holds the same bytes is overwritten all the same",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "same");
      await creator.creates({ path: "a.txt", content: "same", overwrite: true }, { bytes: "same" });
    }),
  );

  test(
    "the promise is a real one and the sync form returns the result itself",
    inWorkspace(async (ws) => {
      const promise = createFile(ws.writable, { path: "a.txt", content: "a" });
      assert.ok(promise instanceof Promise);
      assert.equal((await promise).created, true);
      assert.equal(createFileSync(ws.writable, { path: "b.txt", content: "b" }).created, true);
    }),
  );

  test(
    "a result belongs to the caller and may be changed",
    inWorkspace(async (ws) => {
      const result = await createFile(ws.writable, { path: "a.txt", content: "a" });
      result.message = "mine";
      assert.equal(result.message, "mine");
    }),
  );

  test(
    "parents that are missing are made",
    inEveryWay((creator) => creator.creates({ path: "a/b/c/d.txt", content: "d" }, { bytes: "d" })),
  );

  test(
    "I14: parents that exist are used",
    inEveryWay(async (creator) => {
      creator.ws.write("docs/old.md", "old");
      await creator.creates({ path: "docs/new.md", content: "new" }, { bytes: "new" });
    }),
  );
});

describe("path", () => {
  test(
    "is normalised on success",
    inEveryWay((creator) =>
      creator.creates(
        { path: ".\\src\\.net//./x/..\\main.rs", content: "a" },
        { path: "src/.net/main.rs", bytes: "a" },
      ),
    ),
  );

  for (const [code, args] of [
    ["FileExists", { content: "a" }],
    ["TooLarge", { content: TOO_LARGE, overwrite: true }],
    ["UnhandledException", { content: 5 }],
  ] as const) {
    test(
      `is normalised in a refusal: ${code}`,
      inEveryWay(async (creator) => {
        creator.ws.write("src/a.ts", "old");
        const result = await creator.refuses({ path: "./src//b\\..\\a.ts", ...args }, code);
        assert.equal(result.path, "src/a.ts");
      }),
    );
  }

  test(
    "is normalised where a folder stands in its place",
    inEveryWay(async (creator) => {
      creator.ws.folder("src/a");
      const result = await creator.refuses({ path: "src\\./a", content: "a" }, "InvalidPath");
      assert.equal(result.path, "src/a");
    }),
  );

  test(
    "is normalised where a parent cannot be made",
    inEveryWay(async (creator) => {
      creator.ws.write("f", "file");
      const args = { path: "f\\.\\x.md", content: "a" };
      assert.equal((await creator.refuses(args, "DirectoryCreateFailed")).path, "f/x.md");
    }),
  );

  test(
    "is normalised where the workspace is read-only",
    inEveryWay(async (creator) => {
      const settings = { writeScope: "read-only" };
      const args = { path: "src\\a.ts", content: "a" };
      assert.equal((await creator.refuses(args, "WriteFailed", /./, settings)).path, "src/a.ts");
    }),
  );

  for (const path of ["../x.md", "a/../../x.md", "~/x.md", "/etc/x.md", "C:\\x.md", "a\nb", ""]) {
    test(
      `is as given where it cannot be normalised: ${JSON.stringify(path)}`,
      inEveryWay(async (creator) => {
        const result = await creator.refuses({ path, content: "a" }, "InvalidPath");
        assert.equal(result.path, path);
      }),
    );
  }

  for (const [name, path] of [
    ["missing", undefined],
    ["null", null],
    ["a number", 5],
    ["an object", { toString: () => "a.txt" }],
  ] as const) {
    test(
      `is empty where none came: ${name}`,
      inEveryWay(async (creator) => {
        const result = await creator.refuses({ path, content: "a" }, "InvalidPath");
        assert.equal(result.path, "");
      }),
    );
  }
});

describe("codes", () => {
  test(
    "M12: overwrite left out on an existing file is FileExists, and the file is as it was",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old");
      await creator.refuses({ path: "a.txt", content: "new" }, "FileExists");
    }),
  );

  test(
    "M12: overwrite false on an existing file is FileExists",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old");
      await creator.refuses({ path: "a.txt", content: "new", overwrite: false }, "FileExists");
    }),
  );

  for (const overwrite of [false, true]) {
    test(
      `F13: a folder as target is InvalidPath, overwrite ${overwrite}`,
      inEveryWay(async (creator) => {
        creator.ws.folder("src");
        await creator.refuses({ path: "src", content: "a", overwrite }, "InvalidPath");
      }),
    );

    test(
      `F13: a folder with files as target is InvalidPath, overwrite ${overwrite}`,
      inEveryWay(async (creator) => {
        creator.ws.write("src/a.txt", "a");
        await creator.refuses({ path: "src", content: "a", overwrite }, "InvalidPath");
      }),
    );

    test(
      `M05: a file where a folder is needed is DirectoryCreateFailed, overwrite ${overwrite}`,
      inEveryWay(async (creator) => {
        creator.ws.write("f", "file");
        const args = { path: "f/x.md", content: "a", overwrite };
        await creator.refuses(args, "DirectoryCreateFailed");
        await creator.refuses({ ...args, path: "f/deep/er/x.md" }, "DirectoryCreateFailed");
      }),
    );

    test(
      `F01: a FIFO as target, overwrite ${overwrite}, is refused at once`,
      { skip: noFifos, timeout: 5_000 },
      inEveryWay(async (creator) => {
        mkfifo(creator.ws.at("pipe"));
        const code = overwrite ? "InvalidPath" : "FileExists";
        await creator.refuses({ path: "pipe", content: "a", overwrite }, code);
      }),
    );

    test(
      `a FIFO where a folder is needed is refused at once, overwrite ${overwrite}`,
      { skip: noFifos, timeout: 5_000 },
      inEveryWay(async (creator) => {
        mkfifo(creator.ws.at("pipe"));
        const args = { path: "pipe/x.md", content: "a", overwrite };
        await creator.refuses(args, ["DirectoryCreateFailed", "InvalidPath"]);
      }),
    );
  }

  test(
    "a read-only write scope is WriteFailed and touches nothing",
    inEveryWay(async (creator) => {
      const settings = { writeScope: "read-only" };
      creator.ws.write("a.txt", "old");
      for (const path of ["a.txt", "b.txt", "new/b.txt"]) {
        const args = { path, content: "a", overwrite: true };
        await creator.refuses(args, "WriteFailed", /read-only/, settings);
      }
    }),
  );

  for (const writeScope of ["workspace-write", "unrestricted"]) {
    test(
      `the write scope ${writeScope} writes`,
      inEveryWay((creator) =>
        creator.creates({ path: "a.txt", content: "a" }, { bytes: "a" }, { writeScope }),
      ),
    );

    test(
      `the write scope ${writeScope} does not leave the workspace`,
      inEveryWay((creator) =>
        creator.refuses({ path: "../x", content: "a" }, "InvalidPath", /./, { writeScope }),
      ),
    );
  }

  test(
    "a context without a write scope writes",
    inWorkspace(async (ws) => {
      const result = await looseCreateFile(
        { workspaceRoot: ws.root },
        { path: "a.txt", content: "a" },
      );
      assert.equal(checkResult(result).success, true);
    }),
  );
});

describe("messages", () => {
  test(
    "FileExists says how to repair the call",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old");
      await creator.refuses({ path: "a.txt", content: "a" }, "FileExists", /overwrite/);
    }),
  );

  test(
    "TooLarge names the limit",
    inEveryWay((creator) =>
      creator.refuses({ path: "a.txt", content: TOO_LARGE }, "TooLarge", /1048576|1,048,576|1 MiB/),
    ),
  );

  test(
    "an unusable workspaceRoot is named, without its value",
    inWorkspace(async (ws) => {
      const context = { workspaceRoot: `${ws.root}-gone` };
      const args = { path: "a.txt", content: "a" };
      await refuseCreate([context, args], "UnhandledException", /workspaceRoot/, ws.hidden);
    }),
  );
});

describe("precedence", () => {
  const wrong = {
    path: { path: "../x" },
    content: { content: 5 },
    overwrite: { overwrite: "false" },
    size: { content: TOO_LARGE },
  };

  for (const [first, code, second] of [
    ["path", "InvalidPath", "content"],
    ["path", "InvalidPath", "overwrite"],
    ["path", "InvalidPath", "size"],
    ["overwrite", "UnhandledException", "size"],
  ] as const) {
    test(
      `a wrong ${first} comes before a wrong ${second}`,
      inEveryWay((creator) =>
        creator.refuses(
          { path: "a.txt", content: "a", ...wrong[second], ...wrong[first] },
          code,
          new RegExp(first),
        ),
      ),
    );
  }

  test("a wrong path comes before a wrong context", async () => {
    await refuseCreate([{ workspaceRoot: 5 }, { path: "../x", content: "a" }], "InvalidPath");
  });

  test("a wrong context comes before the size", async () => {
    const args = { path: "a.txt", content: TOO_LARGE };
    await refuseCreate([{ workspaceRoot: 5 }, args], "UnhandledException", /workspaceRoot/);
  });

  test(
    "checks that need no disk come before a root that is gone, whether or not it is held open",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const root = ws.folder("root");
      const settings = { maxCreateBytes: 3 };
      const args = { path: "a.txt", content: "a" };
      const contexts = [
        [{ workspaceRoot: root, ...settings }, Workspace.open(root, settings)],
        [
          { workspaceRoot: root, writeScope: "read-only" },
          Workspace.open(root, { writeScope: "read-only" }),
        ],
      ] as const;
      fs.rmdirSync(root);
      for (const context of contexts[0]) {
        for (const content of ["abcd", "abcdefghi"]) {
          await refuseCreate([context, { ...args, content }], "TooLarge", /./, ws.hidden);
        }
        await refuseCreate([context, args], "UnhandledException", /workspaceRoot/, ws.hidden);
        await refuseCreate([context, { ...args, path: "../x" }], "InvalidPath", /./, ws.hidden);
      }
      for (const context of contexts[1]) {
        await refuseCreate([context, args], "WriteFailed", /read-only/, ws.hidden);
      }
    }),
  );

  test(
    "content far above the limit is refused without a copy of it",
    { timeout: 20_000 },
    inWorkspace(async (ws) => {
      const content = "a".repeat(200_000_000);
      // Engines join such a string when it is first looked at; that is not our copy.
      assert.equal(content.charCodeAt(content.length - 1), 97);
      const before = process.resourceUsage().maxRSS;
      await refuseCreate([ws.writable, { path: "a.txt", content }], "TooLarge", /at least/);
      const grown = (process.resourceUsage().maxRSS - before) / 1024;
      assert.ok(grown < 100, `${grown} MiB more`);
    }),
  );

  test(
    "the size comes before a read-only scope",
    inEveryWay((creator) =>
      creator.refuses({ path: "a.txt", content: TOO_LARGE }, "TooLarge", /./, {
        writeScope: "read-only",
      }),
    ),
  );

  test(
    "the size comes before an existing file",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old");
      creator.ws.folder("dir");
      for (const path of ["a.txt", "dir", "a.txt/x"]) {
        await creator.refuses({ path, content: TOO_LARGE }, "TooLarge");
      }
    }),
  );

  test(
    "content comes before an existing file",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old");
      creator.ws.folder("dir");
      for (const path of ["a.txt", "dir", "a.txt/x"]) {
        await creator.refuses({ path, content: null }, "UnhandledException", /content/);
      }
    }),
  );

  test(
    "a read-only scope comes before an existing file",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old");
      creator.ws.folder("dir");
      for (const path of ["a.txt", "dir", "a.txt/x"]) {
        const settings = { writeScope: "read-only" };
        await creator.refuses({ path, content: "a" }, "WriteFailed", /read-only/, settings);
      }
    }),
  );

  test(
    "spelling comes before a read-only scope",
    inEveryWay((creator) =>
      creator.refuses({ path: "a/", content: "a" }, "InvalidPath", /./, {
        writeScope: "read-only",
      }),
    ),
  );

  test(
    "a link that leads out comes before FileExists",
    { skip: noSymlinks },
    inEveryWay(async (creator) => {
      creator.ws.link("l", creator.ws.writeOutside("v.txt"));
      await creator.refuses({ path: "l", content: "a" }, "InvalidPath");
    }),
  );
});

test(
  "a root that is removed while a Workspace holds it is a coded refusal",
  { skip: notPosix },
  inWorkspace(async (ws) => {
    const workspace = Workspace.open(ws.root);
    fs.rmSync(ws.root, { recursive: true });
    for (const path of ["a.txt", "dir/a.txt"]) {
      const result = await refuseCreate(
        [workspace, { path, content: "a" }],
        ["WriteFailed", "DirectoryCreateFailed", "UnhandledException"],
        /./,
        ws.hidden,
      );
      assert.equal(result.path, path);
    }
    workspace.close();
  }),
);

test(
  "the hash is that of the bytes on disk, not of the given text",
  inEveryWay(async (creator) => {
    const { hash } = await creator.create({ path: "a.txt", content: "\ufeffa\r\n" });
    assert.equal(hash, sha256("a\n"));
  }),
);
