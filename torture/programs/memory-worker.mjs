// Calls every function of the addon a few times, under a memory checker: node memory-worker.mjs ROOT TIMES

import fs from "node:fs";
import path from "node:path";
import {
  contentHash,
  createFile,
  createFileSync,
  DirectoryStore,
  FileStore,
  readBytes,
  readFile,
  readFileSync,
  readFiles,
  readFileUri,
  readSourceDocument,
  resolveFileUri,
  Workspace,
} from "../../index.js";

const [, , root = "", times] = process.argv;
const context = { workspaceRoot: root };
const ignore = () => undefined;

fs.writeFileSync(path.join(root, "binary"), Buffer.from([97, 255, 98]));
fs.writeFileSync(path.join(root, "marked.txt"), "\uFEFFone\r\ntwo\r\n");

/** @param {number} turn */
async function useAll(turn) {
  const workspace = Workspace.open(root, { invalidUtf8: "replace" });
  const name = `${turn}.txt`;
  createFileSync(context, { path: name, content: "x\r\n".repeat(turn * 1_000) });
  await createFile(workspace, { path: name, content: "ü".repeat(turn * 10_000), overwrite: true });
  await createFile(workspace, { path: "../out", content: "" });
  const { meta } = await readFile(workspace, name, { include_hash: true });
  await createFile(workspace, {
    ...{ path: name, content: "last", overwrite: true },
    expectedHash: meta.sha256,
  });
  readFileSync(context, "marked.txt", { start_line: 2, max_lines: 1 });
  await readFile(context, "binary").catch(ignore);
  await readFile(workspace, "binary");
  await readFile(context, "none\ud800").catch(ignore);
  await readFiles(workspace, { files: [name, "none", name], max_total_bytes: 100 });
  await readFiles(context, { files: [] }).catch(ignore);
  await readBytes(workspace, name, { offset: 3, length: turn * 1_000, include_hash: true });
  await readBytes(context, "../out").catch(ignore);
  const controller = new AbortController();
  const reading = readFile(context, name, { signal: controller.signal }).catch(ignore);
  controller.abort();
  await reading;
  await useStores(workspace);
  contentHash("a\r\nb", "aptix");
  workspace.close();
}

/** @param {Workspace} workspace */
async function useStores(workspace) {
  const store = FileStore.open(path.join(root, "store"));
  const { hash, size } = await store.putBytes(Buffer.from("bytes"));
  await store.getBytes(hash);
  await store.getBytes("0".repeat(64)).catch(ignore);
  const space = { store, resolve: async () => ({ hash, size, mimeType: "text/plain" }) };
  await readFileUri("file:///a", { space });
  await readFileUri("file:///marked.txt", { space: workspace });
  await readFileUri("file:///a", { space: { store, resolve: () => null } }).catch(ignore);
  resolveFileUri("file:a%20b");
  const documents = DirectoryStore.open(root);
  await readSourceDocument('{"path":"marked.txt","maxBytes":4}', { store: documents });
  await readSourceDocument("{", { store: documents });
  await documents.get("../out").catch(ignore);
  store.close();
  documents.close();
}

for (let turn = 0; turn < Number(times); turn++) await useAll(turn);
