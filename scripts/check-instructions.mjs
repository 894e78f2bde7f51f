// @ts-check
// Counts the instructions of the main paths of the Rust core and fails where one needs more than a
// tenth above what is committed in benches/instructions.json:
//
//     node scripts/check-instructions.mjs [--update]
//
// Callgrind counts the same on a busy machine, without clocks; what the kernel does it does not
// see. Its x86-64 is one with AVX2 wherever the machine has that. No valgrind of Debian's knows
// `openat2`, so files are opened by the hand-over-hand walk.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT, readJson, run } from "./lib/project.mjs";

const FIGURES = join(ROOT, "benches", "instructions.json");
const TOLERANCE = 0.1;

/**
 * @typedef {object} Figures
 * @property {string} rustc The compiler that they are of: another one may need a few more or less.
 * @property {string} containment The tier by which files were opened.
 * @property {Record<string, number>} instructions
 */

const { values: options } = parseArgs({
  options: { update: { type: "boolean", default: false } },
});
if (process.platform !== "linux" || process.arch !== "x64") {
  throw new Error("instructions are counted on Linux on x64");
}
installValgrind();
const binary = build();
/** @type {Figures} */
const committed = readJson(FIGURES);
if (options.update) update(committed);
else check(committed);

/** @param {Figures} committed */
function update({ instructions }) {
  /** @type {Figures} */
  const figures = {
    rustc: rustcVersion(),
    containment: containment(),
    instructions: Object.fromEntries(Object.keys(instructions).map((path) => [path, count(path)])),
  };
  writeFileSync(FIGURES, `${JSON.stringify(figures, null, 2)}\n`);
  console.log(figures);
}

/** @param {Figures} committed */
function check(committed) {
  const tier = containment();
  if (tier !== committed.containment) {
    throw new Error(
      `files are opened by the ${tier} here, and the figures are of the ${committed.containment}: count anew with --update`,
    );
  }
  const grown = Object.entries(committed.instructions).filter(([path, before]) => {
    const now = count(path);
    const change = now / before - 1;
    console.log(`${path}: ${now}, ${change < 0 ? "" : "+"}${(change * 100).toFixed(1)} %`);
    return change > TOLERANCE;
  });
  if (grown.length === 0) return;
  const compiler = rustcVersion();
  const reason = compiler === committed.rustc ? "" : ` (${compiler}, not ${committed.rustc})`;
  throw new Error(
    `${grown.map(([path]) => path).join(", ")}: more than a tenth above benches/instructions.json${reason}`,
  );
}

/** @param {string} path One of those that benches/instructions.rs knows. */
function count(path) {
  const { stderr } = valgrind(path);
  const found = /I\s+refs:\s+(?<refs>[\d,]+)/u.exec(stderr)?.groups?.refs?.replaceAll(",", "");
  if (found === undefined || Number(found) === 0)
    throw new Error(`nothing was counted:\n${stderr}`);
  return Number(found);
}

function containment() {
  return valgrind("containment").stdout.trim();
}

/** @param {string} path */
function valgrind(path) {
  const child = spawnSync(
    "valgrind",
    [
      "--tool=callgrind",
      "--callgrind-out-file=/dev/null",
      "--toggle-collect=*instructions*measured*",
      binary,
      path,
    ],
    // Nothing of the caller's environment: it lies on the stack and decides how that is aligned.
    { encoding: "utf8", env: { PATH: "/usr/bin:/bin", TMPDIR: "/tmp" } },
  );
  if (child.error) throw child.error;
  if (child.status !== 0) throw new Error(`${path}: exit code ${child.status}\n${child.stderr}`);
  return child;
}

/** Beside the addon's release build, whose dependencies serve here too. */
function build() {
  const triple = run("rustc", ["--print", "host-tuple"]).trim();
  const target = join(ROOT, "target");
  run("cargo", [
    ...["rustc", "--quiet", "--release", "--bin", "instructions", "--target", triple],
    ...["--manifest-path", join(ROOT, "benches", "Cargo.toml"), "--target-dir", target],
    // The profile strips the names by which callgrind is told what to count.
    ...["--", "-C", "strip=none"],
  ]);
  return join(target, triple, "release", "instructions");
}

function rustcVersion() {
  return run("rustc", ["--version"]).split(" ").slice(0, 2).join(" ");
}

function installValgrind() {
  if (spawnSync("valgrind", ["--version"]).status === 0) return;
  if (process.getuid?.() !== 0) throw new Error("valgrind is missing: apt-get install valgrind");
  console.error("apt-get install valgrind");
  process.env.DEBIAN_FRONTEND = "noninteractive";
  run("apt-get", ["update"]);
  run("apt-get", ["install", "-y", "--no-install-recommends", "valgrind"]);
}
