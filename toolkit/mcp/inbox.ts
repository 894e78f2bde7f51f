// The queue of a client's requests. A bounded number of calls runs at once. No request begins while too many
// bytes of answers are unread.

import { MAX_RUNNING, MAX_UNREAD_BYTES, MAX_WAITING, MAX_WAITING_BYTES } from "./limits.js";

interface Message {
  id?: string | number;
  method?: string;
  params?: { requestId?: string | number };
}

interface Waiting {
  message: Message;
  bytes: number;
}

/** The queue between the client and the server. */
export class Inbox {
  readonly #deliver: (message: object) => void;
  #calls: Waiting[] = [];
  /** Other requests. They do not wait for running calls. */
  #others: Waiting[] = [];
  #waitingBytes = 0;
  #unreadBytes = 0;
  /** For each id, how many calls run or have an answer that the client has not read. */
  readonly #running = new Map<string | number, number>();
  #runningCount = 0;
  #onRoom = () => {};

  /** @param deliver gives a message to the server */
  constructor(deliver: (message: object) => void) {
    this.#deliver = deliver;
  }

  /**
   * Takes in a message. Answers and notifications are delivered at once, because running requests may wait for
   * them. Requests wait for `begin`.
   *
   * @param bytes the size of the message
   */
  offer(message: object, bytes: number): void {
    const { id, method, params } = message as Message;
    if (id === undefined || method === undefined) {
      if (method === "notifications/cancelled") this.#forget(params?.requestId);
      this.#deliver(message);
      return;
    }
    const queue = method === "tools/call" ? this.#calls : this.#others;
    queue.push({ message, bytes });
    this.#waitingBytes += bytes;
  }

  /** Whether the limits are reached, so that no more may be read from the client. */
  get isFull(): boolean {
    const count = this.#calls.length + this.#others.length;
    return count >= MAX_WAITING || this.#waitingBytes + this.#unreadBytes >= MAX_WAITING_BYTES;
  }

  /** Delivers as many waiting requests as the limits allow. */
  begin(): void {
    while (this.#unreadBytes <= MAX_UNREAD_BYTES) {
      const next = this.#next();
      if (next === undefined) break;
      this.#waitingBytes -= next.bytes;
      this.#deliver(next.message);
    }
    if (!this.isFull) this.#onRoom();
  }

  /** Resolves when the queue is no longer full. */
  async room(): Promise<void> {
    while (this.isFull) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
    }
  }

  /** Counts bytes that are being sent to the client. */
  sending(bytes: number): void {
    this.#unreadBytes += bytes;
  }

  /** Counts bytes that the client has read. */
  sent(bytes: number): void {
    this.#unreadBytes -= bytes;
    this.begin();
  }

  /** Notes that a call has ended, with or without an answer. */
  settled(id: string | number): void {
    const count = this.#running.get(id);
    if (count === undefined) return;
    if (count === 1) this.#running.delete(id);
    else this.#running.set(id, count - 1);
    this.#runningCount -= 1;
    this.begin();
  }

  #next(): Waiting | undefined {
    const other = this.#others.shift();
    if (other !== undefined || this.#runningCount >= MAX_RUNNING) return other;
    const call = this.#calls.shift();
    const id = call?.message.id;
    if (id !== undefined) {
      this.#running.set(id, (this.#running.get(id) ?? 0) + 1);
      this.#runningCount += 1;
    }
    return call;
  }

  /** Removes a cancelled request that has not begun. It gets no answer. */
  #forget(id: string | number | undefined): void {
    const isLeft = ({ message, bytes }: Waiting) => {
      const isCancelled = message.id === id && message.method !== "initialize";
      if (isCancelled) this.#waitingBytes -= bytes;
      return !isCancelled;
    };
    this.#calls = this.#calls.filter(isLeft);
    this.#others = this.#others.filter(isLeft);
  }
}
