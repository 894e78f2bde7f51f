// `applyPatch`: the answer, arguments, both formats, and where hunks go. docs/contract.md §11. The parsers and the
// search are tested in src/tools/apply_patch/, too; the disk in apply-patch-disk.test.ts.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import {
  type ApplyPatchError,
  type ApplyPatchOutput,
  applyPatch,
  isApplyPatchError,
  readFile,
  Workspace,
} from "../index.js";
import {
  ABORT_REASONS,
  hostileProxy,
  revokedProxy,
  STRANGERS,
  withGetter,
} from "./support/hostile.ts";
import {
  applied,
  contentsOf,
  type Files,
  lay,
  loosePatch,
  refused,
  sha256,
  text,
  v4a,
} from "./support/patch.ts";
import { rejectionValue } from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** A test that a patch makes these changes, and no others. */
function applies(
  name: string,
  before: Files,
  patch: string,
  changes: Files,
  check: (answer: ApplyPatchOutput) => void = () => {},
): void {
  test(
    name,
    inWorkspace(async (ws) => {
      lay(ws, before);
      check(await applied(ws, patch, changes));
    }),
  );
}

/** A test that a patch is refused, and changes nothing. */
function refuses(
  name: string,
  before: Files,
  patch: string,
  code: ApplyPatchError["code"],
  expected: Record<string, unknown> & { says?: RegExp } = {},
): void {
  test(
    name,
    inWorkspace(async (ws) => {
      lay(ws, before);
      const error = await refused(ws, { patch });
      const { says = /./, ...details } = expected;
      assert.equal(error.code, code, error.message);
      assert.match(error.message, says);
      for (const [key, value] of Object.entries(details)) {
        assert.deepEqual(error[key as keyof ApplyPatchError], value, `${key}: ${error.message}`);
      }
    }),
  );
}

const hunksOf = (answer: ApplyPatchOutput, file = 0) =>
  answer.files[file]?.hunks.map(({ start_line, offset, match }) => [start_line, offset, match]);

const matchOf = (expected: string) => (answer: ApplyPatchOutput) =>
  assert.deepEqual(
    answer.files.flatMap((file) => file.hunks.map((hunk) => hunk.match)),
    [expected],
  );

/** A unified diff of one file. */
const diff = (name: string, ...lines: string[]) => text(`--- a/${name}`, `+++ b/${name}`, ...lines);

/** A V4A patch that updates one file. */
const update = (name: string, ...lines: string[]) => v4a(`*** Update File: ${name}`, ...lines);

const ABC = { "a.txt": "a\nb\nc\n" };
const B_TO_X = ["@@", "-b", "+x"];

describe("the answer", () => {
  test(
    "has its keys in order, and one entry a section, in the order of the patch",
    inWorkspace(async (ws) => {
      lay(ws, { "upd.txt": "1\n2\n3\n", "mov.txt": "m\n", "del.txt": "d\ne\n" });
      const patch = v4a(
        ...["*** Add File: ./new/add.txt", "+x", "+y"],
        ...["*** Update File: mov.txt", "*** Move to: to.txt", "@@", "-m", "+n"],
        ...["*** Delete File: del.txt"],
        ...["*** Update File: upd.txt", "@@ 1", " 2", "-3", "+4", "+5"],
      );
      const answer = await applyPatch(Workspace.open(ws.root), { patch });
      assert.equal(
        JSON.stringify(answer, null, 1),
        JSON.stringify(
          {
            format: "v4a",
            applied: true,
            files: [
              {
                ...{ path: "new/add.txt", action: "add", from_path: null, hunks: [] },
                ...{ lines_added: 2, lines_removed: 0 },
                ...{ before_sha256: null, sha256: sha256("x\ny\n") },
              },
              {
                ...{ path: "to.txt", action: "move", from_path: "mov.txt" },
                hunks: [{ start_line: 1, offset: 0, match: "exact" }],
                ...{ lines_added: 1, lines_removed: 1 },
                ...{ before_sha256: sha256("m\n"), sha256: sha256("n\n") },
              },
              {
                ...{ path: "del.txt", action: "delete", from_path: null, hunks: [] },
                ...{ lines_added: 0, lines_removed: 2 },
                ...{ before_sha256: sha256("d\ne\n"), sha256: null },
              },
              {
                ...{ path: "upd.txt", action: "update", from_path: null },
                hunks: [{ start_line: 2, offset: 0, match: "exact" }],
                ...{ lines_added: 2, lines_removed: 1 },
                ...{ before_sha256: sha256("1\n2\n3\n"), sha256: sha256("1\n2\n4\n5\n") },
              },
            ],
            diff: text(
              ...["diff --git a/new/add.txt b/new/add.txt", "new file mode 100644"],
              ...["--- /dev/null", "+++ b/new/add.txt", "@@ -0,0 +1,2 @@", "+x", "+y"],
              ...["diff --git a/mov.txt b/to.txt", "rename from mov.txt", "rename to to.txt"],
              ...["--- a/mov.txt", "+++ b/to.txt", "@@ -1 +1 @@", "-m", "+n"],
              ...["diff --git a/del.txt b/del.txt", "deleted file mode 100644"],
              ...["--- a/del.txt", "+++ /dev/null", "@@ -1,2 +0,0 @@", "-d", "-e"],
              ...["diff --git a/upd.txt b/upd.txt"],
              ...["--- a/upd.txt", "+++ b/upd.txt", "@@ -2,2 +2,3 @@", " 2", "-3", "+4", "+5"],
            ),
            diff_truncated: false,
          },
          null,
          1,
        ),
      );
    }),
  );

  applies(
    "a hunk has its first line in the old text, and its offset from the stated line",
    { "a.txt": "0\n0\n0\na\nb\nc\n1\n2\n3\nd\ne\nf\n" },
    diff(
      "a.txt",
      "@@ -1,3 +1,4 @@",
      " a",
      "-b",
      "+x",
      "+y",
      " c",
      "@@ -8,3 +9,3 @@",
      " d",
      "-e",
      "+z",
      " f",
    ),
    { "a.txt": "0\n0\n0\na\nx\ny\nc\n1\n2\n3\nd\nz\nf\n" },
    (answer) => {
      assert.equal(answer.format, "unified");
      assert.deepEqual(hunksOf(answer), [
        [4, 3, "exact"],
        [10, 2, "exact"],
      ]);
    },
  );

  test(
    "the diff is cut at the end of a line to 20,000 UTF-16 units",
    inWorkspace(async (ws) => {
      const patch = v4a("*** Add File: a.txt", ...Array(3_000).fill("+some words"));
      const { diff: shown, diff_truncated } = await applied(ws, patch, {
        "a.txt": "some words\n".repeat(3_000),
      });
      assert.equal(diff_truncated, true);
      assert.ok(shown.length <= 20_000 && shown.length > 19_900, String(shown.length));
      assert.ok(shown.endsWith("\n+some words\n"));
    }),
  );

  test(
    "its hash is the expected hash of the next call",
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      const { meta } = await readFile(ws.writable, "a.txt", { include_hash: true });
      const expected_hashes: Record<string, string | null> = { "a.txt": meta.sha256 ?? null };
      for (const patch of [update("a.txt", ...B_TO_X), update("a.txt", "@@", "-x", "+b")]) {
        const answer = await applyPatch(ws.writable, { patch, expected_hashes });
        expected_hashes["a.txt"] = answer.files[0]?.sha256 ?? null;
      }
      assert.equal(expected_hashes["a.txt"], sha256("a\nb\nc\n"));
    }),
  );

  test(
    "paths are relative to the root, however they were spelled",
    inWorkspace(async (ws) => {
      lay(ws, { "dir/a.txt": "b\n" });
      for (const spelled of ["./dir/a.txt", "dir/../dir/a.txt", "dir//a.txt", ws.at("dir/a.txt")]) {
        const patch = update(spelled, "@@", "-b", "+x");
        const answer = await applyPatch(ws.writable, { patch, dry_run: true });
        assert.equal(answer.files[0]?.path, "dir/a.txt", spelled);
      }
    }),
  );
});

