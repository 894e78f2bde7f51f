// Approval by a person: the policy `"ask"`, and the diff for the person.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import {
  type ApprovalRequest,
  type Approve,
  createAgentToolkit,
  createSecureTool,
  defineTool,
  ToolCatalog,
} from "../dist/index.js";
import { published } from "./support/events.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const ASK = { tools: { workspace_create_file: "ask" }, defaultPolicy: "allow" } as const;

/** A toolkit with approval for writes, and the calls that `approve` got. */
function gated(ws: TestWorkspace, answer: Approve) {
  const asked: ApprovalRequest[] = [];
  const approve = (call: ApprovalRequest) => {
    asked.push(call);
    return answer(call);
  };
  return { asked, kit: createAgentToolkit({ ...ws.writable, policy: ASK, approve }) };
}

const create = { path: "src/new.txt", content: "one\r\ntwo" };

// B9: a value of the policy that has no effect.
describe("second look B9: a policy", () => {
  const WRONG: [name: string, context: object, said: RegExp][] = [
    ["ask without approve", { policy: ASK }, /"ask".*approve/],
    ["ask by default without approve", { policy: { defaultPolicy: "ask" } }, /"ask".*approve/],
    ["approve that is no function", { policy: ASK, approve: true }, /approve must be a function/],
    [
      "an unknown value",
      { policy: { tools: { read_file: "alow" } } },
      /policy\.tools\["read_file"\]/,
    ],
    ["true", { policy: { tools: { read_file: true } } }, /"allow", "deny" or "ask"/],
    ["an unknown default", { policy: { defaultPolicy: "ASK" } }, /policy\.defaultPolicy/],
    ["an unknown tool", { policy: { tools: { readFile: "allow" } } }, /"readFile"/],
    ["a Map", { policy: { tools: new Map([["read_file", "deny"]]) } }, /policy\.tools/],
    ["a text", { policy: "allow" }, /policy must be an object/],
  ];
  for (const [name, wrong, said] of WRONG) {
    test(
      `second look B9: ${name} is refused when the toolkit is made`,
      inWorkspace((ws) => {
        assert.throws(() => createAgentToolkit({ ...ws.writable, ...wrong } as never), said);
      }),
    );
  }

  test(
    "second look B9: a secure tool asks, too, and says so if the context has no approve",
    inWorkspace(async (ws) => {
      const { metadata, handler } = ToolCatalog.workspace_create_file;
      const tool = createSecureTool(metadata, handler);
      const context = { ...ws.writable, policy: ASK };
      const alone = await tool(context, create);
      assert.equal(alone.status, "failure");
      assert.match(alone.message, /"ask".*no approve/);
      assert.ok(!fs.existsSync(ws.at("src")));
      const denied = await tool({ ...context, approve: () => "deny" }, create);
      assert.deepEqual(
        [denied.status, denied.status !== "success" && denied.reason],
        ["denied", "policy"],
      );
      assert.equal((await tool({ ...context, approve: () => "allow" }, create)).status, "success");
    }),
  );
});

