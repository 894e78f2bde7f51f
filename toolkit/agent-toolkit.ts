// `createAgentToolkit`: the tools of one session.

/// <reference lib="esnext.disposable" preserve="true" />
import type {
  ApplyPatchArguments,
  CreateFileArguments,
  DeleteFileArguments,
  EditFileArguments,
  FindFilesArguments,
  MoveFileArguments,
  ReadFileOptions,
  ReadFilesArguments,
  ReadSourceArguments,
  SearchFilesArguments,
  SearchFilesOutput,
  SearchOutput,
  TreeOptions,
  Workspace,
} from "../index.js";
import { call } from "./calls.js";
import type { ToolResults } from "./catalog.js";
import type { HandlerContext } from "./context.js";
import type { ReadToolArguments } from "./definitions/read.js";
import type { ToolDescription } from "./definitions/tool.js";
import { namedAmong, type ToolArguments, type ToolName } from "./definitions/tools.js";

export { toolNamed } from "./definitions/tools.js";

import { runtimeFailure, type ToolFailure, type ToolResult } from "./result.js";
import { isPermitted, type ToolPolicy } from "./secure-tool.js";
import { type CallOptions, isExecutedAt, openSession, type Session } from "./session.js";
import type { DefinedTool } from "./tools/define.js";
import { TOOLS } from "./tools/index.js";
import type { Tool } from "./tools/tool.js";

/** Options of one call. */
export type InvokeOptions = CallOptions;

/** A tool of a toolkit. */
export type BoundTool<Args, Data> = (
  args: Args,
  options?: InvokeOptions | null,
) => Promise<ToolResult<Data>>;

/** Arguments and data of tools, by name. */
type ToolTypes = Record<string, { args: unknown; data: unknown }>;

type RingfenceTools = {
  [Name in ToolName]: { args: ToolArguments[Name]; data: ToolResults[Name] };
};

/** The types that a list of the host's own tools adds. */
export type TypesOf<Own extends readonly OwnTools[number][]> = {
  [Item in Own[number] as Item["definition"]["name"]]: Item extends DefinedTool<
    string,
    infer Args,
    infer Data
  >
    ? { args: Args; data: Data }
    : never;
};

type OwnTools = readonly Tool<string, object, unknown, unknown[]>[];

/**
 * The type of `invoke`'s arguments. If the name is known to the compiler, the arguments must be that tool's.
 * If the name comes at run time, they may be anything.
 */
type UnlessKnown<Types extends ToolTypes, Name extends string, Args> = string extends Name
  ? Args
  : Name extends keyof Types
    ? unknown extends Args
      ? Args
      : never
    : Args;

