// The protocol side of the client's roots: when to request them, and how to read the answer.

import { setImmediate as nextTurn } from "node:timers/promises";
import { ResultSchema, RootsListChangedNotificationSchema, type Server } from "./sdk.js";

/** The receiver of the client's roots. */
export interface McpRootsFollower {
  /**
   * Called with the URIs of the roots when the client is initialized, and after each change that the client
   * reports. Changes during a request lead to one further request. The promise rejects if the client has no roots
   * or does not answer within 10 seconds.
   */
  follow(uris: Promise<string[]>): void;
  /** Aborted when the client is gone. */
  signal?: AbortSignal | null;
}

const ROOTS_TIMEOUT_MS = 10_000;

/** Requests the client's roots when it is initialized, and whenever it reports a change. */
export function followRoots(server: Server, { follow, signal }: McpRootsFollower): void {
  const ask = async () => {
    // If both messages come in one chunk, the SDK handles "initialized" before "initialize".
    await nextTurn();
    if (!server.getClientCapabilities()?.roots) throw new Error("The client has no roots.");
    const options = { timeout: ROOTS_TIMEOUT_MS, ...(signal ? { signal } : {}) };
    const { roots } = await server.request({ method: "roots/list" }, ResultSchema, options);
    return uris(roots);
  };
  const askAnew = oneAtATime(ask, follow);
  server.oninitialized = askAnew;
  server.setNotificationHandler(RootsListChangedNotificationSchema, askAnew);
}

/** Runs `ask` one at a time. All calls during a run together lead to one further run. */
function oneAtATime<T>(ask: () => Promise<T>, tell: (answer: Promise<T>) => void): () => void {
  let isAsking = false;
  let next: Promise<T> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const begin = () => {
    isAsking = true;
    next = null;
    const answer = ask();
    last = answer.then(settle, settle);
    return answer;
  };
  const settle = () => {
    isAsking = false;
  };
  return () => {
    if (!isAsking) tell(begin());
    else if (next === null) {
      next = last.then(begin);
      tell(next);
    }
  };
}

/** Reads the list by hand: the SDK's schema refuses the whole list if one root is no `file:` URI. */
function uris(roots: unknown): string[] {
  const each: { uri?: unknown }[] = Array.isArray(roots) ? roots : [];
  return each.flatMap((root) => (typeof root?.uri === "string" ? [root.uri] : []));
}
