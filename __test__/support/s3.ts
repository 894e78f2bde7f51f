// A real S3 server, one process for one test file, and a way to it that counts what is sent and can
// fail. See scripts/s3-server.mjs.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net, { type AddressInfo } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { CreateBucketCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";

const SCRIPT = fileURLToPath(new URL("../../scripts/s3-server.mjs", import.meta.url));

interface Served {
  port: number;
  root: string;
  accessKeyId: string;
  secretAccessKey: string;
}

export class S3Server {
  readonly #process: ChildProcess;
  readonly #served: Served;
  #buckets = 0;

  private constructor(process: ChildProcess, served: Served) {
    this.#process = process;
    this.#served = served;
  }

  static async start(): Promise<S3Server> {
    // It ends when its standard input does: with this process, however that ends.
    const stdio = ["pipe", "pipe", "inherit"] as const;
    const child = spawn(process.execPath, [SCRIPT, "--serve"], { stdio: [...stdio] });
    let said = "";
    for await (const text of child.stdout as NonNullable<typeof child.stdout>) {
      said += String(text);
      if (said.includes("\n")) return new S3Server(child, JSON.parse(said) as Served);
    }
    throw new Error("the S3 server did not start");
  }

  async stop(): Promise<void> {
    this.#process.stdin?.end();
    await once(this.#process, "exit");
  }

  get port(): number {
    return this.#served.port;
  }

  get secrets(): string[] {
    const { port, root, secretAccessKey, accessKeyId } = this.#served;
    return ["127.0.0.1", String(port), root, secretAccessKey, accessKeyId];
  }

  /** A client that tries once, so that a failure is one. */
  client({ port = this.port, ...settings }: ClientSettings = {}): S3Client {
    const { accessKeyId, secretAccessKey } = this.#served;
    return new S3Client({
      endpoint: `http://127.0.0.1:${port}`,
      region: "us-east-1",
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId, secretAccessKey },
      ...settings,
    });
  }

  /** A bucket that no other test knows. */
  async bucket(): Promise<Bucket> {
    this.#buckets += 1;
    const name = `bucket-${this.#buckets}`;
    const client = this.client();
    await client.send(new CreateBucketCommand({ Bucket: name }));
    return new Bucket(client, name, path.join(this.#served.root, name));
  }
}

export interface ClientSettings {
  /** Of a `Wire`, to go that way. */
  port?: number;
  maxAttempts?: number;
  credentials?: { accessKeyId: string; secretAccessKey: string };
}

export class Bucket {
  readonly client: S3Client;
  readonly name: string;
  readonly #folder: string;

  constructor(client: S3Client, name: string, folder: string) {
    this.client = client;
    this.name = name;
    this.#folder = folder;
  }

  get location(): { client: S3Client; bucket: string } {
    return { client: this.client, bucket: this.name };
  }

  async put(key: string, text: string): Promise<void> {
    const Body = Buffer.from(text);
    // Of an empty body the client would not know the length.
    const command = { Bucket: this.name, Key: key, Body, ContentLength: Body.length };
    await this.client.send(new PutObjectCommand(command));
  }

  /** Lays an object on the server's disk, which is faster. */
  lay(key: string, body: string): void {
    fs.mkdirSync(path.dirname(this.file(key)), { recursive: true });
    fs.writeFileSync(this.file(key), body);
  }

  /** An object of so many zero bytes, which take no room on the disk. */
  async putZeros(key: string, size: number): Promise<void> {
    await this.put(key, "");
    fs.truncateSync(this.file(key), size);
  }

  /** The server's own file of an object. */
  file(key: string): string {
    return path.join(this.#folder, key);
  }
}

/** What goes wrong on the way. Bytes are counted from the start of a connection. */
export interface Faults {
  /** Cuts the connection after so many bytes of answers. */
  cutAfter?: number;
  /** Passes so many bytes of answers on, and no more. */
  stallAfter?: number;
  /** Changes what is asked. */
  ask?: (data: Buffer) => Buffer;
}

/** A TCP proxy on the loopback interface. */
export class Wire {
  /** The bytes that went from the server to the client. */
  answered = 0;
  /** The bytes that went from the client to the server. */
  asked = 0;
  /** Method and target of every request. */
  requests: string[] = [];
  faults: Faults = {};
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  #stalled = () => {};
  #closed = () => {};

  private constructor(port: number) {
    this.#server = net.createServer((client) => this.#connect(client, port));
  }

  static async to(port: number): Promise<Wire> {
    const wire = new Wire(port);
    wire.#server.listen(0, "127.0.0.1");
    await once(wire.#server, "listening");
    return wire;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when an answer stands still, as `stallAfter` wants it. */
  stalled(): Promise<void> {
    return new Promise((resolve) => {
      this.#stalled = resolve;
    });
  }

  /** Resolves when no connection is open any more. */
  async idle(): Promise<void> {
    if (this.#sockets.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #connect(client: net.Socket, port: number): void {
    const server = net.connect(port, "127.0.0.1");
    let answered = 0;
    client.on("data", (data: Buffer) => {
      this.asked += data.length;
      const request = /^(?:GET|HEAD|PUT) \S+(?= HTTP\/1\.1\r\n)/.exec(data.toString("latin1"));
      if (request) this.requests.push(request[0]);
      server.write(this.faults.ask?.(data) ?? data);
    });
    server.on("data", (data: Buffer) => {
      const { cutAfter = Number.POSITIVE_INFINITY, stallAfter = Number.POSITIVE_INFINITY } =
        this.faults;
      const passed = data.subarray(0, Math.max(0, Math.min(cutAfter, stallAfter) - answered));
      answered += passed.length;
      this.answered += passed.length;
      if (answered >= cutAfter) {
        client.write(passed, () => client.destroy());
      } else if (answered >= stallAfter) {
        client.write(passed);
        server.pause();
        this.#stalled();
      } else if (!client.write(passed)) {
        server.pause();
        client.once("drain", () => server.resume());
      }
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        other.destroy();
        this.#sockets.delete(socket);
        if (this.#sockets.size === 0) this.#closed();
      });
    }
  }
}
