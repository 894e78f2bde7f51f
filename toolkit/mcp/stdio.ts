// A server on this process's standard input and output, which belong to the protocol from then on.

import { Transform, type TransformCallback } from "node:stream";
import { StdioServerTransport } from "./sdk.js";
import type { McpServer } from "./server.js";

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

  await server.connect(
    new StdioServerTransport(lines, process.stdout, { maxBufferSize: Number.POSITIVE_INFINITY }),
  );
}

/**
 * Passes on whole lines. The SDK's transport looks through everything that it has of a message, and copies
 * it, whenever another 64 KiB come, which for large messages takes many seconds.
 */
class WholeLines extends Transform {
  #begun: Buffer[] = [];
  #length = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const end = chunk.lastIndexOf("\n") + 1;
    if (end > 0) {
      this.push(Buffer.concat([...this.#begun, chunk.subarray(0, end)]));
      this.#begun = [];
      this.#length = 0;
    }
    this.#begun.push(chunk.subarray(end));
    this.#length += chunk.length - end;
    done(
      this.#length > MAX_MESSAGE_BYTES
        ? new RangeError(`a message has more than ${MAX_MESSAGE_BYTES} bytes`)
        : null,
    );
  }
}
