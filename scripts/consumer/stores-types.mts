// A strict TypeScript consumer of the stores that need no dependency: compiled, never run.

import type { ContentAddressedStore, DocumentStore, VirtualRoot } from "ringfence";
import type * as stores from "ringfence/stores";
import { memoryFileStore, memoryStore, unstorageKey, unstorageStore } from "ringfence/stores";
import { SUBPATHS } from "./exports.mjs";

/** Every export has its declaration. */
export const inStores: readonly (keyof typeof stores)[] = SUBPATHS["ringfence/stores"];

export function documents(bytes: Uint8Array): DocumentStore[] {
  // @ts-expect-error a number is no document
  memoryStore({ a: 1 });
  // @ts-expect-error a storage is an object
  unstorageStore("storage");
  const key: string = unstorageKey("src/a.ts");
  return [
    memoryStore({ a: "text", b: bytes }),
    memoryStore(new Map([["a", "text"]])),
    memoryStore([["a", bytes]] as const),
    unstorageStore({ getItemRaw: async (asked: string) => (asked === key ? bytes : null) }),
  ];
}

export async function size(signal: AbortSignal): Promise<number> {
  const document = await memoryStore({}).get("a", { maxBytes: 5, signal });
  // @ts-expect-error it may be null
  document.sizeBytes;
  return document?.sizeBytes ?? 0;
}

export const store: ContentAddressedStore = memoryFileStore();
export const root: VirtualRoot = { resolve: () => null, store };
