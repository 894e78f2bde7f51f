// The fenced blocks of the documentation, as its readers copy them.

import fs from "node:fs";
import path from "node:path";
import { ROOT } from "./program.ts";

export interface Block {
  /** The file, from the checkout down, and the line of the fence. */
  place: string;
  file: string;
  /** The language after the fence: `ts`, `sh`, `json`, `jsonc`, `text`. */
  language: string;
  code: string;
  /** What an HTML comment on the line before says; `""` without one. */
  mark: string;
}

/** README.md and the pages of docs/. */
export const DOCUMENTS: readonly string[] = [
  "README.md",
  ...fs
    .readdirSync(path.join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `docs/${name}`),
];

export function textOf(document: string): string {
  return fs.readFileSync(path.join(ROOT, document), "utf8");
}

/** The blocks of a document, in order. */
export function blocksOf(document: string): Block[] {
  const text = textOf(document);
  const fences = /^(?:<!-- ([^\n]*) -->\n)?```(\S*)\n(.*?)^```$/gms;
  return [...text.matchAll(fences)].map(({ index, 1: mark, 2: language, 3: code }) => {
    const line = text.slice(0, index).split("\n").length + (mark === undefined ? 0 : 1);
    const place = `${document}:${line}`;
    return { place, file: document, language: language ?? "", code: code ?? "", mark: mark ?? "" };
  });
}

/** What a document says, without its blocks. */
export function proseOf(document: string): string {
  return textOf(document).replaceAll(/^```.*?^```$/gms, "");
}
