// The files that may be packed, and the C library that the shipped addon needs.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { neededVersions, newerGlibc } from "../scripts/lib/elf.mjs";
import { binaryName, manifest, thisPlatform } from "../scripts/lib/project.mjs";
import { ROOT, runCommand } from "./support/program.ts";

const LONG = { timeout: 60_000 };

/** The files that entries of package.json name. */
const NAMED = [
  "dist/cli.js",
  ...JSON.stringify(manifest.exports).matchAll(/"\.\/([^"]+\.(?:[cm]?js|d\.[cm]?ts))"/g),
].map((match) => (typeof match === "string" ? match : (match[1] ?? "")));

/** A checkout that is built but for `missing`, in which a command is run. */
async function runIn(missing: (file: string) => boolean, command: string, ...args: string[]) {
  const checkout = fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-packing-"));
  try {
    for (const file of ["package.json", "scripts/prepack.mjs"]) {
      fs.mkdirSync(path.dirname(path.join(checkout, file)), { recursive: true });
      fs.copyFileSync(path.join(ROOT, file), path.join(checkout, file));
    }
    for (const file of [...NAMED, "ringfence.linux-x64-gnu.node"]) {
      if (missing(file)) continue;
      fs.mkdirSync(path.dirname(path.join(checkout, file)), { recursive: true });
      fs.writeFileSync(path.join(checkout, file), "");
    }
    const env = { npm_config_offline: "true", npm_config_cache: path.join(checkout, "cache") };
    const ended = await runCommand(command, args, { cwd: checkout, env });
    const packed = fs.readdirSync(checkout).filter((file) => file.endsWith(".tgz"));
    return { ...ended, packed };
  } finally {
    fs.rmSync(checkout, { recursive: true, force: true });
  }
}

// H10: a package made of a checkout that is not fully built.
// Variants: only one file of dist/ is missing, only the addon is missing, publishing.
describe("second look H10: a checkout that is not built is not packed", () => {
  for (const [name, missing, said] of [
    ["nothing is built", () => true, "dist/cli.js"],
    ["only the addon is missing", (file: string) => file.endsWith(".node"), "ringfence.*.node"],
    ["dist is missing", (file: string) => file.startsWith("dist/"), "dist/index.d.ts"],
    ["one file is missing", (file: string) => file === "dist/mcp/index.js", "dist/mcp/index.js"],
  ] as const) {
    test(`second look H10: ${name}`, LONG, async () => {
      const { status, stderr } = await runIn(missing, process.execPath, "scripts/prepack.mjs");
      assert.notEqual(status, 0);
      assert.match(stderr, /not built.*run "npm ci && npm run build" first/);
      assert.ok(stderr.includes(said), stderr);
    });
  }

  for (const args of [["pack"], ["publish", "--dry-run"]]) {
    test(`second look H10: npm ${args.join(" ")} stops`, LONG, async () => {
      const { status, stderr, packed } = await runIn(() => true, "npm", ...args);
      assert.notEqual(status, 0);
      assert.match(stderr, /not built/);
      assert.deepEqual(packed, []);
    });
  }

  test("second look H10: a checkout that is built is packed", LONG, async () => {
    const { status, stderr, packed } = await runIn(() => false, "npm", "pack");
    assert.equal(status, 0, stderr);
    assert.deepEqual(packed, [`ringfence-${manifest.version}.tgz`]);
  });
});

// H6: the version of the C library that a binary needs, read from the file. Variants: a file that is no
// library, a version with a third part, a version that is no number.
describe("second look H6: the glibc version that a library needs is read from its file", () => {
  const platform = thisPlatform();
  const addon = path.join(ROOT, binaryName(platform));
  const notGlibc = { skip: !platform.endsWith("-gnu") && "the addon does not use glibc here" };

  test("second look H6: the versions are those that binutils finds", notGlibc, async () => {
    const { status, stdout } = await runCommand("readelf", ["--version-info", "--wide", addon]);
    assert.equal(status, 0);
    const [, needs = ""] = stdout.split("Version needs section");
    const expected = [...needs.matchAll(/Name: (G\S+) +Flags/g)].map(([, version]) => version);
    assert.ok(expected.length > 3);
    assert.deepEqual(neededVersions(addon).sort(), expected.sort());
  });

  test("second look H6: versions newer than a limit are found, part by part", notGlibc, () => {
    assert.ok(newerGlibc(addon, [2, 1]).includes("GLIBC_2.2.5"));
    assert.ok(!newerGlibc(addon, [2, 2]).includes("GLIBC_2.2.5"));
    assert.deepEqual(newerGlibc(addon, [3, 0]), []);
  });

  test("second look H6: a file that is no library is refused", () => {
    assert.throws(() => neededVersions(path.join(ROOT, "package.json")), /not a library/);
  });
});
