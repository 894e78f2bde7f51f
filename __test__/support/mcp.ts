// Clients of `ringfence mcp`, which runs on the runtime that runs the tests: the official one, and one that
// writes and reads lines as they are.

import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

export const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** A JSON-RPC message. */
export interface Message {
  id?: number | string | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

/** The answer to a call. */
export interface ToolAnswer {
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

export interface Ended {
  code: number | string | null;
  stderr: string;
}

/** A server, and all that it has written. */
export class RawSession {
  readonly messages: Message[] = [];
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Ended>;
  /** Lines on standard output that are no JSON. */
  readonly impure: string[] = [];
  #waiting: (() => void)[] = [];
  #line = "";
  #over = false;

  constructor(args: readonly string[]) {
    this.child = spawn(process.execPath, [CLI, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
      timeout: 60_000,
    });
    let stderr = "";
    this.child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    this.child.stdout.setEncoding("utf8").on("data", (text) => this.#read(text));
    // The server may end before it has read everything.
    this.child.stdin.on("error", () => {});
    this.ended = new Promise((resolve, reject) => {
      this.child.on("error", reject);
      this.child.on("close", (code, signal) => {
        this.#over = true;
        this.#wake();
        resolve({ code: signal ?? code, stderr });
      });
    });
  }

  /** Writes messages at once, as one chunk; texts as they are. */
  send(...messages: (object | string)[]): void {
    const lines = messages.map((message) =>
      typeof message === "string" ? message : `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`,
    );
    this.child.stdin.write(lines.join(""));
  }

  initialize(capabilities: object = {}): Promise<Message> {
    const clientInfo = { name: "raw", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
    this.send({ id: 0, method: "initialize", params }, { method: "notifications/initialized" });
    return this.answer(0);
  }

  /** The first message that fits, once it is there. */
  async message(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.messages.find(fits);
      if (found) return found;
      if (this.#over) throw new Error(`the server has ended: ${(await this.ended).stderr}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  answer(id: number | string): Promise<Message> {
    return this.message((message) => message.id === id && message.method === undefined);
  }

  async request(id: number, method: string, params?: object): Promise<Message> {
    this.send({ id, method, ...(params ? { params } : {}) });
    return this.answer(id);
  }

  async call(id: number, name: string, args: object, more: object = {}): Promise<ToolAnswer> {
    const { result, error } = await this.request(id, "tools/call", {
      name,
      arguments: args,
      ...more,
    });
    assert.ok(result, JSON.stringify(error));
    return result as unknown as ToolAnswer;
  }

  /** Ends standard input, and waits for the end of the server. */
  end(): Promise<Ended> {
    this.child.stdin.end();
    return this.ended;
  }

  #read(text: string): void {
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) {
      try {
        this.messages.push(JSON.parse(line));
      } catch {
        this.impure.push(line);
      }
    }
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Runs `body` with a server, which must write nothing but messages, and end well when told to. */
export async function withRaw(
  args: readonly string[],
  body: (session: RawSession) => Promise<void>,
): Promise<void> {
  const session = new RawSession(["mcp", ...args]);
  try {
    await body(session);
    const { code, stderr } = await session.end();
    assert.equal(code, 0, stderr);
    assert.deepEqual(session.impure, []);
  } finally {
    session.child.kill("SIGKILL");
  }
}

interface ClientOptions {
  /** The client's answer to a request for its roots; without it, the client has none. */
  roots?: () => string[] | Promise<string[]>;
}

/** Runs `body` with the official client, to which nothing may have looked wrong. */
export async function withClient(
  args: readonly string[],
  body: (client: Client) => Promise<void>,
  { roots }: ClientOptions = {},
): Promise<void> {
  const capabilities = roots ? { roots: { listChanged: true } } : {};
  const client = new Client({ name: "official", version: "1" }, { capabilities });
  if (roots) {
    client.setRequestHandler(ListRootsRequestSchema, async () => ({
      roots: (await roots()).map((uri) => ({ uri })),
    }));
  }
  const wrong: Error[] = [];
  client.onerror = (error) => wrong.push(error);
  const command = { command: process.execPath, args: [CLI, "mcp", ...args] };
  await client.connect(new StdioClientTransport({ ...command, stderr: "ignore" }));
  try {
    await body(client);
  } finally {
    await client.close();
  }
  assert.deepEqual(wrong, []);
}

/** Calls a tool through the official client, which checks the answer against the tool's output schema. */
export async function callThrough(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<ToolAnswer> {
  return (await client.callTool({ name, arguments: args })) as unknown as ToolAnswer;
}

/** The failure that an answer has for the model. */
export function failureIn(answer: ToolAnswer): {
  status: string;
  message: string;
  error: { code: string; details: { code: string | null } };
} {
  assert.equal(answer.isError, true, JSON.stringify(answer));
  assert.equal(answer.structuredContent, undefined);
  return JSON.parse(answer.content[0]?.text ?? "");
}
