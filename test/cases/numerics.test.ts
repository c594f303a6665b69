import { describe, expect, it } from 'vitest';
import { TokenBucketLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { allowedOf, bucket, counter, runSchedule } from '../support/schedule.ts';

const YEAR_MS = 365 * 86_400_000;

describe('numbers that went wrong elsewhere, in the token bucket:', () => {
  it('a period that is no binary fraction is over exactly when it is over', () => {
    const timed = bucket(1, 10, 13_000);
    runSchedule(timed, [
      [0, 1, true, 0],
      [1_299, 1, false, 0, 1],
      [1_300, 1, true, 0],
    ]);
    expect(timed.limiter.peek('ann').retryAfterSeconds).toBe(2);
    for (let call = 2; call <= 10_000; call++) {
      timed.clock.set(call * 1_300);
      if (!timed.limiter.isAllowed('ann')) expect.fail(`denied after ${call} periods`);
    }
  });

  it('ten years of silence fill a bucket and overflow nothing', () => {
    const { limiter, clock } = bucket(1_000, 1_000, 60_000);
    expect(limiter.isAllowed('ann', 1_000)).toBe(true);
    expect(limiter.isAllowed('ann')).toBe(false);
    clock.advance(10 * YEAR_MS);
    expect(limiter.tryAcquire('ann')).toMatchObject({ allowed: true, remaining: 999 });
  });

  it('more tokens than milliseconds flow evenly', () => {
    const { limiter, clock } = bucket(2_000, 2_000, 1_000);
    expect(allowedOf(limiter, 2_001)).toBe(2_000);
    clock.set(1);
    expect(allowedOf(limiter, 3)).toBe(2);
    expect(limiter.tryAcquire('ann')).toMatchObject({ retryAfterMs: 1, retryAfterSeconds: 1 });
    clock.set(1.499);
    expect(limiter.isAllowed('ann')).toBe(false);
    clock.set(1.5);
    expect(limiter.isAllowed('ann')).toBe(true);
  });

  it.each([
    [6_000, 6],
    [1_000_000, 1_000],
  ])('%d a second refill %d in a millisecond', (capacity, refilled) => {
    const { limiter, clock } = bucket(capacity, capacity, 1_000);
    expect(allowedOf(limiter, capacity + 500)).toBe(capacity);
    clock.set(1);
    expect(allowedOf(limiter, refilled + 500)).toBe(refilled);
  });

  it('keys in steady use keep the fractions they have earned', () => {
    const timed = bucket(10, 1, 3_000);
    const remaining = [9, 8, 7, 7, 6, 5, 5, 4, 3, 3, 2, 1, 1, 0];
    runSchedule(timed, [
      ...remaining.map((left, second) => [second * 1_000, 1, true, left] as const),
      [14_000, 1, false, 0, 1_000],
      [15_000, 1, true, 0],
      [16_000, 1, false, 0, 2_000],
      [17_000, 1, false, 0, 1_000],
      [18_000, 1, true, 0],
    ]);
  });

  it('a pause gives no more than the capacity, and a wait is for one token only', () => {
    const { limiter, clock } = bucket(5, 5, 1_000);
    expect(allowedOf(limiter, 5)).toBe(5);
    expect(limiter.tryAcquire('ann')).toMatchObject({ allowed: false, retryAfterMs: 200 });
    clock.set(2_000);
    expect(allowedOf(limiter, 6)).toBe(5);
  });

  it('six a minute may be six at once, and not one per ten seconds', () => {
    for (const { limiter, clock } of [bucket(6, 6, 60_000), counter(6, 60_000)]) {
      expect(allowedOf(limiter, 7)).toBe(6);
      clock.set(9_999);
      expect(limiter.isAllowed('ann')).toBe(false);
    }
  });

  it('waits are rounded up to whole seconds and never to 0', () => {
    const timed = bucket(1, 10, 1_000);
    runSchedule(timed, [
      [0, 1, true, 0],
      [5, 1, false, 0, 95],
    ]);
    expect(timed.limiter.peek('ann').retryAfterSeconds).toBe(1);
    const half = new TokenBucketLimiter({ capacity: 1, refillPerSecond: 0.5, clock: () => 0 });
    half.isAllowed('ann');
    expect(half.tryAcquire('ann').retryAfterSeconds).toBe(2);
  });

  it('one token of sixteen is back after the time of one token', () => {
    const { limiter } = bucket(16, 1, 2_000);
    expect(limiter.tryAcquire('ann').resetAfterMs).toBe(2_000);
  });

  it('a million calls that cost nothing move nothing', () => {
    const { limiter, clock } = bucket(10, 1, 60_000);
    limiter.tryAcquire('ann', 4);
    for (let call = 0; call < 1_000_000; call++) {
      clock.set(call / 1_000_000);
      if (!limiter.isAllowed('ann', 0)) expect.fail(`denied at call ${call}`);
    }
    clock.set(60_000 - 0.001);
    expect(limiter.peek('ann', 0).remaining).toBe(6);
    clock.set(60_000);
    expect(limiter.tryAcquire('ann', 7)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('a clock that shows the date is as exact as one that starts at 0', () => {
    const clock = new ManualClock(1_753_000_000_123.456);
    const limiter = new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1, clock: clock.now });
    limiter.isAllowed('ann');
    clock.set(1_753_000_001_123.455);
    expect(limiter.isAllowed('ann')).toBe(false);
    clock.set(1_753_000_001_123.456);
    expect(limiter.isAllowed('ann')).toBe(true);
  });
});

describe('numbers that went wrong elsewhere, in any limiter:', () => {
  it.each([
    ['token bucket', bucket(5, 5, 86_400_000)],
    ['sliding window counter', counter(5, 86_400_000)],
  ])('remaining counts down to 0 and no further: %s', (_, { limiter }) => {
    const remaining = Array.from({ length: 26 }, () => limiter.tryAcquire('ann').remaining);
    expect(remaining).toEqual([4, 3, 2, 1, 0, ...new Array(21).fill(0)]);
    expect(limiter.peek('ann', 0)).toMatchObject({ limit: 5, remaining: 0 });
  });

  it.each([
    ['token bucket', bucket(100, 100, 60_000)],
    ['sliding window counter', counter(100, 60_000)],
  ])('calls at one and the same instant are counted one by one: %s', (_, { limiter }) => {
    expect(allowedOf(limiter, 10_000)).toBe(100);
  });
});
