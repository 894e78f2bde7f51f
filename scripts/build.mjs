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
import { finishLoader } from "./finish-build.mjs";
import { bundleSdk } from "./lib/bundle-sdk.mjs";
import { commandPath, manifest, node, platforms, ROOT } from "./lib/project.mjs";

const options = process.argv.slice(2);
const napi = spawnSync(
  process.execPath,
  [
    commandPath("@napi-rs/cli", "napi"),
    ...["build", "--platform", "--js", "index.js", "--dts", "index.d.ts", ...options],
  ],
  { cwd: ROOT, stdio: "inherit" },
);
if (napi.status !== 0) process.exit(napi.status ?? 1);

// All the other options are napi's business.
const { values } = parseArgs({
  args: options,
  options: { "output-dir": { type: "string", short: "o", default: "." } },
  strict: false,
});
const loader = join(resolve(ROOT, String(values["output-dir"])), "index.js");
const { name: packageName, napi: config } = manifest;
const project = { packageName, binaryName: config.binaryName, platforms };
writeFileSync(loader, finishLoader(readFileSync(loader, "utf8"), project));

rmSync(join(ROOT, "dist"), { recursive: true, force: true });
node([commandPath("typescript", "tsc"), "-p", join(ROOT, "toolkit")]);
await bundleSdk();
chmodSync(join(ROOT, "dist", "cli.js"), 0o755);
