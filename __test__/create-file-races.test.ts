// Many creators at once: exactly one creates a name, the last one overwrites a file, and every answer is true.
// docs/contract.md §5, cases K and M of docs/cases.md.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { type CreateFileResult, createFile, createFileSync, Workspace } from "../index.js";
import { alongside, answerOf, goesOn, startScene } from "./support/child.ts";
import { checkResult, sha256 } from "./support/create.ts";
import { notPosix } from "./support/platform.ts";
import { treeOf } from "./support/tree.mjs";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** Of these results, all for one new file, exactly one is a success, and the file is the winner's. */
function oneWinner(results: CreateFileResult[], contents: string[], target: string): void {
  for (const result of results) checkResult(result);
  const winners = results.flatMap((result, i) => (result.success ? [i] : []));
  assert.equal(winners.length, 1, `exactly one winner, not ${winners}`);
  const winner = winners[0] as number;
  assert.equal(results[winner]?.created, true);
  assert.equal(fs.readFileSync(target, "utf8"), contents[winner], "the file is the winner's");
  for (const [i, { errorCode, message }] of results.entries()) {
    if (i !== winner) assert.equal(errorCode, "FileExists", message);
  }
}

const contentOf = (i: number) => `creator ${i}\n`.repeat(i % 2 === 0 ? 1 : 5_000);

describe("one new file, overwrite false", () => {
  for (const count of [2, 32, 64]) {
    test(
      `K12: of ${count} creators at once exactly one wins`,
      inWorkspace(async (ws) => {
        const contents = Array.from({ length: count }, (_, i) => contentOf(i));
        const results = await Promise.all(
          contents.map((content) => createFile(ws.writable, { path: "a.txt", content })),
        );
        oneWinner(results, contents, ws.at("a.txt"));
        assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
      }),
    );
  }

  test(
    "K12: of 32 creators by one Workspace, in a folder that none finds, exactly one wins",
    inWorkspace(async (ws) => {
      const workspace = Workspace.open(ws.root);
      const contents = Array.from({ length: 32 }, (_, i) => contentOf(i));
      const results = await Promise.all(
        contents.map((content) => createFile(workspace, { path: "new/dir/a.txt", content })),
      );
      workspace.close();
      oneWinner(results, contents, ws.at("new/dir/a.txt"));
      assert.deepEqual(Object.keys(treeOf(ws.root)), ["new", "new/dir", "new/dir/a.txt"]);
    }),
  );

  test(
    "K12: of 6 processes exactly one wins each of 40 names",
    { timeout: 20_000 },
    inWorkspace(async (ws) => {
      const names = Array.from({ length: 40 }, (_, i) => `dir-${i % 4}/${i}.txt`);
      const start = path.join(ws.base, "start");
      const contents = Array.from({ length: 6 }, (_, i) => contentOf(i));
      const context = { ...ws.writable, durability: "none" };
      const racers = contents.map((content) =>
        startScene("race", { context, names, content, start }),
      );
      await Promise.all(racers.map(({ ready }) => ready));
      fs.writeFileSync(start, "");
      const results = (await Promise.all(racers.map(({ ended }) => ended))).map((ended) =>
        answerOf<CreateFileResult[]>(ended),
      );
      for (const [i, name] of names.entries()) {
        oneWinner(
          results.map((own) => own[i] as CreateFileResult),
          contents,
          ws.at(name),
        );
      }
      const files = Object.keys(treeOf(ws.root)).filter((name) => name.includes("/"));
      assert.deepEqual(files.sort(), names.sort());
    }),
  );
});

