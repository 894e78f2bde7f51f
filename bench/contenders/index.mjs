// @ts-check
import { openBare } from "./bare.mjs";
import { openHandWritten } from "./hand-written.mjs";
import {
  openDeepagents,
  openDiff,
  openFsSafe,
  openMastra,
  openMcp,
  openWriteFileAtomic,
} from "./peers.mjs";
import { openRingfence } from "./ringfence.mjs";

/** @typedef {import("./load.mjs").Contender} Contender */

const PEERS = [openMcp, openFsSafe, openMastra, openDeepagents, openWriteFileAtomic, openDiff];

/**
 * Every contender that loads on this runtime, ringfence first, and why the others do not.
 *
 * @param {string} root
 * @param {string} [against] Another checkout of ringfence.
 * @returns {Promise<{ contenders: Contender[], missing: string[] }>}
 */
export async function openContenders(root, against) {
  const contenders = openRingfence(root);
  if (against !== undefined) contenders.push(...openRingfence(root, against));
  contenders.push(openBare(root), openHandWritten(root));
  /** @type {string[]} */
  const missing = [];
  for (const open of PEERS) {
    try {
      contenders.push(await open(root));
    } catch (error) {
      missing.push(`${open.name}: ${error}`);
    }
  }
  return { contenders, missing };
}
