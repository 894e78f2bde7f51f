// Reads properties of options and contexts, and ignores those of `Object.prototype`.

/**
 * A property of an object or of its classes, getters included. A property that only `Object.prototype` has
 * (of any realm) counts as absent: another part of the program may have put it there, and the caller did
 * not write it.
 */
export function ownOf<T extends object, Key extends keyof T>(
  object: T | null | undefined,
  key: Key,
): T[Key] | undefined {
  if (object === null || object === undefined) return undefined;
  let holder: object | null = object;
  while (holder !== null && !Object.hasOwn(holder, key)) holder = Object.getPrototypeOf(holder);
  if (holder === null) return undefined;
  const isRootPrototype = holder !== object && Object.getPrototypeOf(holder) === null;
  return isRootPrototype ? undefined : object[key];
}

/**
 * `ownOf` for any value. A property whose getter or proxy trap throws counts as absent.
 */
export function readableOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    return ownOf(value as Record<string, unknown>, key);
  } catch {
    return undefined;
  }
}
