// Symlinks: those that end inside work, all others are refused and never called missing. docs/contract.md §3.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { readFile, readFileSync, Workspace } from "../index.js";
import { noSymlinks, notLinux, notPosix } from "./support/platform.ts";
import {
  exception,
  looseReadFile,
  looseReadFileSync,
  readEveryWay,
  refuseArguments,
  refuseEveryWay,
  rejection,
} from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** Reads `asked` and demands the content, and that the path told is the one asked for. */
async function reads(ws: TestWorkspace, asked: string, content: string): Promise<void> {
  const answer = await readEveryWay(ws, asked);
  assert.equal(answer.content, content);
  assert.equal(answer.path, asked);
}

describe("links that end inside", { skip: noSymlinks }, () => {
  test(
    "G09: a relative link to a file is read under its own name",
    inWorkspace(async (ws) => {
      ws.write("real.txt", "real");
      ws.link("l.txt", "real.txt");
      await reads(ws, "l.txt", "real");
    }),
  );

  test(
    "G09: a relative link to a folder is walked through",
    inWorkspace(async (ws) => {
      ws.write("real/a.txt", "real");
      ws.link("l", "real", "dir");
      await reads(ws, "l/a.txt", "real");
    }),
  );

  test(
    "G09: a link may rise, as long as it stays in the root",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.link("deep/er/l.txt", "../../a.txt");
      await reads(ws, "deep/er/l.txt", "a");
    }),
  );

  test(
    "G09: a link to .. in a subfolder is the root",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.link("sub/up", "..", "dir");
      await reads(ws, "sub/up/a.txt", "a");
    }),
  );

  test(
    "G09: a link to . is the folder it stands in",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.link("here", ".", "dir");
      await reads(ws, "here/here/a.txt", "a");
    }),
  );

  test(
    "G09: an absolute link to a file is read",
    inWorkspace(async (ws) => {
      ws.link("l.txt", ws.write("real.txt", "real"));
      await reads(ws, "l.txt", "real");
    }),
  );

  test(
    "G09: an absolute link to a folder is walked through",
    inWorkspace(async (ws) => {
      ws.write("real/sub/a.txt", "real");
      ws.link("deep/l", ws.at("real"), "dir");
      await reads(ws, "deep/l/sub/a.txt", "real");
    }),
  );

  test(
    "G09: an absolute link to the root itself is walked through",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.link("self", ws.root, "dir");
      await reads(ws, "self/a.txt", "a");
      await reads(ws, "self/self/a.txt", "a");
    }),
  );

  for (const [name, spell] of [
    ["a double slash", (ws: TestWorkspace) => `${ws.root}//a.txt`],
    ["a dot", (ws: TestWorkspace) => `${ws.root}/./a.txt`],
    ["a folder and back", (ws: TestWorkspace) => `${ws.root}/dir/../a.txt`],
  ] as const) {
    test(
      `G09: an absolute link with ${name} in it is read`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        ws.folder("dir");
        ws.link("l", spell(ws));
        await reads(ws, "l", "a");
      }),
    );
  }

  for (const kind of ["relative", "absolute"]) {
    test(
      `G09: .. in a ${kind} link means the parent of where the link before it led`,
      inWorkspace(async (ws) => {
        ws.write("b.txt", "the root's");
        ws.write("sub/b.txt", "the subfolder's");
        ws.folder("sub/deep");
        ws.link("dirlink", "sub/deep", "dir");
        ws.link("l", kind === "relative" ? "dirlink/../b.txt" : `${ws.root}/dirlink/../b.txt`);
        await reads(ws, "l", "the subfolder's");
      }),
    );
  }

  test(
    "H05: .. in the path asked for is collapsed before any link is followed",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "the root's");
      ws.writeOutside("a.txt");
      ws.link("esc", ws.outside, "dir");
      const { content, path: shown } = await readEveryWay(ws, "esc/../a.txt");
      assert.equal(content, "the root's");
      assert.equal(shown, "a.txt");
    }),
  );

  test(
    "G09: a link to a folder, asked for itself, is NOT_FILE",
    inWorkspace(async (ws) => {
      ws.folder("real");
      ws.link("l", "real", "dir");
      await refuseEveryWay(ws, "l", "NOT_FILE");
      await refuseEveryWay(ws, "l/", "NOT_FILE");
    }),
  );

  test(
    "M03: a link to a file with a slash behind is NOT_FOUND",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.link("l", "a.txt");
      await refuseEveryWay(ws, "l/", "NOT_FOUND");
      await refuseEveryWay(ws, "l/x", "NOT_FOUND");
    }),
  );

  test(
    "M03: a link through a file is NOT_FOUND",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.link("l", "a.txt/x");
      await refuseEveryWay(ws, "l", "NOT_FOUND");
    }),
  );

  for (const kind of ["relative", "absolute"]) {
    test(
      `${kind} links that lead to a file behind more than 4,095 bytes of names are read`,
      { skip: notPosix },
      inWorkspace(async (ws) => {
        // Two halves: the file has no single path that the system would take.
        const half = `${"x".repeat(200)}/`.repeat(14);
        const real = ws.folder(`real/${half}`);
        ws.link("half", kind === "relative" ? `real/${half}` : real, "dir");
        try {
          ws.write(`half/${half}a.txt`, "far away");
          await reads(ws, `half/${half}a.txt`, "far away");
        } finally {
          // What stands deeper than one path leads cannot be removed by it.
          fs.rmSync(ws.at(`half/${"x".repeat(200)}`), { recursive: true });
        }
      }),
    );
  }

  test(
    "a relative link to a name that is not UTF-8 is read",
    { skip: notLinux },
    inWorkspace(async (ws) => {
      fs.writeFileSync(Buffer.concat([Buffer.from(`${ws.root}/`), Buffer.from([0xff])]), "odd");
      fs.symlinkSync(Buffer.from([0xff]), ws.at("l"));
      await reads(ws, "l", "odd");
    }),
  );

  test(
    "an absolute link to a name that is not UTF-8 is read",
    { skip: notLinux },
    inWorkspace(async (ws) => {
      const odd = Buffer.concat([Buffer.from(`${ws.root}/`), Buffer.from([0xff])]);
      fs.writeFileSync(odd, "odd");
      fs.symlinkSync(odd, ws.at("l"));
      await reads(ws, "l", "odd");
    }),
  );
});

