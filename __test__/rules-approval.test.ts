// Approval of changes that nothing but the default rules of a toolkit refuse.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import {
  type ApprovalRequest,
  type Approve,
  createAgentToolkit,
  defineTool,
  type ToolkitContext,
  type ToolResult,
} from "../dist/index.js";
import { createFile } from "../index.js";
import { published } from "./support/events.ts";
import { noSymlinks } from "./support/platform.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const SETTINGS = ".vscode/settings.json";

/** A toolkit, and the calls that its `approve` got. */
function gated(ws: TestWorkspace, answer: Approve, more: Partial<ToolkitContext> = {}) {
  const asked: ApprovalRequest[] = [];
  const approve = (call: ApprovalRequest) => {
    asked.push(call);
    return answer(call);
  };
  return { asked, kit: createAgentToolkit({ ...ws.writable, ...more, approve }) };
}

type Kit = ReturnType<typeof gated>["kit"];

const codeOf = (result: ToolResult) =>
  result.status === "success" ? null : (result.error.details.code ?? result.error.code);

const edit = { path: SETTINGS, old_string: '"a"', new_string: '"b"' };

const CHANGES: [
  name: string,
  change: (kit: Kit) => Promise<ToolResult>,
  path: string | null,
  diff: RegExp,
  after: Record<string, string>,
][] = [
  [
    "workspace_create_file",
    (kit) => kit.createFile({ path: ".husky/pre-commit", content: "npm test\n" }),
    ".husky/pre-commit",
    /^--- \/dev\/null\n\+\+\+ b\/\.husky\/pre-commit\n.*\n\+npm test\n$/,
    { ".husky/pre-commit": "npm test\n", [SETTINGS]: '"a"\n' },
  ],
  [
    "edit_file",
    (kit) => kit.editFile(edit),
    SETTINGS,
    /^--- a\/\.vscode\/settings\.json\n.*\n-"a"\n\+"b"\n$/s,
    { [SETTINGS]: '"b"\n' },
  ],
  [
    "apply_patch",
    (kit) =>
      kit.applyPatch({
        patch: `*** Begin Patch\n*** Update File: ${SETTINGS}\n@@\n-"a"\n+"c"\n*** Add File: b.txt\n+b\n*** End Patch\n`,
      }),
    null,
    /-"a"\n\+"c"\n.*\+b\n$/s,
    { "b.txt": "b\n", [SETTINGS]: '"c"\n' },
  ],
  [
    "move_file",
    (kit) => kit.moveFile({ path: SETTINGS, to: "settings.json" }),
    SETTINGS,
    /rename from \.vscode\/settings\.json\nrename to settings\.json\n$/,
    { "settings.json": '"a"\n' },
  ],
  [
    "delete_file",
    (kit) => kit.deleteFile({ path: ".vscode", recursive: true }),
    ".vscode",
    /^The folder \.vscode, and with it all that it holds, 1 in number, is deleted\.\n$/,
    {},
  ],
];

