// `createAgentToolkit`: the tools of one session, as its model calls them.

import { nearMisses, type ReadFileOutput, Workspace } from "../index.js";
import { throwIfAborted } from "./abort.js";
import { readArguments } from "./arguments.js";
import { HELD_WORKSPACE, ToolCatalog, type ToolContext, type ToolResults } from "./catalog.js";
import {
  providerName,
  TOOL_DEFINITIONS,
  TOOL_METADATA,
  TOOL_NAMES,
  type ToolArguments,
  type ToolName,
} from "./definitions/tools.js";
import { runtimeFailure, type ToolFailure, type ToolResult, type ToolSuccess } from "./result.js";
import { isPermitted } from "./secure-tool.js";

/** Options of one call. */
export interface InvokeOptions {
  /** Aborts the call, which then rejects with `signal.reason`; beside the context's own. */
  signal?: AbortSignal | null;
}

/** A tool of a toolkit. */
export type BoundTool<Name extends ToolName> = (
  args: ToolArguments[Name],
  options?: InvokeOptions,
) => Promise<ToolResult<ToolResults[Name]>>;

export interface AgentToolkit {
  /** The tools by name, bound to the context. */
  readonly tools: { readonly [Name in ToolName]: BoundTool<Name> };
  /**
   * Calls a tool by its name, dots written as `_` too, with what a model sent as its arguments: an
   * object, its JSON text, `"10"` for 10, `null` for what is absent. Keys that the tool does not have
   * are ignored, and named in the answer. Never throws; rejects only with the reason of an aborted
   * signal.
   */
  invoke<Name extends ToolName>(
    name: Name,
    args: ToolArguments[Name],
    options?: InvokeOptions,
  ): Promise<ToolResult<ToolResults[Name]>>;
  invoke(name: string, args: unknown, options?: InvokeOptions): Promise<ToolResult>;
  /** The tools that the policy, the write scope and the context let the model use. */
  getAllowedTools(): ToolName[];
}

/**
 * Makes the tools of a session. Opens the workspace once, and holds it.
 *
 * Throws a `WorkspaceError` where the root cannot be opened.
 */
export function createAgentToolkit(context: ToolContext): AgentToolkit {
  const workspace = Workspace.open(context.workspaceRoot, context);
  // The host's context, whatever kind of object it is, and beneath it what is ours.
  const callContext = (options?: InvokeOptions): ToolContext =>
    Object.create(context, {
      [HELD_WORKSPACE]: { value: workspace },
      ...(options?.signal
        ? { signal: { value: anySignal(context.signal, options.signal), enumerable: true } }
        : {}),
    });

  const bound: { [Name in ToolName]: BoundTool<Name> } = {
    read_file: async ({ path, ...options }, call) => {
      const bound = callContext(call);
      const result = await ToolCatalog.read_file.handler(bound, path, options);
      if (result.status === "success") return withNextWindow(result, result.data);
      const isMissing = result.error.details.code === "NOT_FOUND";
      if (!isMissing || context.nearMisses === false) return result;
      return withNearMisses(result, await nearMissesOf(workspace, path, bound.signal));
    },
    workspace_create_file: (args, call) =>
      ToolCatalog.workspace_create_file.handler(callContext(call), args),
    "workspace.read_file": (args, call) =>
      ToolCatalog["workspace.read_file"].handler(callContext(call), args),
    read: (args, call) => ToolCatalog.read.handler(callContext(call), args),
  };

  const invoke = async (name: string, sent: unknown, options?: InvokeOptions) => {
    throwIfAborted(context.signal);
    throwIfAborted(options?.signal);
    const known = toolNamed(name);
    if (known === null) return noSuchTool(allowedTools(context));
    const tool = bound[known] as (args: unknown, options?: InvokeOptions) => Promise<ToolResult>;
    const read = readArguments(TOOL_DEFINITIONS[known], sent);
    if (!read.ok) {
      // Nobody is told how to repair a call that is refused anyway: the tool says so by itself.
      return isPermitted(context, TOOL_METADATA[known])
        ? runtimeFailure(read.repair, { code: "INVALID_ARGUMENT" })
        : tool({}, options);
    }
    return withIgnored(await tool(read.args, options), read.ignored);
  };
  return {
    tools: bound,
    invoke: invoke as AgentToolkit["invoke"],
    getAllowedTools: () => allowedTools(context),
  };
}

/** The tool of a name, as providers may have had to spell it: without dots. */
export function toolNamed(name: unknown): ToolName | null {
  return TOOL_NAMES.find((known) => known === name || providerName(known) === name) ?? null;
}

/** The tools that the policy, the write scope and the context let a model use. */
export function allowedTools(context: ToolContext): ToolName[] {
  return TOOL_NAMES.filter((name) => isUsable(context, name));
}

function noSuchTool(usable: ToolName[]): ToolFailure {
  const which = usable.length === 0 ? "there is none" : `the tools are ${usable.join(", ")}`;
  return runtimeFailure(`There is no such tool; ${which}.`);
}

function isUsable(context: ToolContext, name: ToolName): boolean {
  if (!isPermitted(context, TOOL_METADATA[name])) return false;
  switch (name) {
    case "workspace.read_file":
      return context.store != null;
    case "read":
      return context.space != null || context.chat != null || context.fetch != null;
    default:
      return true;
  }
}

function withNextWindow(
  result: ToolSuccess<ReadFileOutput>,
  { path, next_start_line }: ReadFileOutput,
): ToolSuccess<ReadFileOutput> {
  if (next_start_line === null) return result;
  const next = JSON.stringify({ path, start_line: next_start_line });
  return { ...result, hint: `The file goes on: call read_file with ${next}.` };
}

/** The answer, and what of the arguments had no part in it. */
function withIgnored(result: ToolResult, ignored: string | null): ToolResult {
  if (ignored === null) return result;
  if (result.status === "success") {
    return { ...result, hint: result.hint === undefined ? ignored : `${result.hint} ${ignored}` };
  }
  const message = `${result.message} (${ignored})`;
  return { ...result, message, error: { ...result.error, message } };
}

/** What is near is a kindness: where it cannot be had, the failure stands alone. */
async function nearMissesOf(
  workspace: Workspace,
  path: string,
  signal: AbortSignal | null | undefined,
): Promise<string[]> {
  try {
    return await nearMisses(workspace, path, { signal: signal ?? null });
  } catch {
    throwIfAborted(signal);
    return [];
  }
}

function withNearMisses(failure: ToolFailure, near: string[]): ToolFailure {
  if (near.length === 0) return failure;
  const names = near.map((path) => JSON.stringify(path));
  const message = `${failure.message}; did you mean ${names.join(" or ")}?`;
  const details = { ...failure.error.details, nearMisses: near };
  return { ...failure, message, error: { ...failure.error, message, details } };
}

function anySignal(first: AbortSignal | null | undefined, second: AbortSignal): AbortSignal {
  return first ? AbortSignal.any([first, second]) : second;
}
