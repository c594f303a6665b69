import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type LocalLimiter,
  SlidingWindowCounterLimiter,
  TokenBucketLimiter,
} from '../../src/index.ts';
import { largestCounterLimit } from '../../src/options.ts';
import { ManualClock } from '../../src/testing.ts';

const RUNS = { numRuns: 1_500, seed: 20_260 };

/** Whole microseconds, as milliseconds. */
const time = (mostUs: number) => fc.integer({ min: 0, max: mostUs }).map((us) => us / 1000);

/** What happened before, in shares: of the window's time and of the limit. */
const history = fc.array(
  fc.record({
    wait: fc.double({ min: 0, max: 1, noNaN: true }),
    share: fc.integer({ min: 1, max: 5 }),
  }),
  { maxLength: 6 },
);
const policy = fc.record({
  limit: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 4_095 })),
  windowUs: fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 60_000_000 })),
});
const cost = fc.integer({ min: 1, max: 4_096 });

type Make = (limit: number, windowMs: number, clock: () => number) => LocalLimiter;

const makers: [string, Make][] = [
  [
    'token bucket',
    (limit, windowMs, clock) =>
      new TokenBucketLimiter({
        capacity: limit,
        refillTokens: limit,
        refillIntervalMs: windowMs,
        maxKeys: 1,
        clock,
      }),
  ],
  [
    'sliding window counter',
    (limit, windowMs, clock) =>
      new SlidingWindowCounterLimiter({ limit, windowMs, maxKeys: 1, clock }),
  ],
];

describe.each(makers)('%s: after any history', (_, make) => {
  /** Runs `claim` on a key with a history; `wanted` is a cost within the limit. */
  function afterAnyHistory(
    claim: (limiter: LocalLimiter, clock: ManualClock, wanted: number) => void,
  ): void {
    const property = fc.property(policy, time(1e9), history, cost, (rule, start, steps, any) => {
      const clock = new ManualClock(start);
      const limit = Math.min(rule.limit, largestCounterLimit(rule.windowUs));
      const limiter = make(limit, rule.windowUs / 1000, clock.now);
      for (const { wait, share } of steps) {
        clock.advance(Math.round(wait * rule.windowUs) / 1000);
        limiter.isAllowed('ann', Math.ceil(limit / share));
      }
      claim(limiter, clock, 1 + (any % limit));
      limiter.close();
    });
    fc.assert(property, RUNS);
  }

  it('a denied call passes after retryAfterMs and not a millisecond earlier', () => {
    let denials = 0;
    afterAnyHistory((limiter, clock, wanted) => {
      const { allowed, retryAfterMs } = limiter.tryAcquire('ann', wanted);
      if (allowed) return;
      denials++;
      const now = clock.now();
      clock.set(now + retryAfterMs - 1);
      expect(limiter.isAllowed('ann', wanted)).toBe(false);
      clock.set(now + retryAfterMs);
      expect(limiter.isAllowed('ann', wanted)).toBe(true);
    });
    expect(denials).toBeGreaterThan(RUNS.numRuns / 5);
  });

  it('the key is as new after resetAfterMs and not a millisecond earlier', () => {
    afterAnyHistory((limiter, clock) => {
      const { resetAfterMs } = limiter.peek('ann', 0);
      const now = clock.now();
      expect(limiter.stats().liveKeys).toBe(resetAfterMs > 0 ? 1 : 0);
      if (resetAfterMs === 0) return;
      clock.set(now + resetAfterMs - 1);
      expect(limiter.stats().liveKeys).toBe(1);
      clock.set(now + resetAfterMs);
      expect(limiter.stats().liveKeys).toBe(0);
      expect(limiter.peek('ann', 0)).toMatchObject({
        remaining: limiter.policy.limit,
        resetAfterMs: 0,
      });
    });
  });

  it('exactly the permits that remain can be taken at once', () => {
    afterAnyHistory((limiter) => {
      const { remaining } = limiter.peek('ann', 0);
      expect(limiter.peek('ann', remaining + 1).allowed).toBe(false);
      expect(limiter.tryAcquire('ann', remaining)).toMatchObject({ allowed: true, remaining: 0 });
    });
  });
});