describe("a change of what programs run unasked", () => {
  for (const [name, change, path, diff, after] of CHANGES) {
    test(
      `${name}: a person is shown it, and it is made if the person allows it`,
      inWorkspace(async (ws) => {
        ws.write(SETTINGS, '"a"\n');
        const before = ws.texts();
        const { asked, kit } = gated(ws, () => {
          assert.deepEqual(ws.texts(), before);
          return "allow";
        });
        const result = await change(kit);
        assert.equal(result.status, "success", JSON.stringify(result));
        assert.equal(asked.length, 1);
        const [call] = asked;
        assert.deepEqual([call?.name, call?.path, call?.reason], [name, path, "rules"]);
        assert.match(call?.diff ?? "", diff);
        assert.deepEqual(ws.texts(), after);
      }),
    );

    test(
      `${name}: nothing is changed if the person does not allow it`,
      inWorkspace(async (ws) => {
        ws.write(SETTINGS, '"a"\n');
        const before = ws.texts();
        for (const answer of [() => "deny", () => true, () => assert.fail("gate")] as Approve[]) {
          const result = await change(gated(ws, answer).kit);
          assert.notEqual(result.status, "success");
        }
        const refused = await change(gated(ws, () => "deny").kit);
        assert.ok(refused.status === "denied" && refused.reason === "policy");
        assert.match(refused.message, /was not approved/);
        assert.deepEqual(ws.texts(), before);
      }),
    );
  }

  test(
    "a file that changes while the person decides is left alone",
    inWorkspace(async (ws) => {
      ws.write(SETTINGS, '"a"\n');
      const changing = gated(ws, () => {
        ws.write(SETTINGS, '"a", "user"\n');
        return "allow";
      });
      assert.equal(codeOf(await changing.kit.editFile(edit)), "STALE");
      const coming = gated(ws, () => {
        ws.write(".envrc", "user");
        return "allow";
      });
      const made = await coming.kit.createFile({ path: ".envrc", content: "agent" });
      assert.equal(codeOf(made), "FileExists");
      assert.deepEqual(ws.texts(), { ".envrc": "user", [SETTINGS]: '"a", "user"\n' });
    }),
  );

  const EXCHANGES: [
    name: string,
    before: (ws: TestWorkspace) => void,
    meanwhile: (ws: TestWorkspace) => void,
    change: (kit: Kit) => Promise<ToolResult>,
  ][] = [
    [
      "a folder to move becomes a file",
      (ws) => ws.folder("x"),
      (ws) => fs.rmdirSync(ws.at("x")),
      (kit) => kit.moveFile({ path: "x", to: ".envrc" }),
    ],
    [
      "a link to move becomes a file",
      (ws) => ws.link("x", "a.txt"),
      (ws) => fs.unlinkSync(ws.at("x")),
      (kit) => kit.moveFile({ path: "x", to: ".envrc" }),
    ],
    [
      "a folder to delete becomes a file",
      (ws) => ws.write(".husky/x/1.txt", "1"),
      (ws) => fs.rmSync(ws.at(".husky/x"), { recursive: true }),
      (kit) => kit.deleteFile({ path: ".husky/x", recursive: true }),
    ],
    [
      "a file to move becomes a folder",
      (ws) => ws.write("x", "1"),
      (ws) => fs.unlinkSync(ws.at("x")),
      (kit) => kit.moveFile({ path: "x", to: ".envrc" }),
    ],
  ];
  for (const [name, before, meanwhile, change] of EXCHANGES) {
    test(
      `${name} while the person decides: nothing is changed`,
      { skip: noSymlinks },
      inWorkspace(async (ws) => {
        before(ws);
        const at = ws.at(name.includes("delete") ? ".husky/x" : "x");
        const { kit, asked } = gated(ws, () => {
          meanwhile(ws);
          if (name.endsWith("folder")) fs.mkdirSync(at);
          else fs.writeFileSync(at, "evil");
          return "allow";
        });
        assert.equal(codeOf(await change(kit)), "STALE");
        assert.equal(asked.length, 1);
        assert.ok(fs.existsSync(at));
        assert.ok(!fs.existsSync(ws.at(".envrc")));
      }),
    );
  }

  test(
    "approve cannot change the call through its copy",
    inWorkspace(async (ws) => {
      const { kit } = gated(ws, (call) => {
        Object.assign(call.arguments as object, { path: ".bashrc", content: "gate" });
        return "allow";
      });
      assert.equal(codeOf(await kit.createFile({ path: ".envrc", content: "shown" })), null);
      assert.deepEqual(ws.texts(), { ".envrc": "shown" });
    }),
  );

  test(
    "a link to such a file is asked about, too",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write(SETTINGS, '"a"\n');
      ws.link("notes.txt", SETTINGS, "file");
      const { asked, kit } = gated(ws, () => "allow");
      assert.equal(codeOf(await kit.editFile({ ...edit, path: "notes.txt" })), null);
      assert.deepEqual([asked[0]?.path, asked[0]?.reason], ["notes.txt", "rules"]);
      assert.equal(fs.readFileSync(ws.at(SETTINGS), "utf8"), '"b"\n');
    }),
  );

  test(
    "an aborted call rejects at once, and changes nothing",
    inWorkspace(async (ws) => {
      const controller = new AbortController();
      const { kit } = gated(ws, (call) => {
        setTimeout(() => controller.abort("gone"), 5);
        return new Promise((resolve) =>
          call.signal?.addEventListener("abort", () => resolve("allow")),
        );
      });
      const { signal } = controller;
      const call = kit.createFile({ path: ".envrc", content: "" }, { signal });
      await assert.rejects(call, (reason) => reason === "gone");
      assert.deepEqual(ws.texts(), {});
    }),
  );

  test(
    "a call that the person did not approve has no DeniedBy in its event",
    inWorkspace(async (ws) => {
      const { kit } = gated(ws, () => "deny");
      const [event] = await published(() => kit.createFile({ path: ".envrc", content: "" }));
      assert.deepEqual([event?.Success, event?.DeniedBy], [false, undefined]);
    }),
  );
});

