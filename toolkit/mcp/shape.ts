// Measures a message byte by byte while it comes in: its depth, its size, and whether it is a batch. It runs before
// `JSON.parse`, which would block the process in proportion to the message's size.

import { MAX_BATCH, MAX_DEPTH, MAX_MESSAGE_BYTES, MAX_VALUES } from "./limits.js";

/** How many bytes of a message's top level are kept. An id and a method need far less. */
const MAX_OUTLINE_BYTES = 16 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const ZERO = 0x30;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The measurements of the bytes of a message that have come so far. */
export class MessageShape {
  /** The exceeded limit, in a few words; `null` if none is exceeded. */
  excess: string | null = null;
  #bytes = 0;
  #depth = 0;
  #values = 0;
  #messages = 1;
  #isBatch: boolean | null = null;
  #isInString = false;
  #isEscaped = false;
  #outline: number[] = [];

  /** Whether the message is an array. */
  get isBatch(): boolean {
    return this.#isBatch === true;
  }

  /** Reads the next bytes of the message. */
  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_MESSAGE_BYTES) this.#refuse(`more than ${MAX_MESSAGE_BYTES} bytes`);
    let at = 0;
    while (at < bytes.length && !this.#isKnown()) {
      at = this.#isInString ? this.#addString(bytes, at) : this.#addOutsideStrings(bytes, at);
    }
  }

  /**
   * The top level of an object as JSON, with 0 in place of each nested array and object. `null` for a batch, and if
   * the outline is too long.
   */
  outline(): string | null {
    if (this.#isBatch !== false || this.#outline.length > MAX_OUTLINE_BYTES) return null;
    return Buffer.from(this.#outline).toString();
  }

  /** Whether the rest of the message cannot change the measurements. */
  #isKnown(): boolean {
    return this.excess !== null && (this.isBatch || this.#outline.length > MAX_OUTLINE_BYTES);
  }

  /** Reads to the end of a string, and returns its position. */
  #addString(bytes: Uint8Array, from: number): number {
    let at = from;
    let isEscaped = this.#isEscaped;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) break;
    }
    this.#isEscaped = isEscaped;
    this.#isInString = at === bytes.length;
    const end = Math.min(at + 1, bytes.length);
    if (this.#depth === 1) this.#keep(bytes.subarray(from, end));
    return end;
  }

  /** Reads to the beginning of the next string, and returns its position. */
  #addOutsideStrings(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#open(byte);
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.#close(byte);
      else if (this.#depth === 1) this.#keep([byte]);
      if (byte === COMMA) this.#separate();
      if (byte === QUOTE) {
        this.#isInString = true;
        return at + 1;
      }
    }
    return bytes.length;
  }

  #open(byte: number): void {
    this.#isBatch ??= byte === OPEN_ARRAY;
    if (this.#depth === 0) this.#keep([byte]);
    if (this.#depth === 1) this.#keep([ZERO]);
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.#refuse(`more than ${MAX_DEPTH} levels`);
    this.#count();
  }

  #close(byte: number): void {
    this.#depth -= 1;
    if (this.#depth === 0) this.#keep([byte]);
  }

  #separate(): void {
    this.#count();
    if (this.#depth !== 1 || !this.isBatch) return;
    this.#messages += 1;
    if (this.#messages > MAX_BATCH) this.#refuse(`more than ${MAX_BATCH} messages`);
  }

  #count(): void {
    this.#values += 1;
    if (this.#values > MAX_VALUES) this.#refuse(`more than ${MAX_VALUES} values`);
  }

  #refuse(excess: string): void {
    this.excess ??= excess;
  }

  #keep(bytes: ArrayLike<number>): void {
    const room = MAX_OUTLINE_BYTES + 1 - this.#outline.length;
    for (let at = 0; at < Math.min(bytes.length, room); at += 1) {
      this.#outline.push(bytes[at] as number);
    }
  }
}
