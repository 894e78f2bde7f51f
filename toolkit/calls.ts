// One call of a toolkit's tool, from the arguments as they were sent to the result.

import { throwIfAborted } from "./abort.js";
import { type ReadArguments, readArguments } from "./arguments.js";
import { beginEvent } from "./events.js";
import { forwardCall } from "./forward.js";
import { askPerson, type Call, runGated } from "./gated-call.js";
import { runtimeFailure, type ToolFailure, type ToolResult, withMessage } from "./result.js";
import { permissionOf, refusedByRule, runSecured, type ToolPolicy } from "./secure-tool.js";
import { type CallContext, type CallOptions, isExecutedAt, type Session } from "./session.js";
import { completeRefusal } from "./tools/refusal.js";
import type { Arguments, Tool } from "./tools/tool.js";

/**
 * Calls the tool that `find` returns. Failures are results; the promise rejects only with the reason of an
 * aborted signal.
 */
export async function call(
  session: Session,
  find: () => Tool | ToolFailure,
  sent: () => unknown,
  options: CallOptions | null | undefined,
): Promise<ToolResult> {
  let begun: ReturnType<Session["begin"]>;
  try {
    begun = session.begin(options);
  } catch (error) {
    return notBegun(session, find(), error);
  }
  const { context, release } = begun;
  try {
    throwIfAborted(context.signal);
    const tool = find();
    return "status" in tool ? tool : await callTool({ session, tool, context }, sent);
  } finally {
    release();
  }
}

/** The failure of a call whose context or options could not be read: a getter threw, or a signal is none. */
function notBegun(session: Session, tool: Tool | ToolFailure, error: unknown): ToolResult {
  if ("status" in tool) return tool;
  const { name } = tool.definition;
  const why =
    error instanceof TypeError && /^signal must/.test(error.message) ? error.message : null;
  const failure = runtimeFailure(
    `${name} was not called: ${why ?? "reading the context or the options of the call has thrown"}.`,
  );
  const publish = beginEvent(name, {});
  const result = completeRefusal(tool, session.fixedContext, {}, failure);
  publish({}, result);
  return result;
}

async function callTool(call: Call, sent: () => unknown): Promise<ToolResult> {
  const { tool, context, session } = call;
  const publish = beginEvent(tool.definition.name, context);
  const read = readArguments(tool, sent);
  const refused = refusalBefore(call, read);
  if (refused !== null) {
    const argument = read.ok ? null : read.argument;
    const result = completeRefusal(tool, context, read.args, refused, argument);
    publish(read.args, result);
    return result;
  }
  const { args, ignored } = read as ReadArguments & { ok: true };
  // The other side executes this tool, so the call is forwarded.
  if (!isExecutedAt(tool, session.location)) {
    return withIgnored(completeRefusal(tool, context, args, await forward(call, args)), ignored);
  }
  const { answer, isByDefault } = await run(call, args);
  const result = completeRefusal(tool, context, args, answer);
  publish(args, result, isByDefault);
  const finished = tool.finish ? await tool.finish(context, args as never, result) : result;
  return withIgnored(finished, ignored);
}

/**
 * The refusal of a call that cannot be made; `null` if it can. The sentence that repairs the arguments comes
 * last, so that only an allowed call gets it.
 */
function refusalBefore({ session, tool, context }: Call, read: ReadArguments): ToolFailure | null {
  const { metadata } = tool;
  const refused = refusedByRule(context, metadata);
  if (refused !== null) return refused;
  if (session.isClosed()) return runtimeFailure("The toolkit is closed.", { code: "CLOSED" });
  if (!isExecutedAt(tool, session.location)) {
    if (session.forward === null) {
      return runtimeFailure(
        `${metadata.name} is executed by the ${metadata.executionLocation}, and nothing here passes it on.`,
      );
    }
  } else if (tool.needsWorkspace === true && session.workspace === null) {
    const message = `There is no workspace here, and ${metadata.name} needs one.`;
    return runtimeFailure(message, { code: "NO_WORKSPACE" });
  }
  return read.ok ? null : runtimeFailure(read.repair, { code: "INVALID_ARGUMENT" });
}

/** Forwards a call to the other side. */
function forward(call: Call, args: Arguments): Promise<ToolResult> {
  const { session, tool, context } = call;
  const work = async () => {
    const isAsked = permissionOf(context, tool.metadata.name) === "ask";
    const refusal = isAsked ? await askPerson(call, args, null, {}) : null;
    return (
      refusal ??
      forwardCall(session.forward as NonNullable<Session["forward"]>, tool, context, args)
    );
  };
  return runSecured(tool.metadata, (_context, _args: Arguments) => work(), withoutAsking(context), [
    args,
  ]);
}

/** Executes a call here. `isByDefault`: nothing but the toolkit's default rules has refused it. */
async function run(
  call: Call,
  args: Arguments,
): Promise<{ answer: ToolResult; isByDefault: boolean }> {
  const { tool, context } = call;
  let isByDefault = false;
  const noteDefault = () => {
    isByDefault = true;
  };
  const work = (_context: CallContext, ...params: never[]) =>
    runGated(call, { args, params }, noteDefault);
  const sent = tool.paramsOf(args as never);
  const answer = await runSecured(tool.metadata, work, withoutAsking(context), sent);
  return { answer, isByDefault };
}

/**
 * The context with `"ask"` as `"allow"`: approval is asked for here, where the proposed change is known, so the
 * secure tool must not ask a second time.
 */
function withoutAsking(context: CallContext): CallContext {
  const { tools = null, defaultPolicy } = (context.policy ?? {}) as ToolPolicy;
  const allowed = (permission: unknown) => (permission === "ask" ? "allow" : permission);
  if (!context.policy) return context;
  const entries = Object.entries(tools ?? {}).map(([name, value]) => [name, allowed(value)]);
  const policy = {
    tools: Object.assign(Object.create(null), Object.fromEntries(entries)),
    defaultPolicy: allowed(defaultPolicy),
  };
  return Object.assign(Object.create(null), context, { policy });
}

/** The result, with the sentence about ignored arguments. */
function withIgnored(result: ToolResult, ignored: string | null): ToolResult {
  if (ignored === null) return result;
  if (result.status !== "success") return withMessage(result, `${result.message} (${ignored})`);
  return { ...result, hint: result.hint === undefined ? ignored : `${result.hint} ${ignored}` };
}
