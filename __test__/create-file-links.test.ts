// Creating through symlinks: those that end inside work, all others are refused. No file is ever made
// outside, even if a link is put in place while a file is created. docs/contract.md §3 and §5.

import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, test } from "node:test";
import { createFile, createFileSync, Workspace } from "../index.js";
import { alongside, goesOn } from "./support/child.ts";
import { checkResult, inEveryWay, looseCreateFileSync } from "./support/create.ts";
import { mkfifo, noFifos, noSymlinks, notLinux, notPosix } from "./support/platform.ts";
import { treeOf } from "./support/tree.mjs";
import { inWorkspace, SECRET, type TestWorkspace } from "./support/workspace.ts";

/** A test that creating `asked` is InvalidPath, with and without overwrite, once `arrange` has made the links. */
function refusedTest(name: string, asked: string, arrange: (ws: TestWorkspace) => void): void {
  test(
    name,
    inEveryWay(async (creator) => {
      arrange(creator.ws);
      for (const overwrite of [false, true]) {
        const result = await creator.refuses(
          { path: asked, content: "a", overwrite },
          "InvalidPath",
        );
        assert.equal(result.path, asked);
      }
    }),
  );
}

describe("links that end inside", { skip: noSymlinks }, () => {
  for (const [kind, target] of [
    ["relative", () => "real"],
    ["absolute", (ws: TestWorkspace) => ws.at("real")],
  ] as const) {
    test(
      `G09: a ${kind} link to a folder is followed, and the result has the path that was asked for`,
      inEveryWay(async (creator) => {
        creator.ws.folder("real");
        creator.ws.link("l", target(creator.ws), "dir");
        await creator.creates({ path: "l/a.txt", content: "a" }, { at: "real/a.txt", bytes: "a" });
        const args = { path: "l/a.txt", content: "b", overwrite: true };
        await creator.creates(args, { at: "real/a.txt", bytes: "b" });
      }),
    );

    test(
      `G09: folders are made behind a ${kind} link to a folder`,
      inEveryWay(async (creator) => {
        creator.ws.folder("real");
        creator.ws.link("deep/l", target(creator.ws).replace(/^real$/, "../real"), "dir");
        const args = { path: "deep/l/x/y/a.txt", content: "a" };
        await creator.creates(args, { at: "real/x/y/a.txt", bytes: "a" });
      }),
    );

    test(
      `L07: a ${kind} link to a file stays a link, and its target is replaced`,
      inEveryWay(async (creator) => {
        creator.ws.write("real", "old");
        creator.ws.link("l", target(creator.ws));
        const args = { path: "l", content: "new", overwrite: true };
        await creator.creates(args, { at: "real", bytes: "new" });
        assert.equal(fs.readlinkSync(creator.ws.at("l")), target(creator.ws));
      }),
    );

    test(
      `M12: a ${kind} link to a file is FileExists without overwrite`,
      inEveryWay(async (creator) => {
        creator.ws.write("real", "old");
        creator.ws.link("l", target(creator.ws));
        await creator.refuses({ path: "l", content: "new" }, "FileExists");
      }),
    );
  }

  test(
    "L07: a link to a file in another folder has it replaced there, with its permission bits",
    { skip: notPosix },
    inEveryWay(async (creator) => {
      fs.chmodSync(creator.ws.write("bin/run.sh", "old"), 0o750);
      creator.ws.link("links/one", "../bin/run.sh");
      creator.ws.link("two", "links/one");
      const args = { path: "two", content: "new", overwrite: true };
      await creator.creates(args, { at: "bin/run.sh", bytes: "new" });
      assert.equal(fs.statSync(creator.ws.at("bin/run.sh")).mode & 0o7777, 0o750);
    }),
  );

  test(
    "G09: .. in a link means the parent of where the link before it led",
    inEveryWay(async (creator) => {
      creator.ws.write("b.txt", "the root's");
      creator.ws.write("sub/b.txt", "the subfolder's");
      creator.ws.folder("sub/deep");
      creator.ws.link("dirlink", "sub/deep", "dir");
      creator.ws.link("l", "dirlink/../b.txt");
      const args = { path: "l", content: "new", overwrite: true };
      await creator.creates(args, { at: "sub/b.txt", bytes: "new" });
    }),
  );

  test(
    "G09: a link to . and a link to the root are walked through",
    inEveryWay(async (creator) => {
      creator.ws.link("here", ".", "dir");
      creator.ws.link("self", creator.ws.root, "dir");
      const args = { path: "here/self/here/a.txt", content: "a" };
      await creator.creates(args, { at: "a.txt", bytes: "a" });
    }),
  );

  refusedTest("F13: a link to a folder as target is InvalidPath", "l", (ws) => {
    ws.folder("real");
    ws.link("l", "real", "dir");
  });

  test(
    "H25: a link to a file with a slash behind is InvalidPath",
    inEveryWay(async (creator) => {
      creator.ws.write("real", "old");
      creator.ws.link("l", "real");
      await creator.refuses({ path: "l/", content: "a", overwrite: true }, "InvalidPath");
    }),
  );

  test(
    "M05: a link to a file where a folder is needed is DirectoryCreateFailed",
    inEveryWay(async (creator) => {
      creator.ws.write("real", "old");
      creator.ws.link("l", "real");
      const code = ["DirectoryCreateFailed", "InvalidPath"];
      await creator.refuses({ path: "l/a.txt", content: "a", overwrite: true }, code);
    }),
  );

  test(
    "F01: a link to a FIFO is refused at once",
    { skip: noFifos, timeout: 5_000 },
    inEveryWay(async (creator) => {
      mkfifo(creator.ws.at("pipe"));
      creator.ws.link("l", "pipe");
      await creator.refuses({ path: "l", content: "a" }, "FileExists");
      await creator.refuses({ path: "l", content: "a", overwrite: true }, "InvalidPath");
    }),
  );

  test(
    "F01: a socket is FileExists, and InvalidPath with overwrite",
    { skip: notPosix, timeout: 5_000 },
    inEveryWay(async (creator) => {
      const server = net.createServer();
      await new Promise<void>((resolve) => server.listen(creator.ws.at("sock"), resolve));
      await creator.refuses({ path: "sock", content: "a" }, "FileExists");
      await creator.refuses({ path: "sock", content: "a", overwrite: true }, "InvalidPath");
      await new Promise((resolve) => server.close(resolve));
    }),
  );
});

