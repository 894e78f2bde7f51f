// Does what an agent does, through a secure-tool host, and proves each step.
//
// It reads a whole project, window by window: the windows of every text file, joined, are the file;
// its binaries and every way out are refused. Then it writes a report into a workspace of its own,
// brings it up to date, and is refused where that would lose somebody else's work.
//
//     npm run example, or npx tsx examples/agent-at-work.mts [DIRECTORY]

import { mkdtemp, readFile as readBytes, readdir, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { SingleBar } from "cli-progress";
import {
  type CreateFileArguments,
  createFile,
  MAX_READ_FILE_SIZE_BYTES,
  readFile,
  Workspace,
} from "ringfence";
import { createSecureTool, type ToolContext } from "./secure-tool-host.mts";

const readFileTool = createSecureTool({ name: "read_file", isWriteOp: false }, readFile);
const createFileTool = createSecureTool(
  { name: "workspace_create_file", isWriteOp: true },
  createFile,
);

interface Tally {
  read: { files: number; windows: number; lines: number; bytes: number };
  /** How many files were refused, by code. */
  refused: Map<string, number>;
  /** What is not as it must be. */
  faults: string[];
}

async function main(): Promise<void> {
  const project = path.resolve(process.argv[2] ?? installedPackage("highlight.js"));
  const context = hostContext(project);
  const tally: Tally = {
    read: { files: 0, windows: 0, lines: 0, bytes: 0 },
    refused: new Map(),
    faults: [],
  };

  const files = await filesBelow(project);
  const started = performance.now();
  const progress = new SingleBar({
    format: "reading {bar} {value}/{total} files",
    noTTYOutput: true,
    notTTYSchedule: 1_000,
  });
  progress.start(files.length, 0);
  for (const file of files) {
    await readWhole(context, file, tally);
    progress.increment();
  }
  progress.stop();
  const milliseconds = performance.now() - started;

  await tryToEscape(context, tally);
  const written = await writeReport(project, tally);
  report(project, tally, milliseconds, written);
  if (tally.faults.length > 0) process.exitCode = 1;
}

/** Where an npm package of hundreds of files lies on this machine. */
function installedPackage(name: string): string {
  return path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
}

function hostContext(workspaceRoot: string): ToolContext {
  return { workspaceRoot, writeScope: "read-only", denied: new Set() };
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .sort();
}

/** Reads a file to its end, as an agent would: from window to window, until none is next. */
async function readWhole(context: ToolContext, file: string, tally: Tally): Promise<void> {
  const bytes = await readBytes(path.join(context.workspaceRoot, file));
  const windows: string[] = [];
  let next: number | null = 1;
  while (next !== null) {
    const result = await readFileTool(context, file, { start_line: next, max_lines: 500 });
    if (result.status !== "success") {
      expectRefusal(file, bytes, result.message, tally);
      return;
    }
    const { data } = result;
    windows.push(data.content);
    tally.read.lines += data.meta.returned_line_count;
    next = data.next_start_line;
  }
  tally.read.files += 1;
  tally.read.windows += windows.length;
  tally.read.bytes += bytes.length;
  if (windows.join("\n") !== normalised(bytes)) {
    tally.faults.push(`${file}: the windows joined are not the file`);
  }
}

/** A refusal is right if the file, looked at independently, is binary or too large. */
function expectRefusal(file: string, bytes: Buffer, message: string, tally: Tally): void {
  const code = message.slice(0, message.indexOf(":"));
  const expected =
    bytes.length > MAX_READ_FILE_SIZE_BYTES ? "SIZE_LIMIT_EXCEEDED" : "BINARY_NOT_SUPPORTED";
  if (code !== expected || (code === "BINARY_NOT_SUPPORTED" && isText(bytes))) {
    tally.faults.push(`${file}: ${message}`);
  }
  tally.refused.set(code, (tally.refused.get(code) ?? 0) + 1);
}

function isText(bytes: Buffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return !bytes.subarray(0, 8192).includes(0);
  } catch {
    return false;
  }
}

