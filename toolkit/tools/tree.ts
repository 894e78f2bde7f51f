// The tool `tree`: the function `tree`, and a hint for the model where the tree is cut.

import { type TreeOptions, type TreeResult, tree } from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { TREE, type TreeToolArguments } from "../definitions/tree.js";
import { withSignalOf } from "./signal.js";
import type { Tool } from "./tool.js";

type Params = [path?: string | null | undefined, options?: TreeOptions | null];

export const TREE_TOOL = {
  ...TREE,
  needsWorkspace: true,
  async handler(context: HandlerContext, path?: string | null, options?: TreeOptions | null) {
    return withSignalOf(context, options, (all) => tree(rootOf(context), path, all));
  },
  paramsOf({ path, ...options }: TreeToolArguments): Params {
    // Without a prototype, so that properties of `Object.prototype` are not taken for options.
    return [path, Object.assign(Object.create(null), options)];
  },
  finish(_context, _args, result) {
    if (result.status !== "success" || !result.data.limit_reached) return result;
    const hint =
      "There are more nodes: call tree with the path of a folder, or a larger max_entries.";
    return { ...result, hint };
  },
} satisfies Tool<"tree", TreeToolArguments, TreeResult, Params>;
