// Explains what is wrong with a URI that no fetch can read, and how to write it.

/** The kinds of URI that can be read. */
export interface Readable {
  space: boolean;
  chat: boolean;
  fetch: boolean;
}

const ENCLOSURES: readonly [pattern: RegExp, name: string][] = [
  [/^<.*>$/s, "angle brackets around it"],
  [/^(?:".*"|'.*'|`.*`|[“”„].*[“”]|[‘’‚].*[‘’]|«.*»|».*«)$/s, "quotes around it"],
];

/** The text without spaces, quotes or angle brackets around it, and the name of these marks. */
function withoutEnclosure(uri: string): { inner: string; name: string | null } {
  const trimmed = uri.trim();
  const [, name = null] = ENCLOSURES.find(([pattern]) => pattern.test(trimmed)) ?? [];
  return { inner: name === null ? trimmed : trimmed.slice(1, -1).trim(), name };
}

/**
 * The sentence that says how to write a URI that stands in quotes or angle brackets, or a `file:` URI after a
 * space; `null` for any other text.
 */
export function enclosureIn(uri: string): string | null {
  const { inner, name } = withoutEnclosure(uri);
  const isEnclosed = name !== null && /^[a-z][a-z0-9+.-]+:/i.test(inner);
  const isAfterSpace = name === null && /^\s+file:/i.test(uri);
  if (!isEnclosed && !isAfterSpace) return null;
  const how = canBeShown(inner) ? `write ${inner}` : "write it without";
  return `the uri has ${name ?? "a space at the start"}; ${how}`;
}

/** The sentence that says how to repair a URI; `null` if the URI has a scheme and can be passed to fetch. */
export function repairOf(uri: string, readable: Readable): string | null {
  if (uri.trim().toLowerCase() === "file") return "file without path";
  if (/\p{Surrogate}/u.test(uri)) {
    return "the uri must be well-formed Unicode, without lone surrogates";
  }
  const isDrive = /^\s*[a-z]:[\\/]/i.test(uri);
  if (!isDrive && /^\s*[a-z][a-z0-9+.-]*:/i.test(uri)) return null;
  return `the uri has no scheme; write ${suggestions(isDrive ? "" : uri, readable)}`;
}

function suggestions(uri: string, { space, chat, fetch }: Readable): string {
  const path = plainPath(uri);
  const all = [
    ...(space ? [`file:///${path} for a file of the workspace`] : []),
    ...(chat ? [`file:${path} for a file of the chat`] : []),
    ...(fetch ? ["https://… for a page"] : []),
  ];
  return all.length === 0 ? "one that this tool can read" : all.join(", or ");
}

/** The text as a path in a URI, or the word `path` if the text is long, invisible or contains `..`. */
function plainPath(uri: string): string {
  const path = withoutEnclosure(uri)
    .inner.replaceAll("%", "%25")
    .replaceAll("\\", "/")
    .replace(/^(?:\.?\/)+/, "");
  return path !== "" && canBeShown(path) ? path : "path";
}

/** Whether a text is short and visible, and has no segment `..`. */
function canBeShown(text: string): boolean {
  if (text.length > 200 || /[\p{C}\p{Zl}\p{Zp}]/u.test(text)) return false;
  return !text.split("/").includes("..");
}
