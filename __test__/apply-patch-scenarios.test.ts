// The public scenarios of V4A's reference implementation, and cases of the same kinds that need no copy of them.
//
// The scenarios are run where a copy is: in RINGFENCE_CODEX_SCENARIOS, or in target/codex-scenarios. CONTRIBUTING.md says
// how to fetch one. Each is a folder with `input/`, `patch.txt` and `expected/`.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { type ApplyPatchError, applyPatch } from "../index.js";
import { contentsOf, type Files, lay, text, v4a } from "./support/patch.ts";
import { ROOT } from "./support/program.ts";
import { inWorkspace } from "./support/workspace.ts";

const SCENARIOS =
  process.env.RINGFENCE_CODEX_SCENARIOS ?? path.join(ROOT, "target", "codex-scenarios");
const noScenarios =
  !fs.existsSync(path.join(SCENARIOS, "001_add_file")) && `no scenarios in ${SCENARIOS}`;

/** What is refused here on purpose, and left as it was: the code, and the reason. */
const INTENDED: Record<string, [code: ApplyPatchError["code"], reason: string]> = {
  "010_move_overwrites_existing_destination": [
    "ALREADY_EXISTS",
    "a move onto another file would lose what stands there",
  ],
  "011_add_overwrites_existing_file": [
    "ALREADY_EXISTS",
    "models confuse Add File with Update File, and would lose the file",
  ],
  "015_failure_after_partial_success_leaves_changes": [
    "NOT_FOUND",
    "a patch is applied as a whole or not at all",
  ],
  "016_pure_addition_update_chunk": [
    "HUNK_AMBIGUOUS",
    "additions without a place do not go to the end of the file by guess",
  ],
};

const filesIn = (folder: string): Record<string, string> => {
  if (!fs.existsSync(folder)) return {};
  const all = Object.entries(contentsOf(folder));
  return Object.fromEntries(all.filter(([name]) => !name.endsWith("/")));
};

describe("the scenarios of the reference implementation", { skip: noScenarios }, () => {
  const names = noScenarios ? [] : fs.readdirSync(SCENARIOS).filter((name) => /^\d/.test(name));
  for (const name of names.sort()) {
    const folder = path.join(SCENARIOS, name);
    const intended = INTENDED[name];
    test(
      intended ? `${name}: ${intended[0]}, since ${intended[1]}` : name,
      inWorkspace(async (ws) => {
        const [input, expected] = [path.join(folder, "input"), path.join(folder, "expected")];
        if (fs.existsSync(input)) fs.cpSync(input, ws.root, { recursive: true });
        const patch = fs.readFileSync(path.join(folder, "patch.txt"), "utf8");
        const outcome = await applyPatch(ws.writable, { patch }).then(
          () => "applied",
          (error: ApplyPatchError) => error.code,
        );
        assert.deepEqual(filesIn(ws.root), filesIn(intended ? input : expected), outcome);
        if (intended) assert.equal(outcome, intended[0]);
      }),
    );
  }
});

/** Cases of the same kinds: what a patch makes of files, or the code with which it is refused. */
const CASES: Record<
  string,
  [before: Files, patch: string, after: Files | ApplyPatchError["code"]]
