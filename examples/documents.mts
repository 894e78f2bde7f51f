// Reads what is no plain file of a workspace: the files of a space and a chat by `file:` URI, and
// source documents by DocPath. It checks every answer, so that it fails where ringfence does.
//
//     npm run example

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { FileStore, readFileUri, readSourceDocument, resolveFileUri } from "ringfence";
import { memoryStore } from "ringfence/stores";
import { createWorkspaceFetch } from "ringfence/toolkit";

/** A vertex of the host's own tree. */
interface Vertex {
  children?: Record<string, Vertex>;
  hash?: string;
  mimeType?: string;
  size?: number;
}

async function main(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "ringfence-documents-"));
  try {
    await readSpaceAndChat(folder);
    await readSources();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A space whose files are vertices with hashes, and a chat whose files are in a directory. */
async function readSpaceAndChat(folder: string): Promise<void> {
  const store = FileStore.open(path.join(folder, "files"));
  const brand = await store.putBytes(Buffer.from("# Brand voice\n\nShort. Warm. Exact.\n"));
  const logo = await store.putBytes(Buffer.from([0x89, 0x50, 0x4e, 0x47]));
  const root: Vertex = {
    children: {
      assets: {
        children: {
          "brand.md": { ...brand, mimeType: "text/markdown" },
          "logo.png": { ...logo, mimeType: "image/png" },
        },
      },
    },
  };
  const space = {
    store,
    resolve(segments: string[]) {
      let vertex: Vertex | undefined = root;
      for (const name of segments) {
        const children: Record<string, Vertex> = vertex?.children ?? {};
        vertex = Object.hasOwn(children, name) ? children[name] : undefined;
      }
      return vertex ?? null;
    },
  };
  const chat = path.join(folder, "chat");
  await mkdir(path.join(chat, "files", "notes"), { recursive: true });
  await writeFile(path.join(chat, "files", "notes", "project-a.md"), "# Project A\n");

  console.log("file: URIs");
  for (const uri of ["file:///assets/brand.md", "file:notes/project-a.md"]) {
    const { scope, path: where } = resolveFileUri(uri);
    const { text, mimeType, sizeBytes } = await readFileUri(uri, { space, chat });
    console.log(`  ${uri} is ${where} of the ${scope}: ${mimeType}, ${sizeBytes} bytes`);
    assert.match(text, /^# /);
  }

  // The fetch that a `read` tool is given, which knows nothing of spaces.
  const elsewhere = async (_url: string) => new Response("<p>from the network</p>");
  const fetchForAgent = createWorkspaceFetch({ space, chat }, elsewhere);
  const response = await fetchForAgent("file:///assets/brand.md");
  assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.match(await response.text(), /Short\. Warm\. Exact\./);
  assert.match(await (await fetchForAgent("https://example.com/")).text(), /from the network/);

  for (const [uri, message] of [
    ["file:///assets/none.md", /^NOT_FOUND: Workspace file not found at \/assets\/none\.md$/],
    ["file:none.md", /^NOT_FOUND: Chat file not found at files\/none\.md$/],
    ["file:///assets/logo.png", /^NOT_TEXT: .*image\/png$/],
    ["file:///../etc/passwd", /^INVALID_URI: /],
    ["file:/etc/passwd", /^INVALID_URI: /],
  ] as const) {
    await assert.rejects(fetchForAgent(uri), (error: Error) => {
      console.log(`  ${error.message}`);
      return message.test(error.message);
    });
  }
}

/** A source store keyed by DocPath, for a host that speaks JSON. */
async function readSources(): Promise<void> {
  const service = "public class BillingService { /* … */ }\n";
  const context = {
    store: memoryStore({ "src/Billing/BillingService.cs": service }),
    activeFiles: { "src/Billing/Invoice.cs": "…" },
    sessionId: "session-1",
    conversationId: "conversation-1",
  };
  console.log("source documents");
  for (const [args, errorCode] of [
    [{ path: "src/Billing/BillingService.cs" }, null],
    [{ path: "src/Billing/BillingService.cs", maxBytes: 20 }, null],
    [{ path: "src/Billing/Invoice.cs" }, "ALREADY_IN_CONTEXT"],
    [{ path: "src/Billing/ExperimentalService.cs" }, "NOT_FOUND"],
    [{ path: "" }, "INVALID_ARGUMENT"],
  ] as const) {
    const argumentsJson = JSON.stringify(args);
    const result = await readSourceDocument(argumentsJson, context);
    console.log(`  ${argumentsJson} → ${JSON.stringify(result.file ?? result.errors)}`);
    assert.equal(result.errorCode, errorCode);
    assert.equal(result.sessionId, "session-1");
  }
}

await main();