describe("nobody is asked", () => {
  const NOT_ASKED: [
    name: string,
    more: Partial<ToolkitContext>,
    call: (kit: Kit) => Promise<ToolResult>,
    code: string | null,
  ][] = [
    ["about other paths", {}, (kit) => kit.createFile({ path: "a.txt", content: "" }), null],
    ["about reading", {}, (kit) => kit.readFile(SETTINGS), null],
    ["about a dry run", {}, (kit) => kit.editFile({ ...edit, dry_run: true }), null],
    [
      "about a change that would fail anyway",
      {},
      (kit) => kit.editFile({ ...edit, old_string: "gone" }),
      "NO_MATCH",
    ],
    [
      "about a file that exists",
      {},
      (kit) => kit.createFile({ path: SETTINGS, content: "" }),
      "FileExists",
    ],
    [
      "where the host denies the path",
      { rules: { deny: [".vscode/"] } },
      (kit) => kit.editFile(edit),
      "PATH_DENIED",
    ],
    [
      "where the path is outside of write_only",
      { rules: { write_only: ["src/"] } },
      (kit) => kit.editFile(edit),
      "PATH_DENIED",
    ],
    [
      "where the host has a read_only of its own",
      { rules: { read_only: [".vscode/"] } },
      (kit) => kit.editFile(edit),
      "PATH_DENIED",
    ],
    [
      "where the host has no path read-only",
      { rules: { read_only: [] } },
      (kit) => kit.editFile(edit),
      null,
    ],
    [
      "where the policy denies the tool",
      { policy: { tools: { edit_file: "deny" }, defaultPolicy: "allow" } },
      (kit) => kit.editFile(edit),
      "POLICY_DENIED",
    ],
    [
      "in a read-only workspace",
      { writeScope: "read-only" },
      (kit) => kit.editFile(edit),
      "SANDBOX_VIOLATION",
    ],
  ];
  for (const [name, more, call, code] of NOT_ASKED) {
    test(
      name,
      inWorkspace(async (ws) => {
        ws.write(SETTINGS, '"a"\n');
        const { asked, kit } = gated(ws, () => "allow", more);
        const result = await call(kit);
        assert.equal(codeOf(result), code, JSON.stringify(result));
        assert.deepEqual(asked, []);
        kit.close();
      }),
    );
  }

  for (const [name, change] of CHANGES) {
    test(
      `about ${name}, even with the policy "ask", where rules of the host refuse it`,
      inWorkspace(async (ws) => {
        ws.write(SETTINGS, '"a"\n');
        const protectedOnes = [".vscode/", ".husky/"];
        for (const rules of [{ deny: protectedOnes }, { read_only: protectedOnes }]) {
          const more = { rules, policy: { defaultPolicy: "ask" } } as const;
          const { asked, kit } = gated(ws, () => "allow", more);
          assert.equal(codeOf(await change(kit)), "PATH_DENIED");
          assert.deepEqual(asked, []);
        }
        assert.deepEqual(ws.texts(), { [SETTINGS]: '"a"\n' });
      }),
    );
  }

  test(
    "by a tool of the host's own, whose change cannot be shown beforehand",
    inWorkspace(async (ws) => {
      const own = defineTool({
        name: "own_write",
        description: "Writes.",
        parameters: { type: "object", properties: {} },
        isWriteOp: true,
        async handler({ workspace }) {
          assert.ok(workspace);
          return createFile(workspace, { path: ".envrc", content: "" });
        },
      });
      let asked = 0;
      const approve = () => {
        asked += 1;
        return "allow" as const;
      };
      using kit = createAgentToolkit({ ...ws.writable, approve }, { tools: [own] });
      assert.equal(codeOf(await kit.invoke("own_write", {})), "PATH_DENIED");
      assert.equal(asked, 0);
      assert.deepEqual(ws.texts(), {});
    }),
  );
});