// B9: a call runs without approval, or a call other than the approved one runs.
describe("second look B9: approval", () => {
  test(
    "second look B9: an approved call runs after the approval",
    inWorkspace(async (ws) => {
      const { asked, kit } = gated(ws, async () => {
        assert.ok(!fs.existsSync(ws.at("src")));
        return "allow";
      });
      const ids = { callId: "c", sessionId: "s", conversationId: "o", turnId: "t" };
      const result = await kit.invoke("workspace_create_file", create, ids);
      assert.equal(result.status, "success");
      assert.equal(fs.readFileSync(ws.at(create.path), "utf8"), "one\ntwo");
      const { signal: _, arguments: given, ...call } = asked[0] as ApprovalRequest;
      assert.deepEqual({ ...(given as object) }, create);
      assert.deepEqual(call, {
        name: "workspace_create_file",
        path: "src/new.txt",
        diff: "--- /dev/null\n+++ b/src/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n",
        ...ids,
      });
      assert.equal((await kit.readFile("src/new.txt")).status, "success");
      assert.equal(asked.length, 1);
    }),
  );

  const REFUSALS: [name: string, answer: () => unknown, status: string, code: string][] = [
    ["deny", () => "deny", "denied", "WriteFailed"],
    ["a promise of deny", async () => "deny", "denied", "WriteFailed"],
    ["true", () => true, "failure", "UnhandledException"],
    ["nothing", () => undefined, "failure", "UnhandledException"],
    [
      "an object that reads as allow",
      () => ({ toString: () => "allow" }),
      "failure",
      "UnhandledException",
    ],
    ["a throw", () => assert.fail("gate"), "failure", "UnhandledException"],
    ["a rejection", () => Promise.reject(new Error("gate")), "failure", "UnhandledException"],
  ];
  for (const [name, answer, status, code] of REFUSALS) {
    test(
      `second look B9: ${name} writes nothing`,
      inWorkspace(async (ws) => {
        const { kit } = gated(ws, answer as Approve);
        const [event] = await published(async () => {
          const result = await kit.createFile(create);
          assert.ok(result.status !== "success");
          assert.equal(result.status, status);
          assert.equal(result.error.details.code, code);
          assert.equal((result.error.details.result as { errorCode: string }).errorCode, code);
        });
        assert.equal(event?.ErrorCode, code);
        assert.deepEqual(fs.readdirSync(ws.root), []);
      }),
    );
  }

  const NOT_ASKED: [name: string, args: Record<string, unknown>, code: string][] = [
    ["a path that leads out", { path: "../a", content: "" }, "InvalidPath"],
    ["content that is missing", { path: "a" }, "UnhandledException"],
    ["a file that exists", { path: "old.txt", content: "" }, "FileExists"],
    ["a folder that is a file", { path: "old.txt/a", content: "" }, "DirectoryCreateFailed"],
    ["content that is too large", { path: "a", content: "x".repeat(1_048_577) }, "TooLarge"],
    [
      "a hash that is none",
      { path: "old.txt", content: "", overwrite: true, expectedHash: "x" },
      "UnhandledException",
    ],
    [
      "a stale hash",
      { path: "old.txt", content: "", overwrite: true, expectedHash: "0".repeat(63).concat("1") },
      "WriteFailed",
    ],
    [
      "a hash of an absent file",
      { path: "a", content: "", expectedHash: "a".repeat(64) },
      "WriteFailed",
    ],
    [
      "a file that cannot be shown",
      { path: "binary", content: "", overwrite: true },
      "WriteFailed",
    ],
  ];
  for (const [name, args, code] of NOT_ASKED) {
    test(
      `second look B9: approve is not called for a call that fails anyway: ${name}`,
      inWorkspace(async (ws) => {
        ws.write("old.txt", "old");
        ws.write("binary", new Uint8Array([0, 1, 2]));
        const { asked, kit } = gated(ws, () => "allow");
        const result = await kit.invoke("workspace_create_file", args as never);
        assert.equal(result.status !== "success" && result.error.details.code, code);
        assert.deepEqual(asked, []);
        assert.deepEqual(fs.readdirSync(ws.root).sort(), ["binary", "old.txt"]);
        assert.equal(fs.readFileSync(ws.at("old.txt"), "utf8"), "old");
      }),
    );
  }

  test(
    "second look B9: an overwrite shows old against new, and replaces the file that was shown",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\ntwo\nthree\n");
      const { asked, kit } = gated(ws, () => "allow");
      const args = { path: "./a.txt", content: "one\n2\nthree\n", overwrite: true };
      assert.equal((await kit.createFile(args)).status, "success");
      const diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
      assert.equal(asked[0]?.diff, diff);
    }),
  );

  test(
    "second look B9: a file that changes, comes or goes while the person decides is left alone",
    inWorkspace(async (ws) => {
      const path = "a.txt";
      const args = { path, content: "agent", overwrite: true };
      const coming = gated(ws, () => {
        ws.write(path, "user");
        return "allow";
      });
      const come = await coming.kit.createFile(args);
      assert.equal(come.status !== "success" && come.error.details.code, "FileExists");
      const changing = gated(ws, () => {
        ws.write(path, "user again");
        return "allow";
      });
      const changed = await changing.kit.createFile(args);
      assert.equal(changed.status !== "success" && changed.error.details.code, "WriteFailed");
      assert.equal(fs.readFileSync(ws.at(path), "utf8"), "user again");
      const going = gated(ws, () => {
        fs.unlinkSync(ws.at(path));
        return "allow";
      });
      assert.notEqual((await going.kit.createFile(args)).status, "success");
      assert.ok(!fs.existsSync(ws.at(path)));
    }),
  );

  test(
    "second look B9: changes by approve to its copy, and by the caller to the arguments, have no effect",
    inWorkspace(async (ws) => {
      const args = { path: "a.txt", content: "shown", overwrite: false };
      const { kit } = gated(ws, async (call) => {
        Object.assign(call.arguments as object, { path: "b.txt", content: "gate" });
        Object.assign(args, { path: "c.txt", content: "caller", overwrite: true });
        return "allow";
      });
      assert.equal((await kit.createFile(args)).status, "success");
      assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "shown");
    }),
  );

  test(
    "second look B9: a call that is aborted while the person decides rejects at once",
    inWorkspace(async (ws) => {
      const controller = new AbortController();
      const { kit } = gated(ws, (call) => {
        setTimeout(() => controller.abort("gone"), 5);
        return new Promise((resolve) =>
          call.signal?.addEventListener("abort", () => resolve("allow")),
        );
      });
      const call = kit.createFile(create, { signal: controller.signal });
      await assert.rejects(call, (reason) => reason === "gone");
      assert.deepEqual(fs.readdirSync(ws.root), []);
    }),
  );

  test(
    "second look B9: the diff says that a byte order mark and CRLF are dropped",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "\ufeffone\r\n");
      const { asked, kit } = gated(ws, () => "deny");
      await kit.createFile({ path: "a.txt", content: "one\n", overwrite: true });
      assert.match(
        asked[0]?.diff ?? "",
        /^The byte order mark is dropped, and line ends become LF\.\n--- a/,
      );
    }),
  );

  test(
    "second look B9: patch applies the diff of long files",
    { skip: spawnSync("patch", ["--version"]).status !== 0 && "there is no patch" },
    inWorkspace(async (ws) => {
      let seed = 7;
      const random = (below: number) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        return seed % below;
      };
      for (let round = 0; round < 25; round += 1) {
        const lines = Array.from({ length: random(1200) }, () => `line ${random(40)}`);
        const before = lines.join("\n") + (random(2) === 0 ? "\n" : "");
        const changed = lines.flatMap((line) => {
          const kind = random(round + 2);
          return kind === 0 ? [] : kind === 1 ? [line, `new ${random(9)}`] : [line];
        });
        const after = changed.join("\n") + (random(2) === 0 ? "\n" : "");
        ws.write("a.txt", before);
        const { asked, kit } = gated(ws, () => "deny");
        await kit.createFile({ path: "a.txt", content: after, overwrite: true });
        if (before !== after) {
          const run = spawnSync("patch", ["-p1", "-s"], {
            cwd: ws.root,
            input: asked[0]?.diff ?? "",
          });
          assert.equal(run.status, 0, `${run.stdout}${run.stderr}`);
        }
        assert.equal(fs.readFileSync(path.join(ws.root, "a.txt"), "utf8"), after);
      }
    }),
  );

  test(
    "second look B9: texts that have nothing in common are shown whole, and soon",
    inWorkspace(async (ws) => {
      const lines = (mark: string) =>
        Array.from({ length: 30_000 }, (_, i) => `${mark}${i}\n`).join("");
      ws.write("a.txt", lines("a"));
      const { asked, kit } = gated(ws, () => "deny");
      await kit.createFile({ path: "a.txt", content: lines("b"), overwrite: true });
      const diff = asked[0]?.diff ?? "";
      assert.match(diff, /@@ -1,30000 \+1,30000 @@/);
      assert.ok(diff.includes("\n-a29999\n") && diff.endsWith("+b29999\n"));
    }),
  );
});

