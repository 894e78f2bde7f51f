// The flags of `ringfence mcp` that are rules.

import path from "node:path";
import { type AccessRules, Workspace } from "../index.js";
import { misuse, UsageError } from "./usage-error.js";
import { visible } from "./visible.js";

/** The flags, as `parseArgs` takes them. */
export const RULE_FLAGS = {
  deny: { type: "string", multiple: true },
  "read-only-path": { type: "string", multiple: true },
  "no-read-only-path": { type: "boolean" },
  "write-only": { type: "string", multiple: true },
} as const;

interface RuleValues {
  deny?: string[];
  "read-only-path"?: string[];
  "no-read-only-path"?: boolean;
  "write-only"?: string[];
}

/** The flag of each list. */
const FLAGS = {
  deny: "--deny",
  read_only: "--read-only-path",
  write_only: "--write-only",
} as const;

/** The rules of the command line. Throws a `UsageError` for a pattern that is none. */
export function readRuleFlags(values: RuleValues): AccessRules {
  const { deny, "read-only-path": readOnly, "write-only": writeOnly } = values;
  if (readOnly !== undefined && values["no-read-only-path"]) {
    throw misuse("--read-only-path and --no-read-only-path exclude each other");
  }
  const rules = {
    deny: deny ?? null,
    read_only: values["no-read-only-path"] ? [] : (readOnly ?? null),
    write_only: writeOnly ?? null,
  };
  check(rules);
  return rules;
}

/**
 * Opens a folder that is always there, only to have the patterns checked: without `--root`, a root comes later, and a
 * wrong pattern would look like a root that cannot be opened.
 */
function check(rules: AccessRules): void {
  try {
    Workspace.open(path.parse(process.execPath).root, { rules }).close();
  } catch (error) {
    const { message } = error as Error;
    const found = /rules\.(deny|read_only|write_only)(?:\[(\d+)\])? (.*)/s.exec(message);
    // The folder cannot be opened, which says nothing about the patterns.
    if (found === null) return;
    const [, list, index, why] = found;
    const key = list as keyof typeof FLAGS;
    if (index === undefined) throw new UsageError(`${FLAGS[key]} ${why}`);
    const pattern = visible(rules[key]?.[Number(index)] ?? "");
    throw new UsageError(`${FLAGS[key]} ${pattern === "" ? '""' : pattern} ${why}`);
  }
}