describe("links that lead nowhere inside", { skip: noSymlinks }, () => {
  test(
    "a dangling relative link is NOT_FOUND, under the name asked for",
    inWorkspace(async (ws) => {
      ws.link("l", "missing.txt");
      const { path: shown } = await refuseEveryWay(ws, "l", "NOT_FOUND");
      assert.equal(shown, "l");
    }),
  );

  test(
    "a dangling absolute link into the root is NOT_FOUND, under the name asked for",
    inWorkspace(async (ws) => {
      ws.link("l", ws.at("missing.txt"));
      const { path: shown } = await refuseEveryWay(ws, "l", "NOT_FOUND");
      assert.equal(shown, "l");
    }),
  );

  test(
    "a dangling link as a folder on the way is NOT_FOUND",
    inWorkspace(async (ws) => {
      ws.link("l", "missing", "dir");
      await refuseEveryWay(ws, "l/a.txt", "NOT_FOUND");
    }),
  );
});

describe("links that lead out", { skip: noSymlinks }, () => {
  test(
    "G01: an absolute link to a file outside",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      ws.link("t", "/etc/hostname");
      await refuseEveryWay(ws, "t", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "G13: an absolute link to a folder outside",
    inWorkspace(async (ws) => {
      ws.writeOutside("secret.txt");
      ws.link("e", ws.outside, "dir");
      const { path: shown } = await refuseEveryWay(ws, "e/secret.txt", "SANDBOX_VIOLATION");
      assert.equal(shown, "e/secret.txt");
    }),
  );

  test(
    "G13: the folder link itself",
    inWorkspace(async (ws) => {
      ws.link("e", ws.outside, "dir");
      await refuseEveryWay(ws, "e", "SANDBOX_VIOLATION");
      await refuseEveryWay(ws, "e/", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "G13: a missing file behind a link that leads out is a violation, not NOT_FOUND",
    inWorkspace(async (ws) => {
      ws.link("e", ws.outside, "dir");
      await refuseEveryWay(ws, "e/missing.txt", "SANDBOX_VIOLATION");
    }),
  );

  for (const target of [
    "../outside/secret.txt",
    "./../outside/secret.txt",
    "dir/../../outside/secret.txt",
  ]) {
    test(
      `G01: a relative link ${target}`,
      inWorkspace(async (ws) => {
        ws.folder("dir");
        ws.writeOutside("secret.txt");
        ws.link("l", target);
        await refuseEveryWay(ws, "l", "SANDBOX_VIOLATION");
      }),
    );
  }

  test(
    "G01: a chain of links whose last one leads out",
    inWorkspace(async (ws) => {
      ws.writeOutside("secret.txt");
      ws.link("out", "../outside/secret.txt");
      ws.link("two", ws.at("out"));
      ws.link("one", "two");
      await refuseEveryWay(ws, "one", "SANDBOX_VIOLATION");
    }),
  );

  for (const target of ["..", "../", "../..", "/"]) {
    test(
      `G13: a link to ${target} at the root`,
      inWorkspace(async (ws) => {
        ws.writeOutside("secret.txt");
        ws.link("up", target, "dir");
        await refuseEveryWay(ws, "up", "SANDBOX_VIOLATION");
        await refuseEveryWay(ws, "up/outside/secret.txt", "SANDBOX_VIOLATION");
      }),
    );
  }

  test(
    "a dangling absolute link to outside is a violation",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      ws.link("l", "/no/such/file");
      await refuseEveryWay(ws, "l", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "a dangling relative link to outside is a violation",
    inWorkspace(async (ws) => {
      ws.link("l", "../no-such-file");
      await refuseEveryWay(ws, "l", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "H01: an absolute link to a sibling whose name begins like the root's",
    inWorkspace(async (ws) => {
      fs.mkdirSync(`${ws.root}-evil`);
      fs.writeFileSync(`${ws.root}-evil/x`, "secret");
      ws.link("l", `${ws.root}-evil/x`);
      await refuseEveryWay(ws, "l", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "a relative link that leaves and comes back",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.link("l", "../ws/a.txt");
      await refuseEveryWay(ws, "l", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "an absolute link that leaves and comes back",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.link("l", `${ws.root}/../ws/a.txt`);
      await refuseEveryWay(ws, "l", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "a link to .. at the root, through which the path comes back",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.link("up", "..", "dir");
      await refuseEveryWay(ws, "up/ws/a.txt", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "a link outside that points back into the root does not help",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      fs.symlinkSync(ws.at("a.txt"), path.join(ws.outside, "back"));
      ws.link("l", path.join(ws.outside, "back"));
      await refuseEveryWay(ws, "l", "SANDBOX_VIOLATION");
    }),
  );

  test(
    "a link in the root through /proc is a violation, even where it comes back",
    { skip: notLinux },
    inWorkspace(async (ws) => {
      ws.link("l", `/proc/self/root${ws.write("a.txt", "a")}`);
      await refuseEveryWay(ws, "l", "SANDBOX_VIOLATION");
    }),
  );
});

describe("loops and chains", { skip: noSymlinks }, () => {
  for (const [name, links] of [
    ["a link to itself", { a: "a" }],
    ["two links to each other", { a: "b", b: "a" }],
    ["a link to itself by way of a folder", { a: "./a/x" }],
  ] as const) {
    test(
      `${name} is a violation, never missing`,
      inWorkspace(async (ws) => {
        for (const [link, target] of Object.entries(links)) ws.link(link, target);
        await refuseEveryWay(ws, "a", "SANDBOX_VIOLATION");
        await refuseEveryWay(ws, "a/x.txt", "SANDBOX_VIOLATION");
      }),
    );
  }

  test(
    "two absolute links to each other are a violation",
    inWorkspace(async (ws) => {
      ws.link("a", ws.at("b"));
      ws.link("b", ws.at("a"));
      await refuseEveryWay(ws, "a", "SANDBOX_VIOLATION");
      await refuseEveryWay(ws, "a/x.txt", "SANDBOX_VIOLATION");
    }),
  );

  /** A chain of `length` links to a file; gives the name of its first link. */
  function chain(ws: TestWorkspace, length: number, absolute: (index: number) => boolean): string {
    ws.write("link-0", "the end");
    for (let i = 1; i <= length; i++) {
      const target = `link-${i - 1}`;
      ws.link(`link-${i}`, absolute(i) ? ws.at(target) : target);
    }
    return `link-${length}`;
  }

  for (const [kind, absolute] of [
    ["relative", () => false],
    ["absolute", () => true],
    ["relative and absolute", (i: number) => i % 2 === 0],
  ] as const) {
    test(
      `a chain of 40 ${kind} links is followed`,
      { skip: notLinux },
      inWorkspace(async (ws) => reads(ws, chain(ws, 40, absolute), "the end")),
    );

    test(
      `a chain of 41 ${kind} links is a violation`,
      { skip: notLinux },
      inWorkspace((ws) => refuseEveryWay(ws, chain(ws, 41, absolute), "SANDBOX_VIOLATION")),
    );
  }
});

describe("a root that is reached through a link", { skip: noSymlinks }, () => {
  /** The workspace's root under a second name; contexts for both. */
  function alias(ws: TestWorkspace) {
    const spelling = path.join(ws.base, "alias");
    fs.symlinkSync(ws.root, spelling, "dir");
    return { spelling, context: { ...ws.context, workspaceRoot: spelling } };
  }

  /** Reads `asked` with the alias as root, in all ways, and demands content and path. */
  async function readsByAlias(ws: TestWorkspace, asked: string, content: string, shown: string) {
    const context = { ...ws.context, workspaceRoot: path.join(ws.base, "alias") };
    const workspace = Workspace.open(context.workspaceRoot);
    for (const root of [context, workspace]) {
      for (const answer of [await looseReadFile(root, asked), looseReadFileSync(root, asked)]) {
        assert.equal(answer.content, content);
        assert.equal(answer.path, shown);
      }
    }
    workspace.close();
  }

  test(
    "G02: is read through",
    inWorkspace(async (ws) => {
      alias(ws);
      ws.write("a.txt", "a");
      await readsByAlias(ws, "a.txt", "a", "a.txt");
    }),
  );

  test(
    "G02: an absolute path is inside in both spellings",
    inWorkspace(async (ws) => {
      const { spelling } = alias(ws);
      ws.write("dir/a.txt", "a");
      await readsByAlias(ws, path.join(spelling, "dir/a.txt"), "a", "dir/a.txt");
      await readsByAlias(ws, path.join(ws.root, "dir/a.txt"), "a", "dir/a.txt");
    }),
  );

  test(
    "G02: an absolute link is inside in both spellings",
    inWorkspace(async (ws) => {
      const { spelling } = alias(ws);
      ws.write("dir/a.txt", "a");
      ws.link("by-alias", path.join(spelling, "dir/a.txt"));
      ws.link("by-root", path.join(ws.root, "dir/a.txt"));
      await readsByAlias(ws, "by-alias", "a", "by-alias");
      await readsByAlias(ws, "by-root", "a", "by-root");
    }),
  );

  test(
    "G02: a root below the link is inside in both spellings too",
    inWorkspace(async (ws) => {
      const { spelling } = alias(ws);
      ws.write("sub/a.txt", "a");
      ws.link("sub/by-alias", path.join(spelling, "sub/a.txt"));
      ws.link("sub/by-root", path.join(ws.root, "sub/a.txt"));
      const context = { workspaceRoot: path.join(spelling, "sub") };
      for (const asked of ["by-alias", "by-root", path.join(ws.root, "sub/a.txt")]) {
        const { content } = await looseReadFile(context, asked);
        assert.equal(content, "a");
      }
    }),
  );

  test(
    "G13: a link that leads out of the real root is refused",
    inWorkspace(async (ws) => {
      const { context } = alias(ws);
      ws.writeOutside("secret.txt");
      ws.link("e", "../outside", "dir");
      const { code } = await rejection(() => readFile(context, "e/secret.txt"), ws.hidden);
      assert.equal(code, "SANDBOX_VIOLATION");
    }),
  );

  test(
    "a link that leaves by the alias's parent and comes back is refused",
    inWorkspace(async (ws) => {
      const { context, spelling } = alias(ws);
      ws.write("a.txt", "a");
      ws.link("l", `${spelling}/../alias/a.txt`);
      const { code } = exception(() => readFileSync(context, "l"), ws.hidden);
      assert.equal(code, "SANDBOX_VIOLATION");
    }),
  );

  test(
    "a second name that the root was not opened by is outside",
    inWorkspace(async (ws) => {
      const { spelling } = alias(ws);
      ws.write("a.txt", "a");
      ws.link("l", path.join(spelling, "a.txt"));
      await refuseEveryWay(ws, "l", "SANDBOX_VIOLATION");
    }),
  );

  /**
   * A root spelled `base/link/../ws`, where the link leads elsewhere: the system takes it for
   * `base/other/ws`. By its spelling alone it is `base/ws`, another folder.
   */
  function misleading(ws: TestWorkspace) {
    const root = path.join(ws.base, "other", "ws");
    fs.mkdirSync(path.join(ws.base, "other", "dir"), { recursive: true });
    fs.mkdirSync(root);
    fs.symlinkSync(path.join(ws.base, "other", "dir"), path.join(ws.base, "link"), "dir");
    fs.writeFileSync(path.join(root, "a.txt"), "the root's");
    ws.write("a.txt", "another folder's");
    return { root, context: { ...ws.context, workspaceRoot: `${ws.base}/link/../ws` } };
  }

  test(
    "a root spelled with .. behind a link is where the system says",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const { context, root } = misleading(ws);
      assert.equal((await readFile(context, "a.txt")).content, "the root's");
      assert.equal((await readFile(context, path.join(root, "a.txt"))).content, "the root's");
    }),
  );

  test(
    "an absolute path by the plain spelling of such a root, which is another folder, is outside",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const { context } = misleading(ws);
      const workspace = Workspace.open(context.workspaceRoot);
      for (const root of [context, workspace]) {
        const { code } = await rejection(() => readFile(root, ws.at("a.txt")), ws.hidden);
        assert.equal(code, "SANDBOX_VIOLATION");
      }
      workspace.close();
    }),
  );

  test(
    "an absolute link by the plain spelling of such a root, which is another folder, is outside",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const { context, root } = misleading(ws);
      fs.symlinkSync(ws.at("a.txt"), path.join(root, "l"));
      const { code } = await rejection(() => readFile(context, "l"), ws.hidden);
      assert.equal(code, "SANDBOX_VIOLATION");
    }),
  );

  for (const [name, links] of [
    ["that is a link to itself", { loop: "loop" }],
    ["in a loop of links", { loop: "back", back: "loop" }],
  ] as const) {
    test(
      `a root ${name} is a wrong workspaceRoot`,
      inWorkspace(async (ws) => {
        for (const [link, target] of Object.entries(links)) {
          fs.symlinkSync(target, path.join(ws.base, link), "dir");
        }
        for (const tail of ["loop", "loop/ws"]) {
          const context = { ...ws.context, workspaceRoot: path.join(ws.base, tail) };
          await refuseArguments([context, "a.txt"], /workspaceRoot/, ws.hidden);
        }
      }),
    );
  }

  test(
    "a dangling link as root is a wrong workspaceRoot",
    inWorkspace(async (ws) => {
      const dangling = path.join(ws.base, "dangling");
      fs.symlinkSync(path.join(ws.base, "gone"), dangling, "dir");
      const { code, message } = await rejection(
        () => readFile({ ...ws.context, workspaceRoot: dangling }, "a.txt"),
        ws.hidden,
      );
      assert.equal(code, "INVALID_ARGUMENT");
      assert.match(message, /workspaceRoot/);
    }),
  );
});
