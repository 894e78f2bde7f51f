// `createMcpServer`: a toolkit behind the server of the official SDK. The SDK handles the protocol; this file
// handles the requests about tools: https://modelcontextprotocol.io/specification/2025-11-25/server/tools

import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { SearchProgress } from "../../index.js";
import { toMcpToolResult, toMcpTools } from "../adapters/mcp.js";
import type { ToolDescription } from "../definitions/tool.js";
import { isToolName, namedAmong, TOOL_NAMES, type ToolName } from "../definitions/tools.js";
import type { ToolResult } from "../result.js";
import { VERSION } from "../version.js";
import { visible } from "../visible.js";
import { instructionsFor } from "./instructions.js";
import { withoutNulls } from "./message.js";
import { followRoots, type McpRootsFollower } from "./roots.js";
import { ErrorCode, Server } from "./sdk.js";

/** The part of a toolkit that a server uses. */
export interface McpToolkit {
  invoke(
    name: string,
    args: unknown,
    options?: {
      signal?: AbortSignal | null;
      onProgress?: ((progress: SearchProgress) => void) | null;
    } | null,
  ): Promise<ToolResult>;
  /** The names of the tools to list. */
  getAllowedTools(): readonly string[];
  /** Their descriptions. Those of ringfence's tools may be missing. */
  getToolDescriptions?(): readonly ToolDescription[];
  /** All tools by name, including those that are not allowed. */
  readonly tools?: object;
}

/** Options of `createMcpServer`. */
export interface McpServerOptions {
  /**
   * The instructions for the client's model. Many clients cut them after 2,048 characters. By default they say how
   * to write paths and when to call which tool; `null` for none.
   */
  instructions?: string | null;
  /** The receiver of the client's roots. By default the client is not asked for them. */
  roots?: McpRootsFollower | null;
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

/** The type of a function that may be replaced by one with narrower parameters, as a method may. */
type Bivariant<F extends (...args: never[]) => void> = {
  method(...args: Parameters<F>): ReturnType<F>;
}["method"];

/** A server for one client. */
export interface McpServer {
  /** Serves the client at the other end of a transport. Can be called once. */
  connect(transport: McpTransport): Promise<void>;
  /** Aborts running calls, and closes the transport. */
  close(): Promise<void>;
  /** Called when either side has closed the connection. */
  onclose?: (() => void) | undefined;
  /** Called with errors outside of calls, such as a malformed message. Their text may repeat client data. */
  onerror?: ((error: Error) => void) | undefined;
}

/**
 * Makes a server that lists a toolkit's allowed tools and calls them.
 *
 * If a tool refuses a call or fails, the result has `isError: true` and says how to repair the call. An unknown
 * tool and a malformed request are protocol errors (`-32602`). A cancelled call is aborted and gets no answer.
 */
export function createMcpServer(toolkit: McpToolkit, options: McpServerOptions = {}): McpServer {
  return createToolServer(toolkit, options) as McpServer;
}

/** `createMcpServer` with the parts that only the command needs. */
export function createToolServer(toolkit: McpToolkit, options: McpServerOptions = {}): ToolServer {
  const { instructions = instructionsFor(toolkit.getAllowedTools()), roots } = options;
  const server = new ToolServer(
    { name: "ringfence", title: "ringfence", version: VERSION },
    { capabilities: { tools: {} }, ...(instructions === null ? {} : { instructions }) },
  );
  server.fallbackRequestHandler = async ({ method, params }, call) => {
    switch (method) {
      case "tools/list":
        return listTools(toolkit, params);
      case "tools/call":
        return callTool(toolkit, params, call).finally(() => server.ended(call));
      default:
        throw protocolError(ErrorCode.MethodNotFound, "Method not found");
    }
  };
  if (roots) followRoots(server, roots);
  return server;
}

/**
 * A server that handles `tools/*` by `fallbackRequestHandler` and not by the SDK's own handlers. Those answer a
 * malformed request with `InternalError`, and fail a call that asks to run as a task after it has run; a server
 * without the capability for tasks has to run it as an ordinary call.
 */
export class ToolServer extends Server {
  /** Called for each call that has ended without an answer, because it was cancelled. */
  onunanswered?: (id: string | number) => void;

  override connect(transport: McpTransport): Promise<void> {
    return super.connect(new NullFreeTransport(transport) as Parameters<Server["connect"]>[0]);
  }

  async ended({ signal, requestId }: Pick<Call, "signal" | "requestId">): Promise<void> {
    // The SDK decides in the meantime whether the call gets an answer.
    await nextTurn();
    if (signal.aborted) this.onunanswered?.(requestId);
  }

