// `ringfence/stores/s3`: S3-compatible object storage, through the client of the AWS SDK. The client handles
// credentials, endpoint, timeouts and retries.

import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import type { ContentAddressedStore, DocumentStore } from "../../index.js";
import { throwIfAborted, untilAborted } from "../abort.js";
import { MAX_DOCUMENT_BYTES } from "../limits.js";
import { ownOf } from "../own.js";
import { checkedBytes, checkHash, corrupt, sha256 } from "./errors.js";
import { copyOf, hasLoneSurrogate, MAX_BUFFER_BYTES, readRequest, signalOf } from "./request.js";
import { type ObjectRequests, readObject, sizeOrNull } from "./s3-document.js";
import { isImpossibleKey, isMissing, statusOf, storeErrorOf } from "./s3-errors.js";

/** The client, the bucket, and the prefix of the keys. */
export interface S3Location {
  /** A client of `@aws-sdk/client-s3`, version 3. */
  client: S3Client;
  bucket: string;
  /** The prefix of every key, verbatim: a separator has to be written out. Default `""`. */
  prefix?: string | null;
}

/** Options of `s3Store`. */
export interface S3StoreOptions extends S3Location {
  /**
   * Whether the server tells keys with a segment `.` or `..` apart, as Amazon S3 does. Servers that keep objects
   * as files read `a` for `c/../a`, and would leave the prefix. Unless this is `true`, such a DocPath has no
   * document.
   */
  exactKeys?: boolean | null;
}

/**
 * The objects of a bucket as documents. The key is prefix and DocPath, verbatim. At most `maxBytes` of a document
 * are fetched.
 *
 * `get` answers `null` for a key that does not exist, and for a key that the server declares impossible. Without
 * the permission to list the bucket, S3 answers "access denied" for missing keys; `get` throws then.
 */
export function s3Store(options: S3StoreOptions): DocumentStore {
  const location = checkedLocation(options);
  const exactKeys = ownOf(options, "exactKeys") === true;
  return {
    async get(docPath, request) {
      const { wanted, signal } = readRequest(request);
      const key = `${location.prefix}${docPath}`;
      // No object can have such a key, and the client cannot send it.
      if (docPath === "" || hasLoneSurrogate(key)) return null;
      if (!exactKeys && /(?:^|\/)\.\.?(?:\/|$)/.test(key)) return null;
      return withRequest(signal, async ({ signal }) => {
        const requests = requestsFor(location, key, MAX_DOCUMENT_BYTES, signal);
        try {
          return await readObject(requests, wanted);
        } catch (error) {
          if (isMissing(error) || isImpossibleKey(error)) return null;
          throw error;
        }
      });
    },
  };
}

/**
 * A content-addressed store in a bucket: the bytes with the hash `abcdef…` are at `<prefix>ab/cdef…`. Bytes that
 * the bucket has already are not sent again. The server checks sent bytes against their SHA-256; the store checks
 * received bytes.
 */
