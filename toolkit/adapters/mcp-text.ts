// A tool's answer as text, for MCP clients that show their model the text only: the document itself,
// unescaped, and a note of one line about it.

import type {
  ApplyPatchOutput,
  CreateFileResult,
  EditFileOutput,
  FindFilesResult,
  PatchedFile,
  ReadFileOutput,
  ReadFilesItem,
  ReadFilesOutput,
  ReadSourceResult,
  TreeNode,
  TreeResult,
} from "../../index.js";
import { visible } from "../visible.js";

/** An answer as text. */
export interface AnswerText {
  /** The text of the file or document; of several files each one's note and text. May be empty. */
  texts: string[];
  /** One line about the answer. */
  note: string;
}

/** The text for the data of a successful call. Data of unknown form becomes JSON. */
export function answerTextOf(data: unknown): AnswerText {
  const fields = typeof data === "object" && data !== null ? data : {};
  if (hasKeys(fields, "path", "content", "next_start_line", "meta")) {
    return windowText(fields as ReadFileOutput);
  }
  if (hasKeys(fields, "items", "total_bytes", "truncated", "failed")) {
    return windowsText(fields as ReadFilesOutput);
  }
  if (hasKeys(fields, "success", "message", "path", "sizeBytes", "hash", "created")) {
    return createdText(fields as CreateFileResult);
  }
  if (hasKeys(fields, "applied", "replacements", "diff", "sha256")) {
    return editedText(fields as EditFileOutput);
  }
  if (hasKeys(fields, "format", "applied", "files", "diff")) {
    return patchedText(fields as ApplyPatchOutput);
  }
  if (hasKeys(fields, "success", "file", "errors", "sessionId")) {
    return sourceText(fields as ReadSourceResult);
  }
  if (hasKeys(fields, "uri", "text", "mimeType")) {
    return uriText(fields as { uri: string; text: string; mimeType: string });
  }
  if (hasKeys(fields, "patterns", "total", "items", "warnings")) {
    return foundText(fields as FindFilesResult);
  }
  if (hasKeys(fields, "root", "limit_reached", "total_dirs")) {
    return treeText(fields as TreeResult);
  }
  return { texts: [], note: typeof data === "string" ? data : (JSON.stringify(data) ?? "") };
}

function hasKeys(fields: object, ...keys: string[]): boolean {
  return keys.every((key) => Object.hasOwn(fields, key));
}

function windowText({ path, content, next_start_line, meta }: ReadFileOutput): AnswerText {
  const { line_count, returned_line_count, sha256, replaced_count } = meta;
  const last = next_start_line === null ? line_count : next_start_line - 1;
  const first = last - returned_line_count + 1;
  const which = returned_line_count === 1 ? `line ${last}` : `lines ${first}-${last}`;
  const said = [
    returned_line_count === 0
      ? `${visible(path)}: nothing of its ${count(line_count, "line")}.`
      : `${visible(path)}: ${which} of ${line_count}.`,
  ];
  if (replaced_count) {
    said.push(`${count(replaced_count, "sequence")} that are not UTF-8 are shown as U+FFFD.`);
  }
  if (sha256 !== undefined) said.push(`SHA-256 of the file: ${sha256}.`);
  return { texts: [content], note: said.join(" ") };
}

/** The notes come first here: behind a long text it would not be clear which file it was. */
function windowsText({ items, total_bytes, truncated, failed }: ReadFilesOutput): AnswerText {
  const read = items.length - failed;
  const cut = truncated ? " Some are cut to fit the budget." : "";
  const note = `${read} of ${count(items.length, "file")}, ${count(total_bytes, "byte")}.${cut}`;
  return { texts: items.flatMap(itemTexts), note };
}

function itemTexts({ output, error }: ReadFilesItem): string[] {
  if (output == null) return error == null ? [] : [error.message];
  const { texts, note } = windowText(output);
  return [note, ...texts];
}

function createdText({ message, path, sizeBytes, hash }: CreateFileResult): AnswerText {
  const file = `${visible(path)} has ${count(sizeBytes, "byte")} and the hash ${hash}.`;
  return { texts: [], note: `${message} ${file}` };
}

function editedText(answer: EditFileOutput): AnswerText {
  const { path, applied, replacements, start_line, end_line, diff, diff_truncated } = answer;
  const where = start_line === end_line ? `line ${start_line}` : `lines ${start_line}-${end_line}`;
  const done = applied ? "edited" : "not written, only tried";
  const cut = diff_truncated ? " The diff is cut." : "";
  const places = count(replacements, "place");
  return { texts: [diff], note: `${visible(path)} is ${done}: ${places}, ${where}.${cut}` };
}

/** How many files the note names. */
const MAX_NAMED = 20;

function patchedText({ applied, files, diff, diff_truncated }: ApplyPatchOutput): AnswerText {
  const named = files.slice(0, MAX_NAMED).map(changeOf);
  if (files.length > MAX_NAMED) named.push(`and ${files.length - MAX_NAMED} more`);
  const done = applied ? "Applied" : "Not written, only tried";
  const loose = files.flatMap(({ hunks }) => hunks).filter(({ match }) => match !== "exact").length;
  const how =
    loose === 0 ? "" : ` ${count(loose, "hunk")} matched except for white space or look-alikes.`;
  const cut = diff_truncated ? " The diff is cut." : "";
  return { texts: [diff], note: `${done}: ${named.join(", ")}.${how}${cut}` };
}

function changeOf({ action, path, from_path }: PatchedFile): string {
  return from_path === null
    ? `${action} ${visible(path)}`
    : `${action} ${visible(from_path)} to ${visible(path)}`;
}

function sourceText({ file }: ReadSourceResult): AnswerText {
  if (file === null) return { texts: [], note: "There is no document." };
  const { path, sizeBytes, content, isTruncated } = file;
  const part = isTruncated ? "the beginning of" : "all of";
  return { texts: [content], note: `${visible(path)}: ${part} ${count(sizeBytes, "byte")}.` };
}

function uriText({
  uri,
  text,
  mimeType,
}: {
  uri: string;
  text: string;
  mimeType: string;
}): AnswerText {
  return { texts: [text], note: `${visible(uri)}: ${visible(mimeType)}.` };
}

/** A path on each line, those of folders with a final `/`. */
function foundText({ items, total, warnings }: FindFilesResult): AnswerText {
  const lines = items.map(({ path, kind }) => visible(path) + (kind === "directory" ? "/" : ""));
  const left = warnings.length === 0 ? "" : ` Left out: ${warnings.join(", ")}.`;
  return {
    texts: [lines.join("\n")],
    note: `${items.length} of ${count(total, "match", "es")}.${left}`,
  };
}

/** A node on each line, two spaces of indentation for each level; `…` after a folder that was not looked into. */
function treeText({ root, limit_reached, scanned_entries }: TreeResult): AnswerText {
  const lines: string[] = [];
  const add = ({ name, depth, kind, truncated, children = [] }: TreeNode) => {
    const end = { directory: truncated ? "/ …" : "/", file: "", symlink: " (link)" }[kind];
    lines.push("  ".repeat(depth) + visible(name) + end);
    children.forEach(add);
  };
  add(root);
  const more = limit_reached ? ", and there are more" : "";
  return { texts: [lines.join("\n")], note: `${count(scanned_entries, "node")}${more}.` };
}

function count(number: number, noun: string, plural = "s"): string {
  return `${number} ${noun}${number === 1 ? "" : plural}`;
}