describe("arguments", () => {
  const GOOD = update("a.txt", ...B_TO_X);
  const H = "0".repeat(64);
  const wrong: [rule: RegExp, args: unknown][] = [
    [/^args must be an object with patch/, 5],
    [/^args must be an object with patch/, undefined],
    [/^patch is missing/, {}],
    [/^patch is missing/, { patch: null }],
    [/^patch must be a string/, { patch: 5 }],
    [/^patch must be a string/, { patch: [GOOD] }],
    [/^patch must be a string/, { patch: Object(GOOD) }],
    [/^patch must not contain a NUL/, { patch: `${GOOD}\0` }],
    [/^patch .*surrogate/, { patch: `${GOOD}\ud800` }],
    [/^dry_run must be true or false/, { patch: GOOD, dry_run: "true" }],
    [/^dry_run must be true or false/, { patch: GOOD, dry_run: 1 }],
    [/^expected_hashes must/, { patch: GOOD, expected_hashes: 5 }],
    [/^expected_hashes must/, { patch: GOOD, expected_hashes: "{}" }],
    [/^expected_hashes must/, { patch: GOOD, expected_hashes: new Map([["a.txt", H]]) }],
    [/^expected_hashes must/, { patch: GOOD, expected_hashes: Object.create({ "a.txt": H }) }],
    [/^expected_hashes must/, { patch: GOOD, expected_hashes: new Date() }],
    [/^expected_hashes must/, { patch: GOOD, expected_hashes: { "a.txt": 5 } }],
    [/^expected_hashes must/, { patch: GOOD, expected_hashes: { "a.txt": "" } }],
    [/^expected_hashes must/, { patch: GOOD, expected_hashes: { "a.txt": "A".repeat(64) } }],
    [/^expected_hashes must/, { patch: GOOD, expected_hashes: { "a.txt": H.slice(1) } }],
    [/^expected_hashes must/, { patch: GOOD, expected_hashes: { "a.txt": { sha256: H } } }],
    [/^expected_hashes must/, { patch: GOOD, expected_hashes: { "a.txt": true } }],
    [
      /^expected_hashes has a path that the patch does not name: b\.txt$/,
      { patch: GOOD, expected_hashes: { "b.txt": H } },
    ],
    [
      /^expected_hashes has a path that the patch does not name: b\.txt$/,
      { patch: GOOD, expected_hashes: { "b.txt": null } },
    ],
  ];
  for (const [rule, args] of wrong) {
    test(
      `${rule.source} is INVALID_ARGUMENT: ${JSON.stringify(args)?.slice(0, 120)}`,
      inWorkspace(async (ws) => {
        lay(ws, ABC);
        const error = await refused(ws, args);
        assert.equal(error.code, "INVALID_ARGUMENT");
        assert.match(error.message.slice("INVALID_ARGUMENT: ".length), rule);
      }),
    );
  }

  test(
    "a patch has at most 4 MiB of UTF-8",
    inWorkspace(async (ws) => {
      const patch = (bytes: number) => {
        const empty = v4a("*** Add File: a.txt", "+");
        return empty.replace("+\n", `+${"é".repeat((bytes - empty.length) / 2)}\n`);
      };
      const limit = 4 * 1024 * 1024;
      const even = patch(limit);
      const size = Buffer.byteLength(even);
      assert.ok(size <= limit && size > limit - 2, String(size));
      const fits = `${even}${"\n".repeat(limit - size)}`;
      await applyPatch(ws.writable, { patch: fits, dry_run: true });
      const error = await refused(ws, { patch: `${fits}\n` });
      assert.equal(error.code, "INVALID_ARGUMENT");
      assert.match(error.message, /4 ?194 ?304|4194304|4 MiB/);
    }),
  );

  test(
    "a patch changes at most 1,000 files, in however many sections",
    inWorkspace(async (ws) => {
      const patch = (count: number) =>
        v4a(...Array.from({ length: count }, (_, n) => `*** Add File: ${n}.txt\n+x`));
      const answer = await applyPatch(ws.writable, { patch: patch(1_000), dry_run: true });
      assert.equal(answer.files.length, 1_000);
      const error = await refused(ws, { patch: patch(1_001) });
      assert.equal(error.code, "INVALID_ARGUMENT");
      assert.match(error.message, /1000 files, but changes 1001/);
      lay(ws, ABC);
      const again = Array.from(
        { length: 1_001 },
        (_, n) => `*** Update File: a.txt\n@@\n-${n === 0 ? "a" : n}\n+${n + 1}`,
      );
      const composed = await applyPatch(ws.writable, { patch: v4a(...again), dry_run: true });
      assert.equal(composed.files.length, 1_001);
    }),
  );

  test(
    "null counts as absent, and unknown keys are ignored",
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      const args = { patch: GOOD, expected_hashes: null, dry_run: null, unknown: 5 };
      assert.equal((await loosePatch(ws.writable, args, null)).applied, true);
    }),
  );

  test(
    "values that are no arguments of any kind are refused, and the process lives",
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      const hashes = [
        ...[hostileProxy(), revokedProxy(), withGetter("a.txt")],
        ...STRANGERS.map(([, value]) => value).filter((value) => typeof value !== "object"),
      ].map((expected_hashes) => ({ patch: GOOD, expected_hashes }));
      const all = [
        ...STRANGERS,
        hostileProxy(),
        withGetter("patch"),
        withGetter("dry_run"),
        ...hashes,
      ];
      for (const stranger of all) {
        const error = await rejectionValue(() => loosePatch(ws.writable, stranger));
        assert.ok(isApplyPatchError(error), String(error));
      }
      assert.deepEqual(contentsOf(ws.root), ABC);
    }),
  );

  test(
    "each argument is read once",
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      const reads: string[] = [];
      const args = new Proxy(
        { patch: GOOD, expected_hashes: { "a.txt": sha256("a\nb\nc\n") }, dry_run: false },
        {
          get(target, key) {
            reads.push(String(key));
            return Reflect.get(target, key);
          },
        },
      );
      await applyPatch(ws.writable, args);
      assert.deepEqual([...new Set(reads)].sort(), [...reads].sort());
    }),
  );

  for (const [name, reason] of ABORT_REASONS) {
    test(
      `an aborted signal rejects with its reason: ${name}`,
      inWorkspace(async (ws) => {
        lay(ws, ABC);
        const signal = AbortSignal.abort(reason);
        const error = await rejectionValue(() =>
          applyPatch(ws.writable, { patch: GOOD }, { signal }),
        );
        assert.equal(error, signal.reason);
        assert.deepEqual(contentsOf(ws.root), ABC);
      }),
    );
  }
});

describe("paths", () => {
  const codes: [path: string, code: ApplyPatchError["code"], shown?: string][] = [
    ["../a.txt", "SANDBOX_VIOLATION"],
    ["x/../../a.txt", "SANDBOX_VIOLATION"],
    ["/etc/hostname", "SANDBOX_VIOLATION", "…/hostname"],
    ["C:/a.txt", "SANDBOX_VIOLATION", "…/a.txt"],
    [".", "INVALID_ARGUMENT"],
    ["dir/..", "INVALID_ARGUMENT", "."],
    ["~", "INVALID_ARGUMENT"],
    ["a\u202e.txt", "INVALID_ARGUMENT"],
    ["missing.txt", "NOT_FOUND"],
    ["a.txt/x", "NOT_FOUND"],
    ["dir", "NOT_FILE"],
  ];
  for (const [path, code, shown = path] of codes) {
    test(
      `${path} is ${code} in an update, a deletion and as the target of a move`,
      inWorkspace(async (ws) => {
        lay(ws, { ...ABC, "dir/b.txt": "b\n" });
        for (const patch of [update(path, ...B_TO_X), v4a(`*** Delete File: ${path}`)]) {
          const error = await refused(ws, { patch });
          assert.deepEqual([error.code, error.path], [code, shown], patch);
        }
        if (!["SANDBOX_VIOLATION", "INVALID_ARGUMENT"].includes(code)) return;
        for (const lines of [
          ["*** Update File: a.txt", `*** Move to: ${path}`],
          [`*** Add File: ${path}`, "+x"],
        ]) {
          const error = await refused(ws, { patch: v4a(...lines) });
          assert.deepEqual([error.code, error.path], [code, shown], lines.join("\n"));
        }
      }),
    );
  }

  refuses(
    "a file is not made below a file",
    ABC,
    v4a("*** Add File: a.txt/x", "+x"),
    "NOT_DIRECTORY",
    {
      path: "a.txt/x",
    },
  );
  refuses(
    "a file is not moved below a file",
    { ...ABC, "b.txt": "" },
    v4a("*** Update File: b.txt", "*** Move to: a.txt/x"),
    "NOT_DIRECTORY",
    { path: "a.txt/x" },
  );
  refuses(
    "a file is not made with a final slash",
    ABC,
    v4a("*** Add File: x/", "+x"),
    "INVALID_ARGUMENT",
  );
  refuses(
    "the spelling of every path comes before the first hunk",
    ABC,
    v4a("*** Update File: a.txt", "@@", "-zzz", "+x", "*** Delete File: ../x"),
    "SANDBOX_VIOLATION",
    { path: "../x" },
  );
  refuses(
    "of two bad spellings, INVALID_ARGUMENT comes first",
    ABC,
    v4a("*** Delete File: ../x", "*** Delete File: ."),
    "INVALID_ARGUMENT",
    { path: "." },
  );
  refuses(
    "a missing file is told with its likely name",
    { "src/Main.ts": "a\n" },
    update("src/main.tsx", ...B_TO_X),
    "NOT_FOUND",
    { says: /src\/Main\.ts/ },
  );

  test(
    "READ_ONLY comes before all but wrong arguments",
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      const context = { ...ws.writable, writeScope: "read-only" as const };
      const codeOf = async (args: object) =>
        ((await rejectionValue(() => loosePatch(context, args))) as ApplyPatchError).code;
      for (const patch of [
        ...["no patch at all", "*** Begin Patch\n", v4a("+x"), update("a.txt", ...B_TO_X)],
        ...[update("missing.txt", ...B_TO_X), update("../a.txt", ...B_TO_X)],
        ...[update("/etc/hostname", ...B_TO_X), diff("a.txt", "@@ -1 +1 @@", "-zzz", "+x")],
      ]) {
        assert.equal(await codeOf({ patch }), "READ_ONLY", patch);
        assert.equal(await codeOf({ patch, dry_run: true }), "READ_ONLY", patch);
      }
      assert.equal(await codeOf({}), "INVALID_ARGUMENT");
      assert.equal(await codeOf({ patch: update(".", ...B_TO_X) }), "INVALID_ARGUMENT");
    }),
  );

  // P-49
  for (const spelled of ['"a.txt"', "b/a.txt", "'a.txt'", "`a.txt`"]) {
    test(
      `P-49: the V4A path ${spelled} is literal, and the message names the file that may be meant`,
      inWorkspace(async (ws) => {
        lay(ws, ABC);
        const error = await refused(ws, { patch: update(spelled, ...B_TO_X) });
        assert.equal(error.code, "NOT_FOUND");
        assert.match(error.message, /"a\.txt"/);
      }),
    );
  }
});

