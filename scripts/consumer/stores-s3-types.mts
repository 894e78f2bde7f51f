// A strict TypeScript consumer of the S3 stores: compiled, never run.

import type { S3Client } from "@aws-sdk/client-s3";
import type { ContentAddressedStore, DocumentStore } from "ringfence";
import type * as s3 from "ringfence/stores/s3";
import { s3FileStore, s3Store } from "ringfence/stores/s3";
import { S3_EXPORTS } from "./exports.mjs";

/** Every export has its declaration. */
export const declared: readonly (keyof typeof s3)[] = S3_EXPORTS;

export function made(client: S3Client): [DocumentStore, ContentAddressedStore] {
  // @ts-expect-error without a bucket
  s3Store({ client });
  // @ts-expect-error no client
  s3FileStore({ client: {}, bucket: "b" });
  return [
    s3Store({ client, bucket: "b", prefix: "docs/", exactKeys: true }),
    s3FileStore({ client, bucket: "b" }),
  ];
}
