// @ts-check
// Packs what a release publishes, and prints the tarballs' paths:
//
//     node scripts/pack.mjs [--out-dir target/packages] [--all] [--repository URL]
//
// - the main package without a binary, with all platform packages as optional dependencies, and
// - the platform packages whose binaries stand in the checkout: at least this machine's, with
//   `--all` each of them or none.
//
// With `--repository` the manifests name the repository. npm refuses a statement of provenance whose
// repository is not the one in the manifest.
//
// The manifests are changed in staged copies only. The committed package.json must not depend on
// packages that are not published yet, or `npm ci` fails in a fresh clone, and it ships the local
// binary, so that a plain `npm pack` gives a tarball that works on the machine that made it.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { newerGlibc } from "./lib/elf.mjs";
import { OLDEST_GLIBC } from "./lib/old-glibc.mjs";
import {
  binaryName,
  manifest,
  npm,
  platforms,
  ROOT,
  readJson,
  thisPlatform,
} from "./lib/project.mjs";

// A debug build works too, slowly, so that nobody would notice one in a release. It has some 85 MiB,
// a release build between four and five.
const LARGEST_RELEASE = 8 * 1024 * 1024;

const { values } = parseArgs({
  options: {
    "out-dir": { type: "string", default: join(ROOT, "target", "packages") },
    all: { type: "boolean", default: false },
    repository: { type: "string" },
  },
});
const outDir = resolve(values["out-dir"]);

const wanted = values.all ? platforms : [thisPlatform()];
const absent = wanted.filter((platform) => !existsSync(join(ROOT, binaryName(platform))));
if (absent.length > 0) {
  throw new Error(`no ${absent.map(binaryName).join(", no ")}: build first (npm run build)`);
}

if (!existsSync(join(ROOT, "dist"))) throw new Error("no dist: build first (npm run build)");

mkdirSync(outDir, { recursive: true });
// Tarballs of an earlier version would be published along.
for (const file of readdirSync(outDir)) {
  if (file.startsWith(`${manifest.name}-`) && file.endsWith(".tgz")) rmSync(join(outDir, file));
}
const staging = mkdtempSync(join(outDir, "staging-"));
try {
  const folders = [stageMain()];
  for (const platform of platforms) {
    if (existsSync(join(ROOT, binaryName(platform)))) folders.push(stagePlatform(platform));
  }
  for (const folder of folders) console.log(pack(folder));
} finally {
  rmSync(staging, { recursive: true });
}

function stageMain() {
  const folder = join(staging, "main");
  /** @type {[{ files: { path: string }[] }]} */
  const [{ files }] = JSON.parse(
    npm(["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: ROOT }),
  );
  for (const { path } of files) {
    if (path.endsWith(".node")) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(ROOT, path), join(folder, path));
  }

  // What only a checkout can use stays behind.
  const { devDependencies, scripts, allowScripts, napi, ...rest } = readJson(
    join(ROOT, "package.json"),
  );
  const optionalDependencies = Object.fromEntries(
    platforms.map((platform) => [`${manifest.name}-${platform}`, manifest.version]),
  );
  writeManifest(folder, {
    ...rest,
    files: manifest.files.filter((pattern) => !pattern.endsWith(".node")),
    optionalDependencies,
  });
  return folder;
}

/** @param {string} platform */
function stagePlatform(platform) {
  const folder = join(staging, platform);
  cpSync(join(ROOT, "npm", platform), folder, { recursive: true });
  const binary = join(ROOT, binaryName(platform));
  if (statSync(binary).size > LARGEST_RELEASE) {
    throw new Error(`${binaryName(platform)} is a debug build by its size: npm run build first`);
  }
  const newer = platform.endsWith("-gnu") ? newerGlibc(binary, OLDEST_GLIBC) : [];
  if (newer.length > 0) {
    const limit = OLDEST_GLIBC.join(".");
    throw new Error(
      `${binaryName(platform)} asks for ${newer.join(", ")}, but glibc ${limit} is promised`,
    );
  }
  cpSync(binary, join(folder, binaryName(platform)));
  writeManifest(folder, readJson(join(folder, "package.json")));
  if (existsSync(join(ROOT, "LICENSE"))) cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  return folder;
}

/**
 * @param {string} folder
 * @param {object} fields
 */
function writeManifest(folder, fields) {
  const repository = values.repository && {
    repository: { type: "git", url: `git+${values.repository}.git` },
  };
  const published = { ...fields, ...repository };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
}

/** @param {string} folder */
function pack(folder) {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", outDir];
  /** @type {[{ filename: string }]} */
  const [{ filename }] = JSON.parse(npm(args, { cwd: folder }));
  return join(outDir, filename);
}
