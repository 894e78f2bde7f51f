// @ts-check
// The S3 server of the tests: s3s-fs, which keeps objects as files, checks signatures and checksums.
//
//     node scripts/s3-server.mjs          builds it into target/, if that has not been done
//     node scripts/s3-server.mjs --serve  runs it on a free port of the loopback interface
//
// Served, it prints one line of JSON, `{ port, root, accessKeyId, secretAccessKey }`, and goes on
// until its standard input ends, which it does when the tests do, however they end. The objects
// are below `root`, a temporary folder that goes with it.
//
// Imports Node's own modules alone: the tests start it anew, on Bun too.

import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const VERSION = "0.14.1";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = join(ROOT, "target", `s3s-fs-${VERSION}`);
const BINARY = join(FOLDER, "bin", process.platform === "win32" ? "s3s-fs.exe" : "s3s-fs");

const { values } = parseArgs({ options: { serve: { type: "boolean", default: false } } });
if (values.serve) serve();
else build();

function build() {
  if (existsSync(BINARY)) return;
  console.error(`building s3s-fs ${VERSION}, the S3 server of the tests`);
  const crate = ["s3s-fs", "--version", VERSION, "--locked", "--features", "binary"];
  const built = join(FOLDER, "build");
  // A debug build takes half the time, and is fast enough.
  const where = ["--debug", "--root", FOLDER, "--target-dir", built, "--no-track", "--force"];
  const { status, error } = spawnSync("cargo", ["install", "--quiet", ...crate, ...where], {
    cwd: ROOT,
    env: { ...process.env, CARGO_PROFILE_DEV_DEBUG: "0" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
  rmSync(built, { recursive: true });
}

function serve() {
  if (!existsSync(BINARY)) throw new Error("the S3 server is not built: npm run s3-server");
  const root = mkdtempSync(join(realpathSync(tmpdir()), "ringfence-s3-"));
  const credentials = {
    accessKeyId: "RINGFENCE",
    secretAccessKey: randomBytes(16).toString("hex"),
  };
  const server = spawn(
    BINARY,
    [
      ...["--host", "127.0.0.1", "--port", "0"],
      ...["--access-key", credentials.accessKeyId, "--secret-key", credentials.secretAccessKey],
      root,
    ],
    { env: { ...process.env, RUST_LOG: "s3s_fs=info" }, stdio: ["ignore", "pipe", "inherit"] },
  );

  /** @param {number} code */
  const end = (code) => {
    server.kill("SIGKILL");
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
    process.exit(code);
  };
  server.on("error", (error) => {
    console.error(error);
    end(1);
  });
  server.on("exit", () => end(1));
  process.on("SIGINT", () => end(0));
  process.on("SIGTERM", () => end(0));
  process.stdin.on("end", () => end(0)).resume();

  let said = "";
  server.stdout.setEncoding("utf8").on("data", (text) => {
    if (said === "told") return;
    said += text;
    const port = /running at http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
    if (port === undefined) return;
    said = "told";
    console.log(JSON.stringify({ port: Number(port), root, ...credentials }));
  });
}
