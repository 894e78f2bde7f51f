// The README's programs run as they stand there, on the runtime that runs this test.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const README = fs.readFileSync(path.join(ROOT, "README.md"), "utf8");
const PROGRAMS = [...README.matchAll(/<!-- runs -->\n```ts\n(.*?)```/gs)].map(([, code]) => code);

/** What a program of the README has to have made of its last line, by a word in it. */
const PROOFS: [mark: string, proof: string][] = [
  [
    "createWorkspaceFetch",
    `if (await response.text() !== "# Brand\\n" || text !== "# Brand\\n") throw new Error(text);`,
  ],
  [
    "readSourceDocument",
    `if (result.file?.content !== "class BillingService {}") throw new Error(JSON.stringify(result));`,
  ],
];

test("every program of the README that runs is known here, and the other way round", () => {
  assert.equal(PROGRAMS.length, PROOFS.length);
  for (const [mark] of PROOFS) {
    assert.equal(PROGRAMS.filter((code) => code?.includes(mark)).length, 1, mark);
  }
});

for (const [mark, proof] of PROOFS) {
  test(`the README's program with ${mark}`, () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-readme-"));
    try {
      const code = PROGRAMS.find((code) => code?.includes(mark)) ?? "";
      // Its directories are examples.
      const program = `${code.replaceAll('"/srv/', `"${folder}/`)}\n${proof}\n`;
      const file = path.join(folder, "program.mts");
      fs.writeFileSync(file, program);
      fs.mkdirSync(path.join(folder, "node_modules"));
      fs.symlinkSync(ROOT, path.join(folder, "node_modules", "ringfence"), "dir");
      const tsx = import.meta.resolve("tsx");
      const options = "Bun" in globalThis ? [] : ["--import", tsx];
      const run = spawnSync(process.execPath, [...options, file], { encoding: "utf8" });
      assert.equal(run.status, 0, run.stderr);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
}
