import { describe, expect, it } from 'vitest';
import { TokenBucketLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { modelTokenBucket } from '../model/token-bucket.ts';
import { bucket, counter } from '../support/schedule.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
/** 30 days less the 36 minutes that clocks of threads may lie apart, and a little. */
const A_MONTH = 30 * DAY - 37 * MINUTE;
const ONE_KEY = { maxKeys: 1 };

describe('the largest legal values of the token bucket', () => {
  const make = (capacity: number, refillTokens: number, refillIntervalMs: number) =>
    new TokenBucketLimiter({
      capacity,
      refillTokens,
      refillIntervalMs,
      maxKeys: 1,
      clock: () => 0,
    });

  it.each([
    // 2^60 / P, P being the microseconds a token.
    ['one per 365 days', 1, YEAR, 36_558],
    ['one per day', 1, DAY, 13_343_998],
    ['one per minute', 1, MINUTE, 19_215_358_410],
    ['7 per second', 7, SECOND, 1_152_921_504_606],
    ['one per 0.128 ms', 1, 0.128, Number.MAX_SAFE_INTEGER],
    ['one per 0.129 ms', 1, 0.129, 8_937_376_004_704_240],
    ['one per microsecond', 1, 0.001, Number.MAX_SAFE_INTEGER],
  ])('at %s: capacity, and one more is refused by that number', (_, tokens, ms, capacity) => {
    const limiter = make(capacity, tokens, ms);
    expect(limiter.tryAcquire('ann', capacity)).toMatchObject({ allowed: true, remaining: 0 });
    expect(limiter.tryAcquire('ann').allowed).toBe(false);
    expect(limiter.peek('ann', capacity)).toMatchObject({
      allowed: false,
      retryAfterMs: limiter.policy.windowMs,
    });
    expect(() => make(capacity + 1, tokens, ms)).toThrow(
      capacity === Number.MAX_SAFE_INTEGER
        ? `capacity must be a whole number from 1 to ${capacity}; got ${capacity + 1}`
        : new RegExp(`^capacity must be at most ${capacity} with .*; got ${capacity + 1}$`),
    );
  });

  it('rate: 1,779,199 tokens in lowest terms; the next is refused with the nearest legal rate', () => {
    make(10, 1_779_199, SECOND);
    make(10, 2 * 1_779_199, SECOND);
    expect(() => make(10, 1_779_201, SECOND)).toThrow(
      /^refillTokens per refillIntervalMs must reduce to at most 1779199 tokens; got 1779201 per 1000 ms.* refillTokens: 1779199, refillIntervalMs: 999\.999$/,
    );
    expect(() => new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1_779_201 })).toThrow(
      /^refillPerSecond must reduce to at most 1779199 tokens; got 1779201, /,
    );
  });

  it('the rate that an error names is legal', () => {
    for (const [tokens, ms] of [
      [1_779_201, SECOND],
      [123_456_789_013, 7_777.777],
      [Number.MAX_SAFE_INTEGER, YEAR],
    ] as const) {
      let message = '';
      try {
        make(1, tokens, ms);
      } catch (error) {
        message = `${error}`;
      }
      const named = /refillTokens: (\d+), refillIntervalMs: ([\d.]+)$/.exec(message);
      const [legalTokens, legalMs] = [Number(named?.[1]), Number(named?.[2])];
      make(1, legalTokens, legalMs);
      expect(legalTokens / legalMs).toBeLessThanOrEqual(tokens / ms);
    }
  });

  it.each([
    [1, SECOND],
    [1, MINUTE],
    [1_000, HOUR],
    [1e9, DAY],
  ])('capacity: a billion at %d per %d ms', (tokens, ms) => {
    const limiter = make(1e9, tokens, ms);
    expect(limiter.tryAcquire('ann', 999_999_999)).toMatchObject({ allowed: true, remaining: 1 });
    expect(limiter.tryAcquire('ann', 2)).toMatchObject({ allowed: false, remaining: 1 });
  });

  it('a refillPerSecond too slow or too fine is refused with what it reduces to', () => {
    expect(() => new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1e-9 })).toThrow(
      /^refillPerSecond must reduce to at most 365 days \(31536000000000 microseconds\); got 1e-9, 1 tokens per 1000000000000000 /,
    );
    expect(
      () => new TokenBucketLimiter({ capacity: 1, refillPerSecond: Number.MIN_VALUE }),
    ).toThrow(/^refillPerSecond must reduce to at most 365 days/);
    expect(
      () => new TokenBucketLimiter({ capacity: 1, refillPerSecond: Number.MAX_VALUE }),
    ).toThrow(/^refillPerSecond must reduce to at most 1779199 tokens/);
  });

  it.each([
    ['one per second', 1, SECOND],
    ['100 per minute', 100, MINUTE],
    ['the largest rate that promises ten years', 14_600, 1_000.001],
  ])('keep a silent key right for ten years: %s', (_, tokens, ms) => {
    const { limiter, clock } = bucket(50, tokens, ms, ONE_KEY);
    for (const silence of [DAY, 30 * DAY, YEAR, 5 * YEAR, 10 * YEAR]) {
      expect(limiter.tryAcquire('ann', 50)).toMatchObject({ allowed: true, remaining: 0 });
      clock.advance(silence);
      expect(limiter.peek('ann', 0)).toMatchObject({ remaining: 50, resetAfterMs: 0 });
      expect(limiter.stats().liveKeys).toBe(0);
    }
  });

  it.each([1_000_001, 1_500_007, 1_779_199])(
    'keep a silent key right for a month: %d tokens in lowest terms',
    (tokens) => {
      const { limiter, clock } = bucket(50, tokens, SECOND, ONE_KEY);
      for (const silence of [DAY, 10 * DAY, 20 * DAY, A_MONTH]) {
        expect(limiter.tryAcquire('ann', 50)).toMatchObject({ allowed: true, remaining: 0 });
        clock.advance(silence);
        expect(limiter.peek('ann', 0)).toMatchObject({ remaining: 50, resetAfterMs: 0 });
      }
    },
  );

  it('past that a wrong answer is a denial and never an excess', () => {
    const { limiter, clock } = bucket(50, 1_779_199, SECOND, ONE_KEY);
    const model = modelTokenBucket(
      { capacity: 50, refillTokens: 1_779_199, refillIntervalMs: SECOND },
      clock.now,
    );
    for (let day = 25; day < 200; day += 0.37) {
      limiter.isAllowed('ann', 50);
      model.isAllowed('ann', 50);
      clock.advance(Math.round(day * DAY));
      expect(limiter.peek('ann', 0).remaining).toBeLessThanOrEqual(model.peek('ann', 0).remaining);
    }
  });

  it('a table and a key that was reset are as new at every moment of a long life', () => {
    // So large a bucket that a fourth of all states look like debts.
    const capacity = 1_152_921_504_606;
    const { limiter, clock } = bucket(capacity, 1_779_199, SECOND, { maxKeys: 100 });
    for (let step = 0; step < 2_000; step++) {
      expect(limiter.peek(step, 0)).toMatchObject({ remaining: capacity, source: 'local' });
      expect(limiter.isAllowed('ann', capacity)).toBe(true);
      limiter.reset('ann');
      expect(limiter.peek('ann', 0).remaining).toBe(capacity);
      expect(limiter.stats().liveKeys).toBe(0);
      clock.advance(0.61 * DAY);
    }
  });

  it('uptime has no end: 500 years of days at the largest rate', () => {
    const clock = new ManualClock(-9_007_199_254_740);
    const rate = { capacity: 1e9, refillTokens: 1_779_199, refillIntervalMs: SECOND };
    const limiter = new TokenBucketLimiter({ ...rate, maxKeys: 1, clock: clock.now });
    const model = modelTokenBucket(rate, clock.now);
    for (let day = 0; day < 500 * 365; day++) {
      const cost = day % 2 === 0 ? 1e9 : 7;
      const [got, due] = [limiter.tryAcquire('ann', cost), model.tryAcquire('ann', cost)];
      if (got.remaining !== due.remaining || got.resetAfterMs !== due.resetAfterMs) {
        expect.fail(`day ${day}: ${JSON.stringify(got)} and not ${JSON.stringify(due)}`);
      }
      clock.advance(day % 2 === 0 ? 60_000 : 2 * DAY - 60_000);
    }
  });
});

describe('the largest legal table', () => {
  it('has 90,000,000 keys, below 2 GiB; one more is refused by that number', () => {
    const most = 90_000_000;
    for (const make of [
      () => bucket(1, 1, SECOND, { maxKeys: most + 1 }),
      () => counter(1, SECOND, { maxKeys: most + 1 }),
    ]) {
      expect(make).toThrow(`maxKeys must be a whole number from 1 to ${most}; got ${most + 1}`);
    }
    const { limiter } = bucket(1, 1, SECOND, { maxKeys: most });
    for (let key = 0; key < 1_000; key++) expect(limiter.isAllowed(key)).toBe(true);
    for (let key = 0; key < 1_000; key++) expect(limiter.isAllowed(key)).toBe(false);
    limiter.close();
  });
});
