// A host's own tree with its own store, which records its calls.

import { sha256 } from "./file-uri.ts";

export interface Vertex {
  hash?: unknown;
  mimeType?: unknown;
  size?: unknown;
}

export class HostTree {
  /** What `resolve` answers, by the segments joined with `/`. */
  readonly vertices = new Map<string, unknown>();
  /** What `store.getBytes` answers, by hash. */
  readonly bytes = new Map<string, unknown>();
  readonly resolved: string[][] = [];
  readonly fetched: string[] = [];
  /** What each call of `resolve` and of `getBytes` had for `this`. */
  readonly receivers: unknown[] = [];

  /** Adds a file, and gives its hash. */
  add(path: string, data: string | Uint8Array, changes: Vertex = {}): string {
    const bytes = new Uint8Array(Buffer.from(data as Uint8Array));
    const hash = sha256(bytes);
    this.bytes.set(hash, bytes);
    this.vertices.set(path, { hash, mimeType: "text/plain", size: bytes.length, ...changes });
    return hash;
  }

  resolve(segments: string[]): unknown {
    this.receivers.push(this);
    this.resolved.push(segments);
    return this.vertices.get(segments.join("/")) ?? null;
  }

  readonly store = makeStore(this);
}

function makeStore(tree: HostTree) {
  return {
    getBytes(hash: string): unknown {
      tree.receivers.push(this);
      tree.fetched.push(hash);
      return tree.bytes.get(hash);
    },
  };
}

/** An object like a promise, which hands what it settles with to one of two functions. */
export function thenable(
  then: (settle: (value: unknown) => void, reject: (reason: unknown) => void) => void,
): object {
  return { then };
}
