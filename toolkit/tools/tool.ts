// The type of a tool: its description and its handler. Each tool has a file of its own in this folder, which
// exports one object. The catalog, `createAgentToolkit`, policy, events and adapters loop over these.

import type { HandlerContext } from "../context.js";
import type { ToolDescription } from "../definitions/tool.js";
import type { ToolResult } from "../result.js";

/** The reason why a call was refused before its tool ran. */
export interface Refusal {
  readonly by: "policy" | "scope" | "sandbox" | "arguments" | "failure";
  /** The argument at fault, where it is known. */
  readonly argument: string | null;
  readonly message: string;
}

/** A tool's own payload for a refused call, and the code in it. */
export interface RefusalAnswer {
  readonly code: string;
  readonly result: unknown;
}

/**
 * The change that a writing tool proposes for approval: its diff, and arguments that make exactly this change.
 * Or the answer, if there is nothing to approve.
 */
export type Proposal<Data> =
  | {
      readonly diff: string;
      readonly args: object;
      /** All paths at which it makes, changes, moves or removes something. */
      readonly paths: readonly string[];
    }
  | { readonly answer: Data };

/** The arguments of a call, read. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A tool of ringfence's or of a host's. */
export interface Tool<
  Name extends string = string,
  Args extends object = never,
  Data = unknown,
  Params extends unknown[] = never[],
> extends ToolDescription<Name> {
  /** Does the work: resolves with the data, or rejects. It checks neither policy nor write scope. */
  handler(context: HandlerContext, ...params: Params): Promise<Data> | Data;
  /** The handler's arguments for those of a model. */
  paramsOf(args: Args): Params;
  /** `true` if it needs a workspace, `false` if it never uses one. */
  readonly needsWorkspace?: boolean;
  /** Whether the context has the keys that it needs beside a workspace. Default: yes. */
  isAvailable?(context: HandlerContext): boolean;
  /** Its own payload for a call that is refused before it runs. */
  refusal?(context: HandlerContext, args: Arguments, refusal: Refusal): RefusalAnswer;
  /** Makes the proposal, if the call needs approval. */
  propose?(context: HandlerContext, args: Args): Promise<Proposal<Data>>;
  /** Adds hints for the model to a result of the agent toolkit. */
  finish?(
    context: HandlerContext,
    args: Args,
    result: ToolResult<Data>,
  ): ToolResult<Data> | Promise<ToolResult<Data>>;
}
