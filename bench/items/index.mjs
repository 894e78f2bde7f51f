// @ts-check
import { flight, read } from "./read.mjs";
import { window } from "./window.mjs";

/**
 * What can be measured in one runtime, by the names that `--only` takes.
 *
 * @type {Record<string, (bench: import("../measure.mjs").Bench) => Promise<void>>}
 */
export const items = { read, window, flight };