describe("expected_hashes", () => {
  const call = (ws: TestWorkspace, patch: string, expected_hashes: Record<string, string | null>) =>
    ({ ws, args: { patch, expected_hashes } }) as const;
  const stands = sha256("a\nb\nc\n");

  test(
    "the right hash lets the patch pass, by any spelling of its path",
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      for (const spelled of ["a.txt", "./a.txt", "x/../a.txt", ws.at("a.txt")]) {
        const { args } = call(ws, update("a.txt", ...B_TO_X), { [spelled]: stands });
        await applyPatch(ws.writable, { ...args, dry_run: true });
      }
      await applied(
        ws,
        update("a.txt", ...B_TO_X),
        { "a.txt": "a\nx\nc\n" },
        { expected_hashes: { "a.txt": stands } },
      );
    }),
  );

  const STALE: [
    name: string,
    patch: string,
    path: string,
    expected: string | null,
    present: string | null,
  ][] = [
    ["an update", update("a.txt", ...B_TO_X), "a.txt", sha256("else"), stands],
    ["P-51: a deletion", v4a("*** Delete File: a.txt"), "a.txt", sha256("else"), stands],
    [
      "a move",
      v4a("*** Update File: a.txt", "*** Move to: b.txt"),
      "a.txt",
      sha256("else"),
      stands,
    ],
    ["an update where nothing was expected", update("a.txt", ...B_TO_X), "a.txt", null, stands],
    [
      "an addition where something was expected",
      v4a("*** Add File: b.txt", "+x"),
      "b.txt",
      stands,
      null,
    ],
    [
      "the target of a move where something was expected",
      v4a("*** Update File: a.txt", "*** Move to: b.txt"),
      ...(["b.txt", stands, null] as const),
    ],
    [
      "the old name of a unified diff",
      diff("a.txt", "@@ -2 +2 @@", "-b", "+x"),
      "a.txt",
      sha256(""),
      stands,
    ],
  ];
  for (const [name, patch, path, expected, present] of STALE) {
    test(
      `STALE with the present hash: ${name}`,
      inWorkspace(async (ws) => {
        lay(ws, ABC);
        const error = await refused(ws, { patch, expected_hashes: { [path]: expected } });
        assert.deepEqual([error.code, error.path, error.sha256], ["STALE", path, present]);
      }),
    );
  }

  test(
    "null passes where the patch makes the file",
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      const patch = v4a(
        "*** Add File: b.txt",
        "+x",
        "*** Update File: a.txt",
        "*** Move to: c.txt",
      );
      const expected_hashes = { "b.txt": null, "c.txt": null, "a.txt": stands };
      await applied(
        ws,
        patch,
        { "b.txt": "x\n", "c.txt": "a\nb\nc\n", "a.txt": null },
        { expected_hashes },
      );
    }),
  );

  test(
    "one stale file keeps the others from changing",
    inWorkspace(async (ws) => {
      lay(ws, { ...ABC, "b.txt": "b\n" });
      const patch = v4a("*** Update File: a.txt", ...B_TO_X, "*** Update File: b.txt", ...B_TO_X);
      const expected_hashes = { "a.txt": stands, "b.txt": stands };
      const error = await refused(ws, { patch, expected_hashes });
      assert.deepEqual([error.code, error.path], ["STALE", "b.txt"]);
    }),
  );

  test(
    "the hash is that before the call, also of a file with two sections",
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      const patch = v4a(
        "*** Update File: a.txt",
        ...B_TO_X,
        "*** Update File: a.txt",
        "@@",
        "-x",
        "+y",
      );
      await applied(ws, patch, { "a.txt": "a\ny\nc\n" }, { expected_hashes: { "a.txt": stands } });
    }),
  );

  test(
    "STALE comes before HUNK_NOT_FOUND",
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      const patch = update("a.txt", "@@", "-zzz", "+x");
      const error = await refused(ws, { patch, expected_hashes: { "a.txt": sha256("") } });
      assert.equal(error.code, "STALE");
    }),
  );

  test(
    "a touched file with the same bytes is not stale",
    inWorkspace(async (ws) => {
      lay(ws, ABC);
      fs.utimesSync(ws.at("a.txt"), 1, 1);
      await applied(
        ws,
        update("a.txt", ...B_TO_X),
        { "a.txt": "a\nx\nc\n" },
        { expected_hashes: { "a.txt": stands } },
      );
    }),
  );
});

