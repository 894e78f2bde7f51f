// @ts-check
// What the scripts know about this project, read from package.json, and how they run commands.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseTriple } from "@napi-rs/cli";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * @typedef {object} Manifest What the scripts use of a package.json.
 * @property {string} name
 * @property {string} version
 * @property {string[]} files
 * @property {unknown} exports
 * @property {{ binaryName: string, targets: string[] }} napi
 * @property {string[]} [os]
 * @property {string[]} [cpu]
 * @property {string[]} [libc]
 * @property {Record<string, string>} [optionalDependencies]
 */

/** @type {Manifest} */
export const manifest = readJson(join(ROOT, "package.json"));

/** The platforms that get a package, such as `linux-x64-gnu`: napi's targets by npm's names. */
export const platforms = manifest.napi.targets.map((triple) => parseTriple(triple).platformArchABI);

/** What the loader has to know. */
export const loaderProject = {
  packageName: manifest.name,
  binaryName: manifest.napi.binaryName,
  version: manifest.version,
  targets: manifest.napi.targets,
};

/**
 * The addon's file for a platform.
 *
 * @param {string} platform
 */
export function binaryName(platform) {
  return `${manifest.napi.binaryName}.${platform}.node`;
}

/** The platform of this machine, found as npm finds it: by `os`, `cpu` and `libc`. */
export function thisPlatform() {
  const found = platforms.find((platform) => {
    /** @type {Manifest} */
    const { os, cpu, libc } = readJson(join(ROOT, "npm", platform, "package.json"));
    const fits = os?.includes(process.platform) && cpu?.includes(process.arch);
    return fits && (libc === undefined || libc.includes(thisLibc()));
  });
  if (found === undefined) {
    throw new Error(`napi.targets has nothing for ${process.platform} on ${process.arch}`);
  }
  return found;
}

function thisLibc() {
  const report = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (
    process.report.getReport()
  );
  return report.header?.glibcVersionRuntime ? "glibc" : "musl";
}

/**
 * The file behind a command of a development dependency.
 *
 * @param {string} packageName
 * @param {string} command
 */
export function commandPath(packageName, command) {
  const folder = join(ROOT, "node_modules", packageName);
  return join(folder, readJson(join(folder, "package.json")).bin[command]);
}

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {string} [input] what it reads from standard input
 */

/**
 * Runs a program to its end and gives its standard output; an error says what it printed.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {RunOptions & { shell?: boolean }} [options]
 */
export function run(program, args, options = {}) {
  const child = spawnSync(program, args, { encoding: "utf8", ...options });
  if (child.error) throw child.error;
  if (child.status !== 0) {
    const how = child.signal ?? `exit code ${child.status}`;
    throw new Error(`${program} ${args.join(" ")}: ${how}\n${child.stdout}${child.stderr}`.trim());
  }
  return child.stdout;
}

/**
 * Runs a JavaScript program on this Node.
 *
 * @param {string[]} args
 * @param {RunOptions} [options]
 */
export function node(args, options) {
  return run(process.execPath, args, options);
}

/**
 * @param {string[]} args
 * @param {RunOptions} [options]
 */
export function npm(args, options) {
  // On Windows npm is a batch file, which only a shell runs, and the shell splits at spaces.
  if (process.platform !== "win32") return run("npm", args, options);
  return run(
    "npm",
    args.map((arg) => `"${arg}"`),
    { ...options, shell: true },
  );
}

/** @param {string} path */
export function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
