// @ts-check
// Release addons for Linux are linked against glibc 2.17 of 2012, so that they load on every system that
// Node 20 runs on, and on the older ones that other builds of Node run on. The linker and that C library
// come from an npm package of napi-rs; it is fetched once and kept in target/toolchain.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npm, ROOT, run } from "./project.mjs";

/** The newest glibc whose symbols an addon that is shipped may ask for. */
export const OLDEST_GLIBC = [2, 17];

/**
 * Where the toolchain for a triple is, fetched if it must be; undefined where there is none: for other
 * systems, and without the registry.
 *
 * @param {string} triple such as `x86_64-unknown-linux-gnu`
 * @returns {string | undefined}
 */
export function oldGlibcToolchain(triple) {
  const [machine = "", rest] = [triple.split("-")[0], triple.slice(triple.indexOf("-"))];
  if (process.platform !== "linux" || rest !== "-unknown-linux-gnu") return undefined;
  const folder = join(ROOT, "target", "toolchain", triple);
  if (!existsSync(join(folder, "complete"))) {
    try {
      fetchToolchain(`@napi-rs/cross-toolchain-${process.arch}-target-${machine}`, folder);
    } catch (error) {
      const why = error instanceof Error ? error.message : error;
      console.error(`the addon will ask for the glibc of this system, because: ${why}`);
      return undefined;
    }
  }
  return folder;
}

/**
 * @param {string} toolchain
 * @param {string} triple
 */
export function gccOf(toolchain, triple) {
  return join(toolchain, "bin", `${triple}-gcc`);
}

/**
 * The arguments that run a program of the toolchain's machine with the toolchain's own C library.
 *
 * @param {string} toolchain
 * @param {string} triple
 * @returns {[program: string, ...args: string[]]}
 */
export function loaderOf(toolchain, triple) {
  const libraries = join(toolchain, triple, "sysroot", "lib");
  const loader = readdirSync(libraries).find((name) => /^ld-linux.*\.so\.\d$/.test(name)) ?? "";
  return [join(libraries, loader), "--library-path", libraries];
}

/**
 * @param {string} name
 * @param {string} folder
 */
function fetchToolchain(name, folder) {
  mkdirSync(folder, { recursive: true });
  // Without a package.json of its own npm would install into the checkout.
  writeFileSync(join(folder, "package.json"), "{}\n");
  npm(["install", "--no-audit", "--no-fund", "--no-package-lock", `${name}@1`], { cwd: folder });
  const installed = join(folder, "node_modules", name);
  const archive = readdirSync(installed).find((file) => file.endsWith(".tar.xz")) ?? "";
  run("tar", ["-xJf", join(installed, archive), "-C", folder]);
  writeFileSync(join(folder, "complete"), "");
}
