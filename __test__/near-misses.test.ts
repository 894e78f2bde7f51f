// `nearMisses` names existing paths that may have been meant by a missing one.

import assert from "node:assert/strict";
import path from "node:path";
import { describe, test } from "node:test";
import { nearMisses, Workspace } from "../index.js";
import { namesAreFolded } from "./support/platform.ts";
import { rejection, rejectionValue } from "./support/read.ts";
import { inWorkspace } from "./support/workspace.ts";

const loose = nearMisses as unknown as (...args: unknown[]) => Promise<unknown>;

describe("nearMisses", () => {
  test(
    "names paths of the workspace, nearest first",
    // Where names are folded, nothing is missed: src/config.js is src/Config.js.
    { skip: namesAreFolded },
    inWorkspace(async (ws) => {
      for (const file of ["src/config.ts", "src/Config.js", "src/other.ts"]) ws.write(file, "");
      const near = ["src/Config.js", "src/config.ts"];
      assert.deepEqual(await nearMisses(ws.context, "src/config.js"), near);
      const workspace = Workspace.open(ws.root);
      assert.deepEqual(await nearMisses(workspace, path.join(ws.root, "src/config.js")), near);
      assert.deepEqual(await nearMisses(workspace, "src/other.ts"), []);
      workspace.close();
    }),
  );

  test(
    "lists no folder outside, by whichever path",
    inWorkspace(async (ws) => {
      ws.writeOutside("secret.txt");
      ws.link("out", ws.outside, "dir");
      assert.deepEqual(await nearMisses(ws.context, "out/secrets.txt"), []);
      for (const given of ["../outside/secrets.txt", path.join(ws.outside, "secrets.txt")]) {
        const { code } = await rejection(() => nearMisses(ws.context, given), ws.hidden);
        assert.equal(code, "SANDBOX_VIOLATION");
      }
    }),
  );

  test(
    "refuses the arguments that readFile refuses, and rejects with the reason of an aborted signal",
    inWorkspace(async (ws) => {
      for (const args of [[], [ws.context], [ws.context, 1], [ws.context, ""], [{}, "a"]]) {
        const { code } = await rejection(() => loose(...args), ws.hidden);
        assert.equal(code, "INVALID_ARGUMENT");
      }
      const signal = AbortSignal.abort("enough");
      const reason = await rejectionValue(() => nearMisses(ws.context, "a", { signal }));
      assert.equal(reason, "enough");
    }),
  );
});