// Kind: a person approves one call, and another one runs.
describe("second look B9: the call that was approved is the one that runs", () => {
  test(
    "second look B9: a secure tool's caller, and approve itself, cannot change it afterwards",
    inWorkspace(async (ws) => {
      const seen: unknown[] = [];
      const tool = createSecureTool(
        { name: "own", isWriteOp: true },
        (_: object, args: unknown) => {
          seen.push(structuredClone(args));
        },
      );
      const args = { path: "ok", list: ["a"] };
      const approve = async (call: ApprovalRequest) => {
        await 0;
        args.path = "other";
        args.list.push("b");
        (call.arguments as typeof args).path = "evil";
        return "allow";
      };
      await tool({ ...ws.writable, policy: { defaultPolicy: "ask" }, approve }, args);
      assert.deepEqual(seen, [{ path: "ok", list: ["a"] }]);
      const unfit = await tool(
        { ...ws.writable, policy: { defaultPolicy: "ask" }, approve },
        () => 1,
      );
      assert.match(unfit.status === "success" ? "" : unfit.message, /not plain data/);
      assert.equal(seen.length, 1);
    }),
  );

  test(
    "second look B9: a toolkit's tool gets the nested values that were shown",
    inWorkspace(async (ws) => {
      const seen: unknown[] = [];
      const own = defineTool({
        name: "own",
        description: "A tool of the host's.",
        parameters: { type: "object", properties: { l: { type: "array" } }, required: ["l"] },
        isWriteOp: true,
        handler: (_context: object, args: unknown) => void seen.push(structuredClone(args)),
      } as never);
      const args = { l: ["rm", "a"] };
      const approve = async (call: ApprovalRequest) => {
        await 0;
        args.l[1] = "/";
        (call.arguments as typeof args).l[1] = "b";
        return "allow";
      };
      const context = { ...ws.writable, policy: { defaultPolicy: "ask" }, approve } as const;
      await createAgentToolkit(context, { tools: [own] } as never).invoke(
        "own" as never,
        args as never,
      );
      assert.deepEqual(JSON.parse(JSON.stringify(seen)), [{ l: ["rm", "a"] }]);
    }),
  );
});

