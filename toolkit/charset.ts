// Decodes bytes of a charset. Bytes that do not fit the charset are refused, because a silent U+FFFD
// destroys a document that is written back.

import type { ContentType } from "./media-type.js";

/** The decoded text, or the reason of the refusal. */
export type Decoded = { text: string } | { refusal: string };

/** The encodings that the decoders of all supported engines have. Bun has `iso-8859-16` and `x-user-defined`, too. */
const ENCODINGS: ReadonlySet<string> = new Set([
  ...["utf-8", "utf-16le", "utf-16be", "ibm866", "macintosh", "x-mac-cyrillic", "koi8-r", "koi8-u"],
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15].map((part) => `iso-8859-${part}`),
  "iso-8859-8-i",
  ...[874, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258].map((page) => `windows-${page}`),
  ...["gb18030", "big5", "euc-jp", "iso-2022-jp", "shift_jis", "euc-kr"],
]);

/** Decodes by the byte order mark, then the type's charset, then the charset that HTML, XML or CSS declares. */
export function decode(bytes: Uint8Array, { essence, charset }: ContentType): Decoded {
  const label = ofByteOrderMark(bytes) ?? charset ?? declaredIn(bytes, essence) ?? "utf-8";
  const shown = /^[\w.:+-]{1,40}$/.test(label) ? label : "that it names";
  if (/^(?:us-|ansi_x3\.4-19\d\d$)?ascii$/i.test(label) && bytes.some((byte) => byte > 0x7f)) {
    return { refusal: "its bytes are not those of the charset us-ascii" };
  }
  const decoder = decoderOf(label);
  if (decoder === null) return { refusal: `the charset ${shown} is not known` };
  try {
    const text = decoder.decode(bytes);
    // Some engines let lone surrogates of UTF-16 pass.
    if (!/\p{Surrogate}/u.test(text)) {
      return { text: decoder.encoding === "windows-1252" ? withoutC1(text) : text };
    }
  } catch {}
  return { refusal: `its bytes are not those of the charset ${shown}` };
}

function decoderOf(label: string): TextDecoder | null {
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    // By the Encoding Standard, GBK is decoded as GB18030. Node's decoder knows fewer characters.
    if (decoder.encoding === "gbk") return new TextDecoder("gb18030", { fatal: true });
    return ENCODINGS.has(decoder.encoding) ? decoder : null;
  } catch {
    return null;
  }
}

function ofByteOrderMark(bytes: Uint8Array): string | null {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : null;
}

/** The charset that HTML, XML or CSS declares in its first 1,024 bytes. */
function declaredIn(bytes: Uint8Array, essence: string): string | null {
  if (!/^text\/(?:html|css)$|[/+]xml$/.test(essence)) return null;
  const start = String.fromCharCode(...bytes.subarray(0, 1024));
  const declared =
    /^<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(start) ??
    /^@charset "([\w.:-]+)";/.exec(start) ??
    /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start);
  const label = declared?.[1] ?? null;
  // The declaration was readable as ASCII, so the document cannot be UTF-16.
  return label !== null && /^utf-?16/i.test(label) ? "utf-8" : label;
}

/** Some versions of Node read the bytes 0x80 to 0x9F of windows-1252 as those of ISO-8859-1. */
const WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

function withoutC1(text: string): string {
  return text.replace(/[\x80-\x9f]/g, (c) => WINDOWS_1252[c.charCodeAt(0) - 0x80] ?? c);
}
