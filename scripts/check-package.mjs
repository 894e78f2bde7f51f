// @ts-check
// Packs the package as a release does and as a plain `npm pack` does, and uses both as a user
// would, in empty projects outside this checkout. Needs a release build. Asks a registry for nothing but
// the newest Node and the old glibc, where earlier commands have not fetched them.
//
//     node scripts/check-package.mjs [--keep]
//
// --keep  leaves the temporary folder and says where it is

import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { finishLoader } from "./finish-build.mjs";
import {
  commandPath,
  loaderProject,
  manifest,
  node,
  npm,
  platforms,
  ROOT,
  readJson,
  run,
  thisPlatform,
} from "./lib/project.mjs";
import { bun, check, counts, folder, install } from "./package/check.mjs";
import { checkCommand, checkImports, lint } from "./package/consumers.mjs";
import {
  checkBundles,
  checkExamples,
  checkNames,
  checkOldGlibc,
  checkSingleExecutable,
} from "./package/release.mjs";

const { values } = parseArgs({ options: { keep: { type: "boolean", default: false } } });

try {
  await checkSources();
  await checkPlain();
  await checkRelease();
} finally {
  if (values.keep) console.log(`kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;

async function checkSources() {
  await check("Cargo.toml has the version of package.json", () => {
    const cargo = readFileSync(join(ROOT, "Cargo.toml"), "utf8");
    const version = /^\[package\][^[]*?^version = "([^"]*)"$/ms.exec(cargo)?.[1];
    assert.equal(version, manifest.version);
  });

  for (const platform of platforms) {
    await check(`npm/${platform} has the version of package.json`, () => {
      const { version } = readJson(join(ROOT, "npm", platform, "package.json"));
      assert.equal(version, manifest.version);
    });
  }

  await check("npm/ is what `npx napi create-npm-dirs` makes of package.json", () => {
    const fresh = join(folder, "npm-dirs");
    mkdirSync(fresh);
    cpSync(join(ROOT, "package.json"), join(fresh, "package.json"));
    node([commandPath("@napi-rs/cli", "napi"), "create-npm-dirs"], { cwd: fresh });
    assert.deepEqual(textFiles(join(ROOT, "npm")), textFiles(join(fresh, "npm")));
  });

  await check("package.json depends on no platform package, so that `npm ci` works", () => {
    assert.equal(manifest.optionalDependencies, undefined);
  });

  await check(
    "index.js is finished, and a loader of a form that is not known fails the build",
    () => {
      const loader = readFileSync(join(ROOT, "index.js"), "utf8"); // no longer as napi wrote it
      assert.throws(() => finishLoader(loader, loaderProject), /not of the form/);
    },
  );
}

/** The tarball that works alone, on machines like the one that made it. */
async function checkPlain() {
  const packed = join(folder, "plain-tarballs");
  const project = join(folder, "plain");
  const tarballs = [join(packed, `${manifest.name}-${manifest.version}.tgz`)];
  const installed = await check("plain: packs, and installs in an empty project", () => {
    mkdirSync(packed);
    npm(["pack", "--ignore-scripts", "--pack-destination", packed], { cwd: ROOT });
    install(tarballs, project);
  });
  if (!installed) return;

  await lint("plain", tarballs);
  // First, because the imports are tried with the checkout's AWS SDK, too.
  await checkCommand("plain", project);
  await checkImports("plain", project);
}

/** What is published: the main package, and the package of this machine's platform. */
async function checkRelease() {
  const packed = join(folder, "release-tarballs");
  const project = join(folder, "release");
  const names = [manifest.name, `${manifest.name}-${thisPlatform()}`];
  const tarballs = names.map((name) => join(packed, `${name}-${manifest.version}.tgz`));
  const installed = await check("release: packs, and installs in an empty project", () => {
    node([join(ROOT, "scripts", "pack.mjs"), "--out-dir", packed]);
    install(tarballs, project);
  });
  if (!installed) return;

  await check("release: the main package has no binary and asks for every platform", () => {
    const main = join(project, "node_modules", manifest.name);
    const binaries = readdirSync(main).filter((file) => file.endsWith(".node"));
    assert.deepEqual(binaries, []);
    const { optionalDependencies } = readJson(join(main, "package.json"));
    const asked = platforms.map((platform) => [`${manifest.name}-${platform}`, manifest.version]);
    assert.deepEqual(optionalDependencies, Object.fromEntries(asked));
  });
  await checkNames(project);
  await checkOldGlibc(project);
  await lint("release", tarballs);
  await checkCommand("release", project);
  await checkImports("release", project);

  await checkBundles(project);
  await checkExamples(project);
  await checkSingleExecutable(project);

  await check("release: a program of `bun build --compile` reads files, its project gone", () => {
    const program = join(folder, "compiled", "program");
    run(bun, ["build", "--compile", "compiled.mts", "--outfile", program], { cwd: project });
    renameSync(project, `${project}-gone`);
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    writeFileSync(join(workspace, "a.txt"), "one\ntwo\n");
    assert.equal(run(program, [workspace, "a.txt"], { cwd: workspace }), "one\ntwo\n");
  });
}

/**
 * The text files below a directory: npm/ may hold binaries that were put there for a release.
 *
 * @param {string} directory
 * @returns {Record<string, string>}
 */
function textFiles(directory) {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const texts = names.filter((name) => /\.(json|md)$/.test(name)).sort();
  return Object.fromEntries(
    texts.map((name) => [name, readFileSync(join(directory, name), "utf8")]),
  );
}