describe("dangling links", { skip: noSymlinks }, () => {
  for (const [kind, target] of [
    ["relative", () => "missing.txt"],
    ["absolute", (ws: TestWorkspace) => ws.at("missing.txt")],
    ["relative, into a missing folder,", () => "no/such/file.txt"],
  ] as const) {
    test(
      `a ${kind} one as target is FileExists, and InvalidPath with overwrite; its target is not made`,
      inEveryWay(async (creator) => {
        creator.ws.link("l", target(creator.ws));
        await creator.refuses({ path: "l", content: "a" }, "FileExists");
        await creator.refuses({ path: "l", content: "a", overwrite: true }, "InvalidPath");
      }),
    );
  }

  refusedTest("one as a folder on the way is InvalidPath", "l/a.txt", (ws) => {
    ws.link("l", "missing", "dir");
  });

  refusedTest("one as a folder further up is InvalidPath", "l/b/c/a.txt", (ws) => {
    ws.link("l", ws.at("missing"), "dir");
  });
});

describe("links that lead out", { skip: noSymlinks }, () => {
  refusedTest("G04: a link to a file outside: file and link stay", "notes.md", (ws) => {
    ws.link("notes.md", ws.writeOutside("v.txt"));
  });

  refusedTest("G04: a relative link to a file outside", "notes.md", (ws) => {
    ws.writeOutside("v.txt");
    ws.link("notes.md", "../outside/v.txt");
  });

  refusedTest("G04: a chain of links whose last one leads out", "one", (ws) => {
    ws.writeOutside("v.txt");
    ws.link("three", "../outside/v.txt");
    ws.link("two", ws.at("three"));
    ws.link("one", "two");
  });

  refusedTest("G07: a new file behind a folder link that leads out", "esc/new.txt", (ws) => {
    ws.link("esc", ws.outside, "dir");
  });

  refusedTest("G07: a relative folder link that leads out", "esc/new.txt", (ws) => {
    ws.link("esc", "../outside", "dir");
  });

  refusedTest("G07: a file that exists behind a link that leads out", "esc/v.txt", (ws) => {
    ws.writeOutside("v.txt");
    ws.link("esc", ws.outside, "dir");
  });

  refusedTest("G17: no folder is made behind a link that leads out", "link/a/b/c.txt", (ws) => {
    ws.link("link", ws.outside, "dir");
  });

  refusedTest("G17: a link that leads out below folders that exist", "a/b/link/c/d.txt", (ws) => {
    ws.link("a/b/link", ws.outside, "dir");
  });

  refusedTest("G07: the folder link itself", "esc", (ws) => {
    ws.link("esc", ws.outside, "dir");
  });

  refusedTest(
    "G07: a link to .. at the root, through which the path comes back",
    "up/ws/a.txt",
    (ws) => {
      ws.link("up", "..", "dir");
    },
  );

  refusedTest("G04: a link that leaves and comes back", "l", (ws) => {
    ws.write("a.txt", "old");
    ws.link("l", "../ws/a.txt");
  });

  refusedTest("H01: a link to a sibling whose name begins like the root's", "l/x.txt", (ws) => {
    fs.mkdirSync(`${ws.root}-evil`);
    ws.link("l", `${ws.root}-evil`, "dir");
  });

  for (const target of ["../outside/missing.txt", "/no/such/file.txt", "../missing.txt"]) {
    test(
      `a dangling link to ${target} is refused, and its target is not made`,
      inEveryWay(async (creator) => {
        creator.ws.link("l", target);
        const code = ["FileExists", "InvalidPath"];
        await creator.refuses({ path: "l", content: "a" }, code);
        await creator.refuses({ path: "l", content: "a", overwrite: true }, "InvalidPath");
      }),
    );
  }

  describe("through /proc", { skip: notLinux }, () => {
    refusedTest("a magic link as a folder on the way", "l/a.txt", (ws) => {
      ws.link("l", "/proc/self/cwd", "dir");
    });

    refusedTest("a magic link that comes back", "l/a.txt", (ws) => {
      ws.link("l", `/proc/self/root${ws.root}`, "dir");
    });
  });
});

