// `ringfence/stores/s3`: object storage that speaks S3, through the client of the AWS SDK, whose
// business are credentials, endpoint, timeouts and retries.

import {
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import type {
  ContentAddressedStore,
  DocumentStore,
  FileStoreError,
  StoredDocument,
} from "../../index.js";
import { untilAborted } from "../abort.js";
import { checkBytes, checkHash, corrupt, fileStoreError, notFound, sha256 } from "./errors.js";
import { bytesWanted, copyOf, hasLoneSurrogate } from "./request.js";

/** Where objects are. */
export interface S3Location {
  /** Of `@aws-sdk/client-s3`, version 3. */
  client: S3Client;
  bucket: string;
  /** What every key starts with, to the letter: write a separator, too. Default `""`. */
  prefix?: string | null;
}

/** Options of `s3Store`. */
export interface S3StoreOptions extends S3Location {
  /**
   * Whether the server keeps keys with a segment `.` or `..`, as Amazon S3 does. Servers that keep
   * objects as files take `c/../a` for `a`, and find what is outside the prefix. Unless this is
   * `true`, there is no document under such a DocPath.
   */
  exactKeys?: boolean | null;
}

/**
 * The objects of a bucket as documents. The key is prefix and DocPath, verbatim; no more than
 * `maxBytes` are fetched.
 *
 * Only a key that does not exist is `null`. Without the permission to list the bucket, S3 says
 * "access denied" of those too, which throws.
 */
export function s3Store({ exactKeys, ...location }: S3StoreOptions): DocumentStore {
  const { client, bucket, prefix } = checkedLocation(location);
  return {
    async get(docPath, options = {}) {
      options.signal?.throwIfAborted();
      const wanted = bytesWanted(options);
      const key = `${prefix}${docPath}`;
      // No object can have such a key, and the client could not ask for it.
      if (docPath === "" || hasLoneSurrogate(key)) return null;
      if (exactKeys !== true && /(?:^|\/)\.\.?(?:\/|$)/.test(key)) return null;

      const range = Number.isFinite(wanted) ? { Range: `bytes=0-${wanted - 1}` } : {};
      return withRequest(options.signal, async (request) => {
        let output: GetObjectCommandOutput;
        try {
          const command = new GetObjectCommand({ Bucket: bucket, Key: key, ...range });
          output = await client.send(command, { abortSignal: request.signal });
        } catch (error) {
          if (isMissing(error) || codeOf(error) === "KeyTooLongError") return null;
          // Of an empty object not even the first byte can be had.
          if (statusOf(error) === 416) return { bytes: new Uint8Array(), sizeBytes: 0 };
          throw error;
        }
        return readDocument(output, wanted, request);
      });
    },
  };
}

/**
 * A content-addressed store in a bucket: the bytes of `abcdef…` are at `<prefix>ab/cdef…`. Bytes
 * that are there already are not sent again; the server checks those that are sent against their
 * SHA-256, and what it gives is checked here.
 */
export function s3FileStore(location: S3Location): ContentAddressedStore {
  const { client, bucket, prefix } = checkedLocation(location);
  const at = (hash: string) => ({
    Bucket: bucket,
    Key: `${prefix}${hash.slice(0, 2)}/${hash.slice(2)}`,
  });

  /** What the server knows of the object without giving it; `null` if there is none. */
  async function look(hash: string, { signal }: AbortController) {
    const command = new HeadObjectCommand({ ...at(hash), ChecksumMode: "ENABLED" });
    try {
      return await client.send(command, { abortSignal: signal });
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  return {
    async putBytes(bytes, options) {
      options?.signal?.throwIfAborted();
      checkBytes(bytes);
      // The caller may change his bytes while they are sent.
      const body = copyOf(bytes);
      const digest = sha256(body);
      const hash = digest.toString("hex");
      const checksum = digest.toString("base64");
      return withStoreRequest(options?.signal, "be stored", hash, async (request) => {
        const there = await look(hash, request).catch((error) => {
          // S3 says so of a missing object where the bucket may not be listed.
          if (statusOf(error) === 403) return null;
          throw error;
        });
        const whole =
          there?.ContentLength === body.length &&
          (there.ChecksumSHA256 === undefined || there.ChecksumSHA256 === checksum);
        if (!whole) {
          const command = new PutObjectCommand({
            ...at(hash),
            Body: body,
            ContentLength: body.length,
            ContentType: "application/octet-stream",
            ChecksumSHA256: checksum,
          });
          await client.send(command, { abortSignal: request.signal });
        }
        return { hash, size: body.length };
      });
    },

    async getBytes(hash, options) {
      options?.signal?.throwIfAborted();
      checkHash(hash);
      return withStoreRequest(options?.signal, "be read", hash, async (request) => {
        const command = new GetObjectCommand(at(hash));
        const output = await client.send(command, { abortSignal: request.signal });
        const { bytes } = await readDocument(output, Number.POSITIVE_INFINITY, request);
        if (sha256(bytes).toString("hex") !== hash) throw corrupt(hash);
        return bytes;
      });
    },

    async exists(hash, options) {
      options?.signal?.throwIfAborted();
      checkHash(hash);
      return withStoreRequest(
        options?.signal,
        "be looked up",
        hash,
        async (request) => (await look(hash, request)) !== null,
      );
    },
  };
}

/** Wrong options are told when the store is made, not by the first request. */
function checkedLocation({ client, bucket, prefix }: S3Location) {
  if (typeof client?.send !== "function") {
    throw new TypeError("client must be an S3Client of @aws-sdk/client-s3");
  }
  if (typeof bucket !== "string" || bucket === "") throw new TypeError("bucket must be its name");
  if (typeof (prefix ?? "") !== "string") throw new TypeError("prefix must be text");
  return { client, bucket, prefix: prefix ?? "" };
}

/**
 * Runs requests that the signal ends, with its reason. One whose answer has not been read when the
 * work fails is ended, too.
 */
async function withRequest<T>(
  signal: AbortSignal | null | undefined,
  work: (request: AbortController) => Promise<T>,
): Promise<T> {
  const request = new AbortController();
  const abort = () => request.abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await untilAborted(signal, () => work(request));
  } catch (error) {
    request.abort();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

async function withStoreRequest<T>(
  signal: AbortSignal | null | undefined,
  deed: string,
  hash: string,
  work: (request: AbortController) => Promise<T>,
): Promise<T> {
  return withRequest(signal, async (request) => {
    try {
      return await work(request);
    } catch (error) {
      throw storeErrorOf(error, deed, hash);
    }
  });
}

/** Reads a body as far as it is wanted. One that ends before its length is an error. */
async function readDocument(
  output: GetObjectCommandOutput,
  wanted: number,
  request: AbortController,
): Promise<StoredDocument> {
  const { Body: body, ContentLength: length, ContentRange: range } = output;
  if (body === undefined) throw new Error("the server's answer has no body");
  const sizeBytes = range === undefined ? length : sizeIn(range);

  const chunks: Uint8Array[] = [];
  let count = 0;
  let isCut = false;
  for await (const chunk of chunksOf(body)) {
    if (count < wanted) chunks.push(chunk);
    count += chunk.length;
    // A server that does not know ranges sends everything.
    isCut = count >= wanted && length !== undefined && count < length;
    if (isCut) break;
  }
  if (isCut) request.abort();
  if (count < Math.min(length ?? 0, wanted)) {
    throw new Error(`the connection ended after ${count} of ${length} bytes`);
  }

  const bytes = new Uint8Array(Math.min(count, wanted));
  let filled = 0;
  for (const chunk of chunks) {
    bytes.set(chunk.subarray(0, bytes.length - filled), filled);
    filled += Math.min(chunk.length, bytes.length - filled);
  }
  return { bytes, sizeBytes: sizeBytes ?? count };
}

/** The handlers of the client answer with streams of Node, or of the web. */
function chunksOf(body: NonNullable<GetObjectCommandOutput["Body"]>): AsyncIterable<Uint8Array> {
  const stream = Symbol.asyncIterator in body ? body : body.transformToWebStream();
  return stream as AsyncIterable<Uint8Array>;
}

/** The size of the whole object in `bytes 0-999/5000`. */
function sizeIn(range: string): number {
  const size = /^bytes 0-\d+\/(\d+)$/.exec(range)?.[1];
  if (size === undefined) throw new Error("the server answered with another range");
  return Number(size);
}

function storeErrorOf(error: unknown, deed: string, hash: string): FileStoreError {
  if (error instanceof Error && error.name === "FileStoreError") return error as FileStoreError;
  const cause = { cause: error };
  if (isMissing(error)) return notFound(hash, cause);
  if (isChecksumMismatch(error)) return corrupt(hash, cause);
  const what = `the bytes with hash ${hash} could not ${deed}`;
  if (statusOf(error) === 403) {
    return fileStoreError("PERMISSION_DENIED", `${what}: the server refused`, cause);
  }
  return fileStoreError("INTERNAL", `${what}${reasonOf(error)}`, cause);
}

/** The code of an error, if it can be shown: an error's message may name hosts and keys. */
function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return /^[A-Za-z0-9_]{1,64}$/.test(code) ? ` (${code})` : "";
}

/** A HEAD has no body that could say what is missing. */
function isMissing(error: unknown): boolean {
  return ["NoSuchKey", "NotFound"].includes(codeOf(error)) && statusOf(error) === 404;
}

/** The client checks a body against the checksum that the server kept, before we can. */
function isChecksumMismatch(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Checksum mismatch");
}

function codeOf(error: unknown): string {
  const { name, code } = error as { name?: unknown; code?: unknown };
  const shown = name === "Error" ? code : name;
  return typeof shown === "string" ? shown : "";
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