// Kind: what refuses a tool is overlooked, and the tool runs.
describe("second look B21: a policy that refuses by its class", () => {
  const REFUSING: [name: string, tools: unknown][] = [
    ["a prototype", Object.create({ own: "deny" })],
    [
      "a class's getter",
      new (class {
        get own() {
          return "deny";
        }
      })(),
    ],
    ["a Map", new Map([["own", "deny"]])],
    ["a Set", new Set(["own"])],
    ["a list", ["own"]],
  ];
  for (const [name, tools] of REFUSING) {
    test(`second look B21: a secure tool does not run: ${name}`, async () => {
      const tool = createSecureTool({ name: "own", isWriteOp: true }, () => "ran");
      const policy = { defaultPolicy: "allow", tools } as never;
      assert.equal((await tool({ policy })).status, "denied");
    });
  }

  test(
    "second look B21: a toolkit reads refusals of a class, and takes no collection",
    inWorkspace((ws) => {
      const Tools = class {
        get read_file() {
          return "deny";
        }
      };
      const policy = { defaultPolicy: "allow", tools: new Tools() };
      const kit = createAgentToolkit({ ...ws.writable, policy } as never);
      assert.ok(!kit.getAllowedTools().includes("read_file"));
      for (const tools of [new Set(), [], new Map()]) {
        const context = { ...ws.writable, policy: { tools } };
        assert.throws(() => createAgentToolkit(context as never), /policy\.tools must be/);
      }
    }),
  );
});
