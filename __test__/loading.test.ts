// The loader, index.js: the file that it loads, and its error if it cannot. Each test runs a copy of it in a
// process of its own, on the runtime that runs this test.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { binaryName, loaderProject, thisPlatform } from "../scripts/lib/project.mjs";
import { ROOT, runCommand } from "./support/program.ts";

const onBun = "Bun" in globalThis;
const platform = thisPlatform();
const addon = path.join(ROOT, binaryName(platform));

/** The message and the other properties of an error that the loader throws. */
interface Failure {
  message: string;
  code: string;
  causes: string[];
}

/** A folder with the loader, with the addon beside it or without, where the loader is required. */
class Installation {
  readonly folder: string;

  constructor(file: "with the addon" | "without an addon") {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-loading-"));
    fs.copyFileSync(path.join(ROOT, "index.js"), path.join(this.folder, "index.js"));
    if (file === "with the addon")
      fs.symlinkSync(addon, path.join(this.folder, path.basename(addon)));
  }

  /** Requires the loader, after `preparation`, and prints what `expression` gives. */
  async run(setting: {
    flags?: string[];
    env?: Record<string, string>;
    preparation?: string;
    expression?: string;
  }): Promise<string> {
    const program = `
      ${setting.preparation ?? ""}
      try {
        const ringfence = require("./index.js");
        console.log(${setting.expression ?? '"loaded"'});
      } catch (error) {
        const { message, code, cause } = error;
        const causes = (cause?.errors ?? [cause]).map((one) => String(one?.code));
        console.log(JSON.stringify({ message, code, causes }));
      }`;
    const file = path.join(this.folder, "program.cjs");
    fs.writeFileSync(file, program);
    const { flags = [], env = {} } = setting;
    const ended = await runCommand(process.execPath, [...flags, file], { cwd: this.folder, env });
    assert.equal(ended.status, 0, ended.stderr);
    return ended.stdout.trim();
  }

  async failure(setting: Parameters<Installation["run"]>[0]): Promise<Failure> {
    const failure = JSON.parse(await this.run(setting)) as Failure;
    assert.match(failure.message, /^ringfence cannot be loaded: .*\nSee docs\/troubleshooting\.md/);
    assert.doesNotMatch(failure.message, /npm has a bug|4828/);
    assert.equal(failure.code, "ERR_RINGFENCE_NOT_LOADED");
    return failure;
  }

