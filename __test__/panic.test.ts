import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { ReadFileError } from "../index.js";

interface Hooks {
  __panicInWorker(): Promise<unknown>;
  __panicInArguments(): Promise<unknown>;
  __panicInCall(): unknown;
}

/** `npm run build:hooks` makes an addon that can be told to panic. */
function loadHooks(): Hooks {
  const folder = fileURLToPath(new URL("../target/hooks/", import.meta.url));
  const addon = readdirSync(folder).find((name) => name.endsWith(".node"));
  assert.ok(addon, "npm run build:hooks has not been run");
  return createRequire(import.meta.url)(`${folder}/${addon}`);
}

function assertInternal(error: unknown): true {
  const { name, code, path, message } = error as ReadFileError;
  assert.deepEqual({ name, code, path }, { name: "ReadFileError", code: "INTERNAL", path: "" });
  assert.match(message, /^INTERNAL: ringfence failed/);
  return true;
}

describe("P01: a panic becomes an error and the process lives", () => {
  const hooks = loadHooks();

  test("in a worker", async () => {
    await assert.rejects(hooks.__panicInWorker(), assertInternal);
    await assert.rejects(hooks.__panicInWorker(), assertInternal);
  });

  test("on the JavaScript thread, while arguments are read", async () => {
    await assert.rejects(hooks.__panicInArguments(), assertInternal);
  });

  test("on the JavaScript thread, in a synchronous call", () => {
    assert.throws(() => hooks.__panicInCall(), assertInternal);
  });
});
