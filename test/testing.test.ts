import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { monotonicClock } from '../src/clock.ts';
import { TokenBucketLimiter } from '../src/index.ts';
import { ManualClock } from '../src/testing.ts';

describe('a manual clock', () => {
  it('starts at 0, or where it is told to', () => {
    expect(new ManualClock().now()).toBe(0);
    expect(new ManualClock(1_753_000_000_123.456).now()).toBe(1_753_000_000_123.456);
    expect(new ManualClock(-5).now()).toBe(-5);
  });

  it('stands until it is moved', () => {
    const clock = new ManualClock(10);
    expect([clock.now(), clock.now()]).toEqual([10, 10]);
    clock.advance(2.5);
    expect(clock.now()).toBe(12.5);
    clock.set(100);
    expect(clock.now()).toBe(100);
  });

  it('can be put back', () => {
    const clock = new ManualClock(10);
    clock.advance(-3);
    expect(clock.now()).toBe(7);
    clock.set(-1);
    expect(clock.now()).toBe(-1);
  });

  it('can hand on its `now` by itself', () => {
    const clock = new ManualClock();
    const { now } = clock;
    clock.set(3);
    expect(now()).toBe(3);
  });

  it('moves by microseconds as well as a limiter can count them', () => {
    const clock = new ManualClock(1_000_000);
    const rate = { capacity: 1, refillTokens: 1, refillIntervalMs: 1 };
    const limiter = new TokenBucketLimiter({ ...rate, clock: clock.now });
    limiter.isAllowed('ann');
    for (let step = 0; step < 999; step++) clock.advance(0.001);
    expect(limiter.isAllowed('ann')).toBe(false);
    clock.advance(0.001);
    expect(limiter.isAllowed('ann')).toBe(true);
  });

  it.each([0, 1_753_000_000_000, -1_753_000_000_000, 9_007_199_254_000])(
    'does not drift by however many small steps: from %d ms',
    (start) => {
      const clock = new ManualClock(start);
      for (let step = 0; step < 10_000; step++) clock.advance(0.001);
      expect(clock.now()).toBe(start + 10);
      for (let step = 0; step < 10_000; step++) clock.advance(-0.003);
      expect(clock.now()).toBe(start - 20);
    },
  );

  it('rounds to whole microseconds', () => {
    const clock = new ManualClock(0.0014);
    expect(clock.now()).toBe(0.001);
    clock.advance(0.0006);
    expect(clock.now()).toBe(0.002);
  });

  it.each([Number.NaN, Infinity, -Infinity, 9_007_199_254_741, '1', undefined])(
    'refuses %s and stays where it is',
    (ms) => {
      const clock = new ManualClock(7);
      const refusal = expect.objectContaining({ code: 'ERR_INVALID_CLOCK' });
      expect(() => clock.set(ms as number)).toThrow(refusal);
      expect(() => clock.advance(typeof ms === 'string' ? Number.NaN : (ms as number))).toThrow(
        refusal,
      );
      expect(clock.now()).toBe(7);
    },
  );

  it('refuses to pass the end of its range, step by step', () => {
    const clock = new ManualClock(9_007_199_254_740);
    const refusal = expect.objectContaining({ code: 'ERR_INVALID_CLOCK' });
    expect(() => clock.advance(0.001)).toThrow(refusal);
    expect(clock.now()).toBe(9_007_199_254_740);
  });

  it('shows the same time to all who share it', () => {
    const clock = new ManualClock(5);
    const other = new ManualClock(clock.shared);
    expect(other.now()).toBe(5);
    clock.advance(1.5);
    expect(other.now()).toBe(6.5);
    other.set(9);
    expect(clock.now()).toBe(9);
  });

  it('is shared with a worker, which sees it, moves it, and limits by it', async () => {
    const clock = new ManualClock(1_000.25);
    const worker = new Worker(new URL('./support/clock-worker.mjs', import.meta.url), {
      workerData: clock.shared,
    });
    const [message] = await once(worker, 'message');
    expect(message).toEqual({ seen: 1_000.25, early: false, late: true, end: 2_000.25 });
    expect(clock.now()).toBe(2_000.25);
    await worker.terminate();
  });
});

describe('the clock that limiters have by default', () => {
  it('counts milliseconds with fractions and never runs backwards', () => {
    const begin = [performance.now(), monotonicClock(), performance.now()] as const;
    let last = begin[1];
    while (performance.now() - begin[0] < 20) {
      const now = monotonicClock();
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
    const end = [performance.now(), monotonicClock(), performance.now()] as const;
    // By a clock read before and after: the process may have been paused between any two readings.
    expect(end[1] - begin[1]).toBeGreaterThan(end[0] - begin[2] - 0.01);
    expect(end[1] - begin[1]).toBeLessThan(end[2] - begin[0] + 0.01);
    expect(Number.isInteger(last) && Number.isInteger(begin[1])).toBe(false);
  });

  it('has one zero for all threads of the process', async () => {
    const source = `
      const { parentPort } = require('node:worker_threads');
      const [seconds, nanoseconds] = process.hrtime();
      parentPort.postMessage(seconds * 1e3 + nanoseconds / 1e6);
    `;
    const before = monotonicClock();
    const worker = new Worker(source, { eval: true });
    const [reading] = await once(worker, 'message');
    expect(reading).toBeGreaterThanOrEqual(before);
    expect(reading).toBeLessThanOrEqual(monotonicClock());
    await worker.terminate();
  });
});
