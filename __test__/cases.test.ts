// Every citation leads to a place in the repository: each case to its line in docs/cases.md, each rule to a
// section of docs/contract.md.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { textOf } from "./support/markdown.ts";
import { ROOT } from "./support/program.ts";

const [ofOthers = "", ofOurs = ""] = textOf("docs/cases.md").split(/^## Second look$/m);
const idsOf = (part: string) => [...part.matchAll(/^\| ([A-Z]\d+) \|/gm)].map(([, id]) => id ?? "");

/** The sources that cite cases, with their names. */
function* sources(): Generator<[name: string, text: string]> {
  for (const folder of ["__test__", "tests", "src", "toolkit", "scripts", "torture"]) {
    for (const name of fs.readdirSync(path.join(ROOT, folder), {
      recursive: true,
      encoding: "utf8",
    })) {
      const file = path.join(folder, name);
      if (/\.(?:ts|mts|mjs|rs)$/.test(name) && !name.includes("node_modules"))
        yield [file, textOf(file)];
    }
  }
}

test("every case that is cited has its line", () => {
  const known = { first: new Set(idsOf(ofOthers)), second: new Set(idsOf(ofOurs)) };
  let cited = 0;
  for (const [file, text] of sources()) {
    for (const [, id = ""] of text.matchAll(/second look ([A-Z]\d+)\b/g)) {
      assert.ok(
        known.second.has(id),
        `${file} cites "second look ${id}", which docs/cases.md lacks`,
      );
      cited += 1;
    }
    // At the beginning of a test's name, alone or in a list.
    for (const [, ids = ""] of text.matchAll(/["'`]((?:[A-Z]\d\d, )*[A-Z]\d\d): /g)) {
      for (const id of ids.split(", ")) {
        assert.ok(known.first.has(id), `${file} cites ${id}, which docs/cases.md lacks`);
        cited += 1;
      }
    }
    // Anywhere else, such as in comments. Ids of the second part also have one digit, but so have other words.
    for (const [id] of text.matchAll(/\b[A-Z]\d\d\b/g)) {
      const isKnown = known.first.has(id) || known.second.has(id);
      assert.ok(isKnown, `${file} cites ${id}, which docs/cases.md lacks`);
    }
  }
  assert.ok(cited > 100, "cases are found at all");
});

test("every section of the contract that is cited exists", () => {
  const sections = [...textOf("docs/contract.md").matchAll(/^## (\d+)\. /gm)].map(([, n]) => n);
  assert.deepEqual(sections, [
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "10",
    "11",
    "12",
    "13",
    "14",
  ]);
  let cited = 0;
  for (const [file, text] of sources()) {
    assert.doesNotMatch(text, /\bcontract(?:'s)? §/i, `${file} names the page`);
    for (const [, section = ""] of text.matchAll(/docs\/contract\.md §(\d+)/g)) {
      assert.ok(sections.includes(section), `${file} cites section ${section}`);
      cited += 1;
    }
  }
  assert.ok(cited > 50, "sections are found at all");
});

test("each case has one line, with an input and an outcome", () => {
  for (const part of [ofOthers, ofOurs]) {
    const ids = idsOf(part);
    assert.equal(new Set(ids).size, ids.length);
    for (const line of part.split("\n").filter((line) => /^\| [A-Z]\d/.test(line))) {
      assert.match(line, /^\| [A-Z]\d+ \| [^|]+ \| [^|]+ \|$/);
    }
  }
});

test("no source names an issue, or a list of cases that is not here", () => {
  for (const [file, text] of sources()) {
    assert.doesNotMatch(text, /\bissue \d/i, file);
    assert.doesNotMatch(text, /\b(?:reported|second-look)(?:-\w+)?\.md\b(?!.*doesNotMatch)/, file);
  }
});
