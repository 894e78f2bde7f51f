// Splits chunks of bytes into lines. A line that exceeds a limit is not kept in memory: the splitter skips to its
// end and yields the reason of the refusal.

import { MAX_LINE_BYTES } from "./limits.js";
import { MessageShape } from "./shape.js";

const LINE_FEED = 0x0a;

/** A line without its line feed; or, for a refused line, the exceeded limit and the outline of its message. */
export type Line = { bytes: Buffer } | { excess: string; outline: string | null };

/** Splits chunks into lines. Empty lines are left out. */
export class LineSplitter {
  #kept: Buffer[] = [];
  #length = 0;
  #shape = new MessageShape();
  /** Whether the refusal of the current line was yielded already. */
  #isRefused = false;

  /** The lines that end in a chunk. Throws a `RangeError` if a line is longer than `MAX_LINE_BYTES`. */
  *split(chunk: Buffer): Generator<Line> {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      yield* this.#add(chunk.subarray(from, end));
      yield* this.end();
      from = end + 1;
    }
    yield* this.#add(chunk.subarray(from));
    if (this.#length > MAX_LINE_BYTES) {
      yield* this.end();
      throw new RangeError(`a message has more than ${MAX_LINE_BYTES} bytes`);
    }
  }

  /** The current line. At the end of input it may lack its line feed. */
  *end(): Generator<Line> {
    const [kept, shape, isRefused] = [this.#kept, this.#shape, this.#isRefused];
    const isEmpty = this.#length === 0;
    this.#kept = [];
    this.#length = 0;
    this.#shape = new MessageShape();
    this.#isRefused = false;
    if (isEmpty || isRefused) return;
    if (shape.excess === null) yield { bytes: Buffer.concat(kept) };
    else yield { excess: shape.excess, outline: shape.outline() };
  }

  *#add(bytes: Buffer): Generator<Line> {
    this.#length += bytes.length;
    if (this.#isRefused) return;
    this.#shape.add(bytes);
    const { excess, isBatch } = this.#shape;
    if (excess === null) {
      this.#kept.push(bytes);
      return;
    }
    this.#kept = [];
    // The id of an object may stand at its end, so reading goes on. A batch has no id.
    if (!isBatch) return;
    this.#isRefused = true;
    yield { excess, outline: null };
  }
}
