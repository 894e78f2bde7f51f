// A server on this process's standard input and output, which belong to the protocol from then on.

import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { Transform, type TransformCallback, type Writable } from "node:stream";
import { ErrorCode, JSONRPCMessageSchema } from "./sdk.js";
import type { McpServer, McpTransport } from "./server.js";

/** The longest message in bytes: far more than a file that can be created takes, even if it is all escapes. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;

/**
 * Serves the client at standard input and output until one of the two closes, or a signal comes. What was
 * asked before standard input ended is still answered; the process then has nothing left to do, and ends.
 * It ends with exit code 1 if a message is longer than can be taken.
 *
 * @param onEnd called when standard input has ended
 */
export async function serveStdio(server: McpServer, onEnd: () => void): Promise<void> {
  const lines = new WholeLines();
  process.stdin.on("error", (error) => lines.destroy(error));
  process.stdin.pipe(lines);
  lines.once("end", onEnd);

  const leave = (code: number) => void server.close().finally(() => process.exit(code));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => leave(0));
  // A client that is gone (EPIPE) has no use for an answer.
  process.stdout.on("error", () => leave(0));
  lines.once("error", () => leave(1));
  // Nobody has to read what is told beside.
  process.stderr.on("error", () => {});
  // While the client does not read, each answer waits for it with a listener of its own.
  process.stdout.setMaxListeners(0);

  await server.connect(new LinesTransport(lines, process.stdout));
}

/**
 * A message in each line. The SDK's own transport for this leaves a request that is malformed without an
 * answer, though it has an id and somebody waits for it, and takes bytes that are not UTF-8 for U+FFFD.
 */
class LinesTransport implements McpTransport {
  onmessage?: (message: object) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;
  readonly #lines: WholeLines;
  readonly #output: Writable;

  constructor(lines: WholeLines, output: Writable) {
    this.#lines = lines;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#lines.on("data", this.#readLine);
    this.#lines.on("error", (error) => this.onerror?.(error));
  }

  async close(): Promise<void> {
    this.#lines.off("data", this.#readLine).pause();
    this.onclose?.();
  }

  async send(message: object): Promise<void> {
    if (!this.#output.write(`${JSON.stringify(message)}\n`)) await once(this.#output, "drain");
  }

  #readLine = (line: Buffer): void => {
    let read: unknown;
    try {
      if (!isUtf8(line)) throw new SyntaxError("not UTF-8");
      read = JSON.parse(line.toString());
    } catch (error) {
      this.onerror?.(error as Error);
      return;
    }
    // The revision of 2025-03-26 has batches, and who sends one waits for each of its answers.
    for (const message of Array.isArray(read) && read.length > 0 ? read : [read]) {
      this.#receive(message);
    }
  };

  #receive(given: unknown): void {
    const { success, data, error } = JSONRPCMessageSchema.safeParse(given);
    if (success) {
      this.onmessage?.(data);
      return;
    }
    this.onerror?.(error);
    const { id, method, jsonrpc } = (given ?? {}) as Record<string, unknown>;
    if (method === undefined || (typeof id !== "string" && typeof id !== "number")) return;
    const isRequest = jsonrpc === "2.0" && typeof method === "string";
    const answer = isRequest
      ? { code: ErrorCode.InvalidParams, message: "Invalid params" }
      : { code: ErrorCode.InvalidRequest, message: "Invalid Request" };
    this.send({ jsonrpc: "2.0", id, error: answer }).catch((error) => this.onerror?.(error));
  }
}

/** Passes on whole lines, one by one; the last may lack its end. */
class WholeLines extends Transform {
  #begun: Buffer[] = [];
  #length = 0;

  constructor() {
    super({ readableObjectMode: true });
  }

  override _flush(done: TransformCallback): void {
    this.#endLine();
    done();
  }

  #endLine(): void {
    if (this.#length > 0) this.push(Buffer.concat(this.#begun));
    this.#begun = [];
    this.#length = 0;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", from)) {
      this.#begun.push(chunk.subarray(from, end));
      this.#length += end - from;
      this.#endLine();
      from = end + 1;
    }
    this.#begun.push(chunk.subarray(from));
    this.#length += chunk.length - from;
    done(
      this.#length > MAX_MESSAGE_BYTES
        ? new RangeError(`a message has more than ${MAX_MESSAGE_BYTES} bytes`)
        : null,
    );
  }
}
