// @ts-check
// Packs the package as a release does and as a plain `npm pack` does, and uses both as a user
// would, in empty projects outside this checkout. Asks no registry. Needs a release build.
//
//     node scripts/check-package.mjs [--keep]
//
// --keep  leaves the temporary folder and says where it is

import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { finishLoader } from "./finish-build.mjs";
import {
  commandPath,
  manifest,
  node,
  npm,
  platforms,
  ROOT,
  readJson,
  run,
  thisPlatform,
} from "./lib/project.mjs";

const CONSUMER = join(ROOT, "scripts", "consumer");
const bun = commandPath("bun", "bun");
const { values } = parseArgs({ options: { keep: { type: "boolean", default: false } } });

let passed = 0;
let failed = 0;
const folder = realpathSync(mkdtempSync(join(tmpdir(), "ringfence-package-")));
try {
  await checkSources();
  await checkPlain();
  await checkRelease();
} finally {
  if (values.keep) console.log(`kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/**
 * @param {string} title
 * @param {() => void | Promise<void>} body
 * @returns {Promise<boolean>} whether it passed
 */
async function check(title, body) {
  try {
    await body();
    passed += 1;
    console.log(`ok    ${title}`);
    return true;
  } catch (error) {
    failed += 1;
    const text = error instanceof Error ? error.message : String(error);
    console.log(`FAIL  ${title}\n${text.replaceAll(/^/gm, "      ")}`);
    return false;
  }
}

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
      const project = {
        packageName: manifest.name,
        binaryName: manifest.napi.binaryName,
        platforms,
      };
      const loader = readFileSync(join(ROOT, "index.js"), "utf8"); // no longer as napi wrote it
      assert.throws(() => finishLoader(loader, project), /not of the form/);
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
  await lint("release", tarballs);
  await checkCommand("release", project);
  await checkImports("release", project);

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
 * @param {string} kind
 * @param {string[]} tarballs
 */
async function lint(kind, tarballs) {
  for (const tarball of tarballs) {
    await check(`${kind}: publint finds nothing in ${basename(tarball)}`, async () => {
      const { buffer } = new Uint8Array(readFileSync(tarball));
      // Below a warning are suggestions, such as to write down the default of `type`.
      const options = /** @type {const} */ ({ strict: true, level: "warning" });
      const { messages, pkg } = await publint({ ...options, pack: { tarball: buffer } });
      const texts = messages.map((message) => formatMessage(message, pkg, { color: false }));
      assert.deepEqual(texts, []);
    });
  }
  const [main = ""] = tarballs;
  await check(`${kind}: arethetypeswrong finds nothing, in all four modes`, () => {
    node([commandPath("@arethetypeswrong/cli", "attw"), "--no-definitely-typed", main]);
  });
}

/**
 * Installs tarballs in a project that has nothing but the consumers. The seven platform packages
 * that are not among them cannot be found, which npm forgives in optional dependencies; offline,
 * so that no registry is asked for names that nobody may have published yet.
 *
 * @param {string[]} tarballs
 * @param {string} project
 */
function install(tarballs, project) {
  cpSync(CONSUMER, project, { recursive: true });
  const own = { name: "consumer", private: true, type: "module" };
  writeFileSync(join(project, "package.json"), `${JSON.stringify(own)}\n`);
  const options = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  npm(["install", ...options, ...tarballs], { cwd: project });
}

/**
 * @param {string} kind
 * @param {string} project
 */
async function checkImports(kind, project) {
  for (const file of ["read", "stores"]) {
    await check(`${kind}: ${file}, imported by an ES module on Node`, () => {
      node([`${file}.mjs`], { cwd: project });
    });
    await check(`${kind}: ${file}, required by a CommonJS module on Node`, () => {
      node([`${file}.cjs`], { cwd: project });
    });
    await check(`${kind}: ${file}, imported by an ES module on Bun`, () => {
      run(bun, ["--no-install", `${file}.mjs`], { cwd: project });
    });
    await check(`${kind}: ${file}, required by a CommonJS module on Bun`, () => {
      run(bun, ["--no-install", `${file}.cjs`], { cwd: project });
    });
  }

  // AbortSignal comes from Node's types in one kind of project, from the DOM's in the other.
  const nodeTypes = ["--types", "node", "--typeRoots", join(ROOT, "node_modules", "@types")];
  const domTypes = ["--lib", "es2022,dom"];
  const files = ["types.mts", "stores-types.mts", "toolkit-types.mts", "mcp-types.mts"];
  const nodenext = ["--module", "nodenext", "--moduleResolution", "nodenext", ...nodeTypes];
  await check(`${kind}: compiles as strict TypeScript, resolution nodenext`, () => {
    compile(project, [...nodenext, ...files]);
  });
  await check(`${kind}: compiles as strict TypeScript, resolution bundler`, () => {
    const bundler = ["--module", "esnext", "--moduleResolution", "bundler", ...domTypes];
    compile(project, [...bundler, ...files]);
  });

  await check(`${kind}: with the AWS SDK its stores are there, too, on Node and on Bun`, () => {
    // The checkout's own, so that no registry is asked.
    const sdk = join("node_modules", "@aws-sdk", "client-s3");
    mkdirSync(dirname(join(project, sdk)), { recursive: true });
    symlinkSync(join(ROOT, sdk), join(project, sdk), "junction");
    node(["stores-s3.mjs"], { cwd: project });
    run(bun, ["--no-install", "stores-s3.mjs"], { cwd: project });
    compile(project, [...nodenext, "stores-s3-types.mts"]);
  });
}

/**
 * The command of the package, as `npx ringfence` starts it.
 *
 * @param {string} kind
 * @param {string} project
 */
async function checkCommand(kind, project) {
  const input = readFileSync(join(CONSUMER, "mcp-session.jsonl"), "utf8");
  /** @param {string[]} args */
  const npx = (...args) =>
    npm(["exec", "--offline", "--", "ringfence", ...args], { cwd: project, input });

  await check(`${kind}: \`npx ringfence mcp\` serves a client, and ends when it has gone`, () => {
    expectSession(npx("mcp", "--root", "."));
  });
  await check(`${kind}: \`bunx --bun ringfence mcp\` does, too`, () => {
    const args = ["x", "--bun", "--no-install", "ringfence", "mcp", "--root", "."];
    expectSession(run(bun, args, { cwd: project, input }));
  });
  await check(`${kind}: \`npx ringfence\` prints its version, and ends with 2 when misused`, () => {
    assert.equal(npx("--version").trim(), manifest.version);
    assert.throws(() => npx("mcp", "--root", "nowhere"), /exit code 2\n.*--root nowhere does not/s);
  });
  await check(`${kind}: nothing else was installed, and the bundled licences are there`, () => {
    const installed = join(project, "node_modules");
    const names = readdirSync(installed).filter((name) => !name.startsWith("."));
    const foreign = names.filter((name) => !name.startsWith(manifest.name));
    assert.deepEqual(foreign, []);
    const licences = join(installed, manifest.name, "dist", "mcp", "sdk.LICENSES.txt");
    assert.match(readFileSync(licences, "utf8"), /@modelcontextprotocol\/sdk .*Copyright/s);
  });
}

/**
 * What a server must have answered to consumer/mcp-session.jsonl, in any order, and nothing else.
 *
 * @param {string} stdout
 */
function expectSession(stdout) {
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .sort((a, b) => a.id - b.id);
  const [initialized, listed, called] = answers.map(({ result }) => result);
  assert.equal(initialized.serverInfo.version, manifest.version);
  assert.equal(listed.tools.length, 2);
  assert.equal(JSON.parse(called.structuredContent.content).name, "consumer");
  assert.equal(answers.length, 3);
}

/**
 * @param {string} project
 * @param {string[]} options
 */
function compile(project, options) {
  const strict = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"];
  const common = ["--noEmit", "--skipLibCheck", "false", "--target", "es2022", "--allowJs"];
  const tsc = commandPath("typescript", "tsc");
  node([tsc, ...common, ...strict, ...options], { cwd: project });
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
