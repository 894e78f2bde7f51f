// Turns a root's URI into a path. URL parsers cannot be used: they end the path at `#` and `?`, which clients
// leave unescaped, drop invisible characters, and read `\` as `/`. The result would be another folder.

import path from "node:path";
import { fileURLToPath } from "node:url";

/** The absolute path of a `file:` URI, taken literally; `null` if the URI names no path of this machine. */
export function pathOfRootUri(uri: string): string | null {
  // `file:/a` and `file://localhost/a` mean `file:///a`. Any other host, and `//` at the start, is another machine.
  const rest = /^file:(?:\/\/(?:localhost)?)?(\/(?!\/).*)$/is.exec(uri)?.[1];
  if (rest === undefined) return null;
  try {
    const found = path.sep === "/" ? posixPath(rest) : windowsPath(rest);
    return isPlain(found) ? found : null;
  } catch {
    // A bad escape, or an escaped separator.
    return null;
  }
}

function posixPath(escaped: string): string {
  if (/%2f/i.test(escaped)) throw new URIError("an escaped separator");
  return decodeURIComponent(escaped);
}

/** Node's parser finds the drive. Characters that would mislead it occur in no name on Windows, and are refused. */
function windowsPath(escaped: string): string {
  if (/[?\\\p{Cc}]/u.test(escaped)) throw new URIError("no character of a name");
  return fileURLToPath(`file://${escaped.replaceAll("#", "%23")}`);
}

/** Whether no component is `..`, and no character is NUL or a lone surrogate. */
function isPlain(absolute: string): boolean {
  return !/[\0\p{Cs}]/u.test(absolute) && !absolute.split(path.sep).includes("..");
}
