// Executes a call on the toolkit's root. A person is asked first if the policy says so, or if nothing but the toolkit's
// default rules refuse the change.

import type { Workspace } from "../index.js";
import { throwIfAborted } from "./abort.js";
import { type ApprovalRequest, refusalOf } from "./approval.js";
import { isDenial, isDenialAnswer } from "./denied-path.js";
import { holdRealRoot } from "./resolve-path.js";
import type { ToolFailure } from "./result.js";
import { permissionOf } from "./secure-tool.js";
import type { CallContext, Session } from "./session.js";
import type { Arguments, Proposal, Tool } from "./tools/tool.js";

/** A call that has begun: its context is fixed. */
export interface Call {
  readonly session: Session;
  readonly tool: Tool;
  readonly context: CallContext;
}

/** The arguments of a call, and the handler's for them. */
interface Given {
  readonly args: Arguments;
  readonly params: never[];
}

type AnyProposal = Proposal<unknown> | undefined;

/**
 * Asks a person, if the policy of the tool is `"ask"`, and runs the tool. If the default rules refuse the change, and the
 * host's own would not, the person is asked whatever the policy is, and the approved change is made without the default.
 *
 * @param noteDefault called if nothing but the default refuses the change
 */
export async function runGated(
  call: Call,
  given: Given,
  noteDefault: () => void,
): Promise<unknown> {
  const { session, tool, context } = call;
  const { args, params } = given;
  const isAsked = permissionOf(context, tool.metadata.name) === "ask";
  const step = (): Promise<unknown> => (isAsked ? proposed(call, args) : handled(call, params));
  const outcome = await outcomeOf(step);
  if (!outcome.isDenied) {
    const value = valueIn(outcome);
    return isAsked ? runApproved(call, given, value as AnyProposal, {}) : value;
  }
  const free = callWithoutDefault(call);
  if (free === null) return answerOf(outcome);
  const proposal = await outcomeOf(() => proposed(free, args));
  throwIfAborted(context.signal);
  if (proposal.isDenied) return answerOf(outcome);
  noteDefault();
  if (session.approve === null) return answerOf(outcome);
  return runPinned(call, given, valueIn(proposal) as AnyProposal);
}

/**
 * Asks the person about a change that the default rules refuse, and makes it. Both are done where the default rules leave
 * out the places to which the paths of the proposal lead now: a link on them that leads elsewhere later makes the change
 * denied.
 */
async function runPinned(call: Call, given: Given, proposal: AnyProposal): Promise<unknown> {
  const guarded = call.context.workspace;
  // Default rules refuse no call without a root, nor without a proposal.
  if (guarded === null || proposal === undefined) return null;
  if ("answer" in proposal) return proposal.answer;
  const workspace = guarded.withApproved([...proposal.paths]);
  holdRealRoot(workspace, guarded);
  try {
    const pinned = callOn(call, workspace);
    const change = await outcomeOf(() => proposed(pinned, given.args));
    if (change.isDenied) return answerOf(change);
    const why = { reason: "rules" } as const;
    return await runApproved(pinned, given, valueIn(change) as AnyProposal, why);
  } finally {
    workspace.close();
  }
}

/**
 * The call on the root without the default rules; `null` if the default is not in force, or the change cannot be proposed
 * before it is made.
 */
function callWithoutDefault(call: Call): Call | null {
  const { session, tool } = call;
  const { workspaceWithoutDefault: workspace } = session;
  if (workspace === null || !tool.metadata.isWriteOp || tool.propose === undefined) return null;
  return callOn(call, workspace);
}

/** The same call on another root. */
function callOn({ session, tool, context }: Call, workspace: Workspace): Call {
  return { session, tool, context: Object.assign(Object.create(null), context, { workspace }) };
}

async function proposed({ tool, context }: Call, args: Arguments): Promise<AnyProposal> {
  return tool.propose?.(context, args as never);
}

async function handled({ tool, context }: Call, params: never[]): Promise<unknown> {
  return tool.handler(context, ...params);
}

/** Asks the person about a proposal, and makes exactly the change that was approved. */
async function runApproved(
  call: Call,
  { args, params }: Given,
  proposal: AnyProposal,
  why: Pick<ApprovalRequest, "reason">,
): Promise<unknown> {
  if (proposal !== undefined && "answer" in proposal) return proposal.answer;
  const refusal = await askPerson(call, args, proposal?.diff ?? null, why);
  if (refusal !== null) return refusal;
  return handled(call, proposal ? call.tool.paramsOf(proposal.args as never) : params);
}

/** Asks for approval. `null` if the call is approved. */
export async function askPerson(
  { session: { approve }, tool: { definition }, context }: Call,
  args: Arguments,
  diff: string | null,
  why: Pick<ApprovalRequest, "reason">,
): Promise<ToolFailure | null> {
  if (approve === null) return null;
  const { callId, sessionId, conversationId, turnId, signal } = context;
  const path = args.path ?? args.uri;
  return refusalOf(approve, {
    name: definition.name,
    arguments: structuredClone(args),
    path: typeof path === "string" ? path : null,
    diff,
    ...why,
    callId,
    sessionId,
    conversationId,
    turnId,
    signal,
  });
}

/** What a step came to: a value, or the error that it threw. */
type Outcome = { readonly isDenied: boolean } & (
  | { readonly value: unknown }
  | { readonly error: unknown }
);

async function outcomeOf(step: () => Promise<unknown>): Promise<Outcome> {
  try {
    const value = await step();
    return { isDenied: isDenialAnswer(answerIn(value)), value };
  } catch (error) {
    return { isDenied: isDenial(error), error };
  }
}

/** A proposal's answer stands for the answer of the tool. */
function answerIn(value: unknown): unknown {
  const isObject = typeof value === "object" && value !== null;
  return isObject && "answer" in value ? value.answer : value;
}

/** The value; throws the error. */
function valueIn(outcome: Outcome): unknown {
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}

/** The answer to a denied call. */
function answerOf(outcome: Outcome): unknown {
  return answerIn(valueIn(outcome));
}
