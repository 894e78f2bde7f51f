// @ts-check
// What only the packages of a release must do: load on old systems, and be bundled in every way that
// docs/bundlers-and-runtimes.md names.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { EXPORTS } from "../consumer/exports.mjs";
import { newerGlibc } from "../lib/elf.mjs";
import { gccOf, loaderOf, OLDEST_GLIBC, oldGlibcToolchain } from "../lib/old-glibc.mjs";
import { manifest, node, platforms, ROOT, run, thisPlatform } from "../lib/project.mjs";
import { addonIn, bun, CONSUMER, check, folder } from "./check.mjs";

/**
 * The addon without the loader, which passes on only what it knows: one with test hooks has more.
 *
 * @param {string} project
 */
export async function checkNames(project) {
  const addon = addonIn(project);
  await check("release: the addon has the exports, and its version, and nothing else", () => {
    const program = `console.log(Object.keys(require(${JSON.stringify(addon)})).sort().join())`;
    const names = [...EXPORTS, "RINGFENCE_VERSION"].sort();
    assert.equal(node(["-e", program]).trim(), names.join());
  });
}

/**
 * The addon that is published loads where nothing is newer than glibc 2.17: by the versions that it names,
 * and with that C library itself, which the toolchain has. Node asks for a newer one, so a small program
 * loads it there.
 *
 * @param {string} project
 */
export async function checkOldGlibc(project) {
  const platform = thisPlatform();
  if (!platform.endsWith("-gnu")) return;
  const addon = addonIn(project);
  const limit = OLDEST_GLIBC.join(".");
  await check(`release: the addon asks for no glibc newer than ${limit}`, () => {
    assert.deepEqual(newerGlibc(addon, OLDEST_GLIBC), []);
    assert.notDeepEqual(newerGlibc(addon, [2, 0]), [], "its versions are found at all");
  });
  await check(`release: glibc ${limit} itself loads the addon`, () => {
    const triple = manifest.napi.targets[platforms.indexOf(platform)] ?? "";
    const toolchain = oldGlibcToolchain(triple);
    assert.ok(toolchain);
    const program = join(folder, "load-library");
    run(gccOf(toolchain, triple), [join(CONSUMER, "load-library.c"), "-o", program, "-ldl"]);
    const [loader, ...options] = loaderOf(toolchain, triple);
    assert.equal(run(loader, [...options, program, addon]), `glibc ${limit}: loaded\n`);
  });
}

/**
 * What docs/bundlers-and-runtimes.md says of esbuild.
 *
 * @param {string} project
 */
export async function checkBundles(project) {
  await check("release: esbuild leaves ringfence out of a bundle", async () => {
    const external = { external: ["ringfence"], outfile: "bundled.mjs" };
    await bundle(project, "read.mjs", { format: "esm", ...external });
    node(["bundled.mjs"], { cwd: project });
  });
  await check("release: esbuild copies the addon beside a CommonJS bundle", async () => {
    const alone = join(folder, "copied");
    await bundle(project, "single-executable.cjs", { loader: { ".node": "copy" }, outdir: alone });
    const printed = node(["single-executable.js", project, "package.json"], { cwd: alone });
    assert.equal(JSON.parse(printed).name, "consumer");
  });
  await check("release: the definitions are bundled for a browser", async () => {
    const entry = 'export { TOOL_DEFINITIONS } from "ringfence/definitions";';
    writeFileSync(join(project, "definitions-entry.mjs"), entry);
    const browser = /** @type {const} */ ({ platform: "browser", outfile: "browser.mjs" });
    await bundle(project, "definitions-entry.mjs", { format: "esm", ...browser });
  });
}

/**
 * Node runs no TypeScript inside node_modules; tsx and Bun do.
 *
 * @param {string} project
 */
export async function checkExamples(project) {
  for (const name of ["log-lines.mts", "documents.mts"]) {
    const example = join("node_modules", manifest.name, "examples", name);
    await check(`release: tsx and Bun run ${name} inside node_modules`, () => {
      node(["--import", import.meta.resolve("tsx"), example], { cwd: project });
      run(bun, ["--no-install", example], { cwd: project });
    });
  }
}

/**
 * A single executable application of Node, with the addon beside it.
 *
 * @param {string} project
 */
export async function checkSingleExecutable(project) {
  await check("release: a single executable application of Node reads files", async () => {
    const outfile = "single-executable-bundle.cjs";
    await bundle(project, "single-executable.cjs", { loader: { ".node": "empty" }, outfile });
    const output = join(folder, "executable", "program");
    mkdirSync(dirname(output));
    const config = {
      main: outfile,
      output,
      disableExperimentalSEAWarning: true,
    };
    writeFileSync(join(project, "sea.json"), JSON.stringify(config));
    const newest = node([join(ROOT, "scripts", "newest-node.mjs")]).trim();
    run(newest, ["--build-sea", "sea.json"], { cwd: project });

    cpSync(addonIn(project), join(dirname(output), "ringfence.node"));
    const printed = run(output, [project, "package.json"], { cwd: dirname(output) });
    assert.equal(JSON.parse(printed).name, "consumer");
  });
}

/**
 * @param {string} project
 * @param {string} entry
 * @param {import("esbuild").BuildOptions} options
 */
async function bundle(project, entry, options) {
  const common = /** @type {const} */ ({ bundle: true, platform: "node", logLevel: "silent" });
  await build({ absWorkingDir: project, entryPoints: [entry], ...common, ...options });
}
