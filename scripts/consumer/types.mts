// A strict TypeScript consumer: compiled against the installed package, never run.

import type * as ringfence from "ringfence";
import {
  type Containment,
  type CreateFileErrorCode,
  type CreateFileResult,
  contentHash,
  createFile,
  createFileSync,
  DirectoryStore,
  FileStore,
  type FileUriErrorCode,
  findFiles,
  MAX_READ_FILE_SIZE_BYTES,
  type ReadFileError,
  type ReadFileErrorCode,
  type ReadFileOptions,
  type ReadFileOutput,
  type ReadSourceErrorCode,
  type ReadSourceResult,
  readBytes,
  readFile,
  readFileSync,
  readFiles,
  readFileUri,
  readSourceDocument,
  resolveFileUri,
  tree,
  type VirtualRoot,
  Workspace,
  type WorkspaceError,
} from "ringfence";
import { EXPORTS } from "./exports.mjs";

/** Every export has its declaration. */
export const declared: readonly (keyof typeof ringfence)[] = EXPORTS;

/** A host's own context, with keys that the library does not know. */
interface ToolContext {
  workspaceRoot: string;
  writeScope: "read-only" | "workspace-write" | "unrestricted";
  sessionId: string;
  policy: { tools: Record<string, "allow" | "deny"> };
}

declare const context: ToolContext;

/** As hosts declare it: whatever the handler takes after the context, the tool takes. */
declare function createSecureTool<Args extends unknown[], R>(
  meta: { name: string; isWriteOp: boolean },
  handler: (context: ToolContext, ...args: Args) => Promise<R>,
): (context: ToolContext, ...args: Args) => Promise<R>;

export async function throughHost(): Promise<string> {
  const tool = createSecureTool({ name: "read_file", isWriteOp: false }, readFile);
  const output: ReadFileOutput = await tool(context, "a.txt", { start_line: 1, max_lines: null });
  await tool(context, "a.txt");
  // @ts-expect-error the path is a string
  await tool(context, 1);
  // @ts-expect-error a line number is no string
  await tool(context, "a.txt", { start_line: "1" });
  return output.content;
}

export async function createdThroughHost(): Promise<CreateFileErrorCode | null> {
  const meta = { name: "workspace_create_file", isWriteOp: true };
  const tool = createSecureTool(meta, createFile);
  const result: CreateFileResult = await tool(context, { path: "a.txt", content: "a" });
  // @ts-expect-error the content is not optional
  await tool(context, { path: "a.txt" });
  // @ts-expect-error overwrite is no string
  await tool(context, { path: "a.txt", content: "", overwrite: "true" });
  return result.errorCode;
}

export function swapped(workspace: Workspace, content: string): boolean {
  const expectedHash: string = contentHash(content, "sha256");
  const args = { path: "a.txt", content: "b", overwrite: true, expectedHash };
  const { success, sizeBytes, created, overwritten } = createFileSync(workspace, args);
  // @ts-expect-error only two algorithms
  contentHash(content, "md5");
  return success && sizeBytes > 0 && !created && overwritten;
}

export async function everyWindow(workspace: Workspace, path: string): Promise<string[]> {
  const windows: string[] = [];
  let start_line: number | null = 1;
  while (start_line !== null) {
    const output: ReadFileOutput = await readFile(workspace, path, { start_line });
    windows.push(output.content);
    start_line = output.next_start_line;
  }
  return windows;
}

export function resultTypes(options: ReadFileOptions): (string | number | boolean | null)[] {
  const { path, content, truncated, next_start_line, meta } = readFileSync(context, "a", options);
  // @ts-expect-error null at the end of the file
  const line: number = next_start_line;
  // @ts-expect-error only there when asked for
  const sha256: string = meta.sha256;
  const counts: number = meta.byte_length + meta.line_count + meta.returned_line_count;
  return [path, content, truncated, next_start_line, line, sha256, counts, meta.mtime_ms];
}

export async function paths(): Promise<(string | number)[]> {
  const { items, next, total } = await findFiles(context, { patterns: ["*.ts"], sort: "path" });
  // @ts-expect-error the patterns are missing
  await findFiles(context, { root_path: "src" });
  // @ts-expect-error only there if there are more
  const after: string = next;
  const { root } = await tree(context, "src", { entry_kind: "all", max_depth: 1 });
  const names = root.children?.map(({ name, kind }) => `${name} ${kind}`) ?? [];
  // @ts-expect-error there is no such kind
  await tree(context, ".", { entry_kind: "file" });
  return [...items.map(({ path, kind }) => `${path} ${kind}`), after, total, ...names];
}

export async function severalFiles(): Promise<(string | Uint8Array)[]> {
  const { items } = await readFiles(context, { files: ["a", { path: "b", max_lines: null }] });
  const contents = items.map(({ output, error }) => output?.content ?? error?.message ?? "");
  // @ts-expect-error an entry has a path
  await readFiles(context, { files: [{ start_line: 1 }] });
  const { bytes, sha256 } = await readBytes(context, "a", { offset: 0, length: 5 });
  // @ts-expect-error only there when asked for
  const hash: string = sha256;
  return [...contents, bytes, hash];
}

export function narrowed(error: ReadFileError | WorkspaceError): ReadFileErrorCode | null {
  if (error.name === "ReadFileError") return error.path === "" ? null : error.code;
  // @ts-expect-error a WorkspaceError has no path
  return error.path;
}

export function containment(signal: AbortSignal): "kernel" | "walk" {
  const workspace = Workspace.open("/srv", { invalidUtf8: "replace" });
  const options: ReadFileOptions = { signal };
  readFileSync(workspace, "a.txt", options);
  const tier: Containment = workspace.containment;
  const limit: number = MAX_READ_FILE_SIZE_BYTES;
  return limit > 0 ? tier : "walk";
}

/** A host's own vertex, with more than is asked for. */
interface Vertex {
  hash?: string;
  mimeType?: string;
  size?: number;
  children: Vertex[];
}

export async function uris(find: (segments: string[]) => Vertex | null): Promise<string> {
  const store = FileStore.open("/srv/files");
  const space: VirtualRoot = { store, resolve: async (segments) => find(segments) };
  const chat = Workspace.open("/srv/chat");
  const { scope, segments } = resolveFileUri("file:a.md");
  // @ts-expect-error only two scopes
  if (scope === "space") return segments.join();
  // @ts-expect-error a root is no number
  await readFileUri("file:///a.md", { space: 1 });
  const code: FileUriErrorCode = "NO_CHAT";
  return `${(await readFileUri("file:///a.md", { space, chat, maxBytes: 10 })).text}${code}`;
}

export async function sources(): Promise<ReadSourceErrorCode | null> {
  const store = DirectoryStore.open("/srv/sources");
  const activeFiles = new Map([["a.cs", 1]]);
  const result: ReadSourceResult = await readSourceDocument(
    { path: "a.cs" },
    { store, activeFiles },
  );
  await readSourceDocument('{ "path": "a.cs" }', { store, activeFiles: ["a.cs"], sessionId: null });
  // @ts-expect-error the store is not optional
  await readSourceDocument(null, {});
  // @ts-expect-error null on failure
  result.file.content;
  return result.errorCode;
}
