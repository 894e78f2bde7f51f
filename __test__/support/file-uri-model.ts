// A naive model of file: URIs, written from docs/contract.md §6 and specification `read` alone, one character
// at a time. It knows nothing of the implementation; where the two differ, one of them is wrong.

export interface Resolved {
  uri: string;
  scope: "workspace" | "chat";
  path: string;
  segments: string[];
}

/** What the text means, or why it means nothing. */
export type Resolution = { answer: Resolved } | { refusal: string };

const WITHOUT_PATH = "file without path";

export function resolveModel(uri: string): Resolution {
  if (!hasFileScheme(uri)) return { refusal: "not a file: URI" };
  const rest = uri.slice("file:".length);
  const authority = rest.startsWith("//") && !rest.startsWith("///");
  if (rest === "//") return { refusal: WITHOUT_PATH };
  if (authority) return { refusal: "an authority" };
  if (rest.startsWith("////")) return { refusal: "more than three slashes" };
  const inWorkspace = rest.startsWith("///");
  if (!inWorkspace && rest.startsWith("/")) return { refusal: "one slash" };

  const kept: string[] = [];
  let above = false;
  for (const raw of (inWorkspace ? rest.slice(3) : rest).split("/")) {
    const name = percentDecoded(raw);
    if (name === null) return { refusal: "a bad escape" };
    const fault = faultOf(name);
    if (fault !== null) return { refusal: fault };
    if (name === "" || name === ".") continue;
    if (name !== "..") kept.push(name);
    else if (kept.pop() === undefined) above = true;
  }
  if (above) return { refusal: "above the root" };
  if (kept.length === 0) return { refusal: WITHOUT_PATH };

  const segments = inWorkspace ? kept : ["files", ...kept];
  const scope = inWorkspace ? "workspace" : "chat";
  return { answer: { uri, scope, path: segments.join("/"), segments } };
}

/** Whether the text begins with `file:`, in ASCII letters of either case. */
function hasFileScheme(uri: string): boolean {
  for (const [i, letter] of [..."file"].entries()) {
    const unit = uri.charAt(i);
    if (unit !== letter && unit !== letter.toUpperCase()) return false;
  }
  return uri.charAt(4) === ":";
}

/** The segment with each escape decoded once; null where an escape is bad or its bytes no UTF-8. */
function percentDecoded(raw: string): string | null {
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

/** Why a decoded segment is refused, if it is. */
function faultOf(name: string): string | null {
  if (/^[A-Za-z][:|]$/.test(name)) return "a drive letter";
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    if (unit < 0x20 || unit === 0x7f) return "a control character";
    if (unit === 0x2f) return "an escaped slash";
    if (unit === 0x5c) return "a backslash";
    if (unit >= 0xd800 && unit <= 0xdbff && isLow(name.charCodeAt(i + 1))) i++;
    else if (unit >= 0xd800 && unit <= 0xdfff) return "a lone surrogate";
  }
  return null;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

const TEXT_APPLICATIONS = ["json", "xml", "javascript", "typescript", "markdown", "yaml", "toml"];

/** Whether docs/contract.md §6 takes a media type for text. */
export function isTextType(mimeType: string): boolean {
  const essence = (mimeType.split(";")[0] ?? "").trim().toLowerCase();
  if (essence.startsWith("text/")) return true;
  if (essence.endsWith("+json") || essence.endsWith("+xml")) return true;
  return TEXT_APPLICATIONS.some((name) =>
    [`application/${name}`, `application/x-${name}`].includes(essence),
  );
}