/** What the specification makes of a file: no byte order mark, CRLF as LF. */
function normalised(bytes: Buffer): string {
  return new TextDecoder("utf-8").decode(bytes).replaceAll("\r\n", "\n");
}

/** Ways out of the workspace. The host's check stops the first; the others are ringfence's. */
async function tryToEscape(context: ToolContext, tally: Tally): Promise<void> {
  const above = await readFileTool(context, "../../package.json");
  expectStop("`..` through the host", above.status, "denied", tally);

  const direct = await readFile(context, "../../package.json").catch(
    (error: Error) => error.message,
  );
  expectStop("`..` without the host", String(direct).split(":")[0], "SANDBOX_VIOLATION", tally);

  const workspaceRoot = await mkdtemp(path.join(tmpdir(), "ringfence-example-"));
  try {
    await symlink(context.workspaceRoot, path.join(workspaceRoot, "vendor"), "junction");
    const linked = await readFileTool(hostContext(workspaceRoot), "vendor/package.json");
    const message = linked.status === "success" ? "it was read" : linked.message;
    expectStop("a link that leads out", message.split(":")[0], "SANDBOX_VIOLATION", tally);
  } finally {
    await rm(workspaceRoot, { recursive: true });
  }
}

function expectAnswer(what: string, got: string | undefined, expected: string, tally: Tally): void {
  if (got !== expected) tally.faults.push(`${what}: expected ${expected}, got ${got}`);
}

function expectStop(what: string, got: string | undefined, expected: string, tally: Tally): void {
  expectAnswer(what, got, expected, tally);
  if (got === expected) tally.refused.set(what, (tally.refused.get(what) ?? 0) + 1);
}

/** Creates a file, replaces it as long as it is the one that was read, and not a moment longer. */
async function writeReport(project: string, tally: Tally): Promise<string[]> {
  const workspaceRoot = await mkdtemp(path.join(tmpdir(), "ringfence-example-"));
  const context: ToolContext = { ...hostContext(workspaceRoot), writeScope: "workspace-write" };
  const call = async (args: Omit<CreateFileArguments, "path">): Promise<string> => {
    const result = await createFileTool(context, { path: "reports/files.md", ...args });
    if (result.status !== "success") return result.message;
    return result.data.errorCode ?? "done";
  };
  const told: string[] = [];
  const tell = (what: string, answer: string, expected: string) => {
    told.push(`${what}: ${answer}`);
    expectAnswer(what, answer, expected, tally);
  };
  try {
    const content = `# ${path.basename(project)}\n\n${tally.read.files} text files\n`;
    tell("a new file, its folder made", await call({ content }), "done");
    tell("the same again without overwrite", await call({ content }), "FileExists");

    const seen = await readFile(context, "reports/files.md", { include_hash: true });
    const update = { content: `${content}\n${tally.read.lines} lines\n`, overwrite: true };
    const expectedHash = seen.meta.sha256 ?? "";
    tell("replaced as it was read", await call({ ...update, expectedHash }), "done");
    tell("replaced after it had changed", await call({ ...update, expectedHash }), "WriteFailed");
  } finally {
    await rm(workspaceRoot, { recursive: true });
  }
  return told;
}

function report(
  project: string,
  { read, refused, faults }: Tally,
  milliseconds: number,
  written: string[],
): void {
  const containment = Workspace.open(project).containment;
  const mebibytes = (read.bytes / 2 ** 20).toFixed(1);
  console.log(`project      ${path.basename(project)}, sandboxed by the ${containment}`);
  console.log(
    `read         ${read.files} files, ${read.lines} lines, ${mebibytes} MiB in ${read.windows} windows, ${milliseconds.toFixed(0)} ms`,
  );
  for (const [what, count] of refused) console.log(`refused      ${count} × ${what}`);
  for (const what of written) console.log(`wrote        ${what}`);
  for (const fault of faults) console.log(`FAULT        ${fault}`);
  console.log(
    faults.length === 0
      ? "proved       the windows of every text file, joined, are the file"
      : `${faults.length} faults`,
  );
}

await main();
