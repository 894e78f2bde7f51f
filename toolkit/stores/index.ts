// `ringfence/stores`: stores in pure JavaScript. They load neither the addon nor a dependency.

export {
  type MemoryDocuments,
  memoryFileStore,
  memoryStore,
} from "./memory.js";
export { type UnstorageLike, unstorageKey, unstorageStore } from "./unstorage.js";
