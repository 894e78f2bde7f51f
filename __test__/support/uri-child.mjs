// What a process of its own does with file: URIs and stores: node uri-child.mjs <job as JSON>, where the
// job is a UriJob of uri-child.ts. Prints the outcomes as JSON. The addon is loaded
// first: a user that may read nothing could not load it.

import fs from "node:fs";
import { FileStore, readFileUri } from "../../index.js";

const job = JSON.parse(process.argv[2]);

if (typeof job.user === "number") {
  process.setgroups?.([]);
  process.setgid(job.user);
  process.setuid(job.user);
}

const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
if (job.start) {
  fs.writeSync(1, "ready\n");
  while (performance.now() < 30_000 && !fs.existsSync(job.start)) pause();
}

const outcomeOf = async (work) => {
  try {
    return { answer: await work() };
  } catch (error) {
    const { name, code, message } = error;
    return { error: { name, code, message } };
  }
};

const outcomes = [];
for (const { uri, context } of job.reads ?? []) {
  outcomes.push(await outcomeOf(() => readFileUri(uri, context)));
}
if (job.store) {
  const store = FileStore.open(job.store);
  for (const hash of job.gets ?? []) {
    outcomes.push(
      await outcomeOf(async () => Buffer.from(await store.getBytes(hash)).toString("utf8")),
    );
  }
  const puts = (job.puts ?? []).map((word) => {
    const bytes = Buffer.from(word.repeat(job.repeat ?? 1));
    return outcomeOf(() => store.putBytes(bytes));
  });
  outcomes.push(...(await Promise.all(puts)));
}
process.stdout.write(JSON.stringify(outcomes));
