// Lets ringfence and the naive way act in turns, under the same attacker, and counts what went wrong.

/** How many operations each does before it is the other's turn. */
const BLOCK = 100;
/** For how many operations the same rules hold: every way into the addon has its turn under each of them. */
const TURN_OF_RULES = 24;
/** How often the naive way must have gone wrong, before it may stop early. */
const ENOUGH = 3;

/** The results of one side: the subject or the naive way. */
export class Tally {
  operations = 0;
  violations = 0;
  /** How many operations were not refused. */
  answered = 0;
  /** @type {Record<string, number>} How many were refused, by code. */
  refused = {};
  /** @type {string[]} */
  examples = [];
  /** @type {string[]} The files that an answer has told to be left beside. */
  kept = [];

  /** @param {string | undefined} code Why it was refused. */
  count(code) {
    this.operations++;
    if (code === undefined) this.answered++;
    else this.refused[code] = (this.refused[code] ?? 0) + 1;
  }

  /** @param {string} example */
  violation(example) {
    this.violations++;
    if (this.examples.length < 5) this.examples.push(example);
  }
}

/**
 * How much each side does.
 *
 * @typedef {object} Amounts
 * @property {number} operations
 * @property {number} controls How many of them the naive way does, too.
 * @property {number} mostControls How many it does until it has gone wrong.
 */

/**
 * @template Side
 * @param {Amounts} amounts
 * @param {Side[]} subjects They have turns.
 * @param {Side} control The naive way.
 * @param {(side: Side, tally: Tally, turn: number) => Promise<void>} once
 */
export async function contest({ operations, controls, mostControls }, subjects, control, once) {
  const [subject, naive] = [new Tally(), new Tally()];
  /** Whether the naive way runs another block: it runs longer until the attack has succeeded often enough. */
  const isControlDue = () =>
    controls > 0 &&
    (naive.operations < controls || (naive.violations < ENOUGH && naive.operations < mostControls));
  const block = async (/** @type {Side[]} */ sides, /** @type {Tally} */ its) => {
    const end = its.operations + BLOCK;
    while (its.operations < end) {
      const turn = its.operations;
      const side = sides[Math.floor(turn / TURN_OF_RULES) % sides.length];
      if (side) await once(side, its, turn);
    }
  };

  while (subject.operations < operations) {
    await block(subjects, subject);
    if (isControlDue()) await block([control], naive);
  }
  while (isControlDue()) await block([control], naive);
  return { subject, control: naive };
}

/**
 * The files that an answer tells to be left.
 *
 * @param {string} told
 */
export const keptIn = (told) => told.match(/(?<=is kept (?:beside )?as )\.rf-\w+/g) ?? [];
