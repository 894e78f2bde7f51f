// Reads the rules of a context: the paths that tools may not read or change.

import type { AccessRules } from "../index.js";
import { PATHS_THAT_RUN } from "./definitions/path-presets.js";
import { ownOf } from "./own.js";

const LISTS = ["deny", "read_only", "write_only"] as const;

/**
 * A copy of a host's rules, so that later changes have no effect. `Workspace.open` checks the lists themselves. Throws a
 * `TypeError` for a key that is no list of rules: a rule under a mistyped name would protect nothing.
 */
export function readRules(rules: unknown): AccessRules | null {
  if (rules === undefined || rules === null) return null;
  // A promise, or a Map with the lists in it, has no keys of its own, and would protect nothing.
  if (typeof rules !== "object" || Array.isArray(rules) || !isPlain(rules)) {
    throw new TypeError(
      "rules must be a plain object with the lists deny, read_only and write_only",
    );
  }
  const unknown = Object.keys(rules).find((key) => !LISTS.some((list) => list === key));
  if (unknown !== undefined) {
    const known = "the lists are deny, read_only and write_only";
    throw new TypeError(`rules has no list ${JSON.stringify(unknown)}; ${known}`);
  }
  const read: AccessRules = {};
  for (const key of LISTS) {
    const list = ownOf(rules as AccessRules, key) ?? null;
    if (list !== null) read[key] = Array.isArray(list) ? [...list] : list;
  }
  return read;
}

/** Whether an object is one as `{}` makes it, in whatever realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * The rules of a `Workspace` that a host gives, with those of the context beside it.
 *
 * Throws a `TypeError` if both have the same list: two lists cannot be made into one, because a pattern with `!` of one
 * would take back what the other protects.
 */
export function rulesBeside(held: AccessRules | null, given: AccessRules | null): AccessRules {
  const twice = LISTS.find((key) => held?.[key] != null && given?.[key] != null);
  if (twice !== undefined) {
    throw new TypeError(
      `rules.${twice}: the Workspace has such a list already; give one of the two`,
    );
  }
  return { ...held, ...given };
}

/**
 * The rules of a toolkit whose host has no `read_only` of its own: paths that programs run unasked are read-only. `null` if
 * the host has one, and be it empty.
 */
export function addDefault(rules: AccessRules | null): AccessRules | null {
  if (rules?.read_only != null) return null;
  return { ...rules, read_only: PATHS_THAT_RUN };
}
