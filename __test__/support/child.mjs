// The other side of child.ts. Plain JavaScript, since a child of Node 20 has no TypeScript loader.
// The addon is loaded first: a user that may read nothing could not load it.

import fs from "node:fs";
import {
  applyPatch,
  createFile,
  deleteFile,
  editFile,
  findFiles,
  moveFile,
  readBytes,
  readFile,
  readFiles,
  tree,
  workspaceSnapshot,
} from "../../index.js";

const CALLS = { applyPatch, deleteFile, editFile, findFiles, moveFile, tree };

const job = JSON.parse(process.argv[2]);

if (job.lostDirectory) {
  process.chdir(job.lostDirectory);
  fs.rmdirSync(job.lostDirectory);
}

if (typeof job.user === "number") {
  process.setgroups?.([]);
  process.setgid(job.user);
  process.setuid(job.user);
}

if (typeof job.umask === "number") process.umask(job.umask);

const outcomes = [];
for (const { context, args } of job.creates ?? []) {
  outcomes.push(await createFile(context, args));
}
for (const { context, path, options } of job.reads ?? []) {
  try {
    outcomes.push({ answer: await readFile(context, path, options) });
  } catch (error) {
    const { name, code, path: shown, message } = error;
    outcomes.push({ error: { name, code, path: shown, message } });
  }
}
for (const { context, path, options } of job.byteReads ?? []) {
  try {
    const { bytes, ...answer } = await readBytes(context, path, options);
    outcomes.push({ answer: { ...answer, bytes: bytes.toString("latin1") } });
  } catch (error) {
    const { name, code, path: shown, message } = error;
    outcomes.push({ error: { name, code, path: shown, message } });
  }
}
for (const { context, args } of job.manyReads ?? []) {
  outcomes.push({ answer: await readFiles(context, args) });
}
for (const { context, options } of job.snapshots ?? []) {
  try {
    outcomes.push({ answer: await workspaceSnapshot(context, options) });
  } catch (error) {
    const { name, code, message } = error;
    outcomes.push({ error: { name, code, message } });
  }
}
for (const { call, args } of job.calls ?? []) {
  try {
    outcomes.push({ answer: await CALLS[call](...args) });
  } catch (error) {
    const { name, code, path: shown, message, removed } = error;
    outcomes.push({ error: { name, code, path: shown, message, removed } });
  }
}
process.stdout.write(JSON.stringify(outcomes));
