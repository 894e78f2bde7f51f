// @ts-check
// The loader and the types that are shipped; scripts/build.mjs calls this after every build.
//
// napi's own loader asks for every platform that it knows by package name (one that we do not publish
// could only find a stranger's package), loads whatever NAPI_RS_NATIVE_LIBRARY_PATH names, and explains
// each failure by a bug of npm. Ours is scripts/loader.cjs; from napi's comes what the addon exports.

import { readFileSync } from "node:fs";
import { parseTriple } from "@napi-rs/cli";

const HEADER = `/* eslint-disable */
// @ts-nocheck
/* Generated from scripts/loader.cjs by scripts/finish-build.mjs. Do not edit. */
`;
const TEMPLATE = new URL("loader.cjs", import.meta.url);

/**
 * @typedef {object} Project
 * @property {string} packageName
 * @property {string} binaryName
 * @property {string} version
 * @property {string[]} targets Rust's triples of what has a package
 */

/**
 * Throws when napi's loader is not of the form that is known here, so that a new napi fails the build.
 *
 * @param {string} generated the loader as napi wrote it
 * @param {Project} project
 * @returns {string} the loader to ship
 */
export function finishLoader(generated, { packageName, binaryName, version, targets }) {
  const names = [...generated.matchAll(/^module\.exports\.(\w+) = nativeBinding\.\1$/gm)].map(
    ([, name]) => name,
  );
  if (names.length === 0) {
    throw new Error("napi's loader is not of the form that scripts/finish-build.mjs knows");
  }
  const platforms = targets.map(parseTriple);
  const attempts = platforms.map(({ platform, arch, abi, platformArchABI }) => {
    const file = `${binaryName}.${platformArchABI}.node`;
    const other = { gnu: "musl", musl: "glibc" }[abi ?? ""];
    const libc = other === undefined ? "" : ` && libc !== "${other}"`;
    return [
      `if (process.platform === "${platform}" && process.arch === "${arch}"${libc}) {`,
      ...attempt(`./${file}`),
      ...attempt(`${packageName}-${platformArchABI}/${file}`),
      "}",
    ];
  });

  const places = {
    '"%VERSION%"': JSON.stringify(version),
    '"%PLATFORMS%"': JSON.stringify(platforms.map(({ platformArchABI }) => platformArchABI)),
    "// %ATTEMPTS%": attempts.flat().join("\n  "),
    "// %EXPORTS%": names.map((name) => `module.exports.${name} = binding.${name};`).join("\n"),
  };
  const [, template = ""] = readFileSync(TEMPLATE, "utf8").split(/^\/\/ @ts-nocheck.*\n/m);
  return Object.entries(places).reduce(
    (text, [place, value]) => text.replace(place, () => value),
    HEADER + template,
  );
}

/** @param {string} file what is required */
function attempt(file) {
  const indented = (/** @type {string} */ line) => `  ${line}`;
  return [
    "try {",
    `  return require("${file}");`,
    "} catch (error) {",
    "  failures.push(error);",
    "}",
  ].map(indented);
}

/**
 * Takes out what napi says of its own loader.
 *
 * @param {string} generated the types as napi wrote them
 */
export function finishTypes(generated) {
  return generated.replace(
    /\/\*\*\n(?: \*.*\n)+export declare const __napiBindingTarget:.*\n+/,
    "",
  );
}
