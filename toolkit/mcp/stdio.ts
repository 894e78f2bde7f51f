// Serves MCP on this process's standard input and output.

import { isUtf8 } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Inbox } from "./inbox.js";
import { type Line, LineSplitter } from "./lines.js";
import { answerToExcess, type ErrorAnswer, readMessage, SizeError } from "./message.js";
import type { McpTransport, ToolServer } from "./server.js";

/** How long messages are handled before the event loop gets a turn. */
const TURN_MS = 10;

/**
 * Serves the client on standard input and output until one of the two closes or a signal comes. Requests that came
 * before the end of standard input are still answered; then the process ends by itself. It ends with exit code 1 if
 * a line is longer than `MAX_LINE_BYTES`.
 *
 * @param onEnd called when standard input has ended
 */
export async function serveStdio(server: ToolServer, onEnd: () => void): Promise<void> {
  const leave = (code: number) => void server.close().finally(() => process.exit(code));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => leave(0));
  // EPIPE: the client is gone.
  process.stdout.on("error", () => leave(0));
  // Standard error may be closed; the server goes on.
  process.stderr.on("error", () => {});

  const onInputEnd = (error?: Error) => {
    if (error === undefined) onEnd();
    else leave(1);
  };
  const transport = new LinesTransport(process.stdin, process.stdout, onInputEnd);
  server.onunanswered = (id) => transport.settled(id);
  await server.connect(transport);
}

/**
 * The transport: one message in each line. The SDK's own transport keeps reading while its client does not read
 * answers, does not answer a malformed request that has an id, and decodes bytes that are not UTF-8 as U+FFFD.
 */
class LinesTransport implements McpTransport {
  onmessage?: (message: object) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #onInputEnd: (error?: Error) => void;
  readonly #inbox = new Inbox((message) => this.onmessage?.(message));
  #isClosed = false;
  #turnBegan = performance.now();

  /** @param onInputEnd called when the input has ended, with the error if there was one */
  constructor(input: Readable, output: Writable, onInputEnd: (error?: Error) => void) {
    this.#input = input;
    this.#output = output;
    this.#onInputEnd = onInputEnd;
  }

  async start(): Promise<void> {
    this.#read().then(
      () => this.#onInputEnd(),
      (error) => {
        if (this.#isClosed) return;
        this.onerror?.(error);
        this.#onInputEnd(error);
      },
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.onclose?.();
  }

  /** Resolves when the message was written to the client. */
  async send(message: object): Promise<void> {
    const line = `${JSON.stringify(message)}\n`;
    this.#inbox.sending(line.length);
    await new Promise<void>((resolve) => this.#output.write(line, () => resolve()));
    const { id, method } = message as { id?: string | number; method?: string };
    if (id !== undefined && method === undefined) this.settled(id);
    this.#inbox.sent(line.length);
  }

  /** Notes that a call has ended; a cancelled call has no answer. */
  settled(id: string | number): void {
    this.#inbox.settled(id);
  }

  async #read(): Promise<void> {
    const lines = new LineSplitter();
    for await (const chunk of this.#input) {
      this.#turnBegan = performance.now();
      await this.#takeAll(lines.split(chunk));
      if (this.#isClosed) return;
    }
    await this.#takeAll(lines.end());
  }

  /**
   * Takes all lines of a chunk before it begins a request, so that a call is not begun if its cancellation is in the
   * same chunk.
   */
  async #takeAll(lines: Iterable<Line>): Promise<void> {
    for (const line of lines) {
      for (const message of this.#messagesIn(line)) {
        this.#take(message.given, message.bytes);
        if (performance.now() - this.#turnBegan > TURN_MS) await this.#pause();
      }
      if (this.#inbox.isFull) {
        this.#inbox.begin();
        await this.#inbox.room();
      }
      if (this.#isClosed) return;
    }
    this.#inbox.begin();
  }

  async #pause(): Promise<void> {
    await nextTurn();
    this.#turnBegan = performance.now();
  }

  /** The messages of a line. A batch (protocol version 2025-03-26) has several. */
  #messagesIn(line: Line): { given: unknown; bytes: number }[] {
    if ("excess" in line) {
      this.#refuse(
        new SizeError(`a message was refused that has ${line.excess}`),
        answerToExcess(line.excess, line.outline),
      );
      return [];
    }
    const { bytes } = line;
    try {
      if (!isUtf8(bytes)) throw new SyntaxError("not UTF-8");
      const text = bytes.toString().replace(/^\uFEFF/, "");
      if (text.trim() === "") return [];
      const read: unknown = JSON.parse(text);
      const messages = Array.isArray(read) && read.length > 0 ? read : [read];
      return messages.map((given) => ({ given, bytes: bytes.length / messages.length }));
    } catch (error) {
      this.onerror?.(error as Error);
      return [];
    }
  }

  #take(given: unknown, bytes: number): void {
    const read = readMessage(given);
    if (read.message !== null) this.#inbox.offer(read.message, bytes);
    else this.#refuse(read.error, read.answer);
  }

  #refuse(error: Error, answer: ErrorAnswer | null): void {
    this.onerror?.(error);
    if (answer !== null) this.send(answer).catch((failed) => this.onerror?.(failed));
  }
}
