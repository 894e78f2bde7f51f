// Parses a `Content-Type`.

export interface ContentType {
  /** The media type in lower case, without parameters; `""` if there is none. */
  essence: string;
  /** The charset as the header has it; `null` if there is none. */
  charset: string | null;
}

export function parseContentType(header: string | null): ContentType {
  // Several headers come joined by commas. The last one with a type counts.
  const types = (header ?? "").split(/,(?=[^",]*\/)/).filter((part) => part.includes("/"));
  const [essence = "", ...parameters] = (types.at(-1) ?? "").split(";");
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s]*))\s*$/i.exec(parameter))
    .find((found) => found !== null);
  const label = charset?.[1] ?? charset?.[2] ?? charset?.[3];
  return { essence: essence.trim().toLowerCase(), charset: label?.trim() || null };
}
