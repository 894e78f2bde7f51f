// Removes the workspace's root from the message of an error that a handler threw: as it is,
// percent-encoded, and with escapes.

import { realpath } from "node:fs/promises";
import path from "node:path";

/**
 * A root of at least so many names is removed wherever it stands in a text. The one or two names of `/tmp` or
 * `/srv/app` also occur inside other paths; such a root is removed only where an absolute path begins.
 */
const NO_COINCIDENCE = 3;

/** How many characters before a match are looked at, to tell whether an absolute path begins there. */
const LOOKED_BACK = 200;

/** The text without the root. A root that is reached through a link is removed in both spellings. */
export async function withoutRoots(text: string, root: unknown): Promise<string> {
  if (typeof root !== "string" || !path.isAbsolute(root)) return text;
  const real = await realpath(root).catch(() => root);
  const roots = [...new Set([root, path.resolve(root), real])];
  // The longest first, because one spelling may be a prefix of another.
  roots.sort((one, other) => other.length - one.length);
  return roots.reduce(withoutRoot, text);
}

function withoutRoot(text: string, root: string): string {
  const names = root.split(path.sep === "\\" ? /[\\/]+/ : /\/+/).filter((name) => name !== "");
  if (names.length === 0 || root === path.parse(root).root) return text;
  const isLong = names.length >= NO_COINCIDENCE;
  return text.replace(patternOf(names, root), (found, ...rest) => {
    const { end } = rest.at(-1) as { end?: string };
    const offset = rest.at(-3) as number;
    const before = unescaped(text.slice(Math.max(0, offset - LOOKED_BACK), offset));
    if (!isLong && !isBoundary(before)) return found;
    const scheme = /file:$/i.test(before) && found.startsWith("//") ? "//" : "";
    if (end === undefined) return `${scheme}.`;
    return scheme || (/[\p{L}\p{N}]$/u.test(before) ? "./" : "");
  });
}

/** The beginning of an escape of JSON or JavaScript, such as `\u002f` and `\x2f`. */
const ESCAPE = "\\\\(?:u00|x)";
const FORWARD_SLASH = `(?:/|(?:%|${ESCAPE})2[fF])`;
const SLASH = `(?:[\\\\/]|(?:%|${ESCAPE})(?:2[fF]|5[cC]))`;
const SEPARATOR = `${SLASH}+(?:\\.${SLASH}+)*`;

function patternOf(names: readonly string[], root: string): RegExp {
  const normal = (form: "NFC" | "NFD") => names.map((name) => name.normalize(form));
  const forms = [names, normal("NFC"), normal("NFD")];
  const bodies = new Set(forms.map((form) => form.map(anyFormOf).join(SEPARATOR)));
  // A match begins at the first of several separators; otherwise the search would take quadratic time.
  const isRooted = root.startsWith("/") || root.startsWith("\\");
  const start = isRooted ? `(?<!${SLASH}\\.?)${SEPARATOR}` : `(?<!${SLASH})${SLASH}*`;
  const isFolded = process.platform === "win32" || process.platform === "darwin";
  // A name ends where no letter follows. Scripts without spaces between words are an exception (`NAME`).
  const after = `(?:(?<end>${path.sep === "\\" ? SLASH : FORWARD_SLASH}+)(?=[^\\s'"\`\\p{Pi}\\p{Pf}])|(?!${NAME}))`;
  return new RegExp(`${start}(?:${[...bodies].join("|")})${after}`, isFolded ? "giu" : "gu");
}

/** Characters that continue a name: letters of scripts with spaces between words, digits, and a dot before one. */
const NAME =
  "(?![\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}])[\\p{L}\\p{N}_\\-]|\\.[\\p{L}\\p{N}]";

/** A name as a pattern. Each character may be literal, percent-encoded, or escaped as in JSON. */
function anyFormOf(name: string): string {
  return [...name]
    .map((character) => {
      const escaped = [...Buffer.from(character)].map((byte) => `%${hex(byte, 2)}`).join("");
      const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
      const json = units.map((unit) => `\\\\u${hex(unit, 4)}`).join("");
      const [unit = 0] = units;
      const short = unit <= 0xff ? `|\\\\x${hex(unit, 2)}` : "";
      const literal = character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
      const doubled = character === "\\" ? "|\\\\\\\\" : "";
      return `(?:${literal}|${escaped}|${json}${short}${doubled})`;
    })
    .join("");
}

/** A number in hex digits, as a pattern of either case. */
function hex(number: number, digits: number): string {
  const lowercase = number.toString(16).padStart(digits, "0");
  return lowercase.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** Colour codes of a terminal and escapes of JSON. They end in a letter that is not part of a name. */
const ESCAPES = /(?:(?:\p{Cc}|\\e|\\033)?\[[\d;]*m|\\[nrt"'])$/iu;

/** The text with characters in place of their escapes `\uXXXX` and `\xXX`. */
function unescaped(text: string): string {
  return text.replace(/\\(?:u([\da-f]{4})|x([\da-f]{2}))/gi, (_, long, short) =>
    String.fromCharCode(Number.parseInt(long ?? short, 16)),
  );
}

/** A character that ends a token: any but letters, digits, and others that names in paths often have. */
const DELIMITER = /[^\p{L}\p{M}\p{N}./\\\-_~+%*?$)\]}]/u;

/** Whether an absolute path may begin after this text. If not, a longer path or a name continues. */
function isBoundary(before: string): boolean {
  if (ESCAPES.test(before) || /file:\/\/localhost$/i.test(before)) return true;
  // The characters since the last delimiter; if they form a name, the match continues that name's path.
  const token = before.split(DELIMITER).at(-1) ?? "";
  if (token === "") return true;
  if (/^[.\\/]+$/.test(token)) return true;
  // The mark of a line in a diff, or a shell's prompt.
  if (/^[-+$%]$/.test(token)) return true;
  // A compiler's flag: `-I/root/include`.
  if (/^--?\p{L}[\p{L}\p{N}-]*$/u.test(token)) return true;
  // A word of a script without spaces between words.
  return /^[^\\/]*[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}ー]$/u.test(token);
}