describe("loops", { skip: noSymlinks }, () => {
  for (const [name, links] of [
    ["a link to itself", { a: "a" }],
    ["two links to each other", { a: "b", b: "a" }],
  ] as const) {
    test(
      `${name} is refused as target and on the way`,
      inEveryWay(async (creator) => {
        for (const [link, target] of Object.entries(links)) creator.ws.link(link, target);
        await creator.refuses({ path: "a", content: "a" }, ["FileExists", "InvalidPath"]);
        await creator.refuses({ path: "a", content: "a", overwrite: true }, "InvalidPath");
        await creator.refuses({ path: "a/x.txt", content: "a" }, "InvalidPath");
      }),
    );
  }
});

describe("a root that is reached through a link", { skip: noSymlinks }, () => {
  test(
    "G02: is created in",
    inWorkspace(async (ws) => {
      const alias = path.join(ws.base, "alias");
      fs.symlinkSync(ws.root, alias, "dir");
      const context = { workspaceRoot: alias };
      const result = checkResult(await createFile(context, { path: "b.txt", content: "b" }));
      assert.equal(result.path, "b.txt");
      assert.equal(fs.readFileSync(ws.at("b.txt"), "utf8"), "b");
    }),
  );

  test(
    "G02: an absolute link is inside in both spellings",
    inWorkspace((ws) => {
      const alias = path.join(ws.base, "alias");
      fs.symlinkSync(ws.root, alias, "dir");
      ws.folder("real");
      ws.link("by-alias", path.join(alias, "real"), "dir");
      ws.link("by-root", ws.at("real"), "dir");
      for (const link of ["by-alias", "by-root"]) {
        const args = { path: `${link}/${link}.txt`, content: "a" };
        const result = checkResult(createFileSync({ workspaceRoot: alias }, args));
        assert.equal(result.errorCode, null, result.message);
      }
      assert.deepEqual(fs.readdirSync(ws.at("real")).sort(), ["by-alias.txt", "by-root.txt"]);
    }),
  );
});

