/** Where the middle of some numbers lies and how far they scatter. */
export interface Spread {
  readonly median: number;
  readonly lowerQuartile: number;
  readonly upperQuartile: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    lowerQuartile: quantile(sorted, 0.25),
    upperQuartile: quantile(sorted, 0.75),
  };
}

/** A value that was seen once. */
export function point(value: number): Spread {
  return { median: value, lowerQuartile: value, upperQuartile: value };
}

export function medianOf(values: readonly number[]): number {
  return spreadOf(values).median;
}

/** All numbers taken down by the same amount. */
export function less(spread: Spread, amount: number): Spread {
  return {
    median: spread.median - amount,
    lowerQuartile: spread.lowerQuartile - amount,
    upperQuartile: spread.upperQuartile - amount,
  };
}

/**
 * How many times `ours` goes into `theirs`; the quartiles put the one's best against the other's worst. `NaN` where
 * noise has left nothing of our time, so that there is no ratio.
 */
export function ratioOf(theirs: Spread, ours: Spread): Spread {
  return {
    median: divide(theirs.median, ours.median),
    lowerQuartile: divide(theirs.lowerQuartile, ours.upperQuartile),
    upperQuartile: divide(theirs.upperQuartile, ours.lowerQuartile),
  };
}

/** Each number over the one that was measured beside it. */
export function ratiosOf(numbers: readonly number[], beside: readonly number[]): Spread {
  return spreadOf(numbers.map((number, i) => divide(number, beside[i] ?? Number.NaN)));
}

function divide(theirs: number, ours: number): number {
  return ours > 0 ? theirs / ours : Number.NaN;
}

function quantile(sorted: readonly number[], q: number): number {
  const at = (sorted.length - 1) * q;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at % 1);
}
