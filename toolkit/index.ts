// The toolkit layer: what stands between an agent toolkit and the addon.

export type {} from "../index.js";
