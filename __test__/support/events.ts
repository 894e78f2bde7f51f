// Collects the events that are published on the channel of tools.

import { channel } from "node:diagnostics_channel";

/** The events that are published while `body` runs. */
export async function published(body: () => unknown): Promise<Record<string, unknown>[]> {
  const messages: Record<string, unknown>[] = [];
  const listen = (message: unknown) => messages.push(message as Record<string, unknown>);
  channel("ringfence:tool").subscribe(listen);
  try {
    await body();
  } finally {
    channel("ringfence:tool").unsubscribe(listen);
  }
  return messages;
}
