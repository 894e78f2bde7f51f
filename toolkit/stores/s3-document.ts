// Reads one object of a bucket, or its beginning. Some servers answer ranges wrongly. An answer that does not
// fit its range is discarded, and the object is requested again without a range.

import type { GetObjectCommandOutput } from "@aws-sdk/client-s3";
import type { StoredDocument } from "../../index.js";
import { type Beginning, readBeginning } from "../byte-stream.js";
import { checkSize } from "./request.js";
import { isRangeRefused, saysEmpty } from "./s3-errors.js";

/** The requests for one object. */
export interface ObjectRequests {
  /** GET of a range, or of the whole object. */
  get(range?: string): Promise<ObjectAnswer>;
  /** HEAD: the size of the object that gave this answer; `null` if the server does not say. */
  size(answer: ObjectAnswer): Promise<number | null>;
  /** The most bytes that are loaded. */
  limit: number;
  signal: AbortSignal;
}

/** An answer whose body has not been read. */
export interface ObjectAnswer {
  output: GetObjectCommandOutput;
  /** Aborts the request. */
  end(): void;
}

/** Reads an object, at most `wanted` bytes of it. */
export async function readObject(
  requests: ObjectRequests,
  wanted: number,
): Promise<StoredDocument> {
  const beginning = Number.isFinite(wanted) ? await readRange(requests, wanted) : null;
  return beginning ?? readWithoutRange(requests, wanted);
}

/** Requests a range; `null` if the answer does not fit the range. */
async function readRange(requests: ObjectRequests, wanted: number): Promise<StoredDocument | null> {
  try {
    const answer = await requests.get(`bytes=0-${wanted - 1}`);
    return await readAnswer(requests, answer, wanted, wanted);
  } catch (error) {
    if (!isRangeRefused(error)) throw error;
    // An empty object has no first byte, so servers refuse every range of it.
    return saysEmpty(error) ? EMPTY() : null;
  }
}

async function readWithoutRange(requests: ObjectRequests, wanted: number): Promise<StoredDocument> {
  const answer = await requests.get();
  const read = await readAnswer(requests, answer, wanted, Number.POSITIVE_INFINITY);
  if (read !== null) return read;
  throw new Error("the server answers with a part of the document that was not asked for");
}

/** Reads an answer. `null` if it is a part of the object that lacks some of the first `asked` bytes. */
async function readAnswer(
  requests: ObjectRequests,
  answer: ObjectAnswer,
  wanted: number,
  asked: number,
): Promise<StoredDocument | null> {
  // A server without ranges sends the whole object.
  if (!isPart(answer)) return readWhole(requests, answer, wanted);
  const part = partOf(answer);
  const fits = part !== null && part.count >= Math.min(asked, part.sizeBytes);
  if (!fits || part.sizeBytes === 0) {
    answer.end();
    return fits ? EMPTY() : null;
  }
  const { bytes } = await readKnown(requests, answer, wanted, part.count);
  return { bytes, sizeBytes: part.sizeBytes };
}

/** Reads the wanted bytes of an answer that has the whole object. */
async function readWhole(
  requests: ObjectRequests,
  answer: ObjectAnswer,
  wanted: number,
): Promise<StoredDocument> {
  const length = sizeOrNull(answer.output.ContentLength);
  if (length === null) return readUnknown(requests, answer, wanted);
  const { bytes } = await readKnown(requests, answer, wanted, length);
  return { bytes, sizeBytes: length };
}

/** Reads a body that has to have `length` bytes. */
async function readKnown(
  { limit, signal }: ObjectRequests,
  answer: ObjectAnswer,
  wanted: number,
  length: number,
): Promise<Beginning> {
  // A body that is wanted whole is read to its end, because the client checks the checksum there.
  const stopAt = wanted < length ? wanted : length + 1;
  const beginning = await readBody(answer, wanted, stopAt, signal, () =>
    checkSize(Math.min(wanted, length), limit),
  );
  const { count, hasEnded } = beginning;
  if (hasEnded && count < length) {
    throw new Error(`the connection ended after ${count} of ${length} bytes`);
  }
  if (count > length && wanted > length) {
    throw new Error(`the server sent more than the ${length} bytes that it announced`);
  }
  return beginning;
}

/** How many bytes after the wanted ones are read, to find the end of a body of unknown length. */
const LOOK_AHEAD = 1024;

/** Reads a body of unknown length. */
async function readUnknown(
  { size, limit, signal }: ObjectRequests,
  answer: ObjectAnswer,
  wanted: number,
): Promise<StoredDocument> {
  const stopAt = Math.min(wanted, limit) + LOOK_AHEAD;
  const { bytes, count, hasEnded } = await readBody(answer, wanted, stopAt, signal);
  checkSize(bytes.length, limit);
  if (hasEnded) return { bytes, sizeBytes: count };
  const sizeBytes = await size(answer);
  if (sizeBytes === null || sizeBytes < count) {
    throw new Error("the server does not tell how many bytes the document has");
  }
  return { bytes, sizeBytes };
}

async function readBody(
  { output: { Body: body, ContentLength: length }, end }: ObjectAnswer,
  wanted: number,
  stopAt: number,
  signal: AbortSignal,
  check = () => {},
): Promise<Beginning> {
  let hasEnded = false;
  try {
    check();
    if (body === undefined && length === 0) return { ...EMPTY(), count: 0, hasEnded: true };
    if (body === undefined) throw new Error("the server's answer has no body");
    // The client's handlers return Node streams or web streams.
    const isStream = Symbol.asyncIterator in body || "getReader" in body;
    const stream = isStream ? body : body.transformToWebStream();
    const beginning = await readBeginning(stream, wanted, stopAt, signal);
    hasEnded = beginning.hasEnded;
    return beginning;
  } finally {
    if (!hasEnded) end();
  }
}

const EMPTY = (): StoredDocument => ({ bytes: new Uint8Array(), sizeBytes: 0 });

function isPart({ output }: ObjectAnswer): boolean {
  return output.$metadata?.httpStatusCode === 206 || output.ContentRange !== undefined;
}

/** Parses `bytes 0-999/5000` into the part's length and the object's size; `null` for any other range. */
function partOf({ output }: ObjectAnswer): { count: number; sizeBytes: number } | null {
  // Some servers answer `bytes 0--1/0` for an empty object.
  const found = /^bytes (?:0-(-1|\d+)|\*)\/(\d+)$/.exec(output.ContentRange ?? "");
  if (found === null) return null;
  const count = sizeOrNull(Number(found[1] ?? -1) + 1);
  const sizeBytes = sizeOrNull(Number(found[2]));
  if (count === null || sizeBytes === null || count > sizeBytes) return null;
  return { count, sizeBytes };
}

export function sizeOrNull(size: number | undefined): number | null {
  return size !== undefined && Number.isSafeInteger(size) && size >= 0 ? size : null;
}
