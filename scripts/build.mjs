// @ts-check
// Builds the addon, its loader index.js and its types index.d.ts, and the TypeScript in toolkit/
// into dist/, with the MCP SDK bundled for it:
//
//     node scripts/build.mjs [options of `napi build`]
//
// A program of its own instead of `napi build --pipe`: napi hands a piped command to the shell with
// the bare path of each file, which breaks in folders such as `R&D (old)`.

import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { finishLoader, finishTypes } from "./finish-build.mjs";
import { bundleModules } from "./lib/bundle-modules.mjs";
import { bundleSdk } from "./lib/bundle-sdk.mjs";
import { gccOf, oldGlibcToolchain } from "./lib/old-glibc.mjs";
import { commandPath, loaderProject, node, ROOT, run } from "./lib/project.mjs";

const options = process.argv.slice(2);
// All the other options are napi's business.
const { values } = parseArgs({
  args: options,
  options: {
    "output-dir": { type: "string", short: "o", default: "." },
    release: { type: "boolean", default: false },
    target: { type: "string" },
  },
  strict: false,
});
const napi = spawnSync(
  process.execPath,
  [
    commandPath("@napi-rs/cli", "napi"),
    ...["build", "--platform", "--js", "index.js", "--dts", "index.d.ts", ...options],
    ...(values.release ? ["--target-dir", join("target", "shipped")] : []),
  ],
  {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, ...linkerOf(String(values.target ?? hostTriple())) },
  },
);
if (napi.status !== 0) process.exit(napi.status ?? 1);

const folder = resolve(ROOT, String(values["output-dir"]));
rewrite(join(folder, "index.js"), (loader) => finishLoader(loader, loaderProject));
rewrite(join(folder, "index.d.ts"), finishTypes);

rmSync(join(ROOT, "dist"), { recursive: true, force: true });
node([commandPath("typescript", "tsc"), "-p", join(ROOT, "toolkit")]);
await bundleSdk();
await bundleModules();
chmodSync(join(ROOT, "dist", "cli.js"), 0o755);

/** This machine's triple, as cargo names it. */
function hostTriple() {
  return /^host: (.*)$/m.exec(run("rustc", ["-vV"]))?.[1] ?? "";
}

/**
 * What makes cargo link a release for old systems, too; a folder of its own keeps apart what other
 * builds have linked.
 *
 * @param {string} triple
 */
function linkerOf(triple) {
  const toolchain = values.release ? oldGlibcToolchain(triple) : undefined;
  if (toolchain === undefined) return {};
  const variable = `CARGO_TARGET_${triple.toUpperCase().replaceAll("-", "_")}_LINKER`;
  return { [variable]: gccOf(toolchain, triple) };
}

/**
 * @param {string} file
 * @param {(text: string) => string} change
 */
function rewrite(file, change) {
  writeFileSync(file, change(readFileSync(file, "utf8")));
}
