// @ts-check
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { commandPath, node, npm, ROOT } from "../../scripts/lib/project.mjs";
import { runtimeBinary } from "./runtimes.mjs";

const FOLDER = join(ROOT, "bench");

/** Installs the contenders into bench/node_modules, unless they are there. */
export function installContenders() {
  const wanted = readFileSync(join(FOLDER, "package.json"), "utf8");
  const stamp = join(FOLDER, "node_modules", ".installed-for.json");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  console.error("installing the contenders");
  // On Node 20 npm would leave out the native parts of packages that ask for a newer one. And
  // `npm ci` wants the packages for all platforms in the registry, which not every mirror has.
  const newer = dirname(runtimeBinary("node24"));
  process.env.PATH = `${newer}${delimiter}${process.env.PATH}`;
  npm(["install", "--no-save", "--no-audit", "--no-fund"], { cwd: FOLDER });
  writeFileSync(stamp, wanted);
}

/** Builds the addon that exports one empty function, as ringfence is built. */
export function buildEmptyAddon() {
  const output = join(ROOT, "target", "bench", "empty-addon");
  node(
    [
      commandPath("@napi-rs/cli", "napi"),
      ...["build", "--platform", "--release", "--js", "index.js", "--dts", "index.d.ts"],
      ...["--output-dir", output, "--target-dir", join(output, "target")],
    ],
    { cwd: join(FOLDER, "empty-addon") },
  );
}
