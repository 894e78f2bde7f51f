// `ToolCatalog`: the tools as a host registers them. The handlers check neither policy nor write scope. The
// host puts each behind a wrapper of its own, or behind `createSecureTool`.

import type { ToolMetadata, ToolName } from "./definitions/index.js";
import { TOOLS } from "./tools/index.js";

type Tools = typeof TOOLS;

/** An entry of the catalog: `handler(context, ...args)` resolves with the data, or rejects. */
export interface ToolCatalogEntry<Name extends ToolName = ToolName> {
  readonly metadata: ToolMetadata<Name>;
  readonly handler: Tools[Name]["handler"];
}

/** The data of each tool. */
export type ToolResults = {
  [Name in ToolName]: Awaited<ReturnType<Tools[Name]["handler"]>>;
};

/** The tools by name. Each handler takes the context, then the arguments of ringfence's function. */
export const ToolCatalog = Object.fromEntries(
  Object.entries(TOOLS).map(([name, { metadata, handler }]) => [name, { metadata, handler }]),
) as { readonly [Name in ToolName]: ToolCatalogEntry<Name> };
