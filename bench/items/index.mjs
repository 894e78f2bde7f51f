// @ts-check
import { create } from "./create.mjs";
import { growth } from "./growth.mjs";
import { loading } from "./loading.mjs";
import { loop } from "./loop.mjs";
import { memory } from "./memory.mjs";
import { flight, read } from "./read.mjs";
import { snapshot } from "./snapshot.mjs";
import { window } from "./window.mjs";

/**
 * What is measured in each runtime, by the names that `--only` takes.
 *
 * @type {Record<string, (bench: import("../measure.mjs").Bench) => Promise<void>>}
 */
export const items = { read, window, flight, loop, create, loading, memory, snapshot, growth };