describe("what is peeled off without a word", () => {
  const body = update("a.txt", ...B_TO_X);
  const unified = diff("a.txt", "@@ -1,3 +1,3 @@", " a", "-b", "+x", " c");
  const AFTER = { "a.txt": "a\nx\nc\n" };
  for (const [format, patch] of [
    ["V4A", body],
    ["unified", unified],
  ] as const) {
    const wrapped: [name: string, patch: string][] = [
      ["text before and after", `I will change it:\n\n${patch}\nThat is all.\n`],
      ["a Markdown fence", `\`\`\`diff\n${patch}\`\`\`\n`],
      ["a fence of tildes", `~~~~\n${patch}~~~~\n`],
      ["a fence and text after it", `Here:\n\`\`\`patch\n${patch}\`\`\`\n- done\n`],
      ["a here-document in quotes", `apply_patch <<'EOF'\n${patch}EOF\n`],
      ["a here-document in double quotes", `apply_patch <<"PATCH"\n${patch}PATCH\n`],
      ["a bare here-document", `cat <<EOF | patch -p1\n${patch}EOF\n`],
      ["a here-document in a fence", `\`\`\`bash\napply_patch <<'EOF'\n${patch}EOF\n\`\`\`\n`],
      ["a byte order mark", `\ufeff${patch}`],
      ["CRLF of its own lines", patch.replaceAll("\n", "\r\n")],
      ["a missing final line end", patch.slice(0, -1)],
      ["empty lines before and after", `\n\n${patch}\n\n`],
    ];
    for (const [name, given] of wrapped) applies(`${format}: ${name}`, ABC, given, AFTER);
  }
  for (const [name, given] of [
    [
      "P-16: blanks around the markers",
      " *** Begin Patch \n  *** Update File: a.txt\n@@\n-b\n+x\n *** End Patch\t\n",
    ],
    [
      "P-16: empty lines between sections",
      "*** Begin Patch\n\n*** Update File: a.txt\n@@\n-b\n+x\n\n\n*** End Patch\n",
    ],
    [
      "P-17: a final *** on markers",
      "*** Begin Patch ***\n*** Update File: a.txt ***\n@@\n-b\n+x\n*** End Patch ***\n",
    ],
  ] as const) {
    applies(name, ABC, given, AFTER);
  }
  applies(
    "diff lines of git around a section",
    ABC,
    `From 0123 Mon Sep 17 00:00:00 2001\nSubject: x\n\n---\n a.txt | 2 +-\n\ndiff --git a/a.txt b/a.txt\nindex 1..2 100644\n${unified}-- \n2.39.5\n\n`,
    AFTER,
  );
  applies(
    "the first header decides: a V4A patch that adds a diff",
    {},
    v4a("*** Add File: a.diff", "+--- a/x", "++++ b/x", "+@@ -1 +1 @@"),
    { "a.diff": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n" },
    (answer) => assert.equal(answer.format, "v4a"),
  );
  applies(
    "the first header decides: a diff that adds a V4A patch",
    ABC,
    diff("a.txt", "@@ -1,2 +1,3 @@", " a", "+*** Begin Patch", " b"),
    { "a.txt": "a\n*** Begin Patch\nb\nc\n" },
    (answer) => assert.equal(answer.format, "unified"),
  );
  for (const given of [
    "",
    "\n",
    "hello",
    "*** Update File: a.txt\n@@\n-b\n+x\n",
    "1,3c\nx\n.\n",
    "{}",
  ]) {
    refuses(`a text without a patch: ${JSON.stringify(given)}`, ABC, given, "PATCH_INVALID", {
      path: "",
    });
  }
});

describe("V4A", () => {
  applies(
    "P-01: files are added, changed, removed and moved by one patch",
    { "u.txt": "1\n2\n", "d.txt": "d\n", "m.txt": "m\n" },
    v4a(
      ...[
        "*** Add File: a.txt",
        "+a",
        "*** Update File: u.txt",
        "@@",
        "-2",
        "+3",
        "*** Delete File: d.txt",
      ],
      ...["*** Update File: m.txt", "*** Move to: n.txt", "@@", "-m", "+n"],
    ),
    { "a.txt": "a\n", "u.txt": "1\n3\n", "d.txt": null, "m.txt": null, "n.txt": "n\n" },
    ({ files }) =>
      assert.deepEqual(
        files.map((file) => file.action),
        ["add", "update", "delete", "move"],
      ),
  );
  refuses(
    "P-02: the third file's hunk does not match: nothing changes, no folder is made",
    { "a.txt": "b\n", "b.txt": "b\n", "c.txt": "c\n" },
    v4a(
      ...[
        "*** Update File: a.txt",
        ...B_TO_X,
        "*** Add File: new/x.txt",
        "+x",
        "*** Delete File: b.txt",
      ],
      ...["*** Update File: c.txt", "@@", "-zzz", "+x"],
    ),
    "HUNK_NOT_FOUND",
    { path: "c.txt", hunk: 0, patch_line: 10 },
  );
  refuses(
    "P-04: a file is not added where one stands",
    ABC,
    v4a("*** Add File: a.txt", "+x"),
    "ALREADY_EXISTS",
    {
      path: "a.txt",
      says: /Update File/,
    },
  );
  refuses(
    "a file is not added where a folder stands",
    { "dir/b": "" },
    v4a("*** Add File: dir", "+x"),
    "ALREADY_EXISTS",
    {
      path: "dir",
    },
  );
  refuses(
    "a file is not added twice",
    {},
    v4a("*** Add File: a.txt", "+x", "*** Add File: a.txt", "+y"),
    "ALREADY_EXISTS",
    { path: "a.txt" },
  );
  refuses(
    "a file is not moved onto another",
    { ...ABC, "b.txt": "b\n" },
    v4a("*** Update File: a.txt", "*** Move to: b.txt", ...B_TO_X),
    "ALREADY_EXISTS",
    { path: "b.txt" },
  );
  for (const to of ["a.txt", "./a.txt", "x/../a.txt"]) {
    applies(
      `P-09: a move to ${to}, itself, is a plain update`,
      ABC,
      v4a("*** Update File: a.txt", `*** Move to: ${to}`, ...B_TO_X),
      { "a.txt": "a\nx\nc\n" },
      ({ files }) => assert.deepEqual([files[0]?.action, files[0]?.from_path], ["update", null]),
    );
  }
  applies(
    "P-11: a move makes the folders it needs, and leaves the old one",
    { "old/a.txt": "b\n" },
    v4a("*** Update File: old/a.txt", "*** Move to: new/deep/a.txt", ...B_TO_X),
    { "old/a.txt": null, "new/deep/a.txt": "x\n" },
  );
  applies(
    "P-12: a move without hunks is a rename",
    ABC,
    v4a("*** Update File: a.txt", "*** Move to: b.txt"),
    { "a.txt": null, "b.txt": "a\nb\nc\n" },
    ({ files }) => assert.deepEqual(hunksOf({ files } as ApplyPatchOutput), []),
  );
  applies(
    "a binary file is moved and removed",
    { "a.bin": Buffer.from([0, 1, 255]), "b.bin": Buffer.from([0, 254]) },
    v4a("*** Update File: a.bin", "*** Move to: c.bin", "*** Delete File: b.bin"),
    { "a.bin": null, "c.bin": Buffer.from([0, 1, 255]), "b.bin": null },
  );
  applies(
    "P-46: each line of an added file has an end",
    {},
    v4a("*** Add File: a", "+x", "+", "+y"),
    { a: "x\n\ny\n" },
  );
  applies("an empty file is added", {}, v4a("*** Add File: a"), { a: "" });
  applies("P-19: the first hunk needs no @@", ABC, update("a.txt", " a", "-b", "+x"), {
    "a.txt": "a\nx\nc\n",
  });
  refuses(
    "P-19: after `*** End of File` a hunk needs its @@",
    ABC,
    update("a.txt", "@@", "-c", "+y", "*** End of File", "-b", "+x"),
    "PATCH_INVALID",
    { patch_line: 7 },
  );
  const CLASSES = { "a.py": "class A\n  def f\n    x\nclass B\n  def f\n    x\n" };
  applies(
    "@@ narrows to after the line that equals it",
    CLASSES,
    update("a.py", "@@ class B", "-    x", "+    y"),
    { "a.py": "class A\n  def f\n    x\nclass B\n  def f\n    y\n" },
  );
  applies(
    "several @@ in a row narrow one after the other",
    CLASSES,
    update("a.py", "@@ class B", "@@ def f", "-    x", "+    y"),
    { "a.py": "class A\n  def f\n    x\nclass B\n  def f\n    y\n" },
  );
  applies(
    "P-21: one @@ line after the other is taken in the order of the file",
    { "a.txt": "A\nold\nA\nold\nA\nold\n" },
    update("a.txt", "@@ A", "@@ A", "-old", "+new"),
    { "a.txt": "A\nold\nA\nnew\nA\nold\n" },
  );
  applies(
    "P-22: @@ equals a line exactly before it equals one trimmed",
    { "a.txt": "  f\nx\nf\nx\n" },
    update("a.txt", "@@ f", "-x", "+y"),
    { "a.txt": "  f\nx\nf\ny\n" },
  );
  applies(
    "P-22: @@ equals a line trimmed",
    { "a.py": "class A:\n    def f(self):\n        x\n" },
    update("a.py", "@@ def f(self):", "-        x", "+        y"),
    { "a.py": "class A:\n    def f(self):\n        y\n" },
  );
  refuses(
    "P-22: a part of a line is not enough for @@",
    { "a.py": "def f(self):\n    x\n" },
    update("a.py", "@@ def f", "-    x", "+    y"),
    "HUNK_NOT_FOUND",
    { patch_line: 3, hunk: 0 },
  );
  applies(
    "a hunk directly after its @@ line is there, though its lines occur again",
    { "a.txt": "f\nx\nx\nx\n" },
    update("a.txt", "@@ f", "-x", "+y"),
    { "a.txt": "f\ny\nx\nx\n" },
  );
  applies(
    "the text behind unified numbers of an @@ narrows, and the numbers are ignored",
    CLASSES,
    update("a.py", "@@ -1,2 +1,2 @@ class B", "-    x", "+    y"),
    { "a.py": "class A\n  def f\n    x\nclass B\n  def f\n    y\n" },
  );
  applies(
    "unified numbers alone are ignored",
    ABC,
    update("a.txt", "@@ -40,3 +40,3 @@", ...B_TO_X.slice(1)),
    {
      "a.txt": "a\nx\nc\n",
    },
  );
  applies(
    "P-24: additions alone stand right after their @@ line",
    { "a.txt": "fn a()\n  1\nfn b()\n  2\n" },
    update("a.txt", "@@ fn a()", "+  0"),
    { "a.txt": "fn a()\n  0\n  1\nfn b()\n  2\n" },
  );
  applies(
    "P-26: additions alone stand at the end with `*** End of File`",
    ABC,
    update("a.txt", "@@", "+x", "*** End of File"),
    {
      "a.txt": "a\nb\nc\nx\n",
    },
  );
  applies("additions alone fill an empty file", { a: "" }, update("a", "@@", "+x", "+y"), {
    a: "x\ny\n",
  });
  refuses(
    "P-27: additions alone without a place are ambiguous",
    ABC,
    update("a.txt", "@@", "+x"),
    "HUNK_AMBIGUOUS",
    {
      ...{ path: "a.txt", lines: [], hunk: 0, patch_line: 3 },
      says: /only adds lines/,
    },
  );
  refuses(
    "additions alone after an @@ line that occurs twice are ambiguous",
    { "a.txt": "f\n1\nf\n2\n" },
    update("a.txt", "@@ f", "+x"),
    "HUNK_AMBIGUOUS",
    { lines: [1, 3] },
  );
  applies(
    "`*** End of File` ties a hunk to the end",
    { "a.txt": "x\ny\nx\n" },
    update("a.txt", "@@", "-x", "+z", "*** End of File"),
    { "a.txt": "x\ny\nz\n" },
  );
  refuses(
    "`*** End of File` where the lines stand elsewhere",
    ABC,
    update("a.txt", ...B_TO_X, "*** End of File"),
    "HUNK_NOT_FOUND",
    { hunk: 0 },
  );
  applies(
    "P-42: an empty line is an empty context line, at the end of a hunk a separator",
    { "a.txt": "a\n\nb\nc\n" },
    update("a.txt", "@@", " a", "", "-b", "+x", "", "@@", "-c", "+y", ""),
    { "a.txt": "a\n\nx\ny\n" },
  );
  refuses(
    "P-47: an empty line within an added file",
    {},
    v4a("*** Add File: a", "+x", "", "+y"),
    "PATCH_INVALID",
    {
      patch_line: 4,
    },
  );
  refuses(
    "P-47: a line without + in an added file",
    {},
    v4a("*** Add File: a", "+x", "y"),
    "PATCH_INVALID",
    {
      patch_line: 4,
    },
  );
  applies(
    "P-44: lines that look like markers are content behind their sign",
    { "a.txt": "*** End Patch\n@@ x\n--- a\n+++ b\nend\n" },
    update(
      "a.txt",
      "@@",
      "-*** End Patch",
      "-@@ x",
      "+*** Begin Patch",
      "+*** Update File: x",
      "+@@",
      " --- a",
      " +++ b",
      "-end",
      "+*** End of File",
    ),
    { "a.txt": "*** Begin Patch\n*** Update File: x\n@@\n--- a\n+++ b\n*** End of File\n" },
  );
  for (const [name, patch, patch_line] of [
    ["P-14: no sections", v4a(), 2],
    ["no End Patch", "*** Begin Patch\n*** Delete File: a.txt\n", 2],
    ["cut off in the middle of a hunk", "*** Begin Patch\n*** Update File: a.txt\n@@\n-b\n+", 5],
    ["a section that changes nothing", v4a("*** Update File: a.txt"), 2],
    ["a hunk that changes nothing", update("a.txt", "@@", " a", " b"), 3],
    ["a line of a hunk without a sign", update("a.txt", "@@", "-b", "x"), 5],
    ["an unknown marker", v4a("*** Frobnicate File: a.txt"), 2],
    ["a path that is missing", v4a("*** Delete File: "), 2],
    ["Move to not directly after Update File", update("a.txt", ...B_TO_X, "*** Move to: b.txt"), 6],
    ["lines after Delete File", v4a("*** Delete File: a.txt", "-a"), 3],
    [
      "a second patch after the first",
      v4a("*** Delete File: a.txt") + v4a("*** Delete File: b.txt"),
      4,
    ],
    [
      "a unified diff after it",
      v4a("*** Delete File: a.txt") + diff("a.txt", "@@ -1 +1 @@", "-a", "+b"),
      4,
    ],
  ] as const) {
    refuses(`${name} is PATCH_INVALID, with its line`, ABC, patch, "PATCH_INVALID", {
      ...{ patch_line, path: "" },
      says: new RegExp(`line ${patch_line} of the patch`),
    });
  }
});

describe("sections that compose", () => {
  applies(
    "P-06: add, then update",
    {},
    v4a("*** Add File: d/a", "+x", "*** Update File: d/a", "@@", "-x", "+y"),
    { "d/a": "y\n" },
    ({ files }) =>
      assert.deepEqual(
        files.map((file) => file.action),
        ["add", "update"],
      ),
  );
  applies(
    "P-07: update, then update",
    ABC,
    v4a("*** Update File: a.txt", ...B_TO_X, "*** Update File: a.txt", "@@", "-x", "+y"),
    {
      "a.txt": "a\ny\nc\n",
    },
  );
  refuses(
    "P-07: both or none",
    ABC,
    v4a("*** Update File: a.txt", ...B_TO_X, "*** Update File: a.txt", "@@", "-b", "+y"),
    "HUNK_NOT_FOUND",
  );
  applies(
    "P-06: move a to b, then update b",
    ABC,
    v4a("*** Update File: a.txt", "*** Move to: b.txt", "*** Update File: b.txt", ...B_TO_X),
    { "a.txt": null, "b.txt": "a\nx\nc\n" },
  );
  refuses(
    "what was moved away is not found at its old name",
    ABC,
    v4a("*** Update File: a.txt", "*** Move to: b.txt", "*** Update File: a.txt", ...B_TO_X),
    "NOT_FOUND",
    { path: "a.txt" },
  );
  applies(
    "move a to b, then add a",
    ABC,
    v4a("*** Update File: a.txt", "*** Move to: b.txt", "*** Add File: a.txt", "+n"),
    {
      "b.txt": "a\nb\nc\n",
      "a.txt": "n\n",
    },
  );
  applies(
    "two files are swapped over a third name",
    { a: "1\n", b: "2\n" },
    v4a(
      ...["*** Update File: a", "*** Move to: t", "*** Update File: b", "*** Move to: a"],
      ...["*** Update File: t", "*** Move to: b"],
    ),
    { a: "2\n", b: "1\n" },
  );
  applies(
    "three files change places over a fourth name, and are changed on the way",
    { a: "1\n", b: "2\n", c: "3\n" },
    v4a(
      ...["*** Update File: a", "*** Move to: t", "@@", "-1", "+one"],
      ...["*** Update File: b", "*** Move to: a", "*** Update File: c", "*** Move to: b"],
      ...["*** Update File: t", "*** Move to: c"],
    ),
    { a: "2\n", b: "3\n", c: "one\n" },
  );
  applies("delete, then add", ABC, v4a("*** Delete File: a.txt", "*** Add File: a.txt", "+n"), {
    "a.txt": "n\n",
  });
  applies(
    "delete a, then add a/b",
    { a: "1\n" },
    v4a("*** Delete File: a", "*** Add File: a/b", "+n"),
    {
      a: null,
      "a/b": "n\n",
    },
  );
  applies(
    "move a to t, then add a/b",
    { a: "1\n" },
    v4a("*** Update File: a", "*** Move to: t", "*** Add File: a/b", "+n"),
    {
      a: null,
      t: "1\n",
      "a/b": "n\n",
    },
  );
  applies(
    "add, then delete leaves nothing",
    ABC,
    v4a("*** Add File: b.txt", "+x", "*** Delete File: b.txt"),
    {},
  );
  applies(
    "add, then move",
    {},
    v4a("*** Add File: a", "+x", "*** Update File: a", "*** Move to: b"),
    { b: "x\n" },
  );
  applies(
    "update, then delete",
    ABC,
    v4a("*** Update File: a.txt", ...B_TO_X, "*** Delete File: a.txt"),
    { "a.txt": null },
  );
  applies(
    "there and back again is no change",
    ABC,
    v4a(
      "*** Update File: a.txt",
      "*** Move to: b.txt",
      "*** Update File: b.txt",
      "*** Move to: a.txt",
    ),
    {},
  );
  refuses(
    "what was deleted is not found",
    ABC,
    v4a("*** Delete File: a.txt", "*** Delete File: a.txt"),
    "NOT_FOUND",
    {
      path: "a.txt",
    },
  );
  applies(
    "D-27: a unified diff with one file twice",
    ABC,
    diff("a.txt", "@@ -2 +2 @@", "-b", "+x") + diff("a.txt", "@@ -2 +2 @@", "-x", "+y"),
    { "a.txt": "a\ny\nc\n" },
  );
});

describe("unified diffs", () => {
  const MANY = { "a.txt": text(..."abcdefghij") };
  applies(
    "D-01: counts are not believed where the body says otherwise",
    ABC,
    diff("a.txt", "@@ -1,3 +1,4 @@", " a", "-b", "+x", " c"),
    { "a.txt": "a\nx\nc\n" },
  );
  for (const header of [
    "@@ -2 +2 @@",
    "@@ -2,1 +2,1 @@",
    "@@",
    "@@ @@",
    "@@ -2 +2",
    "@@ ... @@",
    "@@ -0,0 +0,0 @@",
  ]) {
    applies(
      `D-02: ${header} is enough for a hunk that is unique`,
      ABC,
      diff("a.txt", header, "-b", "+x"),
      {
        "a.txt": "a\nx\nc\n",
      },
    );
  }
  refuses(
    "D-04: two places, neither at the stated line",
    { "a.txt": "x\n1\n2\nx\n" },
    diff("a.txt", "@@ -2 +2 @@", "-x", "+y"),
    "HUNK_AMBIGUOUS",
    { lines: [1, 4], path: "a.txt", hunk: 0, patch_line: 3 },
  );
  applies(
    "of two places the one exactly at the stated line is taken",
    { "a.txt": "x\n1\n2\nx\n" },
    diff("a.txt", "@@ -4 +4 @@", "-x", "+y"),
    { "a.txt": "x\n1\n2\ny\n" },
  );
  applies(
    "the stated line is moved by the offset of the hunk before",
    { "a.txt": "0\n0\na\nx\nx\nx\n" },
    diff("a.txt", "@@ -1 +1 @@", "-a", "+b", "@@ -3 +3 @@", "-x", "+y"),
    { "a.txt": "0\n0\nb\nx\ny\nx\n" },
    (answer) =>
      assert.deepEqual(hunksOf(answer), [
        [3, 2, "exact"],
        [5, 2, "exact"],
      ]),
  );
  applies(
    "D-06: lines that an earlier hunk adds do not move the old numbers",
    { "a.txt": "a\nx\nx\nx\nx\n" },
    diff("a.txt", "@@ -1 +1,3 @@", " a", "+1", "+2", "@@ -3 +5 @@", "-x", "+y"),
    { "a.txt": "a\n1\n2\nx\ny\nx\nx\n" },
  );
  refuses(
    "D-07: context that stands nowhere is never applied at the stated line",
    ABC,
    diff("a.txt", "@@ -1,3 +1,3 @@", " q", "-b", "+x", " c"),
    "HUNK_NOT_FOUND",
    { path: "a.txt" },
  );
  applies("D-09: -U0, a removal", MANY, diff("a.txt", "@@ -6 +5,0 @@", "-f"), {
    "a.txt": text(..."abcdeghij"),
  });
  refuses(
    "D-09: -U0, a removal of another line",
    MANY,
    diff("a.txt", "@@ -6 +5,0 @@", "-q"),
    "HUNK_NOT_FOUND",
  );
  applies(
    "-U0, an addition stands at the stated line",
    MANY,
    diff("a.txt", "@@ -3,0 +4,2 @@", "+x", "+y"),
    {
      "a.txt": text(..."abcxydefghij"),
    },
  );
  applies("-U0, an addition before the first line", ABC, diff("a.txt", "@@ -0,0 +1 @@", "+x"), {
    "a.txt": "x\na\nb\nc\n",
  });
  applies("-U0, an addition after the last line", ABC, diff("a.txt", "@@ -3,0 +4 @@", "+x"), {
    "a.txt": "a\nb\nc\nx\n",
  });
  refuses(
    "-U0, an addition beyond the file",
    ABC,
    diff("a.txt", "@@ -7,0 +8 @@", "+x"),
    "HUNK_AMBIGUOUS",
    { lines: [] },
  );
  refuses("-U0, an addition without a number", ABC, diff("a.txt", "@@", "+x"), "HUNK_AMBIGUOUS", {
    lines: [],
  });

  // D-11
  const NO = "\\ No newline at end of file";
  for (const [name, before, lines, after] of [
    ["old side", "a\nb", ["-b", NO, "+x"], "a\nx\n"],
    ["new side", "a\nb\n", ["-b", "+x", NO], "a\nx"],
    ["both sides", "a\nb", ["-b", NO, "+x", NO], "a\nx"],
    ["neither side", "a\nb\n", ["-b", "+x"], "a\nx\n"],
    ["the context", "a\nb", ["-a", "+x", " b", NO], "x\nb"],
    ["D-12: forgotten, after a context line", "a\nb", ["-a", "+x", " b"], "x\nb"],
    ["D-12: forgotten, after an added line", "a\nb", [" a", "-b", "+x"], "a\nx\n"],
    ["only the end is taken away", "a\nb\n", [" a", "-b", "+b", NO], "a\nb"],
    ["only the end is added", "a\nb", [" a", "-b", NO, "+b"], "a\nb\n"],
    ["in another language", "a\nb", ["-b", "\\ Kein Zeilenumbruch am Dateiende.", "+x"], "a\nx\n"],
  ] as const) {
    applies(
      `D-11: the missing line end on ${name}`,
      { a: before },
      diff("a", "@@ -1,2 +1,2 @@", ...lines),
      { a: after },
    );
  }
  for (const [name, before, lines] of [
    ["the file has an end where the patch says none", "a\nb\n", ["-b", NO, "+x"]],
    ["the line is not the last", "a\nb\nc", ["-b", NO, "+x"]],
    ["the context has one", "a\nb\n", ["-a", "+x", " b", NO]],
  ] as const) {
    refuses(
      `D-11: ${name}`,
      { a: before },
      diff("a", "@@ -1,2 +1,2 @@", ...lines),
      "HUNK_NOT_FOUND",
    );
  }

  // D-14
  for (const [name, before, from, to, after] of [
    ["a/ and b/", { x: "b\n" }, "a/x", "b/x", "x"],
    ["no prefix", { x: "b\n" }, "x", "x", "x"],
    ["i/ and w/", { x: "b\n" }, "i/x", "w/x", "x"],
    ["c/ and i/", { x: "b\n" }, "c/x", "i/x", "x"],
    ["a real folder a/", { "a/x": "b\n" }, "a/x", "a/x", "a/x"],
    ["the unstripped old name alone exists", { "a/x": "b\n" }, "a/x", "b/x", "a/x"],
    ["the unstripped new name alone exists", { "b/x": "b\n" }, "a/x", "b/x", "b/x"],
    ["the stripped name comes first", { x: "b\n", "a/x": "b\n", "b/x": "b\n" }, "a/x", "b/x", "x"],
    ["x.orig", { x: "b\n" }, "x.orig", "x", "x"],
  ] as const) {
    const patch = text(`--- ${from}`, `+++ ${to}`, "@@ -1 +1 @@", "-b", "+n");
    applies(`D-14: ${name}`, before, patch, { [after]: "n\n" });
  }
  applies(
    "a/ is stripped of the only name beside /dev/null",
    { x: "b\n" },
    text(
      "--- a/x",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-b",
      "--- /dev/null",
      "+++ b/d/y",
      "@@ -0,0 +1 @@",
      "+n",
    ),
    { x: null, "d/y": "n\n" },
    ({ files }) =>
      assert.deepEqual(
        files.map((file) => file.action),
        ["delete", "add"],
      ),
  );
  refuses(
    "D-16: a deletion of a file that holds more",
    ABC,
    text("--- a/a.txt", "+++ /dev/null", "@@ -1,2 +0,0 @@", "-a", "-b"),
    "HUNK_NOT_FOUND",
    { path: "a.txt" },
  );
  refuses(
    "D-16: a deletion of a file that holds something else",
    ABC,
    text("--- a/a.txt", "+++ /dev/null", "@@ -1,3 +0,0 @@", "-a", "-q", "-c"),
    "HUNK_NOT_FOUND",
    { path: "a.txt" },
  );
  applies(
    "D-17: a rename, with similarity 100% and with hunks",
    { "o.txt": "1\n", "p.txt": "2\n" },
    text(
      ...[
        "diff --git a/o.txt b/n/o.txt",
        "similarity index 100%",
        "rename from o.txt",
        "rename to n/o.txt",
      ],
      ...[
        "diff --git a/p.txt b/q.txt",
        "similarity index 50%",
        "rename from p.txt",
        "rename to q.txt",
      ],
      ...["index 1..2 100644", "--- a/p.txt", "+++ b/q.txt", "@@ -1 +1 @@", "-2", "+3"],
    ),
    { "o.txt": null, "n/o.txt": "1\n", "p.txt": null, "q.txt": "3\n" },
  );
  refuses(
    "D-17: a rename onto an existing file",
    { o: "1\n", n: "2\n" },
    text("diff --git a/o b/n", "rename from o", "rename to n"),
    "ALREADY_EXISTS",
    { path: "n" },
  );
  applies(
    "git makes and removes empty files",
    { e: "" },
    text(
      "diff --git a/n b/n",
      "new file mode 100644",
      "index 0..e",
      "diff --git a/e b/e",
      "deleted file mode 100644",
      "index e..0",
    ),
    {
      n: "",
      e: null,
    },
  );
  for (const [name, lines, says] of [
    [
      "D-19: a link",
      [
        "diff --git a/l b/l",
        "new file mode 120000",
        "--- /dev/null",
        "+++ b/l",
        "@@ -0,0 +1 @@",
        "+x",
      ],
      /symbolic links/,
    ],
    ["D-19: a submodule", ["diff --git a/s b/s", "new file mode 160000"], /submodules/],
    [
      "a binary patch",
      ["diff --git a/b b/b", "index 1..2 100644", "GIT binary patch", "literal 1"],
      /binary/,
    ],
    ["a binary difference", ["diff --git a/b b/b", "Binary files a/b and b/b differ"], /binary/],
    ["a copy", ["diff --git a/a b/b", "copy from a", "copy to b"], /copies/],
    [
      "a combined diff",
      [
        "diff --cc a.txt",
        "index 1,2..3",
        "--- a/a.txt",
        "+++ b/a.txt",
        "@@@ -1,1 -1,1 +1,1 @@@",
        "- a",
      ],
      /combined/,
    ],
    [
      "D-31: a context diff",
      ["*** a.txt", "--- b.txt", "***************", "*** 1,3 ****", "! a", "--- 1,3 ----", "! x"],
      /context diffs/,
    ],
    ["D-31: an ed script", ["2c", "x", "."], /no patch/],
    [
      "--- without +++",
      ["diff --git a/a.txt b/a.txt", "--- a/a.txt", "@@ -1 +1 @@", "-a", "+b"],
      /two lines/,
    ],
    ["no hunks", ["--- a/a.txt", "+++ b/a.txt"], /no hunk/i],
    ["a hunk without a file", ["@@ -1 +1 @@", "-a", "+b"], /no file/],
    [
      "both sides /dev/null",
      ["--- /dev/null", "+++ /dev/null", "@@ -1 +1 @@", "+a"],
      /one of both sides/,
    ],
    [
      "context in a new file",
      ["--- /dev/null", "+++ b/n", "@@ -1,1 +1,2 @@", " a", "+b"],
      /new file/,
    ],
    ["half a rename", ["diff --git a/a b/b", "rename from a"], /rename needs both/],
    [
      "a hunk that changes nothing",
      ["--- a/a.txt", "+++ b/a.txt", "@@ -1,2 +1,2 @@", " a", " b"],
      /changes nothing/,
    ],
  ] as const) {
    refuses(`${name} is PATCH_INVALID with the reason`, ABC, text(...lines), "PATCH_INVALID", {
      says,
    });
  }
  applies(
    "D-21: a name that git quotes",
    { "sp\u00e9ce x.txt": "b\n" },
    text('--- "a/sp\\303\\251ce x.txt"', '+++ "b/sp\\303\\251ce x.txt"', "@@ -1 +1 @@", "-b", "+n"),
    { "sp\u00e9ce x.txt": "n\n" },
  );
  applies(
    "D-22: names with spaces are cut at the tab before a time stamp",
    { "a file.txt": "b\n" },
    text(
      "--- a file.txt\t2026-01-01 00:00:00.000 +0000",
      "+++ a file.txt\t2026-01-01 00:00:01",
      "@@ -1 +1 @@",
      "-b",
      "+n",
    ),
    { "a file.txt": "n\n" },
  );
  refuses(
    "D-26: the second file fails, and the first stays as it was",
    { a: "b\n", c: "d\n" },
    diff("a", "@@ -1 +1 @@", "-b", "+x") + diff("c", "@@ -1 +1 @@", "-q", "+x"),
    "HUNK_NOT_FOUND",
    { path: "c" },
  );
  applies(
    "D-29: empty lines after the last hunk are separators",
    ABC,
    `${diff("a.txt", "@@ -1,3 +1,3 @@", " a", "-b", "+x", " c")}\n\n\n`,
    { "a.txt": "a\nx\nc\n" },
  );
  applies(
    "D-29: an empty line that the counts need is a context line",
    { "a.txt": "a\nb\n\nc\n" },
    diff("a.txt", "@@ -1,3 +1,3 @@", " a", "-b", "+x", "", ""),
    { "a.txt": "a\nx\n\nc\n" },
  );
  refuses(
    "D-32: a diff that was applied before is told as such",
    { "a.txt": "a\nx\nc\n" },
    diff("a.txt", "@@ -1,3 +1,3 @@", " a", "-b", "+x", " c"),
    "HUNK_NOT_FOUND",
    {
      closest: {
        ...{ start_line: 1, end_line: 3, text: "a\nx\nc", difference: "already_applied" },
        first_difference: { patch_line: 5, line: 2, expected: "b", found: "x" },
      },
    },
  );
  applies(
    "D-34: a removed line `-- foo` and an added one `++ bar` are no header",
    { "a.sql": "-- foo\nx\n" },
    diff("a.sql", "@@ -1,2 +1,2 @@", "--- foo", "+++ bar", " x"),
    { "a.sql": "++ bar\nx\n" },
  );
  applies(
    "`-- ` before a version of git ends the patch",
    ABC,
    `${diff("a.txt", "@@ -1,3 +1,3 @@", " a", "-b", "+x", " c")}-- \n2.40.1\n`,
    { "a.txt": "a\nx\nc\n" },
  );
});

describe("where a hunk goes", () => {
  applies(
    "P-31: of two places the one after the previous hunk is taken",
    { "a.txt": "x\n1\nm\nx\n2\n" },
    update("a.txt", "@@", "-m", "+n", "@@", "-x", "+y"),
    { "a.txt": "x\n1\nn\ny\n2\n" },
  );
  applies(
    "P-32: hunks in the wrong order, each of them unique",
    ABC,
    update("a.txt", "@@", "-c", "+z", "@@", "-a", "+x"),
    { "a.txt": "x\nb\nz\n" },
    (answer) =>
      assert.deepEqual(
        hunksOf(answer)?.map(([line]) => line),
        [3, 1],
      ),
  );
  refuses(
    "P-32: hunks that overlap",
    ABC,
    update("a.txt", "@@", "-b", "-c", "+z", "@@", "-a", "-b", "+x"),
    "HUNK_NOT_FOUND",
    { hunk: 1, says: /changes the same lines/ },
  );
  applies(
    "hunks may share lines that both have as context",
    { "a.txt": "1\n2\n3\n" },
    update("a.txt", "@@", "-1", "+x", " 2", "@@", " 2", "-3", "+y"),
    { "a.txt": "x\n2\ny\n" },
  );
  refuses(
    "none after the previous hunk, and several before it",
    { "a.txt": "x\nx\nm\n" },
    update("a.txt", "@@", "-m", "+n", "@@", "-x", "+y"),
    "HUNK_AMBIGUOUS",
    { lines: [1, 2], hunk: 1 },
  );
  refuses("two places", { "a.txt": "b\nb\n" }, update("a.txt", ...B_TO_X), "HUNK_AMBIGUOUS", {
    ...{ lines: [1, 2], hunk: 0, patch_line: 3, path: "a.txt" },
    says: /at the lines 1, 2/,
  });
  refuses(
    "of many places the first ten are told",
    { "a.txt": "b\n".repeat(12) },
    update("a.txt", ...B_TO_X),
    "HUNK_AMBIGUOUS",
    {
      lines: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    },
  );
  applies(
    "trailing whitespace is ignored at the second grade, and the file's context stays",
    { "a.txt": "a  \nb\t\nc\n" },
    update("a.txt", "@@", " a", "-b", "+x"),
    { "a.txt": "a  \nx\nc\n" },
    matchOf("trailing_whitespace"),
  );
  applies(
    "P-34: typographic look-alikes are folded at the third grade, and the file's bytes stay",
    { "a.txt": "say \u201chi\u201d\u00a0\u2013 now\nb\n" },
    update("a.txt", "@@", ' say "hi" - now', "-b", "+x"),
    { "a.txt": "say \u201chi\u201d\u00a0\u2013 now\nx\n" },
    matchOf("lookalike"),
  );
  applies(
    "P-36: an exact match further on comes before a looser one",
    { "a.txt": "b \n1\nb\n" },
    update("a.txt", ...B_TO_X),
    { "a.txt": "b \n1\nx\n" },
    matchOf("exact"),
  );
  refuses(
    "two places at the second grade",
    { "a.txt": "b \n1\nb\t\n" },
    update("a.txt", ...B_TO_X),
    "HUNK_AMBIGUOUS",
    { lines: [1, 3] },
  );
  for (const [name, before, sent, difference] of [
    ["P-37: other indentation", "    b\n", "-  b", "indentation"],
    ["other case", "Bb\n", "-bb", "case"],
    ["other spaces within", "b  b\n", "-b b", "whitespace"],
    ["line numbers", "bbb\n", "-1\tbbb", "line_numbers"],
    ["escapes", 'say("b")\n', '-say(\\"b\\")', "escapes"],
    ["another normal form", "caf\u00e9\n", "-cafe\u0301", "unicode_form"],
    [
      "P-61: lines that are alike",
      "const value = compute(one, two);\n",
      "-const value = compute(one, three);",
      "other",
    ],
  ] as const) {
    test(
      `${name}: refused, and explained by ${difference}`,
      inWorkspace(async (ws) => {
        lay(ws, { "a.txt": before });
        const error = await refused(ws, { patch: update("a.txt", "@@", sent, "+x") });
        assert.equal(error.code, "HUNK_NOT_FOUND");
        assert.equal(error.closest?.difference, difference, error.message);
      }),
    );
  }
  refuses(
    "the first line that differs is told with what was expected and found",
    { "a.txt": "zero\none one\ntwo two\nthree three\n" },
    update("a.txt", "@@", " one one", "-two too", "+x", " three three"),
    "HUNK_NOT_FOUND",
    {
      patch_line: 3,
      closest: {
        ...{ start_line: 2, end_line: 4, text: "one one\ntwo two\nthree three" },
        ...{ difference: "other" },
        first_difference: { patch_line: 5, line: 3, expected: "two too", found: "two two" },
      },
    },
  );
  refuses(
    "closest is null where nothing is near",
    ABC,
    update("a.txt", "@@", "-quite another text", "+x"),
    "HUNK_NOT_FOUND",
    {
      closest: null,
    },
  );
  refuses(
    "P-52: a patch that was applied before is told as such",
    { "a.txt": "a\nx\nc\n" },
    update("a.txt", "@@", " a", "-b", "+x", " c"),
    "HUNK_NOT_FOUND",
    {
      closest: {
        ...{ start_line: 1, end_line: 3, text: "a\nx\nc", difference: "already_applied" },
        first_difference: { patch_line: 5, line: 2, expected: "b", found: "x" },
      },
    },
  );
  refuses(
    "an @@ line that stands only before the previous hunk",
    { "a.txt": "f\nx\nm\n" },
    update("a.txt", "@@", "-m", "+n", "@@ f", "-x", "+y"),
    "HUNK_NOT_FOUND",
    { hunk: 1, patch_line: 6 },
  );
  const CLASSES = {
    "a.py":
      "class A:\n    def a(self):\n        x = 1\n        z = 3\n\nclass B:\n    def a(self):\n        y = 3\n",
  };
  applies(
    "additions behind an @@ line before the previous hunk",
    { "a.py": "import a\n\ndef f():\n    return 1\n" },
    update("a.py", "@@", "-    return 1", "+    return 2", "@@ import a", "+import b"),
    { "a.py": "import a\nimport b\n\ndef f():\n    return 2\n" },
  );
  applies(
    "additions behind an @@ line that the previous hunk has as context",
    CLASSES,
    update(
      "a.py",
      ...["@@", " class A:", "     def a(self):", "-        x = 1", "+        x = 9"],
      ...["@@ class A:", "+    # c"],
    ),
    { "a.py": CLASSES["a.py"].replace("x = 1", "x = 9").replace("A:\n", "A:\n    # c\n") },
  );
  refuses(
    "additions behind an @@ line that stands twice before the previous hunk",
    { "a.py": "import a\nq\nimport a\n\nx\n" },
    update("a.py", "@@", "-x", "+y", "@@ import a", "+import b"),
    "HUNK_AMBIGUOUS",
    { lines: [1, 3] },
  );
  applies(
    "two hunks of one method, each behind its class and its method",
    CLASSES,
    update(
      "a.py",
      ...["@@ class A:", "@@ def a(self):", "-        x = 1", "+        x = 9"],
      ...["@@ class A:", "@@ def a(self):", "-        z = 3", "+        z = 9"],
    ),
    { "a.py": CLASSES["a.py"].replace("x = 1", "x = 9").replace("z = 3", "z = 9") },
  );
  refuses(
    "a hunk directly behind its @@ line goes nowhere else, if that line stands before the previous hunk",
    { "a.py": "def a():\n    return 1\n\ndef b():\n    x = 2\n    return 1\n" },
    update(
      "a.py",
      ...["@@ def b():", "-    x = 2", "+    x = 3"],
      ...["@@ def a():", "-    return 1", "+    return 9"],
    ),
    "HUNK_NOT_FOUND",
    { hunk: 1, says: /but before the place of the previous hunk: give the hunks in the order/ },
  );
  refuses(
    "a hunk that fits two places behind the @@ line of two hunks",
    { "a.py": "class A:\n    x = 1\n    log()\n    log()\n" },
    update(
      "a.py",
      ...["@@ class A:", "-    x = 1", "+    x = 2"],
      ...["@@ class A:", "-    log()", "+    log2()"],
    ),
    "HUNK_AMBIGUOUS",
    { hunk: 1, lines: [3, 4] },
  );
  applies(
    "the lines that a hunk changes are no place for the next one behind the same @@ line",
    { "a.py": "class A:\n    y()\n    log()\n    log()\n" },
    update(
      "a.py",
      ...["@@ class A:", "-    y()", "-    log()", "+    x = 2"],
      ...["@@ class A:", "-    log()", "+    log2()"],
    ),
    { "a.py": "class A:\n    x = 2\n    log2()\n" },
  );
  applies(
    "a hunk that repeats its @@ line, at the end of the file",
    { "a.txt": "x\nfunction f() {\n}\n" },
    update("a.txt", "@@ function f() {", " function f() {", "+  y", " }", "*** End of File"),
    { "a.txt": "x\nfunction f() {\n  y\n}\n" },
  );
  refuses(
    "an @@ line that does not stand there, above lines that do: their place is told",
    { "a.txt": "f\nx\nm\n" },
    update("a.txt", "@@ class Foo", "-x", "+y"),
    "HUNK_NOT_FOUND",
    {
      patch_line: 3,
      closest: {
        ...{ start_line: 2, end_line: 2, text: "x", difference: "other" },
        first_difference: null,
      },
      says: /the hunk's own lines do, first at line 2: leave the text of the @@ out/,
    },
  );
  for (const sent of ["...", "\t// ... existing code ...", "# … rest of the file", "/* ... */"]) {
    refuses(
      `a line that stands for lines left out: ${sent}`,
      { "a.txt": "f\n1\n2\n3\ne\n" },
      update("a.txt", "@@", " f", ` ${sent}`, "-e", "+x"),
      "HUNK_NOT_FOUND",
      { says: /; line 5 of the patch seems to stand for lines that are left out/ },
    );
  }
  refuses(
    "a line that differs otherwise does not stand for lines left out",
    { "a.txt": "f\n1\n2\n3\ne\n" },
    update("a.txt", "@@", " f", " f(...args)", "-e", "+x"),
    "HUNK_NOT_FOUND",
    { says: /^(?!.*left out)/ },
  );
  refuses(
    "lines that stand only before their @@ line",
    { "a.txt": "x\nf\n1\n" },
    update("a.txt", "@@ f", "-x", "+y"),
    "HUNK_NOT_FOUND",
    { hunk: 0 },
  );
  refuses(
    "P-59: a file that is not UTF-8",
    { "a.txt": Buffer.from("b\n\xe9\n", "latin1") },
    update("a.txt", ...B_TO_X),
    "BINARY_NOT_SUPPORTED",
    {
      path: "a.txt",
    },
  );
  refuses(
    "P-59: a file in UTF-16",
    { "a.txt": Buffer.from("\ufeffb\n", "utf16le") },
    update("a.txt", ...B_TO_X),
    "BINARY_NOT_SUPPORTED",
    {
      says: /UTF-16/,
    },
  );
});

describe("what a failure advises", () => {
  const file = "function a() {\n  one();\n  two();\n}\nfunction b() {\n  one();\n  tow();\n}\n";

  test(
    "lines that stand before the line of the @@ alone: not to leave that line out, which would change another place",
    inWorkspace(async (ws) => {
      ws.write("f", file);
      const hunk = ["@@ function b() {", "   one();", "-  two();", "+  three();"];
      const call = applyPatch(ws.writable, { patch: v4a("*** Update File: f", ...hunk) });
      const error = (await rejectionValue(() => call)) as ApplyPatchError;
      assert.match(error.message, /name a line above it\); lines 6 to 7 are the closest/);
      assert.equal(error.closest?.first_difference?.line, 7);
    }),
  );

  test(
    "of several functions that are alike the lines at the stated line are the closest",
    inWorkspace(async (ws) => {
      ws.write("f", "f() {\n  a();\n  b();\n}\n".repeat(3));
      const hunk = [
        "--- a/f",
        "+++ b/f",
        "@@ -9,3 +9,3 @@",
        " f() {",
        "   a();",
        "-  c();",
        "+  d();",
      ];
      const call = applyPatch(ws.writable, { patch: `${hunk.join("\n")}\n` });
      const error = (await rejectionValue(() => call)) as ApplyPatchError;
      assert.equal(error.closest?.first_difference?.line, 11);
    }),
  );
});

