import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlidingWindowCounterLimiter, TokenBucketLimiter } from '../src/index.ts';
import { bucketPolicy } from '../src/options.ts';
import { decimalPerSecond, reducedRate, simplestPerSecond } from '../src/rate.ts';
import { ManualClock } from '../src/testing.ts';

/** The reduced rate of an option, as [tokens, microseconds]. */
function rateOf(refillPerSecond: number, capacity = 1): [bigint, bigint] {
  const { rate } = bucketPolicy({ capacity, refillPerSecond });
  return [rate.tokens, rate.micros];
}

describe('refillPerSecond', () => {
  it.each([
    ['minute', 60],
    ['hour', 3_600],
    ['day', 86_400],
  ])('of L / the seconds of a %s means L in that time, for L to 1,000', (_, seconds) => {
    for (let tokens = 1; tokens <= 1_000; tokens++) {
      const options = { capacity: tokens, refillTokens: tokens, refillIntervalMs: seconds * 1_000 };
      const { rate } = bucketPolicy(options);
      expect(rateOf(tokens / seconds, tokens)).toEqual([rate.tokens, rate.micros]);
    }
  });

  it.each<[number, bigint, bigint]>([
    [1, 1n, 1_000_000n],
    [100, 1n, 10_000n],
    [0.1, 1n, 10_000_000n],
    [0.5, 1n, 2_000_000n],
    [2.5, 1n, 400_000n],
    [1 / 3, 1n, 3_000_000n],
    [2 / 3, 1n, 1_500_000n],
    [100 / 60, 1n, 600_000n],
    [1_000 / 7, 1n, 7_000n],
    [10 / 13, 1n, 1_300_000n],
    [0.3333, 3_333n, 10_000_000_000n],
    [1e6, 1n, 1n],
    [1e9, 1_000n, 1n],
    [1.779199e12, 1_779_199n, 1n],
    [1e-5, 1n, 100_000_000_000n],
    [1 / 31_536_000, 1n, 31_536_000_000_000n],
  ])('of %d is %d per %d microseconds', (perSecond, tokens, micros) => {
    expect(rateOf(perSecond)).toEqual([tokens, micros]);
  });

  it('is taken for a fraction where the decimal would not fit the capacity', () => {
    expect(rateOf(1e-7)).toEqual([1n, 10_000_000_000_000n]);
    expect(() => rateOf(1e-7, 115_293)).toThrow(
      'capacity must be at most 115292 with refillPerSecond',
    );
  });

  it('limits exactly like the other spelling', () => {
    const clock = new ManualClock();
    const common = { capacity: 7, maxKeys: 1, clock: clock.now };
    const decimal = new TokenBucketLimiter({ ...common, refillPerSecond: 100 / 60 });
    const exact = new TokenBucketLimiter({
      ...common,
      refillTokens: 100,
      refillIntervalMs: 60_000,
    });
    expect(decimal.policy).toEqual(exact.policy);
    for (let call = 0; call < 10_000; call++) {
      clock.advance((call * 7_919) % 1_201);
      const cost = 1 + (call % 4);
      expect(decimal.tryAcquire('ann', cost)).toEqual(exact.tryAcquire('ann', cost));
    }
  });

  const rate = fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 100_000 }));

  it('finds every small fraction again from its double', () => {
    fc.assert(
      fc.property(rate, ([tokens, seconds]) => {
        const simplest = simplestPerSecond(tokens / seconds);
        expect(simplest).toEqual(reducedRate(BigInt(tokens), BigInt(seconds) * 1_000_000n));
      }),
      { seed: 1, numRuns: 5_000 },
    );
  });

  const positive = fc.double({ min: 1e-9, max: 1e13, noNaN: true });

  it('rounds to the double that it came from, by either reading', () => {
    fc.assert(
      fc.property(positive, (perSecond) => {
        // Written out as a quotient of decimals; the parser rounds correctly.
        const { tokens, micros } = decimalPerSecond(perSecond);
        expect(tokens * 1_000_000n * scaleOf(perSecond).under).toBe(
          micros * scaleOf(perSecond).over,
        );
        const simplest = simplestPerSecond(perSecond);
        expect(nearestDouble(simplest.tokens * 1_000_000n, simplest.micros)).toBe(perSecond);
      }),
      { seed: 2, numRuns: 2_000 },
    );
  });
});

describe('the policy of a token bucket', () => {
  it.each([
    [{ capacity: 10, refillPerSecond: 5 }, 2_000],
    [{ capacity: 1, refillPerSecond: 3 }, 334],
    [{ capacity: 100, refillTokens: 100, refillIntervalMs: 60_000 }, 60_000],
    [{ capacity: 1, refillTokens: 1_000, refillIntervalMs: 1 }, 1],
    [{ capacity: 3, refillTokens: 2, refillIntervalMs: 0.667 }, 2],
    [
      { capacity: 36_558, refillTokens: 1, refillIntervalMs: 31_536_000_000 },
      1_152_893_088_000_000,
    ],
  ])(
    'has the time from empty to full as its window, in milliseconds rounded up: %j',
    (rate, windowMs) => {
      const { policy } = new TokenBucketLimiter({ ...rate, name: 'n', maxKeys: 1 });
      expect(policy).toEqual({ name: 'n', limit: rate.capacity, windowMs });
    },
  );

  it('is what it was told in a sliding window counter', () => {
    const { policy } = new SlidingWindowCounterLimiter({ limit: 5, windowMs: 1_500, name: 'n' });
    expect(policy).toEqual({ name: 'n', limit: 5, windowMs: 1_500 });
  });
});

/** The decimal that prints a double, as a fraction. */
function scaleOf(value: number): { over: bigint; under: bigint } {
  const [, digits = '', fraction = '', exponent = '0'] =
    /^(\d+)\.?(\d*)(?:e([+-]\d+))?$/.exec(`${value}`) ?? [];
  const power = Number(exponent) - fraction.length;
  const over = BigInt(digits + fraction);
  return power >= 0
    ? { over: over * 10n ** BigInt(power), under: 1n }
    : { over, under: 10n ** BigInt(-power) };
}

/** The double nearest to a fraction, by way of 60 significant decimal digits. */
function nearestDouble(over: bigint, under: bigint): number {
  const power = 60 + under.toString().length - over.toString().length;
  const scaled =
    power >= 0 ? (over * 10n ** BigInt(power)) / under : over / (under * 10n ** BigInt(-power));
  return Number(`${scaled}e${-power}`);
}