describe("one file, overwrite true", () => {
  for (const [name, exists] of [
    ["that exists", true],
    ["that is new", false],
  ] as const) {
    test(
      `K18: 15 writers at once of a file ${name} all succeed, and one whole content stays`,
      inWorkspace(async (ws) => {
        if (exists) ws.write("a.txt", "old");
        const contents = Array.from({ length: 15 }, (_, i) => contentOf(i));
        const results = await Promise.all(
          contents.map((content) =>
            createFile(ws.writable, { path: "a.txt", content, overwrite: true }),
          ),
        );
        for (const result of results) {
          assert.equal(checkResult(result).errorCode, null, result.message);
        }
        const created = results.filter((result) => result.created).length;
        assert.equal(created, exists ? 0 : 1, "the file is made once");
        assert.ok(contents.includes(fs.readFileSync(ws.at("a.txt"), "utf8")));
        assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
      }),
    );
  }

  test(
    "K05: two writers of one path never meet a file that is missing",
    inWorkspace(async (ws) => {
      for (let i = 0; i < 50; i++) {
        const args = { path: `${i % 3}.txt`, content: `${i}`, overwrite: true };
        const context = { ...ws.writable, durability: "none" } as const;
        for (const result of await Promise.all([
          createFile(context, args),
          createFile(context, args),
        ])) {
          assert.equal(checkResult(result).errorCode, null, result.message);
        }
      }
    }),
  );

  test(
    "K18: several processes that overwrite one file all go on, and leave one whole content",
    { timeout: 20_000, skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "A".repeat(50_000));
      const context = { ...ws.writable, durability: "none" };
      const job = { context, path: "a.txt", size: 50_000, overwrite: true };
      const writers = Array.from({ length: 4 }, () => startScene("hammer", job));
      await Promise.all(writers.map(({ ready }) => ready));
      await new Promise((resolve) => setTimeout(resolve, 300));
      for (const { code, stderr } of await Promise.all(writers.map((writer) => writer.kill()))) {
        assert.equal(code, "SIGKILL", `a writer failed: ${stderr}`);
      }
      const text = fs.readFileSync(ws.at("a.txt"), "utf8");
      assert.ok(
        ["A", "B"].some((letter) => text === letter.repeat(50_000)),
        `${text.length}`,
      );
    }),
  );
});

describe("many files", () => {
  test(
    "K03: two files of one stem at once are both right",
    inWorkspace(async (ws) => {
      await Promise.all(
        ["x.md", "x.exe"].map((name) => createFile(ws.writable, { path: name, content: name })),
      );
      for (const name of ["x.md", "x.exe"])
        assert.equal(fs.readFileSync(ws.at(name), "utf8"), name);
    }),
  );

  test(
    "200 files at once, in folders that they share and make, each get their own content",
    { timeout: 20_000 },
    inWorkspace(async (ws) => {
      const names = Array.from({ length: 200 }, (_, i) => `a/${i % 7}/b/${i % 3}/file-${i}.txt`);
      const results = await Promise.all(
        names.map((name) => createFile(ws.writable, { path: name, content: `this is ${name}` })),
      );
      for (const [i, name] of names.entries()) {
        const result = checkResult(results[i]);
        assert.equal(result.errorCode, null, result.message);
        assert.equal(result.path, name);
        assert.equal(result.hash, sha256(`this is ${name}`));
        assert.equal(fs.readFileSync(ws.at(name), "utf8"), `this is ${name}`);
      }
    }),
  );

  test(
    "a create that fails takes no folder away from those that succeed beside it",
    inWorkspace(async (ws) => {
      for (let round = 0; round < 10; round++) {
        const long = `${round}/deep/er/${"x".repeat(255)}`;
        const results = await Promise.all([
          createFile(ws.writable, { path: `${round}/deep/er/a.txt`, content: "a" }),
          createFile(ws.writable, { path: `${round}/deep/er/a.txt`, content: "a" }),
          createFile(ws.writable, { path: `${round}/deep/er/a.txt/b.txt`, content: "b" }),
          createFile(ws.writable, { path: `${round}/deep`, content: "c" }),
          createFile(ws.writable, { path: long, content: "d" }),
        ]);
        for (const [i, result] of results.entries()) {
          if (result.success) assert.ok(fs.existsSync(ws.at(result.path)), `${i}: ${result.path}`);
        }
      }
    }),
  );
});

describe("a folder that goes away meanwhile", { skip: notPosix }, () => {
  for (const again of [false, true]) {
    test(
      `M07: ${again ? "and comes back " : ""}makes at worst a clean failure to write`,
      { timeout: 20_000 },
      inWorkspace(async (ws: TestWorkspace) => {
        const job = { root: ws.root, name: "dir", again };
        const context = { ...ws.writable, durability: "none" } as const;
        await alongside("remove", job, async () => {
          const begun = performance.now();
          for (let i = 0; i < 300 && goesOn(begun, i); i++) {
            const args = {
              path: i % 2 ? "dir/a.txt" : `dir/sub/${i}.txt`,
              content: "a",
              overwrite: true,
            };
            const result = checkResult(
              i % 4 < 2 ? await createFile(context, args) : createFileSync(context, args),
              ws.hidden,
            );
            assert.ok(
              [null, "WriteFailed", "DirectoryCreateFailed"].includes(result.errorCode),
              JSON.stringify(result),
            );
            assert.doesNotMatch(result.message, /not found|no such/i);
          }
        });
        fs.rmSync(ws.at("dir"), { recursive: true, force: true });
        assert.deepEqual(fs.readdirSync(ws.root), []);
      }),
    );
  }
});
