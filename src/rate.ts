/** `tokens` per `micros` microseconds, reduced to lowest terms. */
export interface Rate {
  readonly tokens: bigint;
  readonly micros: bigint;
}

interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

const MICROS_PER_SECOND = 1_000_000n;

/** Any number of tokens per any number of microseconds, reduced. */
export function reducedRate(tokens: bigint, micros: bigint): Rate {
  const divisor = gcd(tokens, micros);
  return { tokens: tokens / divisor, micros: micros / divisor };
}

/** The decimal that prints a positive double, taken at its word: 0.1 is one tenth. */
export function decimalPerSecond(perSecond: number): Rate {
  const [digits = '', exponent = '0'] = perSecond.toExponential().split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  const power = BigInt(exponent) - BigInt(fraction.length);
  const over = BigInt(whole + fraction);
  return power >= 0n
    ? reducedRate(over * 10n ** power, MICROS_PER_SECOND)
    : reducedRate(over, 10n ** -power * MICROS_PER_SECOND);
}

/**
 * The simplest fraction that rounds to the same double: 100/60, printed as 1.6666666666666667, is 5/3 again.
 * The first number that the continued fractions of both ends of the rounding interval allow; see Graham, Knuth and
 * Patashnik, "Concrete Mathematics", section 4.5.
 */
export function simplestPerSecond(perSecond: number): Rate {
  const { over, under } = simplestBetween(...roundingInterval(perSecond));
  return reducedRate(over, under * MICROS_PER_SECOND);
}

/** The points half way to the neighbouring doubles, as fractions. */
function roundingInterval(value: number): [Fraction, Fraction] {
  const bits = new BigUint64Array(new Float64Array([value]).buffer)[0] ?? 0n;
  const stored = bits & ((1n << 52n) - 1n);
  const exponent = bits >> 52n;
  const mantissa = exponent === 0n ? stored : stored | (1n << 52n);
  const power = (exponent === 0n ? 1n : exponent) - 1075n;
  // Below a power of two the doubles are twice as dense; four quarters make both ends whole.
  const below = 4n * mantissa - (stored === 0n && exponent > 1n ? 1n : 2n);
  const above = 4n * mantissa + 2n;
  const scale = (quarters: bigint): Fraction =>
    power >= 2n
      ? { over: quarters << (power - 2n), under: 1n }
      : { over: quarters, under: 1n << (2n - power) };
  return [scale(below), scale(above)];
}

/** The fraction of the smallest denominator strictly between two positive ones. */
function simplestBetween(low: Fraction, high: Fraction): Fraction {
  const whole = low.over / low.under;
  if ((whole + 1n) * high.under < high.over) return { over: whole + 1n, under: 1n };
  const rest = low.over - whole * low.under;
  const reach = high.over - whole * high.under;
  // 1/x turns the ends round. A low end that is whole becomes infinity: then the next whole number will do.
  const inner =
    rest === 0n
      ? { over: high.under / reach + 1n, under: 1n }
      : simplestBetween({ over: high.under, under: reach }, { over: low.under, under: rest });
  return { over: whole * inner.over + inner.under, under: inner.over };
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}
