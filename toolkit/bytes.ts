// Byte arrays of any realm. `instanceof` would refuse those that come from a test runner's or another `vm`
// context.

import { types } from "node:util";

const TypedArray = Object.getPrototypeOf(Uint8Array.prototype);

function internal<T>(key: "buffer" | "byteOffset" | "length"): (bytes: Uint8Array) => T {
  const { get } = Object.getOwnPropertyDescriptor(TypedArray, key) as PropertyDescriptor;
  return (bytes) => (get as () => T).call(bytes);
}

// Read by the built-in getters, because a subclass can override the properties.
const bufferOf = internal<ArrayBuffer>("buffer");
const offsetOf = internal<number>("byteOffset");
const lengthOf = internal<number>("length");

/** The bytes of a `Uint8Array` of any realm, not copied; `null` of anything else. */
export function asBytes(value: unknown): Uint8Array | null {
  if (!types.isUint8Array(value)) return null;
  const length = lengthOf(value);
  // A detached buffer has length 0, and a view of it would throw.
  if (length === 0) return new Uint8Array();
  return new Uint8Array(bufferOf(value), offsetOf(value), length);
}

/** `asBytes` that also takes other views and whole buffers. */
export function asBytesOfBuffer(value: unknown): Uint8Array | null {
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
  if (types.isUint8Array(value)) return asBytes(value);
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : null;
}