> = {
  "a file is added": [{}, v4a("*** Add File: notes.md", "+# Notes"), { "notes.md": "# Notes\n" }],
  "a file is added, one removed and one changed": [
    { "old.txt": "x\n", "kept.txt": "one\ntwo\n" },
    v4a(
      ...["*** Add File: sub/new.txt", "+made", "*** Delete File: old.txt"],
      ...["*** Update File: kept.txt", "@@", "-two", "+2"],
    ),
    { "sub/new.txt": "made\n", "kept.txt": "one\n2\n" },
  ],
  "two hunks of one file": [
    { a: "1\n2\n3\n4\n" },
    v4a("*** Update File: a", "@@", "-2", "+two", "@@", "-4", "+four"),
    { a: "1\ntwo\n3\nfour\n" },
  ],
  "a move into new folders": [
    { "from/a": "1\n", "from/b": "2\n" },
    v4a("*** Update File: from/a", "*** Move to: far/away/a", "@@", "-1", "+one"),
    { "far/away/a": "one\n", "from/b": "2\n" },
  ],
  "an empty patch": [{ a: "1\n" }, v4a(), "PATCH_INVALID"],
  "context that is missing": [
    { a: "1\n" },
    v4a("*** Update File: a", "@@", "-no", "+yes"),
    "HUNK_NOT_FOUND",
  ],
  "the removal of a missing file": [{ a: "1\n" }, v4a("*** Delete File: b"), "NOT_FOUND"],
  "an update without hunks": [{ a: "1\n" }, v4a("*** Update File: a"), "PATCH_INVALID"],
  "an update of a missing file": [
    { a: "1\n" },
    v4a("*** Update File: b", "@@", "-1", "+2"),
    "NOT_FOUND",
  ],
  "a move onto another file": [
    { a: "1\n", b: "2\n" },
    v4a("*** Update File: a", "*** Move to: b", "@@", "-1", "+one"),
    "ALREADY_EXISTS",
  ],
  "an addition of a file that exists": [
    { a: "1\n" },
    v4a("*** Add File: a", "+2"),
    "ALREADY_EXISTS",
  ],
  "the removal of a folder": [{ "d/a": "1\n" }, v4a("*** Delete File: d"), "NOT_FILE"],
  "an unknown header": [{ a: "1\n" }, v4a("*** Rename File: a"), "PATCH_INVALID"],
  "a last line without an end is replaced": [
    { a: "no end" },
    v4a("*** Update File: a", "@@", "-no end", "+one", "+two"),
    { a: "one\ntwo\n" },
  ],
  "a failure after a section that would do": [
    {},
    v4a("*** Add File: a", "+1", "*** Update File: b", "@@", "-1", "+2"),
    "NOT_FOUND",
  ],
  "additions without a place": [
    { a: "1\n2\n" },
    v4a("*** Update File: a", "@@", "+3"),
    "HUNK_AMBIGUOUS",
  ],
  "a padded header": [
    { a: "1\n" },
    text("*** Begin Patch", "   *** Update File: a", "@@", "-1", "+2", "*** End Patch"),
    { a: "2\n" },
  ],
  "padded Begin and End": [
    { a: "1\n" },
    text("  *** Begin Patch\t", "*** Update File: a", "@@", "-1", "+2", " *** End Patch  "),
    { a: "2\n" },
  ],
  "letters beyond ASCII, and an emoji": [
    { a: "über\nnaïve\n" },
    v4a("*** Update File: a", "@@", " über", "-naïve", "+naïve ✅"),
    { a: "über\nnaïve ✅\n" },
  ],
  "a file is removed": [{ a: "1\n", b: "2\n" }, v4a("*** Delete File: b"), { a: "1\n" }],
  "a hunk that only removes": [
    { a: "1\n2\n3\n" },
    v4a("*** Update File: a", "@@", " 1", "-2", " 3"),
    { a: "1\n3\n" },
  ],
  "End of File": [
    { a: "1\n2\n" },
    v4a("*** Update File: a", "@@", " 1", "-2", "+two", "*** End of File"),
    { a: "1\ntwo\n" },
  ],
};

describe("cases of the same kinds", () => {
  for (const [name, [before, patch, after]] of Object.entries(CASES)) {
    test(
      typeof after === "string" ? `${name} is ${after}` : name,
      inWorkspace(async (ws) => {
        lay(ws, before);
        const outcome = await applyPatch(ws.writable, { patch }).then(
          () => "applied",
          (error: ApplyPatchError) => error.code,
        );
        assert.equal(outcome, typeof after === "string" ? after : "applied");
        assert.deepEqual(
          Object.entries(filesIn(ws.root)),
          Object.entries(typeof after === "string" ? before : after)
            .map(([file, bytes]) => [file, Buffer.from(bytes as string).toString("latin1")])
            .sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
        );
      }),
    );
  }
});
