// `ringfence/stores`: stores that need nothing but JavaScript. No addon is loaded and no dependency.

export {
  type MemoryDocuments,
  memoryFileStore,
  memoryStore,
} from "./memory.js";
export { type UnstorageLike, unstorageKey, unstorageStore } from "./unstorage.js";
