// @ts-check
// An ES module that uses the entry point that needs the AWS SDK; Node and Bun run it.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { S3Client } from "@aws-sdk/client-s3";
import { s3FileStore, s3Store } from "ringfence/stores/s3";
import { S3_EXPORTS } from "./exports.mjs";

const required = createRequire(import.meta.url)("ringfence/stores/s3");
assert.deepEqual(Object.keys(required).sort(), [...S3_EXPORTS]);
assert.equal(required.s3Store, s3Store);

const client = new S3Client({ region: "us-east-1" });
await assert.rejects(s3FileStore({ client, bucket: "b" }).getBytes("no hash"), {
  name: "FileStoreError",
  code: "INVALID_ARGUMENT",
});
