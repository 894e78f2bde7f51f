// Properties of `Object.prototype` are no arguments, options or keys of a context, and accessors on
// `Array.prototype` change no answer.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createAgentToolkit, patchFile } from "../dist/index.js";
import {
  applyPatch,
  createFile,
  DirectoryStore,
  findFiles,
  nearMisses,
  readBytes,
  readFile,
  readFileSync,
  readFiles,
  readFileUri,
  readSourceDocument,
  tree,
  Workspace,
  workspaceSnapshot,
} from "../index.js";
import { answerOf, runScript } from "./support/child.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const KEYS: Record<string, unknown> = {
  signal: AbortSignal.abort(new Error("polluted")),
  max_lines: 1,
  maxLines: 1,
  start_line: 2,
  include_hash: true,
  invalidUtf8: "replace",
  overwrite: true,
  expectedHash: "00",
  contentHash: "aptix",
  durability: "none",
  writeScope: "read-only",
  workspaceRoot: "/nowhere",
  maxBytes: 1,
  space: "/nowhere",
  chat: "/nowhere",
  activeFiles: [],
  store: {},
  include: ["x"],
  exclude: ["**"],
  gitignore: true,
  maxEntries: 1,
  maxDepth: 1,
  rules: { deny: ["**"] },
  deny: ["**"],
  limit: 1,
  files: ["b.txt"],
  max_total_bytes: 1,
  offset: 1,
  length: 1,
  patterns: ["none"],
  root_path: "/nowhere",
  kind: "directory",
  sort: "mtime",
  max_results: 1,
  after: ":z",
  default_excludes: false,
  entry_kind: "all",
  max_depth: 0,
  max_entries: 1,
  patch: "polluted",
  expected_hashes: { "a.txt": "00" },
  dry_run: false,
  cwd: "/nowhere",
  policy: { defaultPolicy: "deny" },
  tools: [],
  location: "client",
  approve: () => "deny",
  onError: () => {
    throw new Error("polluted");
  },
};

const CHANGE = "*** Begin Patch\n*** Update File: a.txt\n-two\n+2\n*** End Patch\n";

/** A call of each function, by a held root and by a plain context, with and without options. */
function callsIn(ws: TestWorkspace): Record<string, () => unknown> {
  const held = Workspace.open(ws.root, { writeScope: "workspace-write" });
  const plain = ws.writable;
  const creating = async (create: (path: string) => unknown) => {
    const answer = await create("new.txt");
    fs.rmSync(ws.at("new.txt"), { force: true });
    return answer;
  };
  const invoke = (context: object, name: string, args: object) =>
    createAgentToolkit(context).invoke(name as never, args as never);
  return {
    readFile: () => readFile(held, "a.txt"),
    "readFile with options": () => readFile(plain, "a.txt", {}),
    readFileSync: () => readFileSync(held, "a.txt", {}),
    createFile: () => creating((path) => createFile(held, { path, content: "x" })),
    "createFile with options": () =>
      creating((path) => createFile(plain, { path, content: "x" }, {})),
    "createFile on a file": () => createFile(held, { path: "a.txt", content: "x" }),
    nearMisses: () => nearMisses(held, "b.txt", {}),
    findFiles: () => itemsOf(findFiles(held, { patterns: "*" }, {})),
    tree: () => tree(plain, ".", {}),
    workspaceSnapshot: () => workspaceSnapshot(plain, {}),
    readFileUri: () => readFileUri("file:///a.txt", { space: held }),
    readSourceDocument: () => readSourceDocument("a.txt", { store: DirectoryStore.open(ws.root) }),
    readFiles: () => readFiles(held, { files: ["a.txt", { path: "a.txt" }, "b.txt"] }),
    "readFiles without files": () => readFiles(plain, {} as never, {}),
    readBytes: () => readBytes(held, "a.txt"),
    "readBytes with options": () => readBytes(plain, "a.txt", {}),
    "readFile with rules": () => readFile({ ...plain, rules: { read_only: ["b.txt"] } }, "a.txt"),
    applyPatch: () => applyPatch(held, { patch: CHANGE, dry_run: true }),
    "applyPatch without a patch": () => applyPatch(plain, {} as never, {}),
    "patchFile that is refused": () => patchFile(plain, "b.txt", CHANGE),
    "invoke read_files": () => invoke(held, "read_files", { files: [{ path: "a.txt" }] }),
    "invoke read_file": () => invoke(held, "read_file", { path: "a.txt" }),
    "invoke workspace_create_file": () =>
      creating((path) => invoke(plain, "workspace_create_file", { path, content: "x" })),
  };
}

/** The part of an answer that is the same on every call. */
async function itemsOf(answer: Promise<{ items: unknown }>): Promise<unknown> {
  return (await answer).items;
}

async function answersOf(calls: Record<string, () => unknown>): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const [name, call] of Object.entries(calls)) {
    answers[name] = await Promise.resolve()
      .then(call)
      .then(JSON.stringify, (error: Error) => error.message);
  }
  return answers;
}

// B21: a program, or a library that it loads, has added properties to `Object.prototype`.
describe("second look B21: Object.prototype", () => {
  for (const [key, value] of Object.entries(KEYS)) {
    test(
      `second look B21: ${key} on it changes no answer`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "one\ntwo\nthree\n");
        const calls = callsIn(ws);
        const expected = await answersOf(calls);
        Object.defineProperty(Object.prototype, key, { value, configurable: true, writable: true });
        let answers: Record<string, string>;
        try {
          answers = await answersOf(calls);
        } finally {
          Reflect.deleteProperty(Object.prototype, key);
        }
        assert.deepEqual(answers, expected);
      }),
    );
  }
});

describe("accessors on Array.prototype", () => {
  const script = fileURLToPath(new URL("./support/array-setters.mjs", import.meta.url));
  for (const throws of [false, true]) {
    test(
      `change no answer where their setters ${throws ? "throw" : "drop values"}`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "one\ntwo\none\n");
        ws.write("d/b.txt", "one and one\n");
        ws.write("binary", "\0o");
        const job = JSON.stringify({ root: ws.root, throws });
        const [expected, found] = answerOf<object[]>(await runScript(script, [job]));
        assert.deepEqual(found, expected);
        assert.match(JSON.stringify(expected), /"lines":\[1,3\]/);
        // An array: the answer was spread.
        assert.match(JSON.stringify(expected), /"nearMisses":\{"answer":\{"0":"d\/b.txt"/);
      }),
    );
  }
});