describe('with the policy "ask"', () => {
  const policy = {
    tools: { edit_file: "ask", delete_file: "ask" },
    defaultPolicy: "allow",
  } as const;

  test(
    "a person is asked once, and told which of the two reasons it is",
    inWorkspace(async (ws) => {
      ws.write(SETTINGS, '"a"\n');
      ws.write("a.txt", '"a"\n');
      const { asked, kit } = gated(ws, () => "allow", { policy });
      assert.equal(codeOf(await kit.editFile(edit)), null);
      assert.equal(codeOf(await kit.editFile({ ...edit, path: "a.txt" })), null);
      const told = asked.map(({ path, reason }) => [path, reason]);
      assert.deepEqual(told, [
        [SETTINGS, "rules"],
        ["a.txt", undefined],
      ]);
      assert.deepEqual(ws.texts(), { "a.txt": '"b"\n', [SETTINGS]: '"b"\n' });
    }),
  );

  test(
    "an approval of another path does not reach a protected one that a link leads to meanwhile",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write(SETTINGS, '"a"\n');
      ws.write("a.txt", '"a"\n');
      const { asked, kit } = gated(
        ws,
        () => {
          fs.unlinkSync(ws.at("a.txt"));
          ws.link("a.txt", SETTINGS, "file");
          return "allow";
        },
        { policy },
      );
      assert.equal(codeOf(await kit.editFile({ ...edit, path: "a.txt" })), "PATH_DENIED");
      assert.equal(asked.length, 1);
      assert.equal(fs.readFileSync(ws.at(SETTINGS), "utf8"), '"a"\n');
    }),
  );
});

describe("a link that is exchanged while the person is asked", () => {
  const TRIES: [name: string, call: (kit: Kit) => Promise<ToolResult>][] = [
    ["workspace_create_file", (kit) => kit.createFile({ path: "d/pre-commit", content: "evil" })],
    [
      "apply_patch",
      (kit) =>
        kit.applyPatch({
          patch: "*** Begin Patch\n*** Add File: d/pre-commit\n+evil\n*** End Patch\n",
        }),
    ],
    ["move_file", (kit) => kit.moveFile({ path: "evil", to: "d/pre-commit" })],
    ["delete_file", (kit) => kit.deleteFile({ path: "d/k" })],
    ["edit_file", (kit) => kit.editFile({ path: "d/k", old_string: "k", new_string: "evil" })],
  ];
  for (const [name, call] of TRIES) {
    test(
      `leads ${name} to no other protected path`,
      { skip: noSymlinks },
      inWorkspace(async (ws) => {
        ws.write(".vscode/k", "k");
        ws.write(".git/hooks/k", "k");
        ws.write("evil", "evil");
        ws.link("d", ".vscode", "dir");
        const { kit, asked } = gated(ws, () => {
          fs.unlinkSync(ws.at("d"));
          ws.link("d", ".git/hooks", "dir");
          return "allow";
        });
        assert.equal(codeOf(await call(kit)), "PATH_DENIED");
        assert.equal(asked.length, 1);
        assert.deepEqual(fs.readdirSync(ws.at(".git/hooks")), ["k"]);
        assert.equal(fs.readFileSync(ws.at(".git/hooks/k"), "utf8"), "k");
        kit.close();
      }),
    );
  }
});
