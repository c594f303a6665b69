import { afterEach, describe, expect, it, vi } from 'vitest';
import { SlidingWindowCounterLimiter, TokenBucketLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { allowedOf, bucket, counter } from '../support/schedule.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('time', () => {
  it.each([
    ['token bucket', bucket(10, 10, 10_000)],
    ['sliding window counter', counter(10, 10_000)],
  ])('that runs backwards gives nothing: %s', (_, { limiter, clock }) => {
    clock.set(5_000);
    expect(allowedOf(limiter, 11)).toBe(10);
    const { retryAfterMs, resetAfterMs } = limiter.peek('ann');
    for (const back of [4_999.999, 4_000, 0, -10_000_000]) {
      clock.set(back);
      expect(limiter.tryAcquire('ann')).toMatchObject({
        allowed: false,
        retryAfterMs,
        resetAfterMs,
      });
    }
    clock.set(5_000 + retryAfterMs - 0.001);
    expect(limiter.isAllowed('ann')).toBe(false);
    clock.set(5_000 + retryAfterMs);
    expect(limiter.isAllowed('ann')).toBe(true);
  });

  it('that jumps back and forth between stale readings mints no permits', () => {
    const { limiter, clock } = bucket(1, 10, 1_000);
    clock.set(100);
    expect(limiter.isAllowed('ann')).toBe(true);
    for (let call = 0; call < 1_000; call++) {
      clock.set(call % 2 === 0 ? 50 : 100);
      if (limiter.isAllowed('ann')) expect.fail(`call ${call} was allowed`);
    }
    clock.set(200);
    expect(allowedOf(limiter, 2)).toBe(1);
  });

  it('that ran backwards for one key stands still for all of the limiter, and only of it', () => {
    const clock = new ManualClock();
    const options = { capacity: 1, refillPerSecond: 1, clock: clock.now };
    const [one, other] = [new TokenBucketLimiter(options), new TokenBucketLimiter(options)];
    one.isAllowed('ann');
    other.isAllowed('ann');
    clock.set(1_000);
    one.isAllowed('bob');
    clock.set(500);
    expect(one.peek('ann').allowed).toBe(true);
    expect(other.peek('ann')).toMatchObject({ allowed: false, retryAfterMs: 500 });
  });

  it('by default is not the date: setting that changes nothing', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const limiter = new SlidingWindowCounterLimiter({ limit: 10, windowMs: 86_400_000 });
    expect(allowedOf(limiter, 11)).toBe(10);
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(limiter.isAllowed('ann')).toBe(false);
    vi.setSystemTime(Date.now() + 30 * 86_400_000);
    expect(limiter.isAllowed('ann')).toBe(false);
  });

  it('passes while no timer can run', () => {
    const limiter = new TokenBucketLimiter({
      capacity: 20,
      refillTokens: 20,
      refillIntervalMs: 20,
    });
    expect(limiter.isAllowed('ann', 20)).toBe(true);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 25);
    expect(limiter.isAllowed('ann', 20)).toBe(true);
  });

  it.each([
    ['token bucket', bucket(1, 1, 5_000)],
    ['sliding window counter', counter(1, 5_000)],
  ])('of 60 days at a call every 10 s denies nobody under 1 per 5 s: %s', (_, timed) => {
    for (let ms = 0; ms <= 60 * 86_400_000; ms += 10_000) {
      timed.clock.set(ms);
      if (!timed.limiter.isAllowed('ann')) expect.fail(`denied after ${ms} ms`);
    }
  });

  it('is rounded to the nearest microsecond', () => {
    const { limiter, clock } = bucket(1, 1, 0.002);
    limiter.isAllowed('ann');
    clock.set(0.00149);
    expect(limiter.isAllowed('ann')).toBe(false);
    clock.set(0.00151);
    expect(limiter.isAllowed('ann')).toBe(true);
  });

  it.each([-1_000_000.001, -0.001, 0, 1_999.999, 1e12 + 1_999])(
    'divides into windows at multiples of their length on its own zero: start at %d',
    (start) => {
      const windowMs = 2_000;
      const clock = new ManualClock(start);
      const limiter = new SlidingWindowCounterLimiter({ limit: 4, windowMs, clock: clock.now });
      const end = (Math.floor(start / windowMs) + 1) * windowMs;
      const { resetAfterMs } = limiter.tryAcquire('ann', 4);
      expect(resetAfterMs).toBe(Math.ceil(Number((end + windowMs - start).toFixed(3))));
      clock.set(end + windowMs / 2 - 0.001);
      expect(limiter.isAllowed('ann', 2)).toBe(false);
      clock.set(end + windowMs / 2);
      expect(limiter.isAllowed('ann', 2)).toBe(true);
    },
  );

  it.each([NaN, Infinity, -Infinity, 9_007_199_254_741, -9_007_199_254_741, '1', null, 1n])(
    'of %s is refused, at construction and at each call, and nothing is spent',
    (reading) => {
      let now: unknown = 0;
      const clock = () => now as number;
      const options = { capacity: 1, refillPerSecond: 1, clock };
      const limiter = new TokenBucketLimiter(options);
      now = reading;
      const refusal = expect.objectContaining({
        name: 'SluicegateRangeError',
        code: 'ERR_INVALID_CLOCK',
      });
      expect(() => limiter.tryAcquire('ann')).toThrow(refusal);
      expect(() => limiter.isAllowed('ann')).toThrow(refusal);
      expect(() => new TokenBucketLimiter(options)).toThrow(refusal);
      now = 0;
      expect(limiter.tryAcquire('ann')).toMatchObject({ allowed: true, remaining: 0 });
    },
  );

  it('may begin and end at the ends of its range', () => {
    const end = 9_007_199_254_740;
    const clock = new ManualClock(-end);
    const rate = { capacity: 3, refillTokens: 1, refillIntervalMs: 1_000 };
    const limiter = new TokenBucketLimiter({ ...rate, clock: clock.now });
    expect(limiter.tryAcquire('ann', 3)).toMatchObject({ allowed: true, remaining: 0 });
    clock.set(end - 0.001);
    expect(limiter.tryAcquire('ann', 3)).toMatchObject({ allowed: true, remaining: 0 });
    clock.set(end);
    expect(limiter.tryAcquire('ann')).toMatchObject({ allowed: false, retryAfterMs: 1_000 });
  });
});