describe("a swap while creating", { skip: noSymlinks || notPosix }, () => {
  const ROUNDS = 250;

  /** Creates new files and overwrites one while `scene` goes on; nothing outside may ever change. */
  async function attacked(
    ws: TestWorkspace,
    scene: string,
    job: object,
    paths: { fresh?: (round: number) => string; old: string },
  ) {
    ws.writeOutside("t.txt");
    ws.writeOutside("b/t.txt");
    ws.writeOutside("b/c/t.txt");
    const before = treeOf(ws.outside);
    await alongside(scene, { root: ws.root, ...job }, async () => {
      const settings = { durability: "none" } as const;
      const workspace = Workspace.open(ws.root, settings);
      const begun = performance.now();
      for (let round = 0; round < ROUNDS && goesOn(begun, round); round++) {
        const context = round % 2 === 0 ? workspace : { ...ws.writable, ...settings };
        for (const args of [
          { path: paths.fresh?.(round) ?? paths.old, content: "new" },
          { path: paths.old, content: `round ${round}`, overwrite: true },
        ]) {
          const result =
            round % 4 < 2
              ? checkResult(await createFile(context, args), [ws.root])
              : checkResult(looseCreateFileSync(context, args), [ws.root]);
          assert.ok(
            !["TooLarge", "HashFailed", "UnhandledException"].includes(result.errorCode ?? ""),
            JSON.stringify(result),
          );
        }
      }
      workspace.close();
    });
    assert.deepEqual(treeOf(ws.outside), before, "nothing outside has changed");
    assert.equal(fs.readFileSync(path.join(ws.outside, "t.txt"), "utf8"), SECRET);
    for (const [name, is] of Object.entries(treeOf(ws.root))) {
      assert.ok(!path.basename(name).startsWith(".rf-"), `a temporary is left: ${name}, ${is}`);
    }
  }

  for (const [component, name, target] of [
    ["first", "a", "."],
    ["second", "a/b", "b"],
    ["third", "a/b/c", "b/c"],
  ] as const) {
    test(
      `the ${component} folder is exchanged with a link to outside`,
      { timeout: 20_000 },
      inWorkspace(async (ws) => {
        ws.write("a/b/c/t.txt", "old");
        const job = { name, target: path.join(ws.outside, target) };
        await attacked(ws, "swap", job, {
          fresh: (round) => `a/b/c/${round}.txt`,
          old: "a/b/c/t.txt",
        });
      }),
    );

    test(
      `the ${component} folder is exchanged while folders are made below`,
      { timeout: 20_000 },
      inWorkspace(async (ws) => {
        ws.write("a/b/c/t.txt", "old");
        const job = { name, target: path.join(ws.outside, target) };
        await attacked(ws, "swap", job, {
          fresh: (round) => `a/b/c/d-${round}/e/new.txt`,
          old: "a/b/c/t.txt",
        });
      }),
    );
  }

  test(
    "the file itself is exchanged with a link to a file outside",
    { timeout: 20_000 },
    inWorkspace(async (ws) => {
      ws.write("a/t.txt", "old");
      const job = { name: "a/t.txt", target: path.join(ws.outside, "t.txt") };
      await attacked(ws, "swap", job, { old: "a/t.txt" });
    }),
  );

  test(
    "a link to a folder inside is turned to outside",
    { timeout: 20_000 },
    inWorkspace(async (ws) => {
      ws.write("real/t.txt", "old");
      ws.link("l", ws.at("real"), "dir");
      const job = { name: "l", target: ws.outside, inside: ws.at("real") };
      await attacked(ws, "turn", job, { fresh: (round) => `l/${round}.txt`, old: "l/t.txt" });
    }),
  );

  test(
    "a link to a file inside is turned to outside",
    { timeout: 20_000 },
    inWorkspace(async (ws) => {
      ws.write("real.txt", "old");
      ws.link("l", "real.txt");
      const job = { name: "l", target: path.join(ws.outside, "t.txt"), inside: "real.txt" };
      await attacked(ws, "turn", job, { old: "l" });
    }),
  );

  test(
    "a link to outside is put where a folder is about to be made",
    { timeout: 20_000 },
    inWorkspace(async (ws) => {
      const job = { name: "n", target: ws.outside };
      await attacked(ws, "plant", job, { fresh: (round) => `n/b/${round}.txt`, old: "n/t.txt" });
    }),
  );

  test(
    "a link to outside is put where the file is about to be made",
    { timeout: 20_000 },
    inWorkspace(async (ws) => {
      const job = { name: "n.txt", target: path.join(ws.outside, "t.txt") };
      await attacked(ws, "plant", job, { old: "n.txt" });
    }),
  );

  test(
    "a dangling link to outside is put where the file is about to be made",
    { timeout: 20_000 },
    inWorkspace(async (ws) => {
      const job = { name: "n.txt", target: path.join(ws.outside, "new.txt") };
      await attacked(ws, "plant", job, { old: "n.txt" });
    }),
  );
});
