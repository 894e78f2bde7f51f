// `createMcpServer`: a toolkit behind the official SDK's server, which speaks the protocol. Here is what
// is said about tools: https://modelcontextprotocol.io/specification/2025-11-25/server/tools

import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { toMcpToolResult, toMcpTools } from "../adapters/mcp.js";
import { type AgentToolkit, toolNamed } from "../agent-toolkit.js";
import { CREATE_FILE_USAGE_GUIDANCE } from "../definitions/create-file-guidance.js";
import { VERSION } from "../version.js";
import { ErrorCode, ResultSchema, RootsListChangedNotificationSchema, Server } from "./sdk.js";

/** What a server needs of a toolkit. */
export type McpToolkit = Pick<AgentToolkit, "invoke" | "getAllowedTools">;

/** Options of `createMcpServer`. */
export interface McpServerOptions {
  /**
   * What the client may tell its model of the server as a whole. By default how paths are given and,
   * if files can be created, `CREATE_FILE_USAGE_GUIDANCE`; `null` for nothing.
   */
  instructions?: string | null;
  /** What to do with the client's roots. By default it is not asked for them. */
  roots?: McpRootsFollower | null;
}

/** Whoever wants to know the client's roots. */
export interface McpRootsFollower {
  /**
   * Told the URIs of the roots once the client is initialized, and whenever it says that they have
   * changed. Rejects if the client has no roots, or does not answer within 10 seconds.
   */
  follow(uris: Promise<string[]>): void;
  /** Aborted when the client cannot answer any more. */
  signal?: AbortSignal | null;
}

/** The transports of the official SDK have this form. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: object, options?: object): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Bivariant<(message: object, extra?: object) => void> | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
}

/** A function whose parameters may be narrower, as those of a method may. */
type Bivariant<F extends (...args: never[]) => void> = {
  method(...args: Parameters<F>): ReturnType<F>;
}["method"];

/** A server for one client. */
export interface McpServer {
  /** Serves the client at the other end of a transport. Once. */
  connect(transport: McpTransport): Promise<void>;
  /** Aborts what is being called, and closes the transport. */
  close(): Promise<void>;
  /** Called when the connection has closed, by whichever side. */
  onclose?: (() => void) | undefined;
  /** Told what went wrong beside the calls, such as a message that is none. May repeat what was sent. */
  onerror?: ((error: Error) => void) | undefined;
}

/**
 * Makes a server that lists a toolkit's allowed tools, and calls them.
 *
 * What a tool refuses or fails at is a result with `isError: true`, which says how to repair the call. An
 * unknown tool, and a request that is not of the protocol's form, are protocol errors (`-32602`). A
 * cancelled call is aborted, and not answered.
 */
export function createMcpServer(toolkit: McpToolkit, options: McpServerOptions = {}): McpServer {
  const { instructions = instructionsFor(toolkit), roots } = options;
  const server = new ToolServer(
    { name: "ringfence", title: "ringfence", version: VERSION },
    { capabilities: { tools: {} }, ...(instructions === null ? {} : { instructions }) },
  );
  server.fallbackRequestHandler = async ({ method, params }, call) => {
    switch (method) {
      case "tools/list":
        return listTools(toolkit, params);
      case "tools/call":
        return callTool(toolkit, params, call);
      default:
        throw protocolError(ErrorCode.MethodNotFound, "Method not found");
    }
  };
  if (roots) followRoots(server, roots);
  return server as McpServer;
}

/**
 * The SDK's own handlers for `tools/*` are not used (`fallbackRequestHandler` is theirs to replace): they
 * answer a malformed request with `InternalError`, and fail a call that asks to be run as a task only
 * after it has run. A server without the capability for tasks has to run it as any other.
 */
class ToolServer extends Server {
  protected override assertTaskHandlerCapability(): void {}
}

type Params = Readonly<Record<string, unknown>> | undefined;

function listTools(toolkit: McpToolkit, params: Params) {
  // All tools fit on the first page, so that there is no cursor to any other.
  if (params?.cursor != null) throw invalidParams("Unknown cursor.");
  return { tools: toMcpTools({ tools: toolkit.getAllowedTools() }) };
}

/** As much as is used of what the SDK tells of a request. */
interface Call {
  signal: AbortSignal;
  _meta?: { progressToken?: string | number | undefined } | undefined;
  sendNotification(notification: {
    method: "notifications/progress";
    params: { progressToken: string | number; progress: number; total: number };
  }): Promise<void>;
}

async function callTool(toolkit: McpToolkit, params: Params, call: Call) {
  const { name, args } = readCall(params);
  await reportProgress(call, 0);
  const result = await toolkit.invoke(name, args, { signal: call.signal });
  await reportProgress(call, 1);
  return toMcpToolResult(result);
}

function readCall(params: Params): { name: string; args: object } {
  const { name, arguments: args } = params ?? {};
  if (typeof name !== "string") throw invalidParams("The name of the tool must be a string.");
  const known = toolNamed(name);
  if (known === null) throw invalidParams(`Unknown tool: ${name.slice(0, 100)}`);
  if (args === undefined || args === null) return { name: known, args: {} };
  if (typeof args !== "object" || Array.isArray(args)) {
    throw invalidParams(`The arguments of ${known} must be an object.`);
  }
  return { name: known, args };
}

/**
 * Between a report and what follows it. Clients forget a progress token once they have seen the answer, and
 * the SDK's client looks at an answer first if it reads both at once: without a pause it loses every third
 * report, and takes that for an error of the server's.
 */
const AFTER_REPORT_MS = 5;

/** The tools take no measurable steps, so there are two reports: begun, and done. */
async function reportProgress({ _meta, sendNotification }: Call, progress: 0 | 1): Promise<void> {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return;
  await sendNotification({
    method: "notifications/progress",
    params: { progressToken, progress, total: 1 },
  });
  await pause(AFTER_REPORT_MS);
}

const ROOTS_TIMEOUT_MS = 10_000;

function followRoots(server: Server, { follow, signal }: McpRootsFollower): void {
  const ask = async () => {
    // Where both come at once, the SDK deals with "initialized" before "initialize".
    await nextTurn();
    if (!server.getClientCapabilities()?.roots) throw new Error("The client has no roots.");
    const options = { timeout: ROOTS_TIMEOUT_MS, ...(signal ? { signal } : {}) };
    const { roots } = await server.request({ method: "roots/list" }, ResultSchema, options);
    return uris(roots);
  };
  server.oninitialized = () => follow(ask());
  server.setNotificationHandler(RootsListChangedNotificationSchema, () => follow(ask()));
}

/** The SDK's schema would refuse the whole list for one root that is no `file:` URI. */
function uris(roots: unknown): string[] {
  const each: { uri?: unknown }[] = Array.isArray(roots) ? roots : [];
  return each.flatMap((root) => (typeof root?.uri === "string" ? [root.uri] : []));
}

function instructionsFor(toolkit: McpToolkit): string {
  const paths =
    "Paths of files are relative to one directory, the workspace, with / between names; none leads out of it.";
  return toolkit.getAllowedTools().includes("workspace_create_file")
    ? `${paths}\n\n${CREATE_FILE_USAGE_GUIDANCE}`
    : paths;
}

function invalidParams(message: string): Error {
  return protocolError(ErrorCode.InvalidParams, message);
}

/** The SDK answers with an error's `code`; its own `McpError` would put the code into the message, too. */
function protocolError(code: ErrorCode, message: string): Error {
  return Object.assign(new Error(message), { code });
}
