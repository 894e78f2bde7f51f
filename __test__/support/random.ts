// A small repeatable generator (mulberry32): a failing case is found again by its seed.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** An integer from 0 to `limit - 1`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

/** How many rounds a random test plays: `RINGFENCE_TEST_ROUNDS` times as many as usual. */
export function times(rounds: number): number {
  return Math.ceil(rounds * Number(process.env.RINGFENCE_TEST_ROUNDS ?? 1));
}
