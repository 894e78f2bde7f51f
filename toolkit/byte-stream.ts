// Reads the beginning of a byte stream, of Node or of the web, and then stops it.

import { setImmediate as nextTurn } from "node:timers/promises";
import { asBytes } from "./bytes.js";

/** The beginning of a stream. */
export interface Beginning {
  /** The first bytes, at most `wanted`. */
  bytes: Uint8Array;
  /** How many bytes were read. */
  count: number;
  /** Whether the stream ended by itself before `stopAt`. If not, it was stopped. */
  hasEnded: boolean;
}

/**
 * After so many chunks the event loop gets a turn. Chunks that are there already arrive as microtasks, and
 * neither timers nor an abort could run between them.
 */
const CHUNKS_PER_TURN = 100;

/** After so many empty chunks in a row the body is refused, because it may never end. */
const MAX_EMPTY_CHUNKS = 10_000;

/**
 * Reads a stream until it ends or `stopAt` bytes have come, and keeps the first `wanted` of them.
 * The stream is always closed afterwards; an abort stops it, too.
 */
export async function readBeginning(
  stream: unknown,
  wanted: number,
  stopAt: number,
  signal?: AbortSignal | null,
): Promise<Beginning> {
  const source = sourceOf(stream);
  signal?.addEventListener("abort", source.stop, { once: true });
  let hasEnded = false;
  try {
    const kept: Uint8Array[] = [];
    let count = 0;
    let emptyChunks = 0;
    for (let chunks = 1; count < stopAt; chunks += 1) {
      const chunk = await source.next();
      if (chunk === null) {
        hasEnded = true;
        break;
      }
      if (count < wanted) kept.push(chunk.subarray(0, wanted - count));
      count += chunk.length;
      emptyChunks = chunk.length === 0 ? emptyChunks + 1 : 0;
      if (emptyChunks > MAX_EMPTY_CHUNKS) {
        throw new Error(`the body has more than ${MAX_EMPTY_CHUNKS} empty chunks in a row`);
      }
      if (chunks % CHUNKS_PER_TURN === 0) await nextTurn();
    }
    return { bytes: joined(kept), count, hasEnded };
  } finally {
    signal?.removeEventListener("abort", source.stop);
    if (!hasEnded) source.stop();
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let filled = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, filled);
    filled += chunk.length;
  }
  return bytes;
}

interface Source {
  /** The next bytes; `null` at the end. */
  next(): Promise<Uint8Array | null>;
  /** Closes the stream, also while `next` waits. Never throws. */
  stop(): void;
}

/** The part of a web stream that is used. */
interface WebStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: unknown }>;
    cancel(): Promise<unknown>;
  };
}

/** The part of a Node stream, or of an async generator, that is used. */
interface IterableStream {
  [Symbol.asyncIterator](): AsyncIterator<unknown>;
  destroy?(): void;
}

function sourceOf(stream: unknown): Source {
  if (typeof (stream as Partial<WebStream> | null)?.getReader === "function") {
    const reader = (stream as WebStream).getReader();
    return source(
      () => reader.read(),
      () => reader.cancel(),
    );
  }
  if (typeof (stream as Partial<IterableStream> | null)?.[Symbol.asyncIterator] === "function") {
    const iterable = stream as IterableStream;
    const iterator = iterable[Symbol.asyncIterator]();
    return source(
      () => iterator.next(),
      () =>
        typeof iterable.destroy === "function" ? iterable.destroy() : iterator.return?.(undefined),
    );
  }
  throw new TypeError("the body is no stream of bytes");
}

function source(
  read: () => Promise<{ done?: boolean | undefined; value?: unknown }>,
  cancel: () => unknown,
): Source {
  return {
    async next() {
      const { done, value } = await read();
      if (done === true) return null;
      const chunk = asBytes(value);
      if (chunk === null) throw new TypeError("the body has a chunk that is no Uint8Array");
      return chunk;
    },
    stop() {
      try {
        // The caller has its bytes, so an error while closing is ignored.
        Promise.resolve(cancel()).catch(() => {});
      } catch {}
    },
  };
}
