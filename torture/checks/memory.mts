// Memory checkers: valgrind for the addon in Node and, in the long run, AddressSanitizer for the Rust tests.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Check, Control, Row } from "../kit/check.mts";
import { nativeProgram, scriptWith, start } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Found {
  violations: number;
  examples: string[];
}

export const memory: Check = {
  name: "memory",
  async *run({ scale }) {
    yield await byValgrind(scale.of(2, 40));
    if (scale.long) yield await bySanitizer();
  },
};

/** V8 on one thread, which is faster under valgrind. */
async function byValgrind(times: number): Promise<Row> {
  const head = { check: "valgrind, the addon in Node", where: "addon" };
  const installed = await start(["valgrind", "--version"]).ended.catch(() => undefined);
  if (!installed) return { ...head, notRun: "valgrind is missing" };
  return inScratch(async (root) => {
    const command = ["memory-worker.mjs", "kernel", root, String(times)] as const;
    const found = await valgrind(
      scriptWith(["--single-threaded"], ...command),
      /ringfence[^/]*\.node/,
    );
    const forgetful = await valgrind([nativeProgram("forgetful")], /forgetful/);
    const control = { what: "memory forgotten", operations: 10, ...forgetful };
    return { ...head, operations: times, ...found, control };
  });
}

/** Runs a program under valgrind, and counts its findings in one file's code. */
async function valgrind(command: string[], file: RegExp): Promise<Found> {
  return inScratch(async (folder) => {
    const log = path.join(folder, "log");
    const leaks = ["--leak-check=full", "--show-leak-kinds=definite"];
    const options = ["--error-limit=no", `--log-file=${log}`, ...leaks];
    const { code, stderr } = await start(["valgrind", ...options, ...command]).ended;
    if (code !== 0) throw new Error(`under valgrind it ended with ${code}: ${stderr}`);
    const text = fs.readFileSync(log, "utf8");
    if (!text.includes("ERROR SUMMARY")) throw new Error(`valgrind has not finished: ${text}`);
    const findings = text.split(/^==\d+== *\n/m).filter((paragraph) => isOurs(paragraph, file));
    const [first = ""] = findings;
    return { violations: findings.length, examples: first.split("\n").slice(0, 12) };
  });
}

/**
 * Whether a paragraph of valgrind's output is a finding in this file's code.
 *
 * Findings in the engine have no frame of this file in their stack. napi-rs keeps three references, one to each
 * registered class, until the thread ends; they do not grow with calls.
 */
function isOurs(paragraph: string, file: RegExp): boolean {
  const stack = paragraph.split("\n").filter((line) => /^==\d+== {4}(?:at|by) /.test(line));
  const isRegistration = stack.some((line) => line.includes("napi_register_module"));
  return !isRegistration && stack.some((line) => file.test(line));
}

/** The Rust tests, built with AddressSanitizer into a folder of their own. */
async function bySanitizer(): Promise<Row> {
  const head = { check: "AddressSanitizer, the Rust tests", where: "core" };
  const triple = await hostTriple();
  const env = { ...process.env, RUSTC_BOOTSTRAP: "1", RUSTFLAGS: "-Zsanitizer=address" };
  const target = ["--target", triple, "--target-dir", path.join("target", "sanitizer")];
  const cargo = (...args: string[]) =>
    start(["cargo", ...args, "--quiet", ...target], { cwd: ROOT, env }).ended;
  const control: Control = { what: "memory forgotten", operations: 10, violations: 0 };
  const forgetful = await cargo("run", "--example", "forgetful");
  if (forgetful.stderr.includes("can't find crate")) {
    return { ...head, notRun: "this compiler has no AddressSanitizer" };
  }
  control.violations = (forgetful.stderr.match(/Direct leak of/g) ?? []).length;
  const { code, stdout, stderr } = await cargo("test", "--lib");
  const operations = Number(/(\d+) passed/.exec(stdout)?.[1] ?? 0);
  const examples = code === 0 ? [] : stderr.split("\n").slice(0, 20);
  return { ...head, operations, violations: code === 0 ? 0 : 1, examples, control };
}

async function hostTriple(): Promise<string> {
  const { stdout } = await start(["rustc", "-vV"]).ended;
  const triple = /^host: (\S+)$/m.exec(stdout)?.[1];
  if (!triple) throw new Error("rustc does not say what it builds for");
  return triple;
}
