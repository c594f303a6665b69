import { describe, expect, it } from 'vitest';
import { SlidingWindowCounterLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { sameAnswer } from '../model/model-limiter.ts';
import { modelSlidingWindowCounter } from '../model/sliding-window-counter.ts';
import { counter } from '../support/schedule.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const ONE_KEY = { maxKeys: 1 };

describe('the largest legal values of the sliding window counter', () => {
  it.each([
    [0.001, 127],
    [1, 4_095],
    [SECOND, 131_071],
    [MINUTE, 1_048_575],
    [HOUR, 8_388_607],
    [DAY, 33_554_431],
    [30 * DAY, 3_558_399],
    [YEAR, 292_471],
  ])(
    'of a window of %d ms: limit %d, and one more is refused by that number',
    (windowMs, limit) => {
      expect(() => counter(limit + 1, windowMs, ONE_KEY)).toThrow(
        `limit must be a whole number from 1 to ${limit}; got ${limit + 1}`,
      );
      const { limiter, clock } = counter(limit, windowMs, ONE_KEY);
      expect(limiter.tryAcquire('ann', limit)).toMatchObject({ allowed: true, remaining: 0 });
      expect(limiter.isAllowed('ann')).toBe(false);
      // At the start of the next window all of it still weighs.
      clock.set(windowMs);
      const { retryAfterMs } = limiter.tryAcquire('ann', limit);
      expect(retryAfterMs).toBe(Math.ceil(windowMs));
      clock.set(2 * windowMs);
      expect(limiter.tryAcquire('ann', limit)).toMatchObject({ allowed: true, remaining: 0 });
    },
  );

  it.each([0.001, 1, SECOND, MINUTE, HOUR, DAY, 30 * DAY, YEAR])(
    'keep a silent key right for ten years: windows of %d ms',
    (windowMs) => {
      const limit = 100;
      const { limiter, clock } = counter(limit, windowMs, ONE_KEY);
      for (const silence of [2 * windowMs, DAY, 30 * DAY, YEAR, 5 * YEAR, 10 * YEAR]) {
        expect(limiter.tryAcquire('ann', limit)).toMatchObject({ allowed: true, remaining: 0 });
        clock.advance(Math.max(silence, 2 * windowMs));
        expect(limiter.peek('ann', 0)).toMatchObject({ remaining: limit, resetAfterMs: 0 });
        expect(limiter.stats().liveKeys).toBe(0);
      }
    },
  );

  it.each([
    [127, 0.001],
    [4_095, 1],
    [131_071, SECOND],
    [33_554_431, DAY],
    [292_471, YEAR],
  ])('never run out: 500 years at limit %d in %d ms', (limit, windowMs) => {
    const clock = new ManualClock(-9_007_199_254_740);
    const policy = { limit, windowMs };
    const limiter = new SlidingWindowCounterLimiter({ ...policy, maxKeys: 1, clock: clock.now });
    const model = modelSlidingWindowCounter(policy, clock.now);
    const halfWindowMs = Math.floor(windowMs * 500) / 1_000;
    for (let call = 0; clock.now() < 500 * YEAR - 9_007_199_254_740; call++) {
      const cost = 1 + ((call * 7_919) % limit);
      const [got, due] = [limiter.tryAcquire('ann', cost), model.tryAcquire('ann', cost)];
      if (!sameAnswer(got, due)) {
        expect.fail(`call ${call}: ${JSON.stringify(got)} and not ${JSON.stringify(due)}`);
      }
      clock.advance(call % 2 === 0 ? halfWindowMs : 10 * DAY);
    }
  });
});
