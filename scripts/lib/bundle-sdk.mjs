// @ts-check
// dist/mcp/sdk.js and sdk.d.ts: what toolkit/mcp/sdk.d.ts lists of the official MCP SDK, with everything that it needs,
// and beside it the licences of what is in it.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { ROOT, readJson } from "./project.mjs";

export async function bundleSdk() {
  const folder = join(ROOT, "toolkit", "mcp");
  const { metafile } = await build({
    stdin: {
      contents: readFileSync(join(folder, "sdk.d.ts"), "utf8"),
      resolveDir: folder,
      loader: "ts",
    },
    outfile: join(ROOT, "dist", "mcp", "sdk.js"),
    absWorkingDir: ROOT,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    minify: true,
    // Whole licences stand in the file beside it.
    legalComments: "none",
    metafile: true,
  });
  // Declarations of ours name this class in functions that no entry point exports. Its own would ask for the
  // SDK's package.
  writeFileSync(join(ROOT, "dist", "mcp", "sdk.d.ts"), "export declare class Server {}\n");
  const packages = new Set(Object.keys(metafile.inputs).flatMap(packageOf));
  const licences = [...packages].sort().map(licenceOf);
  const head =
    "sdk.js is the Model Context Protocol SDK and what it needs, bundled. Their licences:\n";
  writeFileSync(join(ROOT, "dist", "mcp", "sdk.LICENSES.txt"), [head, ...licences].join("\n"));
}

/**
 * The folder of the package that a bundled file belongs to; none for the entry itself.
 *
 * @param {string} file relative to the checkout
 */
function packageOf(file) {
  const match = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file);
  return match ? [match[0]] : [];
}

/** @param {string} folder */
function licenceOf(folder) {
  const absolute = join(ROOT, folder);
  const { name, version, license } = readJson(join(absolute, "package.json"));
  const file = readdirSync(absolute).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry));
  if (file === undefined) throw new Error(`${name} is bundled, and has no licence beside it`);
  const text = readFileSync(join(absolute, file), "utf8").trim();
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${text}\n`;
}
