// A server that answers as a test says, right or wrong: bytes on a socket of the loopback interface.

import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { S3Client } from "@aws-sdk/client-s3";

export interface Asked {
  method: string;
  /** With the query. */
  target: string;
  headers: Record<string, string>;
}

/** An answer: a head, then a body of any length. */
export interface Answered {
  status: number;
  headers?: Record<string, string | number>;
  /** All at once, or chunk by chunk, as fast as they are taken. */
  body?: string | Iterable<Uint8Array>;
}

/** An answer of S3's own form. */
export function s3Error(status: number, code: string, more = ""): Answered {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>m</Message>${more}</Error>`;
  const headers = { "content-type": "application/xml", "content-length": body.length };
  return { status, headers, body };
}

/** Chunks of 64 KiB, so many bytes in all. */
export function* zeros(count: number): Iterable<Uint8Array> {
  const chunk = new Uint8Array(65_536).fill(0x30);
  for (let sent = 0; sent < count; sent += chunk.length) {
    yield chunk.subarray(0, Math.min(chunk.length, count - sent));
  }
}

export class S3Stub {
  readonly asked: Asked[] = [];
  /** How many bytes of bodies have been sent. */
  sent = 0;
  readonly client: S3Client;
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();

  private constructor(server: net.Server) {
    this.#server = server;
    this.client = new S3Client({
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: "us-east-1",
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
    });
  }

  /** Runs `body` with a server that answers as `answer` says. */
  static async with(
    answer: (asked: Asked) => Answered,
    body: (stub: S3Stub) => Promise<unknown>,
  ): Promise<void> {
    let stub: S3Stub | undefined;
    const server = net.createServer((socket) => stub?.connect(socket, answer));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stub = new S3Stub(server);
    try {
      await body(stub);
    } finally {
      await stub.stop();
    }
  }

  get location(): { client: S3Client; bucket: string } {
    return { client: this.client, bucket: "bucket" };
  }

  async stop(): Promise<void> {
    this.client.destroy();
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Resolves when all connections are closed. */
  async idle(): Promise<void> {
    while (this.#sockets.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  connect(socket: net.Socket, answer: (asked: Asked) => Answered): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    let head = "";
    socket.on("data", (data) => {
      head += data.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      const [line = "", ...lines] = head.slice(0, end).split("\r\n");
      head = "";
      const [method = "", target = ""] = line.split(" ");
      const pairs = lines.map((text) => text.split(/:\s*/, 2) as [string, string]);
      const headers = Object.fromEntries(pairs.map(([key, value]) => [key.toLowerCase(), value]));
      const asked = { method, target, headers };
      this.asked.push(asked);
      this.#answer(socket, method, answer(asked)).catch(() => {});
    });
  }

  async #answer(socket: net.Socket, method: string, answered: Answered): Promise<void> {
    const { status, headers = {}, body = "" } = answered;
    const lines = Object.entries({ connection: "close", ...headers });
    const shown = lines.map(([key, value]) => `${key}: ${value}\r\n`).join("");
    socket.write(`HTTP/1.1 ${status} Status\r\n${shown}\r\n`);
    if (method !== "HEAD") {
      const chunks = typeof body === "string" ? [Buffer.from(body)] : body;
      for (const chunk of chunks) {
        if (socket.destroyed) return;
        this.sent += chunk.length;
        if (!socket.write(chunk)) {
          await new Promise<void>((resolve) => {
            socket.once("drain", resolve);
            socket.once("close", resolve);
          });
        }
      }
    }
    socket.end();
  }
}
