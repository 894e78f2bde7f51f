// Tool calls as log lines: each event of the channel `ringfence:tool` is one line of JSON.
//
//     npm run example, or npx tsx examples/log-lines.mts

import { subscribe } from "node:diagnostics_channel";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  createAgentToolkit,
  publishForwarded,
  publishResultReceived,
  TOOL_CHANNEL,
} from "ringfence/toolkit";

/** Copy this into a host. The fields are those of TUL-004 §6, and `time` and `level`. */
function logEvents(write: (line: string) => void): void {
  subscribe(TOOL_CHANNEL, (message) => {
    const fields = message as { event: string; Success?: boolean };
    const level = fields.Success === false ? "warn" : "info";
    write(JSON.stringify({ time: new Date().toISOString(), level, ...fields }));
  });
}

/** What a client does: it executes the calls of its model. */
async function client(workspaceRoot: string): Promise<void> {
  const toolkit = createAgentToolkit({
    workspaceRoot,
    policy: { tools: { read: "deny" }, defaultPolicy: "allow" },
    sessionId: "session-1",
    conversationId: "conversation-1",
    turnId: "turn-1",
  });
  const note = { path: "docs/notes.md", content: "# Notes\n" };
  await toolkit.invoke("workspace_create_file", note);
  await toolkit.invoke("workspace_create_file", note);
  await toolkit.invoke("read_file", { path: "docs/notes.md" });
  await toolkit.invoke("read", { uri: "file:///docs/notes.md" });
}

/** What a server does, which executes nothing: it tells that it passed a call on. */
function server(): void {
  const call = { toolName: "workspace_create_file", path: "docs/more.md", sessionId: "session-1" };
  publishForwarded(call);
  publishResultReceived(call, { success: false, errorCode: "TooLarge", sizeBytes: 0, hash: "" });
}

logEvents((line) => console.log(line));
const folder = await mkdtemp(path.join(tmpdir(), "ringfence-log-"));
try {
  await client(folder);
  server();
} finally {
  await rm(folder, { recursive: true, force: true });
}