test(
  "an added line keeps its U+FEFF, also in a file with a byte order mark",
  inWorkspace(async (ws) => {
    for (const [hunk, after] of [
      [["@@", " a", "-\uFEFFd", "+\uFEFFe"], "\uFEFFa\n\uFEFFe\n"],
      [["@@ a", "+\uFEFFe"], "\uFEFFa\n\uFEFFe\n\uFEFFd\n"],
      [["@@", "-a", "+\uFEFFb"], "\uFEFFb\n\uFEFFd\n"],
    ] as [string[], string][]) {
      ws.write("f", "\uFEFFa\n\uFEFFd\n");
      await applyPatch(ws.writable, { patch: v4a("*** Update File: f", ...hunk) });
      assert.equal(fs.readFileSync(ws.at("f"), "utf8"), after);
    }
  }),
);

test(
  "additions alone that would be moved before the file are refused",
  inWorkspace(async (ws) => {
    ws.write("f", "1\n2\n3\n4\n5\n6\na\n");
    const hunks = ["@@ -1,0 +2 @@", "+P", "@@ -20 +21 @@", "-a", "+A", "@@ -3,0 +3 @@", "+Y"];
    const patch = `${["--- a/f", "+++ b/f", ...hunks].join("\n")}\n`;
    const error = await rejectionValue(() => applyPatch(ws.writable, { patch }));
    assert.equal((error as ApplyPatchError).code, "HUNK_AMBIGUOUS");
  }),
);