/** The tools of a session; `Own` are those of the host's own. */
export interface AgentToolkit<Own extends ToolTypes = Record<never, never>> {
  /** The tools by name, bound to the context. */
  readonly tools: {
    readonly [Name in keyof (RingfenceTools & Own)]: BoundTool<
      (RingfenceTools & Own)[Name]["args"],
      (RingfenceTools & Own)[Name]["data"]
    >;
  };
  /** The tool `read_file`. */
  readFile(
    path: string,
    options?: (ReadFileOptions & InvokeOptions) | null,
  ): Promise<ToolResult<ToolResults["read_file"]>>;
  /** The tool `read_files`. */
  readFiles(
    args: ReadFilesArguments,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<ToolResults["read_files"]>>;
  /** The tool `workspace_create_file`. */
  createFile(
    args: CreateFileArguments,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<ToolResults["workspace_create_file"]>>;
  /** The tool `edit_file`. */
  editFile(
    args: EditFileArguments,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<ToolResults["edit_file"]>>;
  /** The tool `apply_patch`. */
  applyPatch(
    args: ApplyPatchArguments,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<ToolResults["apply_patch"]>>;
  /** The tool `move_file`. */
  moveFile(
    args: MoveFileArguments,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<ToolResults["move_file"]>>;
  /** The tool `delete_file`. */
  deleteFile(
    args: DeleteFileArguments,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<ToolResults["delete_file"]>>;
  /** The tool `workspace.read_file`. */
  readSourceDocument(
    args: ReadSourceArguments | string,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<ToolResults["workspace.read_file"]>>;
  /** The tool `read`. */
  read(
    args: ReadToolArguments,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<ToolResults["read"]>>;
  /** The tool `regexp_search`. */
  searchFiles<Output extends SearchOutput = "matches">(
    args: SearchFilesArguments<Output>,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<SearchFilesOutput<Output>>>;
  /** The tool `find_files`. */
  findFiles(
    args: FindFilesArguments,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<ToolResults["find_files"]>>;
  /** The tool `tree`. */
  tree(
    path?: string | null,
    options?: (TreeOptions & InvokeOptions) | null,
  ): Promise<ToolResult<ToolResults["tree"]>>;
  /**
   * Calls a tool by its name; dots may be written as `_`. The arguments may come as a model sent them: an
   * object or its JSON text, `"10"` for 10, `null` for an absent key. Keys that the tool does not have are
   * ignored, and the answer names them. Never throws; rejects only with the reason of an aborted signal.
   */
  invoke<Name extends keyof (RingfenceTools & Own) & string>(
    name: Name,
    args: (RingfenceTools & Own)[Name]["args"] | string,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<(RingfenceTools & Own)[Name]["data"]>>;
  invoke<Name extends string, Args>(
    name: Name,
    args: UnlessKnown<RingfenceTools & Own, Name, Args>,
    options?: InvokeOptions | null,
  ): Promise<ToolResult<(RingfenceTools & Own)[keyof (RingfenceTools & Own)]["data"]>>;
  /** The tools that the policy, the write scope and the context let the model use. */
  getAllowedTools(): (ToolName | (keyof Own & string))[];
  /** The descriptions of the allowed tools, for adapters and protocols. */
  getToolDescriptions(): ToolDescription[];
  /**
   * Closes the roots and stores that the toolkit has opened: calls under way finish, later ones fail. A
   * `Workspace` or a store that the host gave stays open. Closing twice is allowed.
   */
  close(): void;
  [Symbol.dispose](): void;
}

/** The context of a toolkit. Its policy may name the toolkit's tools only. */
export interface ToolkitContext<Names extends string = ToolName>
  extends Omit<HandlerContext, "policy"> {
  /** Without a policy all tools are allowed. */
  policy?: ToolPolicy<Names> | null;
}

/** Options of `createAgentToolkit`. */
export interface AgentToolkitOptions<Own extends OwnTools = OwnTools> {
  /** Tools of the host's own, made by `defineTool`. */
  tools?: Own | null;
}

/**
 * Makes the tools of a session. Opens the roots that the context names once, and holds them until it is
 * closed. Root, scope, policy and stores are read now; ids, signal and `activeFiles` when a call begins.
 *
 * Throws a `WorkspaceError` or `DocumentStoreError` if a root cannot be opened, and a `TypeError` if a key
 * has a value that it cannot have.
 */
export function createAgentToolkit<const Own extends OwnTools = []>(
  context: ToolkitContext<ToolName | Own[number]["definition"]["name"]> | Workspace,
  options?: AgentToolkitOptions<Own> | null,
): AgentToolkit<TypesOf<Own>> {
  const tools = allTools(options?.tools ?? []);
  const session = openSession(context, [...tools.values()]);
  const names = [...tools.keys()];

  const find = (name: unknown) => (): Tool | ToolFailure => {
    const tool = tools.get(namedAmong(names, name) ?? "");
    return tool ?? noSuchTool(usable());
  };
  const invokeWith = (name: string, args: () => unknown, called?: CallOptions | null) =>
    call(session, find(name), args, called);
  const invoke = (name: string, args: unknown, called?: CallOptions | null) =>
    invokeWith(name, () => args, called);
  const usable = () => names.filter((name) => isUsable(tools.get(name) as Tool, session));
  const bound = names.map((name) => [
    name,
    (args: unknown, called?: CallOptions | null) => invoke(name, args, called),
  ]);
  const { close } = session;
  const toolkit = {
    tools: Object.fromEntries(bound),
    // The options are spread inside the call, where an error of a getter becomes a failure.
    readFile: (path: unknown, given?: (ReadFileOptions & CallOptions) | null) =>
      invokeWith("read_file", () => ({ ...withoutCallOptions(given), path }), given),
    readFiles: (args: unknown, called?: CallOptions | null) => invoke("read_files", args, called),
    createFile: (args: unknown, called?: CallOptions | null) =>
      invoke("workspace_create_file", args, called),
    editFile: (args: unknown, called?: CallOptions | null) => invoke("edit_file", args, called),
    applyPatch: (args: unknown, called?: CallOptions | null) => invoke("apply_patch", args, called),
    moveFile: (args: unknown, called?: CallOptions | null) => invoke("move_file", args, called),
    deleteFile: (args: unknown, called?: CallOptions | null) => invoke("delete_file", args, called),
    readSourceDocument: (args: unknown, called?: CallOptions | null) =>
      invoke("workspace.read_file", args, called),
    read: (args: unknown, called?: CallOptions | null) => invoke("read", args, called),
    searchFiles: (args: unknown, called?: CallOptions | null) =>
      invoke("regexp_search", args, called),
    findFiles: (args: unknown, called?: CallOptions | null) => invoke("find_files", args, called),
    tree: (path?: unknown, given?: (TreeOptions & CallOptions) | null) =>
      invokeWith("tree", () => ({ ...withoutCallOptions(given), path }), given),
    invoke,
    getAllowedTools: usable,
    getToolDescriptions: () => usable().map((name) => tools.get(name) as ToolDescription),
    close,
    [Symbol.dispose]: close,
  };
  return toolkit as object as AgentToolkit<TypesOf<Own>>;
}

/** The tools by name, the host's own last. */
function allTools(own: OwnTools): ReadonlyMap<string, Tool> {
  const all: readonly Tool[] = [
    ...(Object.values(TOOLS) as object[] as Tool[]),
    ...(own as object as Tool[]),
  ];
  const tools = new Map<string, Tool>();
  for (const tool of all) {
    const name: unknown = tool?.definition?.name;
    if (typeof name !== "string") throw new TypeError("tools must be made by defineTool");
    if (namedAmong([...tools.keys()], name) !== null) {
      throw new TypeError(`two tools have the name ${JSON.stringify(name)}`);
    }
    tools.set(name, tool);
  }
  return tools;
}

const CALL_OPTIONS: readonly string[] = [
  "signal",
  "callId",
  "sessionId",
  "conversationId",
  "turnId",
  "onProgress",
];

function withoutCallOptions(given: object | null | undefined): Record<string, unknown> {
  const entries = Object.entries(given ?? {});
  return Object.fromEntries(entries.filter(([key]) => !CALL_OPTIONS.includes(key)));
}

function noSuchTool(usable: readonly string[]): ToolFailure {
  const which = usable.length === 0 ? "there is none" : `the tools are ${usable.join(", ")}`;
  return runtimeFailure(`There is no such tool; ${which}.`);
}

function isUsable(tool: Tool, { fixedContext, workspace, location, forward }: Session): boolean {
  if (!isPermitted(fixedContext, tool.metadata)) return false;
  if (!isExecutedAt(tool, location)) return forward !== null;
  if (tool.needsWorkspace === true && workspace === null) return false;
  return tool.isAvailable?.(fixedContext) ?? true;
}

/** The tools that policy, write scope and context allow, without looking whether the workspace is open. */
export function allowedTools(context: HandlerContext): ToolName[] {
  const tools = Object.values(TOOLS) as object[] as Tool[];
  const usable = tools.filter(
    (tool) => isPermitted(context, tool.metadata) && (tool.isAvailable?.(context) ?? true),
  );
  return usable.map(({ definition }) => definition.name as ToolName);
}
