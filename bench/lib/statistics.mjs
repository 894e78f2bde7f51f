// @ts-check

/**
 * The value that `share` of the values do not exceed, by the nearest rank.
 *
 * @param {ArrayLike<number>} values
 * @param {number} share From 0 to 1.
 */
export function quantile(values, share) {
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** @param {ArrayLike<number>} values */
export function median(values) {
  return quantile(values, 0.5);
}

/**
 * How steeply a cost grows: the exponent `e` of `cost = c * work ** e` that fits best, so that 1 is
 * linear and 0 constant.
 *
 * @param {readonly { work: number, cost: number }[]} points At least two, with different `work`.
 */
export function growthExponent(points) {
  const x = points.map(({ work }) => Math.log(work));
  const y = points.map(({ cost }) => Math.log(cost));
  const meanX = mean(x);
  const meanY = mean(y);
  let covariance = 0;
  let variance = 0;
  x.forEach((value, index) => {
    covariance += (value - meanX) * ((y[index] ?? 0) - meanY);
    variance += (value - meanX) ** 2;
  });
  return covariance / variance;
}

/** @param {readonly number[]} values */
function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Numbers from 0 to below 1, the same ones in each run: an order must not depend on luck. */
export function seededRandom() {
  let state = 0x2545_f491;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/**
 * @template T
 * @param {readonly T[]} values
 * @param {() => number} random
 */
export function shuffled(values, random) {
  const result = [...values];
  for (let index = result.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    const moved = /** @type {T} */ (result[index]);
    result[index] = /** @type {T} */ (result[other]);
    result[other] = moved;
  }
  return result;
}
