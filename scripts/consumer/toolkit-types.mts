// A strict TypeScript consumer of the toolkit layer: compiled, never run.

import type * as definitions from "ringfence/definitions";
import type * as toolkit from "ringfence/toolkit";
import {
  createAgentToolkit,
  createWorkspaceFetch,
  type OpenAIChatTool,
  type OpenAIResponsesTool,
  type PatchFileErrorCode,
  type PatchFileOutput,
  patchFile,
  TOOL_DEFINITIONS,
  type ToolContext,
  type ToolResult,
  toAiSdkTools,
  toAnthropicTools,
  toMcpTools,
  toOpenAITools,
  workspaceSnapshot,
} from "ringfence/toolkit";
import { SUBPATHS } from "./exports.mjs";

/** Every export has its declaration. */
export const inToolkit: readonly (keyof typeof toolkit)[] = SUBPATHS["ringfence/toolkit"];
export const inDefinitions: readonly (keyof typeof definitions)[] =
  SUBPATHS["ringfence/definitions"];

export async function session(context: ToolContext): Promise<string> {
  const agent = createAgentToolkit(context);
  const result = await agent.invoke("read_file", { path: "a.txt", start_line: 1 });
  if (result.status !== "success") return result.error.details.code ?? result.message;
  const next: number | null = result.data.next_start_line;
  // @ts-expect-error a line number is no string
  await agent.tools.read_file({ path: "a.txt", start_line: "1" });
  // @ts-expect-error the content is not optional
  await agent.tools.workspace_create_file({ path: "a.txt" });
  return `${result.data.content}${next}${TOOL_DEFINITIONS.read_file.name}`;
}

/** Arguments that are written for a tool by its name are checked; what a model sent is not. */
export async function checked(context: ToolContext, name: string, sent: unknown): Promise<void> {
  const { invoke } = createAgentToolkit(context);
  await invoke(name, sent);
  await invoke("read_file", sent);
  await invoke("read_file", '{"path":"a.txt"}');
  // @ts-expect-error a path is no number
  await invoke("read_file", { path: 1 });
  // @ts-expect-error the path is missing
  await invoke("read_file", {});
  // @ts-expect-error there is no limit
  await invoke("read_file", { path: "a.txt", limit: 1 });
}

/** Calls by name know their data; what a model sent for arguments is taken, too. */
export async function calls(context: ToolContext): Promise<string | boolean> {
  const { invoke } = createAgentToolkit(context);
  const page = await invoke("read", { uri: "file:a.md" });
  if (page.status === "success") return page.data.mimeType;
  const made = await invoke("workspace_create_file", { path: "a.txt", content: "" });
  if (made.status === "success") return made.data.created;
  const source = await invoke("workspace.read_file", { path: "a.cs", maxBytes: null });
  if (source.status === "success") return source.data.file?.content ?? "";
  const { code }: { code: "POLICY_DENIED" | "SANDBOX_VIOLATION" | "RUNTIME_ERROR" } = made.error;
  return code;
}

export const forChat: OpenAIChatTool[] = toOpenAITools({ strict: true });
export const forResponses: OpenAIResponsesTool[] = toOpenAITools({ api: "responses" });

export function lists(context: ToolContext): string[] {
  const agent = createAgentToolkit(context);
  const tools = agent.getAllowedTools();
  // @ts-expect-error there is no such tool
  toMcpTools({ tools: ["write"] });
  const names = [...toAnthropicTools({ tools }), ...toMcpTools({ tools })].map(({ name }) => name);
  return [...names, ...Object.keys(toAiSdkTools(agent, { tools }))];
}

/** The handler of a host whose tool takes one path and a patch, behind the host's own wrapper. */
export const applyPatch: (
  context: ToolContext,
  filePath: string,
  patch: string,
) => Promise<PatchFileOutput> = patchFile;

export async function patched(context: ToolContext): Promise<string> {
  const { file_path, exit_code, changed } = await patchFile(context, "a.txt", "--- a/a.txt");
  const code: 0 = exit_code;
  const refusal: PatchFileErrorCode = "APPLY_FAILED";
  // @ts-expect-error a patch is a text
  await patchFile(context, "a.txt", { patch: "" });
  const { applyPatch: apply, invoke } = createAgentToolkit(context);
  const result = await apply({ patch: "", expected_hashes: { "a.txt": null }, dry_run: true });
  // @ts-expect-error the patch is missing
  await invoke("apply_patch", {});
  if (result.status !== "success") return refusal;
  const actions: ("add" | "update" | "delete" | "move")[] = result.data.files.map((f) => f.action);
  return `${file_path}${code}${changed}${actions}`;
}

/** The tree that a boot prompt shows. */
export async function bootPrompt(context: ToolContext): Promise<string> {
  const { text, entries, truncated } = await workspaceSnapshot(context, { maxDepth: 3 });
  // @ts-expect-error a limit is a number
  await workspaceSnapshot(context, { maxEntries: "100" });
  return truncated ? text : entries.join("\n");
}

/** What comes from a model is not known beforehand. */
export function forwarded(context: ToolContext, name: string, args: string): Promise<ToolResult> {
  return createAgentToolkit(context).invoke(name, args);
}

export const fetchForAgent = createWorkspaceFetch({ space: "/srv/space" }, (uri: string) =>
  fetch(uri),
);
