// Values that no caller means well by.

/** A value of every type that is neither string nor number nor absent. */
export const STRANGERS: readonly (readonly [string, unknown])[] = [
  ["true", true],
  ["a BigInt", 10n],
  ["a symbol", Symbol("s")],
  ["an object", {}],
  ["an array", [2]],
  ["a function", () => 2],
  ["a Date", new Date(2)],
  ["a boxed number", Object(2)],
  ["a boxed string", Object("a.txt")],
  ["a revoked Proxy", revokedProxy()],
];

/** An object on which every operation throws. */
export function hostileProxy(): object {
  const boom = () => {
    throw new Error("boom");
  };
  return new Proxy(
    {},
    { get: boom, has: boom, ownKeys: boom, getPrototypeOf: boom, getOwnPropertyDescriptor: boom },
  );
}

/** An object of which nothing can be asked any more. */
export function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** An object whose `key` throws when it is read. */
export function withGetter(key: string, thrown: unknown = new Error("boom")): object {
  return Object.defineProperty({}, key, {
    enumerable: true,
    get() {
      throw thrown;
    },
  });
}

/** What a signal may be aborted with: anything, and the call fails with that very thing. */
export const ABORT_REASONS = [
  ["an Error", new Error("enough")],
  ["a string", "enough"],
  ["null", null],
  ["false", false],
  ["an object", { why: "enough" }],
  ["a symbol", Symbol("enough")],
] as const;

/** Names that Windows gives another meaning. */
export const WINDOWS_NAMES = [
  "a.txt::$DATA",
  "a.txt:stream",
  "nul",
  "NUL.txt",
  "con",
  "aux.c",
  "com1",
  "a.txt.",
  "a.txt ",
  "C:a.txt",
  "dir./a.txt",
] as const;
