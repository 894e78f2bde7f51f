// Runs the examples that observe tool calls, as a reader would, and checks their output.

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { ROOT, runProgram } from "./support/program.ts";

/** Bun gives a test five seconds, which a process may need on a busy machine. */
const LONG = { timeout: 60_000 };

type Line = Record<string, unknown>;

async function linesOf(example: string): Promise<Line[]> {
  const { status, stdout, stderr } = await runProgram(path.join(ROOT, "examples", example));
  assert.equal(status, 0, stderr);
  const lines = stdout.split("\n");
  assert.equal(lines.pop(), "");
  return lines.map((line) => JSON.parse(line) as Line);
}

/** SHA-256 of "# Notes\n". */
const HASH = "365d0b84ae63c2afc293dedd2b00bdf0dc8d6ef70c9297d90f9e5682ab0d72ee";

test("log-lines: each event is a line of JSON with the fields of TUL-004 §6", LONG, async () => {
  const ids = { SessionId: "session-1", ConversationId: "conversation-1", TurnId: "turn-1" };
  const note = { ...ids, Path: "docs/notes.md", Overwrite: false };
  const passed = {
    SessionId: "session-1",
    ConversationId: null,
    TurnId: null,
    ToolName: "workspace_create_file",
    Path: "docs/more.md",
    Overwrite: false,
  };
  const well = { Success: true, ErrorCode: null };
  const failed = (ErrorCode: string) => ({ Success: false, ErrorCode, SizeBytes: 0, Hash: "" });
  const created = { event: "Tool.CreateFile.Executed", ...note };
  const lines = await linesOf("log-lines.mts");
  const expected: [level: string, fields: Line][] = [
    ["info", { ...created, ...well, SizeBytes: 8, Hash: HASH }],
    ["warn", { ...created, ...failed("FileExists") }],
    ["info", { event: "Tool.ReadFile.Executed", ...note, ...well, SizeBytes: 8, Hash: "" }],
    [
      "warn",
      {
        event: "Tool.Read.Executed",
        ...note,
        Path: "file:///docs/notes.md",
        ...failed("POLICY_DENIED"),
      },
    ],
    ["info", { event: "Tool.CreateFile.Forwarded", ...passed }],
    ["warn", { event: "Tool.CreateFile.ResultReceived", ...passed, ...failed("TooLarge") }],
  ];
  assert.deepEqual(
    lines.map(({ time, level, CallId, DurationMs, ...fields }) => [level, fields]),
    expected,
  );
  for (const { event, CallId, DurationMs } of lines) {
    const executed = String(event).endsWith(".Executed");
    assert.equal(typeof CallId, executed ? "string" : "undefined");
    assert.equal(typeof DurationMs, executed ? "number" : "undefined");
  }
  for (const { time } of lines) assert.equal(new Date(String(time)).toISOString(), time);
});

interface SpanLine {
  name: string;
  span: string;
  parent: string | null;
  milliseconds: number;
  status: string;
  attributes: Line;
  events: { name: string; attributes: Line }[];
}

test(
  "opentelemetry: each call is a span of its own, also of those that run at once",
  LONG,
  async () => {
    const lines = (await linesOf("opentelemetry.mts")) as unknown as SpanLine[];
    const agent = lines.find(({ name }) => name === "invoke_agent example");
    const calls = lines.filter((line) => line !== agent);
    assert.ok(agent);
    const byId = new Map(calls.map((line) => [line.attributes["gen_ai.tool.call.id"], line]));

    const expected: [id: string, tool: string, file: string, errorType: string | undefined][] = [
      ["call_1", "workspace_create_file", "docs/notes.md", undefined],
      ["call_2", "read_file", "../secret.txt", "SANDBOX_VIOLATION"],
      ["call_3", "workspace_create_file", "docs/notes.md", "FileExists"],
      ["call_4", "read_file", "docs/notes.md", undefined],
    ];
    assert.equal(calls.length, expected.length);
    for (const [id, tool, file, errorType] of expected) {
      const call = byId.get(id);
      assert.ok(call, id);
      assert.equal(call.name, `execute_tool ${tool}`);
      assert.equal(call.parent, agent.span);
      assert.ok(call.milliseconds > 0);
      assert.equal(call.status, errorType === undefined ? "UNSET" : "ERROR");
      const { attributes } = call;
      assert.equal(attributes["gen_ai.operation.name"], "execute_tool");
      assert.equal(attributes["gen_ai.tool.name"], tool);
      assert.equal(attributes["gen_ai.conversation.id"], "conversation-1");
      assert.equal(attributes["ringfence.path"], file);
      assert.equal(attributes["ringfence.success"], errorType === undefined);
      assert.equal(attributes["ringfence.error.code"], errorType);
      assert.equal(attributes["error.type"], errorType);
    }
    assert.equal(byId.get("call_1")?.attributes["ringfence.hash"], HASH);
  },
);

test(
  "opentelemetry: an event that is no call of its own is noted on the surrounding span",
  LONG,
  async () => {
    const lines = (await linesOf("opentelemetry.mts")) as unknown as SpanLine[];
    const noted = lines.flatMap(({ name, events }) => events.map((event) => [name, event.name]));
    assert.deepEqual(noted, [["invoke_agent example", "Tool.CreateFile.Forwarded"]]);
  },
);