export function s3FileStore(options: S3Location): ContentAddressedStore {
  const location = checkedLocation(options);
  const { client, bucket, prefix } = location;
  const keyOf = (hash: string) => `${prefix}${hash.slice(0, 2)}/${hash.slice(2)}`;

  /** HEAD of the object; `null` if it does not exist. */
  async function look(hash: string, { signal }: AbortController) {
    const at = { Bucket: bucket, Key: keyOf(hash) };
    const command = new HeadObjectCommand({ ...at, ChecksumMode: "ENABLED" });
    try {
      return await client.send(command, { abortSignal: signal });
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  return {
    async putBytes(bytes, options) {
      const signal = signalOf(options);
      // A copy, because the caller may change the bytes while they are sent.
      const body = copyOf(checkedBytes(bytes));
      const digest = sha256(body);
      const hash = digest.toString("hex");
      const checksum = digest.toString("base64");
      return withStoreRequest(signal, "be stored", hash, async (request) => {
        const there = await look(hash, request).catch((error) => {
          // Without permission to list the bucket, S3 answers 403 for a missing object.
          if (statusOf(error) === 403) return null;
          throw error;
        });
        const whole =
          there?.ContentLength === body.length &&
          (there.ChecksumSHA256 === undefined || there.ChecksumSHA256 === checksum);
        if (!whole) {
          const command = new PutObjectCommand({
            Bucket: bucket,
            Key: keyOf(hash),
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
      const signal = signalOf(options);
      checkHash(hash);
      return withStoreRequest(signal, "be read", hash, async ({ signal }) => {
        const requests = requestsFor(location, keyOf(hash), MAX_BUFFER_BYTES, signal);
        const { bytes } = await readObject(requests, Number.POSITIVE_INFINITY);
        if (sha256(bytes).toString("hex") !== hash) throw corrupt(hash);
        return bytes;
      });
    },

    async exists(hash, options) {
      const signal = signalOf(options);
      checkHash(hash);
      return withStoreRequest(
        signal,
        "be looked up",
        hash,
        async (request) => (await look(hash, request)) !== null,
      );
    },
  };
}

type CheckedLocation = Required<Omit<S3Location, "prefix">> & { prefix: string };

/** Checks the options when the store is made, so that a mistake does not wait for the first request. */
function checkedLocation(location: S3Location): CheckedLocation {
  const client = ownOf(location, "client");
  const bucket = ownOf(location, "bucket");
  const prefix = ownOf(location, "prefix") ?? "";
  if (typeof client?.send !== "function") {
    throw new TypeError("client must be an S3Client of @aws-sdk/client-s3");
  }
  if (typeof bucket !== "string" || bucket === "") throw new TypeError("bucket must be its name");
  if (typeof prefix !== "string") throw new TypeError("prefix must be text");
  return { client, bucket, prefix };
}

/** The requests for one object. */
function requestsFor(
  { client, bucket }: CheckedLocation,
  key: string,
  limit: number,
  signal: AbortSignal,
): ObjectRequests {
  const at = { Bucket: bucket, Key: key };
  return {
    async get(range) {
      const command = new GetObjectCommand(range === undefined ? at : { ...at, Range: range });
      if (range !== undefined) withoutChecksum(command);
      // A controller for each request, so that one can be aborted and another one sent.
      const request = new AbortController();
      const end = () => request.abort();
      signal.addEventListener("abort", end, { once: true });
      try {
        const output = await client.send(command, { abortSignal: request.signal });
        return { output, end };
      } catch (error) {
        signal.removeEventListener("abort", end);
        throw error;
      }
    },
    async size({ output: { ETag } }) {
      // The object may have been replaced meanwhile, so the ETag has to match.
      const same = ETag === undefined ? {} : { IfMatch: ETag };
      const command = new HeadObjectCommand({ ...at, ...same });
      const { ContentLength } = await client.send(command, { abortSignal: signal });
      return sizeOrNull(ContentLength);
    },
    limit,
    signal,
  };
}

/**
 * Makes the client request no checksum and check none. Servers answer a range with the checksum of the whole
 * object, or of its parts, which never fits the range.
 */
function withoutChecksum(command: GetObjectCommand): void {
  command.middlewareStack.add(
    (next) => (args) => {
      const { input, request } = args as {
        input: { ChecksumMode?: unknown };
        request: { headers?: Record<string, string> };
      };
      delete input.ChecksumMode;
      delete request.headers?.["x-amz-checksum-mode"];
      return next(args);
    },
    { step: "build", name: "ringfenceRangeWithoutChecksum" },
  );
}

/**
 * Runs work with requests. An abort of the signal ends them and rejects with its reason. If the work fails, open
 * requests are aborted.
 */
async function withRequest<T>(
  signal: AbortSignal | null,
  work: (request: AbortController) => Promise<T>,
): Promise<T> {
  const request = new AbortController();
  const abort = () => request.abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await untilAborted(signal, () => work(request));
  } catch (error) {
    request.abort();
    throwIfAborted(signal);
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

async function withStoreRequest<T>(
  signal: AbortSignal | null,
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
