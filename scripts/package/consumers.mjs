// @ts-check
// What both kinds of package must do in a project: pass the linters, be imported, compile, and be run.

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { commandPath, manifest, node, npm, ROOT, run } from "../lib/project.mjs";
import { bun, CONSUMER, check } from "./check.mjs";

/**
 * @param {string} kind
 * @param {string[]} tarballs
 */
export async function lint(kind, tarballs) {
  for (const tarball of tarballs) {
    await check(`${kind}: publint finds nothing in ${basename(tarball)}`, async () => {
      const { buffer } = new Uint8Array(readFileSync(tarball));
      // Below a warning are suggestions, such as to write down the default of `type`.
      const options = /** @type {const} */ ({ strict: true, level: "warning" });
      const { messages, pkg } = await publint({ ...options, pack: { tarball: buffer } });
      const texts = messages.map((message) => formatMessage(message, pkg, { color: false }));
      assert.deepEqual(texts, []);
    });
  }
  const [main = ""] = tarballs;
  await check(`${kind}: arethetypeswrong finds nothing, in all four modes`, () => {
    node([commandPath("@arethetypeswrong/cli", "attw"), "--no-definitely-typed", main]);
  });
}

/**
 * @param {string} kind
 * @param {string} project
 */
export async function checkImports(kind, project) {
  for (const file of ["read", "stores"]) {
    await check(`${kind}: ${file}, imported by an ES module on Node`, () => {
      node([`${file}.mjs`], { cwd: project });
    });
    await check(`${kind}: ${file}, required by a CommonJS module on Node`, () => {
      node([`${file}.cjs`], { cwd: project });
    });
    await check(`${kind}: ${file}, imported by an ES module on Bun`, () => {
      run(bun, ["--no-install", `${file}.mjs`], { cwd: project });
    });
    await check(`${kind}: ${file}, required by a CommonJS module on Bun`, () => {
      run(bun, ["--no-install", `${file}.cjs`], { cwd: project });
    });
  }

  // AbortSignal comes from Node's types in one kind of project, from the DOM's in the other.
  const nodeTypes = ["--types", "node", "--typeRoots", join(ROOT, "node_modules", "@types")];
  const domTypes = ["--lib", "es2022,dom"];
  const files = ["types.mts", "stores-types.mts", "toolkit-types.mts", "mcp-types.mts"];
  const nodenext = ["--module", "nodenext", "--moduleResolution", "nodenext", ...nodeTypes];
  await check(`${kind}: compiles as strict TypeScript, resolution nodenext`, () => {
    compile(project, [...nodenext, ...files]);
  });
  await check(`${kind}: compiles as strict TypeScript, resolution bundler`, () => {
    const bundler = ["--module", "esnext", "--moduleResolution", "bundler", ...domTypes];
    compile(project, [...bundler, ...files]);
  });

  await check(`${kind}: with the AWS SDK its stores are there, too, on Node and on Bun`, () => {
    // The checkout's own, so that no registry is asked.
    const sdk = join("node_modules", "@aws-sdk", "client-s3");
    mkdirSync(dirname(join(project, sdk)), { recursive: true });
    symlinkSync(join(ROOT, sdk), join(project, sdk), "junction");
    node(["stores-s3.mjs"], { cwd: project });
    run(bun, ["--no-install", "stores-s3.mjs"], { cwd: project });
    compile(project, [...nodenext, "stores-s3-types.mts"]);
  });
}

/**
 * The command of the package, as `npx ringfence` starts it.
 *
 * @param {string} kind
 * @param {string} project
 */
export async function checkCommand(kind, project) {
  const input = readFileSync(join(CONSUMER, "mcp-session.jsonl"), "utf8");
  /** @param {string[]} args */
  const npx = (...args) =>
    npm(["exec", "--offline", "--", "ringfence", ...args], { cwd: project, input });

  await check(`${kind}: \`npx ringfence mcp\` serves a client, and ends when it has gone`, () => {
    expectSession(npx("mcp", "--root", "."));
  });
  await check(`${kind}: \`bunx --bun ringfence mcp\` does, too`, () => {
    const args = ["x", "--bun", "--no-install", "ringfence", "mcp", "--root", "."];
    expectSession(run(bun, args, { cwd: project, input }));
  });
  await check(`${kind}: \`npx ringfence\` prints its version, and ends with 2 when misused`, () => {
    assert.equal(npx("--version").trim(), manifest.version);
    assert.throws(() => npx("mcp", "--root", "nowhere"), /exit code 2\n.*--root nowhere does not/s);
  });
  await check(`${kind}: nothing else was installed, and the bundled licences are there`, () => {
    const installed = join(project, "node_modules");
    const names = readdirSync(installed).filter((name) => !name.startsWith("."));
    const foreign = names.filter((name) => !name.startsWith(manifest.name));
    assert.deepEqual(foreign, []);
    const licences = join(installed, manifest.name, "dist", "mcp", "sdk.LICENSES.txt");
    assert.match(readFileSync(licences, "utf8"), /@modelcontextprotocol\/sdk .*Copyright/s);
  });
}

/**
 * What a server must have answered to consumer/mcp-session.jsonl, in any order, and nothing else.
 *
 * @param {string} stdout
 */
function expectSession(stdout) {
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .sort((a, b) => a.id - b.id);
  const [initialized, listed, called] = answers.map(({ result }) => result);
  assert.equal(initialized.serverInfo.version, manifest.version);
  const names = listed.tools.map((/** @type {{ name: string }} */ tool) => tool.name);
  assert.deepEqual(
    ["read_file", "workspace_create_file"].filter((name) => !names.includes(name)),
    [],
  );
  assert.equal(JSON.parse(called.structuredContent.content).name, "consumer");
  assert.equal(answers.length, 3);
}

/**
 * @param {string} project
 * @param {string[]} options
 */
function compile(project, options) {
  const strict = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"];
  const common = ["--noEmit", "--skipLibCheck", "false", "--target", "es2022", "--allowJs"];
  const tsc = commandPath("typescript", "tsc");
  node([tsc, ...common, ...strict, ...options], { cwd: project });
}
