// Tool calls as OpenTelemetry spans, by the semantic conventions for generative AI: one span
// `execute_tool <name>` per call, with the fields of ringfence's event as attributes.
//
// The events of the channel `ringfence:tool` come once, when a call has ended, and have no time of
// their own. So the span is opened around `invoke`, and the event, which is published within it,
// adds its fields. An event outside of such a span is noted on whatever span is active.
//
//     npm run example, or npx tsx examples/opentelemetry.mts

import { subscribe } from "node:diagnostics_channel";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  type Attributes,
  context,
  createContextKey,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import {
  type AgentToolkit,
  createAgentToolkit,
  publishForwarded,
  TOOL_CHANNEL,
  type ToolResult,
} from "ringfence/toolkit";

const TOOL_SPAN = createContextKey("the span of a tool call");
const tracer = trace.getTracer("ringfence");

/** `invoke` of a toolkit, each call in a span of its own. Copy this and `noteEvents` into a host. */
function tracedInvoke(toolkit: AgentToolkit) {
  return async (name: string, args: unknown, callId?: string): Promise<ToolResult> => {
    const attributes: Attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "gen_ai.tool.type": "function",
      ...(callId === undefined ? {} : { "gen_ai.tool.call.id": callId }),
    };
    const span = tracer.startSpan(`execute_tool ${name}`, { kind: SpanKind.INTERNAL, attributes });
    const within = trace.setSpan(context.active(), span).setValue(TOOL_SPAN, span);
    try {
      const result = await context.with(within, () => toolkit.invoke(name, args));
      if (result.status !== "success") {
        failed(span, result.error.details.code ?? result.error.code, result.message);
      }
      return result;
    } catch (error) {
      failed(span, "aborted", String(error)); // nothing else makes `invoke` reject
      throw error;
    } finally {
      span.end();
    }
  };
}

function failed(span: Span, type: string, message: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** What the conventions have a name for, and for the rest names of our own. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  SessionId: "session.id",
  ConversationId: "gen_ai.conversation.id",
  TurnId: "ringfence.turn.id",
  ToolName: "gen_ai.tool.name",
  Path: "ringfence.path",
  Overwrite: "ringfence.overwrite",
  Success: "ringfence.success",
  ErrorCode: "ringfence.error.code",
  SizeBytes: "ringfence.size",
  Hash: "ringfence.hash",
};

/** Puts the fields of each event on the span of its call. */
function noteEvents(): void {
  subscribe(TOOL_CHANNEL, (message) => {
    const { event, ...fields } = message as { event: string } & Record<string, unknown>;
    const attributes: Attributes = {};
    for (const [field, value] of Object.entries(fields)) {
      const name = ATTRIBUTES[field];
      if (name !== undefined && value !== null) attributes[name] = value as Attributes[string];
    }
    const span = context.active().getValue(TOOL_SPAN) as Span | undefined;
    if (span) span.setAttributes(attributes);
    else trace.getActiveSpan()?.addEvent(event, attributes);
  });
}

/** A host has its own provider and exporter; this one keeps the spans, to print them. */
function startTracing(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  return exporter;
}

async function work(workspaceRoot: string): Promise<void> {
  const ids = { sessionId: "session-1", conversationId: "conversation-1", turnId: "turn-1" };
  const invoke = tracedInvoke(createAgentToolkit({ workspaceRoot, ...ids }));
  const note = { path: "docs/notes.md", content: "# Notes\n" };
  await tracer.startActiveSpan("invoke_agent example", async (agent) => {
    await Promise.all([
      invoke("workspace_create_file", note, "call_1"),
      invoke("read_file", { path: "../secret.txt" }, "call_2"),
    ]);
    await invoke("workspace_create_file", JSON.stringify(note), "call_3");
    await invoke("read_file", { path: "docs/notes.md" }, "call_4");
    publishForwarded({ toolName: "workspace_create_file", path: "docs/more.md", ...ids });
    agent.end();
  });
}

function print(exporter: InMemorySpanExporter): void {
  for (const span of exporter.getFinishedSpans()) {
    const [seconds, nanoseconds] = span.duration;
    const line = {
      name: span.name,
      span: span.spanContext().spanId,
      parent: span.parentSpanContext?.spanId ?? null,
      milliseconds: seconds * 1e3 + nanoseconds / 1e6,
      status: SpanStatusCode[span.status.code],
      attributes: span.attributes,
      events: span.events.map(({ name, attributes }) => ({ name, attributes })),
    };
    console.log(JSON.stringify(line));
  }
}

const exporter = startTracing();
noteEvents();
const folder = await mkdtemp(path.join(tmpdir(), "ringfence-spans-"));
try {
  await work(folder);
  print(exporter);
} finally {
  await rm(folder, { recursive: true, force: true });
}
