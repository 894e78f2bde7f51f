// Reads a policy once, when the toolkit is made, so that a mistake in it throws then.

import { ownOf } from "./own.js";
import type { Permission, ToolPolicy } from "./secure-tool.js";

const PERMISSIONS: readonly unknown[] = ["allow", "deny", "ask"] satisfies Permission[];

/** A checked copy of a policy. Throws a `TypeError` that names the unknown value or tool. */
export function readPolicy(policy: unknown, names: readonly string[]): ToolPolicy | null {
  if (policy === undefined || policy === null) return null;
  if (typeof policy !== "object") throw new TypeError("policy must be an object");
  const { tools, defaultPolicy } = {
    tools: ownOf(policy as ToolPolicy, "tools"),
    defaultPolicy: ownOf(policy as ToolPolicy, "defaultPolicy"),
  };
  return {
    tools: readTools(tools, names),
    defaultPolicy: readPermission("policy.defaultPolicy", defaultPolicy) ?? "deny",
  };
}

function readTools(tools: unknown, names: readonly string[]): Record<string, Permission> {
  const read: Record<string, Permission> = Object.create(null);
  if (tools === undefined || tools === null) return read;
  if (!isRecord(tools)) throw new TypeError("policy.tools must be an object with the tools' names");
  const unknown = Object.keys(tools).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const known = names.join(", ");
    throw new TypeError(`policy.tools names ${JSON.stringify(unknown)}; the tools are ${known}`);
  }
  for (const name of names) {
    const value = permissionIn(tools, name);
    const permission = readPermission(`policy.tools[${JSON.stringify(name)}]`, value);
    if (permission !== null) read[name] = permission;
  }
  return read;
}

/**
 * The value that a policy's `tools` has for a name. A value of its class or prototype can refuse a tool, but
 * not allow it: `Object.create({ … })` may have got it from another policy.
 */
export function permissionIn(tools: Record<string, unknown>, name: string): unknown {
  const value = ownOf(tools, name);
  return value === "allow" && !Object.hasOwn(tools, name) ? undefined : value;
}

/** Whether a value can have tools' names as its keys: no list and no collection. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !(Symbol.iterator in value);
}

function readPermission(where: string, value: unknown): Permission | null {
  if (value === undefined || value === null) return null;
  if (PERMISSIONS.includes(value)) return value as Permission;
  throw new TypeError(`${where} must be "allow", "deny" or "ask"`);
}
