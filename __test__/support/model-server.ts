// A model on the loopback interface, in the three forms that the documentation's programs speak. It asks
// to read package.json, and then says what it was given: an answer that is right only if the program's
// tools, its loop and ringfence worked together. It also has one object, as S3 gives it.

import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";

type Json = Record<string, unknown>;

export class ModelServer {
  readonly #server: http.Server;

  private constructor(server: http.Server) {
    this.#server = server;
  }

  static async start(): Promise<ModelServer> {
    const server = http.createServer((request, response) => {
      answer(request, response).catch((error: unknown) => {
        response.writeHead(400, { "Content-Type": "application/json" });
        response.end(JSON.stringify({ error: { message: String(error) } }));
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new ModelServer(server);
  }

  /** What leads the clients here, in place of the services they are made for. */
  get environment(): Record<string, string> {
    const origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return {
      OPENAI_BASE_URL: `${origin}/v1`,
      OPENAI_API_KEY: "none",
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_API_KEY: "none",
      AWS_ENDPOINT_URL: origin,
      AWS_REGION: "none",
      AWS_ACCESS_KEY_ID: "none",
      AWS_SECRET_ACCESS_KEY: "none",
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
      NO_PROXY: "127.0.0.1",
    };
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}

async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const { method, url = "" } = request;
  const { pathname } = new URL(url, "http://127.0.0.1");
  if (method === "GET") {
    giveObject(pathname, request.headers.range, response);
    return;
  }
  let body = "";
  for await (const chunk of request) body += String(chunk);
  const form = FORMS[pathname];
  if (form === undefined) throw new Error(`there is nothing at ${method} ${pathname}`);
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(form(JSON.parse(body) as Json)));
}

const CALL = { name: "read_file", arguments: { path: "package.json" } };

const FORMS: Readonly<Record<string, (asked: Json) => Json>> = {
  "/v1/chat/completions": ({ tools, messages }) => {
    const offered = (tools as { function: { name: string } }[]).map((tool) => tool.function.name);
    const given = (messages as Json[]).findLast(({ role }) => role === "tool");
    const called = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: callAsText(offered) }],
    };
    const message = given ? { role: "assistant", content: sayingOf(given.content) } : called;
    const choice = { index: 0, message, finish_reason: given ? "stop" : "tool_calls" };
    return { id: "c_1", object: "chat.completion", created: 0, model: "none", choices: [choice] };
  },
  "/v1/responses": ({ tools, input }) => {
    const offered = (tools as { name: string }[]).map(({ name }) => name);
    const items = Array.isArray(input) ? (input as Json[]) : [];
    const given = items.findLast(({ type }) => type === "function_call_output");
    const called = { type: "function_call", id: "fc_1", call_id: "call_1", ...callAsText(offered) };
    const said = (text: string) => ({
      type: "message",
      id: "msg_1",
      role: "assistant",
      content: [{ type: "output_text", text, annotations: [] }],
    });
    return {
      id: "resp_1",
      object: "response",
      created_at: 0,
      model: "none",
      output: [given ? said(sayingOf(given.output)) : called],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    };
  },
  "/v1/messages": ({ tools, messages }) => {
    const offered = (tools as { name: string }[]).map(({ name }) => name);
    const { content } = (messages as { content: unknown }[]).at(-1) ?? {};
    const given = Array.isArray(content)
      ? (content as Json[]).findLast(({ type }) => type === "tool_result")
      : undefined;
    const called = { type: "tool_use", id: "toolu_1", name: CALL.name, input: CALL.arguments };
    if (!given) assertOffered(offered);
    return {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "none",
      content: [given ? { type: "text", text: sayingOf(given.content) } : called],
      stop_reason: given ? "end_turn" : "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  },
};

function callAsText(offered: string[]): { name: string; arguments: string } {
  assertOffered(offered);
  return { name: CALL.name, arguments: JSON.stringify(CALL.arguments) };
}

function assertOffered(tools: string[]): void {
  if (!tools.includes(CALL.name)) throw new Error(`${CALL.name} is not among ${tools.join(", ")}`);
}

/** Of a tool's answer that is `read_file`'s of package.json, the name in it. */
function sayingOf(given: unknown): string {
  const result = JSON.parse(String(given)) as { data?: { content: string }; message?: string };
  if (result.data === undefined) return `I could not read it: ${result.message}`;
  const { name } = JSON.parse(result.data.content) as { name: string };
  return `The package is called ${name}.`;
}

function giveObject(
  pathname: string,
  range: string | undefined,
  response: http.ServerResponse,
): void {
  if (pathname !== "/sources/main/src/Billing/BillingService.cs") {
    response.writeHead(404, { "Content-Type": "application/xml" });
    response.end("<Error><Code>NoSuchKey</Code></Error>");
    return;
  }
  const whole = Buffer.from("class BillingService {}");
  const last = Number(/^bytes=0-(\d+)$/.exec(range ?? "")?.[1] ?? whole.length - 1);
  const bytes = whole.subarray(0, last + 1);
  response.writeHead(range === undefined ? 200 : 206, {
    "Content-Length": bytes.length,
    "Content-Range": `bytes 0-${bytes.length - 1}/${whole.length}`,
  });
  response.end(bytes);
}