describe("patches that git makes of files with a byte order mark", () => {
  for (const [name, before, lines, after] of [
    [
      "the first two lines become one",
      "\ufeffa\nb\n\nc\n",
      ["@@ -1,4 +1,3 @@", "-\ufeffa", "-b", "+\ufeffx", " ", " c"],
      "\ufeffx\n\nc\n",
    ],
    [
      "a line before the first",
      "\ufeffa\nb\n",
      ["@@ -1,2 +1,3 @@", "-\ufeffa", "+\ufeffx", "+a", " b"],
      "\ufeffx\na\nb\n",
    ],
    [
      "a file of the mark alone",
      "\ufeff",
      ["@@ -1 +1 @@", "-\ufeff", "\\ No newline at end of file", "+\ufeffx"],
      "\ufeffx\n",
    ],
  ] as const) {
    applies(name, { "a.txt": before }, diff("a.txt", ...lines), { "a.txt": after });
  }
  applies(
    "a file of the mark alone is deleted",
    { "a.txt": "\ufeff" },
    text(
      ...["--- a/a.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-\ufeff"],
      "\\ No newline at end of file",
    ),
    { "a.txt": null },
  );
});

describe("a line without a sign where the counts of the hunk are met", () => {
  const eight = { "a.txt": "a\nb\nc\nd\ne\nf\ng\nh\n" };
  const first = ["@@ -1,2 +1,2 @@", "-a", "+A", " b"];
  for (const [name, line] of [
    ["a header that has lost a sign", "@ -7,2 +7,2 @@"],
    ["prose between two hunks", "And then:"],
  ] as const) {
    refuses(
      `is refused where a change follows: ${name}`,
      eight,
      diff("a.txt", ...first, line, "-g", "+G", " h"),
      "PATCH_INVALID",
      { patch_line: 7 },
    );
  }
  applies(
    "ends the patch where prose with a list follows",
    eight,
    diff("a.txt", ...first, "Done:", "- a is A", "+ tests pass"),
    { "a.txt": eight["a.txt"].replace("a", "A") },
  );
});