  protected override assertTaskHandlerCapability(): void {}
}

/** Passes messages on, and removes null keys from incoming ones: the SDK does not take null for absent. */
class NullFreeTransport implements McpTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: object, extra?: object) => void;
  readonly #transport: McpTransport;

  constructor(transport: McpTransport) {
    this.#transport = transport;
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  start(): Promise<void> {
    const transport = this.#transport;
    const { onclose, onerror, onmessage } = transport;
    transport.onclose = () => {
      onclose?.();
      this.onclose?.();
    };
    transport.onerror = (error) => {
      onerror?.(error);
      this.onerror?.(error);
    };
    transport.onmessage = (message: object, extra?: object) => {
      onmessage?.(message, extra);
      this.onmessage?.(withoutNulls({ ...message }), extra);
    };
    return transport.start();
  }

  send(message: object, options?: object): Promise<void> {
    return this.#transport.send(message, options);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion?.(version);
  }
}

type Params = Readonly<Record<string, unknown>> | undefined;

function listTools(toolkit: McpToolkit, params: Params) {
  // All tools fit on the first page, so no cursor is valid.
  if (params?.cursor != null) throw invalidParams("Unknown cursor.");
  return { tools: toMcpTools({ tools: describedTools(toolkit) }) };
}

/** The tools to list: descriptions, or names of ringfence's own tools. */
function describedTools(toolkit: McpToolkit): (ToolDescription | ToolName)[] {
  const described = new Map(
    toolkit.getToolDescriptions?.().map((tool) => [tool.definition.name, tool]),
  );
  return toolkit.getAllowedTools().flatMap((name) => {
    const tool = described.get(name) ?? name;
    return typeof tool !== "string" || isToolName(tool) ? [tool] : [];
  });
}

/** The part of the SDK's request data that is used. */
interface Call {
  signal: AbortSignal;
  requestId: string | number;
  _meta?: { progressToken?: string | number | undefined } | undefined;
  sendNotification(notification: {
    method: "notifications/progress";
    params: { progressToken: string | number; progress: number; total?: number };
  }): Promise<void>;
}

async function callTool(toolkit: McpToolkit, params: Params, call: Call) {
  const { name, args } = readCall(toolkit, params);
  const report = progressReports(call);
  await report(0);
  let progress = 0;
  const onProgress = ({ scanned_files }: { scanned_files: number }) => {
    if (scanned_files <= progress) return;
    progress = scanned_files;
    // A client that is gone needs no report.
    report(progress).catch(() => undefined);
  };
  const result = await toolkit.invoke(name, args, { signal: call.signal, onProgress });
  await report(progress + 1, progress + 1);
  await waitForProgressToBeRead(call);
  return toMcpToolResult(result);
}

function readCall(toolkit: McpToolkit, params: Params): { name: string; args: object } {
  const { name, arguments: args } = params ?? {};
  if (typeof name !== "string") throw invalidParams("The name of the tool must be a string.");
  const known = namedAmong([...TOOL_NAMES, ...Object.keys(toolkit.tools ?? {})], name);
  if (known === null) throw invalidParams(`Unknown tool: ${shownName(name)}`);
  if (args === undefined || args === null) return { name: known, args: {} };
  if (typeof args !== "object" || Array.isArray(args)) {
    throw invalidParams(`The arguments of ${known} must be an object.`);
  }
  return { name: known, args };
}

const MAX_SHOWN_CHARACTERS = 100;

/** The beginning of a name for a message, cut between characters. */
function shownName(name: string): string {
  const beginning = name.slice(0, 2 * MAX_SHOWN_CHARACTERS);
  return visible([...beginning].slice(0, MAX_SHOWN_CHARACTERS).join(""));
}

/**
 * Makes the function that reports progress. A call is reported when it begins and when it is done; a long search also
 * reports how many files it has searched.
 */
function progressReports({ _meta, sendNotification }: Call) {
  const progressToken = _meta?.progressToken;
  return async (progress: number, total?: number): Promise<void> => {
    if (progressToken === undefined) return;
    await sendNotification({
      method: "notifications/progress",
      params: { progressToken, progress, ...(total === undefined ? {} : { total }) },
    });
  };
}

/** How long to wait, so that a client reads the progress report before the answer. */
const READING_MS = 5;

/**
 * Waits, for clients of the official SDKs only. These forget a progress token when they have seen the answer. If the
 * TypeScript client reads a report and the answer together, it handles the answer first, loses the report and
 * treats it as an error of the server. The SDKs' clients are recognised by their progress token, which is the
 * request's id.
 */
async function waitForProgressToBeRead({ _meta, requestId }: Call): Promise<void> {
  if (typeof requestId !== "number" || _meta?.progressToken !== requestId) return;
  await pause(READING_MS);
}

function invalidParams(message: string): Error {
  return protocolError(ErrorCode.InvalidParams, message);
}

/** An error that the SDK answers with this `code`. Its own `McpError` would repeat the code in the message. */
function protocolError(code: ErrorCode, message: string): Error {
  return Object.assign(new Error(message), { code });
}