  [Symbol.dispose](): void {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

function inInstallation(
  file: "with the addon" | "without an addon",
  body: (installation: Installation) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const installation = new Installation(file);
    try {
      await body(installation);
    } finally {
      installation[Symbol.dispose]();
    }
  };
}

/** Makes the process believe that it runs on another system. */
function pretend(values: { platform: string; arch: string }): string {
  return Object.entries(values)
    .map(([key, value]) => `Object.defineProperty(process, "${key}", { value: "${value}" });`)
    .join("\n");
}

// H1: each way in which the addon cannot be loaded has a message of its own, with the
// platform and the repair. Variants: a broken file, a platform without a package, musl, Node's two
// options that forbid addons, and an addon that is another package's.
describe("second look H1: if the addon cannot be loaded, the error says why and what to do", () => {
  test(
    "second look H1: the platform package is not installed",
    inInstallation("without an addon", async (installation) => {
      const { message, causes } = await installation.failure({});
      assert.match(message, new RegExp(`for ${platform} is missing`));
      assert.match(message, new RegExp(`package ringfence-${platform} is not installed`));
      assert.match(message, /npm install --include=optional/);
      assert.deepEqual(causes, ["MODULE_NOT_FOUND", "MODULE_NOT_FOUND"]);
    }),
  );

  test(
    "second look H1: an empty platform package is missing its file",
    inInstallation("without an addon", async (installation) => {
      const empty = path.join(installation.folder, "node_modules", `ringfence-${platform}`);
      fs.mkdirSync(empty, { recursive: true });
      fs.writeFileSync(path.join(empty, "package.json"), "{}");
      const { message } = await installation.failure({});
      assert.match(message, new RegExp(`for ${platform} is missing`));
    }),
  );

  test(
    "second look H1: a file that is no library is named with the system's reason",
    inInstallation("without an addon", async (installation) => {
      fs.writeFileSync(path.join(installation.folder, path.basename(addon)), "not a library");
      const { message } = await installation.failure({});
      assert.match(message, new RegExp(`for ${platform} is installed, but it was not loaded: ..`));
    }),
  );

  for (const system of [
    { platform: "freebsd", arch: "x64" },
    { platform: "linux", arch: "riscv64" },
    { platform: "win32", arch: "ia32" },
    { platform: "lin", arch: "ux" },
  ]) {
    test(
      `second look H1: ${system.platform} on ${system.arch} has no package`,
      inInstallation("with the addon", async (installation) => {
        const { message } = await installation.failure({ preparation: pretend(system) });
        assert.ok(message.includes(`no native addon for ${system.platform} on ${system.arch}`));
        assert.match(message, /only for linux-x64-gnu, linux-arm64-gnu, .*win32-arm64-msvc/);
      }),
    );
  }

  for (const [system, wanted] of [
    [{ platform: "darwin", arch: "arm64" }, "darwin-arm64"],
    [{ platform: "win32", arch: "x64" }, "win32-x64-msvc"],
  ] as const) {
    test(
      `second look H1: node_modules of this system does not serve ${wanted}`,
      inInstallation("with the addon", async (installation) => {
        const { message } = await installation.failure({ preparation: pretend(system) });
        assert.ok(message.includes(`ringfence-${wanted} is not installed`), message);
      }),
    );
  }

  for (const [libc, header] of [
    ["gnu", { glibcVersionRuntime: "2.36" }],
    ["musl", {}],
  ] as const) {
    test(
      `second look H1: on Linux with musl installed, the process's own C library counts: ${libc}`,
      { skip: process.platform !== "linux" },
      inInstallation("without an addon", async (installation) => {
        const preparation = `
          require("node:fs").existsSync = (file) => file.startsWith("/lib/ld-musl-");
          process.report.excludeNetwork = false;
          process.report.getReport = () => ({ header: ${JSON.stringify(header)} });`;
        const { message } = await installation.failure({ preparation });
        assert.ok(message.includes(`ringfence-linux-${process.arch}-${libc} is not`), message);
      }),
    );
  }

  test(
    "second look H1: --no-addons is named",
    inInstallation("with the addon", async (installation) => {
      const { message, causes } = await installation.failure({ flags: ["--no-addons"] });
      assert.match(message, /started with --no-addons.*NODE_OPTIONS/);
      assert.doesNotMatch(message, /--permission|missing/);
      assert.equal(causes[0], "ERR_DLOPEN_DISABLED");
    }),
  );

  test(
    "second look H1: a worker that is started with --no-addons names it, too",
    { skip: onBun && "Bun's workers have no options of their own" },
    inInstallation("with the addon", async (installation) => {
      fs.writeFileSync(
        path.join(installation.folder, "worker.cjs"),
        `let message = "loaded";
         try { require("./index.js"); } catch (error) { message = error.message; }
         require("node:worker_threads").parentPort.postMessage(message);`,
      );
      const message = await installation.run({
        preparation: `
          const { Worker } = require("node:worker_threads");
          new Worker("./worker.cjs", { execArgv: ["--no-addons"] }).on("message", console.log);`,
      });
      assert.match(message, /started with --no-addons/);
    }),
  );

  const permission = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  const permissions = [permission, "--allow-fs-read=*", "--no-warnings"];
  const noPermissions = { skip: onBun && "Bun has no permission model" };

  test(
    "second look H1: --permission without --allow-addons is named",
    noPermissions,
    inInstallation("with the addon", async (installation) => {
      const { message } = await installation.failure({ flags: permissions });
      assert.match(message, /started with --permission.*Add --allow-addons/);
      const flags = [...permissions, "--allow-addons", "--no-addons"];
      assert.match((await installation.failure({ flags })).message, /started with --no-addons/);
    }),
  );

  test(
    "second look H3: with --allow-addons the addon loads, and reads files that Node itself may not",
    noPermissions,
    inInstallation("with the addon", async (installation) => {
      const outside = fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-outside-"));
      fs.writeFileSync(path.join(outside, "a.txt"), "text\n");
      const root = JSON.stringify(outside);
      const allowed = `--allow-fs-read=${fs.realpathSync(installation.folder)}/*`;
      try {
        const printed = await installation.run({
          flags: [
            permission,
            allowed,
            `--allow-fs-read=${ROOT}*`,
            "--allow-addons",
            "--no-warnings",
          ],
          preparation: `
            const fs = require("node:fs");
            let refused = "";
            try { fs.readFileSync(${root} + "/a.txt"); } catch (error) { refused = error.code; }`,
          expression: `refused, ringfence.readFileSync({ workspaceRoot: ${root} }, "a.txt").content`,
        });
        assert.equal(printed, "ERR_ACCESS_DENIED text");
      } finally {
        fs.rmSync(outside, { recursive: true, force: true });
      }
    }),
  );
});

// H2: each way in which a file other than this version of ringfence could be loaded.
// Variants: the platform's file itself, a variable that names no library, a polluted prototype.
describe("second look H2: only an addon of ringfence, of this version, is accepted", () => {
  /** An addon that is not ours: the one of a development dependency. */
  const require = createRequire(path.join(ROOT, "node_modules", "@napi-rs", "tar", "index.js"));
  const foreign = () => require.resolve(`@napi-rs/tar-${platform}`);

  test(
    "second look H2: napi's variable, set for another package, changes nothing",
    inInstallation("with the addon", async (installation) => {
      const printed = await installation.run({
        env: { NAPI_RS_NATIVE_LIBRARY_PATH: foreign(), NAPI_RS_FORCE_WASI: "error" },
        expression: "typeof ringfence.readFile",
      });
      assert.equal(printed, "function");
    }),
  );

  test(
    "second look H2: RINGFENCE_NATIVE_LIBRARY_PATH names the file that is loaded",
    inInstallation("without an addon", async (installation) => {
      const printed = await installation.run({
        env: { RINGFENCE_NATIVE_LIBRARY_PATH: addon },
        expression: 'typeof ringfence.readFile, Object.keys(ringfence).join().includes("Version")',
      });
      assert.equal(printed, "function false");
    }),
  );

  test(
    "second look H2: another package's addon is refused, named by the variable or in place of ours",
    inInstallation("with the addon", async (installation) => {
      const env = { RINGFENCE_NATIVE_LIBRARY_PATH: foreign() };
      const pollution = `Object.prototype.RINGFENCE_VERSION = "${loaderProject.version}";`;
      for (const preparation of ["", pollution]) {
        const { message } = await installation.failure({ env, preparation });
        assert.match(message, /that RINGFENCE_NATIVE_LIBRARY_PATH names is not ringfence, but/);
      }
      const file = path.join(installation.folder, path.basename(addon));
      fs.rmSync(file);
      fs.copyFileSync(foreign(), file);
      const { message } = await installation.failure({});
      assert.match(message, /the native addon that was found is not ringfence, but/);
    }),
  );

  test(
    "second look H2: an addon of another version is refused, and both versions are named",
    inInstallation("with the addon", async (installation) => {
      const loader = path.join(installation.folder, "index.js");
      const text = fs.readFileSync(loader, "utf8");
      const { version } = loaderProject;
      fs.writeFileSync(loader, text.replace(`VERSION = "${version}"`, 'VERSION = "99.0.0"'));
      const both = `is ringfence ${version}, but ringfence 99.0.0 is needed`;
      assert.ok((await installation.failure({})).message.includes(both));
      const env = { RINGFENCE_NATIVE_LIBRARY_PATH: addon };
      assert.ok((await installation.failure({ env })).message.includes(both));
    }),
  );

  for (const value of [
    "ringfence.node",
    "./ringfence.node",
    "/etc/hosts",
    "tar",
    `${ROOT}index.js`,
  ]) {
    test(
      `second look H2: ${value === `${ROOT}index.js` ? "a JavaScript file" : value} is no absolute path of a .node file`,
      inInstallation("with the addon", async (installation) => {
        const env = { RINGFENCE_NATIVE_LIBRARY_PATH: value };
        const { message } = await installation.failure({ env });
        assert.match(
          message,
          /RINGFENCE_NATIVE_LIBRARY_PATH must be the absolute path of a \.node/,
        );
      }),
    );
  }

  test(
    "second look H2: the error of a missing file names the variable",
    inInstallation("with the addon", async (installation) => {
      const env = { RINGFENCE_NATIVE_LIBRARY_PATH: path.join(installation.folder, "none.node") };
      const { message } = await installation.failure({ env });
      assert.match(message, /RINGFENCE_NATIVE_LIBRARY_PATH names a file that does not load: ./);
    }),
  );

  test(
    "second look H2: an empty variable is none, and two copies of the loader load the same addon",
    inInstallation("with the addon", async (installation) => {
      fs.copyFileSync(
        path.join(installation.folder, "index.js"),
        path.join(installation.folder, "copy.js"),
      );
      const printed = await installation.run({
        env: { RINGFENCE_NATIVE_LIBRARY_PATH: "" },
        expression: 'ringfence.readFile === require("./copy.js").readFile',
      });
      assert.equal(printed, "true");
    }),
  );
});

// H8: runtimes that ask their user before a program reads a variable or a file, or starts a program.
describe("second look H8: the loader reads no variable that it need not", () => {
  const recording = `
    const read = [];
    const env = process.env;
    Object.defineProperty(process, "env", {
      value: new Proxy({}, { get: (_, key) => (read.push(String(key)), env[key]), has: (_, key) => key in env }),
    });`;

  test(
    "second look H8: one variable, of our own name, is read",
    inInstallation("with the addon", async (installation) => {
      const printed = await installation.run({
        preparation: recording,
        expression: "read.join()",
      });
      assert.equal(printed, "RINGFENCE_NATIVE_LIBRARY_PATH");
    }),
  );

  for (const [state, variables] of [
    ["prompt", ""],
    ["denied", ""],
    ["granted", "RINGFENCE_NATIVE_LIBRARY_PATH"],
  ] as const) {
    test(
      `second look H8: where Deno's permission is "${state}", ${variables || "none"} is read`,
      inInstallation("with the addon", async (installation) => {
        const deno = `globalThis.Deno = { permissions: { querySync: () => ({ state: "${state}" }) } };`;
        const printed = await installation.run({
          preparation: recording + deno,
          expression: '"read:", read.join()',
        });
        assert.equal(printed, `read: ${variables}`.trim());
      }),
    );
  }

  test(
    "second look H8: no file is read, and no program started, to tell the C library",
    inInstallation("with the addon", async (installation) => {
      const printed = await installation.run({
        preparation: `
          const fs = require("node:fs");
          const read = fs.readFileSync;
          const files = [];
          fs.readFileSync = (file, ...rest) => (files.push(file), read(file, ...rest));
          require("node:child_process").execSync = () => files.push("a program");`,
        expression: '"files:", files.filter((file) => !/\\.js(?:on)?$/.test(file)).join()',
      });
      assert.equal(printed, "files:");
    }),
  );
});
