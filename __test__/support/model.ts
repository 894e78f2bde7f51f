// A naive model of a read, written from docs/contract.md §4 alone, over bytes and without any cleverness.
// It knows nothing of the implementation; where the two differ, one of them is wrong.

const LF = 0x0a;
const CR = 0x0d;
const REPLACEMENT = "\ufffd";

export interface Decoded {
  /** The text without its BOM; each ill-formed sequence is one U+FFFD. */
  text: string;
  /** Offsets in the file at which an ill-formed sequence starts. */
  bad: number[];
}

export interface Window {
  content: string;
  truncated: boolean;
  next_start_line: number | null;
  line_count: number;
  returned_line_count: number;
}

/** The text of `bytes` with one leading BOM dropped. */
export function decode(bytes: Uint8Array): Decoded {
  const hasBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const bad: number[] = [];
  let text = "";
  let at = hasBom ? 3 : 0;
  while (at < bytes.length) {
    const { matched, codePoint } = sequenceAt(bytes, at);
    if (codePoint === null) {
      bad.push(at);
      text += REPLACEMENT;
      at += Math.max(1, matched);
    } else {
      text += String.fromCodePoint(codePoint);
      at += matched;
    }
  }
  return { text, bad };
}

/** The whole text with its line ends as LF: what all windows, joined by LF, must give again. */
export function normalised(bytes: Uint8Array): string {
  return decode(bytes).text.replaceAll("\r\n", "\n");
}

/** The lines of `text`, without their line ends. A last LF ends a line; it does not begin one. */
export function linesOf(text: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === LF) {
      lines.push(line);
      line = "";
    } else if (unit === CR && text.charCodeAt(i + 1) === LF) {
      // The LF that follows ends the line.
    } else {
      line += text.charAt(i);
    }
  }
  if (line !== "") lines.push(line);
  return lines;
}

/** The window of `maxLines` lines from `startLine` (1-based). */
export function windowOf(bytes: Uint8Array, startLine = 1, maxLines = 200): Window {
  const { text } = decode(bytes);
  const lines = linesOf(text);
  const chosen = lines.slice(startLine - 1, startLine - 1 + maxLines);
  const next = startLine + chosen.length;
  const reachesEnd = chosen.length > 0 && next > lines.length;
  const truncated = chosen.length > 0 && !reachesEnd;
  return {
    content: chosen.join("\n") + (reachesEnd && text.endsWith("\n") ? "\n" : ""),
    truncated,
    next_start_line: truncated ? next : null,
    line_count: lines.length,
    returned_line_count: chosen.length,
  };
}

/** The 1-based line on which the byte at `offset` stands. */
export function lineOfByte(bytes: Uint8Array, offset: number): number {
  return 1 + bytes.subarray(0, offset).filter((byte) => byte === LF).length;
}

// The well-formed byte sequences of UTF-8 (Unicode, table 3-7): one row per form, one range per byte.
const TAIL = [0x80, 0xbf] as const;
const FORMS: readonly (readonly (readonly [number, number])[])[] = [
  [[0x00, 0x7f]],
  [[0xc2, 0xdf], TAIL],
  [[0xe0, 0xe0], [0xa0, 0xbf], TAIL],
  [[0xe1, 0xec], TAIL, TAIL],
  [[0xed, 0xed], [0x80, 0x9f], TAIL],
  [[0xee, 0xef], TAIL, TAIL],
  [[0xf0, 0xf0], [0x90, 0xbf], TAIL, TAIL],
  [[0xf1, 0xf3], TAIL, TAIL, TAIL],
  [[0xf4, 0xf4], [0x80, 0x8f], TAIL, TAIL],
];

function sequenceAt(bytes: Uint8Array, at: number): { matched: number; codePoint: number | null } {
  const form = FORMS.find((ranges) => within(bytes[at], ranges[0]));
  if (form === undefined) return { matched: 0, codePoint: null };
  let matched = 0;
  while (matched < form.length && within(bytes[at + matched], form[matched])) matched++;
  if (matched < form.length) return { matched, codePoint: null };

  const leadBits = [0x7f, 0x1f, 0x0f, 0x07][form.length - 1] ?? 0;
  let codePoint = (bytes[at] ?? 0) & leadBits;
  for (let i = 1; i < form.length; i++) codePoint = codePoint * 64 + ((bytes[at + i] ?? 0) & 0x3f);
  return { matched, codePoint };
}

function within(byte: number | undefined, range: readonly [number, number] | undefined): boolean {
  return byte !== undefined && range !== undefined && byte >= range[0] && byte <= range[1];
}