describe("what a failure says of lines that are left out, too many or cut short", () => {
  const file = { "a.txt": "start\nremove(item) {\n  one();\n  two();\n  three();\n}\n" };
  refuses(
    "a line is left out",
    file,
    update("a.txt", "@@", " remove(item) {", "-  two();", "+  x();", "   three();"),
    "HUNK_NOT_FOUND",
    {
      says: /; line 3 of the file is missing before line 5 of the patch: /,
      closest: {
        ...{ start_line: 2, end_line: 5, difference: "other" },
        text: "remove(item) {\n  one();\n  two();\n  three();",
        first_difference: { patch_line: 5, line: 3, expected: "  two();", found: "  one();" },
      },
    },
  );
  refuses(
    "two lines are left out",
    file,
    update("a.txt", "@@", " remove(item) {", "-  three();", "+  x();"),
    "HUNK_NOT_FOUND",
    { says: /; lines 3 to 4 of the file are missing before line 5 of the patch: / },
  );
  refuses(
    "a line is too many",
    file,
    update("a.txt", "@@", " remove(item) {", "   // why", "   one();", "-  two();", "+  x();"),
    "HUNK_NOT_FOUND",
    {
      says: /; line 5 of the patch does not stand in the file at this place, before line 3; /,
      closest: {
        ...{ start_line: 2, end_line: 4, difference: "other" },
        text: "remove(item) {\n  one();\n  two();",
        first_difference: { patch_line: 5, line: 3, expected: "  // why", found: "  one();" },
      },
    },
  );
  refuses(
    "an @@ has the beginning of a line",
    file,
    update("a.txt", "@@ remove", "-  two();", "+  x();"),
    "HUNK_NOT_FOUND",
    { says: /an @@ names one whole line, and line 2 is longer: `remove\(item\) \{`: a\.txt$/ },
  );
  refuses(
    "an @@ line that differs: the blanks around it are no difference",
    { "a.txt": "    def stay(self):\n    def leave_it(self):\n    x\n" },
    update("a.txt", "@@ def leave_it():", "-    x", "+    y"),
    "HUNK_NOT_FOUND",
    { says: /; line 2 is the closest: `def leave_it\(self\):`: a\.txt$/ },
  );
  refuses(
    "among lines that are alike the exact ones are the closest",
    { "a.txt": "x\n        return beta\ny\nz\n    return beta\n    print(delta)\n" },
    update("a.txt", "@@", "-    return beta", "+    q", " print(gamma)"),
    "HUNK_NOT_FOUND",
    { says: /lines 5 to 6 are the closest/ },
  );
});
