// @ts-check
// The checks of scripts/check-package.mjs: how one is made, where they happen, and what most of them need.

import { cpSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binaryName, commandPath, manifest, npm, ROOT, thisPlatform } from "../lib/project.mjs";

export const CONSUMER = join(ROOT, "scripts", "consumer");
export const bun = commandPath("bun", "bun");
/** A fresh folder outside of this checkout. */
export const folder = realpathSync(mkdtempSync(join(tmpdir(), "ringfence-package-")));

/** How many checks have passed and failed. */
export const counts = { passed: 0, failed: 0 };

/**
 * @param {string} title
 * @param {() => void | Promise<void>} body
 * @returns {Promise<boolean>} whether it passed
 */
export async function check(title, body) {
  try {
    await body();
    counts.passed += 1;
    console.log(`ok    ${title}`);
    return true;
  } catch (error) {
    counts.failed += 1;
    const text = error instanceof Error ? error.message : String(error);
    console.log(`FAIL  ${title}\n${text.replaceAll(/^/gm, "      ")}`);
    return false;
  }
}

/**
 * Installs tarballs in a project that has nothing but the consumers. The seven platform packages
 * that are not among them cannot be found, which npm forgives in optional dependencies; offline,
 * so that no registry is asked for names that nobody may have published yet.
 *
 * @param {string[]} tarballs
 * @param {string} project
 */
export function install(tarballs, project) {
  cpSync(CONSUMER, project, { recursive: true });
  const own = { name: "consumer", private: true, type: "module" };
  writeFileSync(join(project, "package.json"), `${JSON.stringify(own)}\n`);
  const options = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  npm(["install", ...options, ...tarballs], { cwd: project });
}

/**
 * The addon in an installed platform package.
 *
 * @param {string} project
 */
export function addonIn(project) {
  const platform = thisPlatform();
  return join(project, "node_modules", `${manifest.name}-${platform}`, binaryName(platform));
}
