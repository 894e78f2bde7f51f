// Access rules of `ringfence mcp`, with the official client: the flags, the default, and wrong command lines.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { callThrough, failureIn, RawSession, withClient } from "./support/mcp.ts";
import { inWorkspace } from "./support/workspace.ts";

/** Creates an empty file. */
const create = (client: Client, path: string) =>
  callThrough(client, "workspace_create_file", { path, content: "" });

async function assertCreated(client: Client, ...paths: string[]): Promise<void> {
  for (const path of paths) {
    const answer = await create(client, path);
    assert.ok(!answer.isError, `${path}: ${JSON.stringify(answer)}`);
  }
}

async function assertProtected(client: Client, ...paths: string[]): Promise<void> {
  for (const path of paths) {
    const { status, error, message } = failureIn(await create(client, path));
    const told = [status, error.code, error.details.code];
    assert.deepEqual(told, ["denied", "POLICY_DENIED", "PATH_DENIED"], path);
    assert.ok(message.startsWith(`The host's rules protect "${path}":`), message);
    assert.doesNotMatch(message, /--|flag|read.only/);
  }
}

describe("ringfence mcp", () => {
  test(
    "by default, changes nothing that programs run unasked, and reads it",
    inWorkspace(async (ws) => {
      ws.write(".vscode/settings.json", "{}");
      await withClient(["--root", ws.root], async (client) => {
        await assertProtected(client, ".git/hooks/pre-commit", ".vscode/tasks.json", ".envrc");
        await assertCreated(client, "package.json", "node_modules/p/.npmrc");
        const read = await callThrough(client, "read_file", { path: ".vscode/settings.json" });
        assert.equal(read.structuredContent?.content, "{}");
      });
      assert.deepEqual(Object.keys(ws.texts()).sort(), [
        ".vscode/settings.json",
        "node_modules/p/.npmrc",
        "package.json",
      ]);
    }),
  );

  test(
    "--deny, more than once, hides paths from every tool",
    inWorkspace(async (ws) => {
      ws.write(".env", "KEY=1");
      ws.write("keys/a.pem", "KEY=2");
      ws.write("a.txt", "KEY=3");
      const flags = ["--root", ws.root, "--deny", ".env", "--deny=keys/"];
      await withClient(flags, async (client) => {
        await client.listTools();
        for (const path of [".env", "keys/a.pem", "keys/gone"]) {
          const { error } = failureIn(await callThrough(client, "read_file", { path }));
          assert.equal(error.details.code, "PATH_DENIED");
        }
        const found = await callThrough(client, "regexp_search", { pattern: "KEY" });
        const items = found.structuredContent?.items as { path: string }[];
        assert.deepEqual(
          items.map(({ path }) => path),
          ["a.txt"],
        );
        await assertProtected(client, ".env", "keys/b", ".envrc");
      });
    }),
  );

  test(
    "--read-only-path takes the place of the default, and --no-read-only-path leaves none",
    inWorkspace(async (ws) => {
      await withClient(["--root", ws.root, "--read-only-path", "docs/"], async (client) => {
        await assertProtected(client, "docs/a.md");
        await assertCreated(client, ".vscode/a.json");
      });
      await withClient(["--root", ws.root, "--no-read-only-path"], async (client) => {
        await assertCreated(client, "docs/a.md", ".vscode/b.json");
      });
    }),
  );

  test(
    "--write-only lets nothing else be changed, beside the default",
    inWorkspace(async (ws) => {
      const flags = ["--root", ws.root, "--write-only", "src/", "--write-only", "*.md"];
      await withClient(flags, async (client) => {
        await assertCreated(client, "src/a.ts", "README.md");
        await assertProtected(client, "a.ts", "src/.vscode/a.json");
      });
    }),
  );

  test(
    "the rules hold for the roots of the client, too",
    inWorkspace(async (ws) => {
      ws.write(".env", "KEY=1");
      const roots = () => [pathToFileURL(ws.root).href];
      await withClient(
        ["--deny", ".env"],
        async (client) => {
          await assertProtected(client, ".env", ".envrc");
          await assertCreated(client, "a.txt");
        },
        { roots },
      );
    }),
  );
});

describe("a wrong command line", () => {
  const MISUSES: [args: string[], said: RegExp][] = [
    [["--deny", ""], /--deny "" must be a pattern/],
    [["--deny", "a", "--deny", "../b"], /--deny \.\.\/b must not lead out/],
    [["--write-only", "#a"], /--write-only #a must not begin with/],
    [["--read-only-path", "[a"], /--read-only-path \[a /],
    [["--deny", "../a\nb"], /--deny \.\.\/a\\u\{a\}b must not lead out/],
    [["--deny"], /--deny/],
    [["--read-only-path", "a", "--no-read-only-path"], /exclude each other/],
  ];
  for (const [args, said] of MISUSES) {
    test(`\`${args.join(" ")}\` is told why, and ends with 2, with a root and without`, async () => {
      for (const root of [[], ["--root", "."]]) {
        const session = new RawSession(["mcp", ...root, ...args]);
        const { code, stderr } = await session.end();
        assert.equal(code, 2, stderr);
        assert.match(stderr, /^ringfence: [^\n]+\n$/);
        assert.match(stderr, said);
      }
    });
  }

  test("--help has the flags", async () => {
    const session = new RawSession(["--help"]);
    assert.equal((await session.end()).code, 0);
    for (const flag of ["--deny", "--read-only-path", "--no-read-only-path", "--write-only"]) {
      assert.ok(
        session.impure.some((line) => line.trimStart().startsWith(`${flag} `)),
        flag,
      );
    }
  });
});
