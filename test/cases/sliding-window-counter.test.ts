import { describe, expect, it } from 'vitest';
import { allowedOf, counter, runSchedule, type Step } from '../support/schedule.ts';

/** One permit every so many milliseconds from 0, all allowed. */
function calls(times: number, everyMs: number, limit: number): Step[] {
  return Array.from({ length: times }, (_, i) => [i * everyMs, 1, true, limit - i - 1] as const);
}

describe('the sliding window counter', () => {
  it('gives a limit of 1 back after two windows: the strict rule', () => {
    runSchedule(counter(1, 10_000), [
      [0, 1, true, 0],
      [1_000, 1, false, 0, 19_000],
      [9_999, 1, false, 0, 10_001],
      [10_000, 1, false, 0, 10_000],
      [10_001, 1, false, 0, 9_999],
      [19_999.999, 1, false, 0, 1],
      [20_000, 1, true, 0],
    ]);
  });

  it('weighs the previous window by what the trailing window still covers of it', () => {
    const { limiter, clock } = counter(100, 60_000);
    clock.set(30_000);
    expect(allowedOf(limiter, 50)).toBe(50);
    clock.set(66_000);
    expect(allowedOf(limiter, 10)).toBe(10);
    expect(limiter.peek('ann', 0).remaining).toBe(45);
    expect(allowedOf(limiter, 60)).toBe(45);
  });

  it('lets through exactly when the weighed count has room', () => {
    const { limiter, clock } = counter(10, 1_000);
    clock.set(990);
    expect(allowedOf(limiter, 11)).toBe(10);
    runSchedule({ limiter, clock }, [
      [1_010, 1, false, 0, 90],
      [1_099, 1, false, 0, 1],
      [1_099.999, 1, false, 0, 1],
      [1_100, 1, true, 0],
    ]);
    expect(limiter.peek('ann').retryAfterSeconds).toBe(1);
  });

  it('names the wait that its own rule gives, not the window and not the log', () => {
    runSchedule(counter(10, 60_000), [
      ...calls(10, 2_000, 10),
      [20_000, 1, false, 0, 46_000],
      [65_999, 1, false, 0, 1],
      [66_000, 1, true, 0],
    ]);
    runSchedule(counter(2, 60_000), [
      [0, 1, true, 1],
      [10_000, 1, true, 0],
      [20_000, 1, false, 0, 70_000],
      [89_999, 1, false, 0, 1],
      [90_000, 1, true, 0],
    ]);
  });

  it('counts each key by itself, wherever in the window it began', () => {
    const timed = counter(1, 10_000);
    runSchedule(timed, [[0, 1, true, 0]], 'user 1');
    const steps: Step[] = [
      [7_000, 1, true, 0],
      [7_500, 1, false, 0],
      [12_000, 1, false, 0, 8_000],
      [20_000, 1, true, 0],
    ];
    runSchedule(timed, steps, 'user 2');
  });

  it('never locks out a steady user below the limit', () => {
    const { limiter, clock } = counter(5, 2_000);
    for (let call = 0; call < 120; call++) {
      clock.set(call * 500);
      if (!limiter.isAllowed('ann')) expect.fail(`call ${call} was denied`);
    }
    clock.advance(4_000);
    expect(allowedOf(limiter, 6)).toBe(5);
  });

  it('has a key as new when the window after its last permit has ended', () => {
    const { limiter, clock } = counter(10, 60_000);
    clock.set(15_000);
    expect(limiter.tryAcquire('ann', 5).resetAfterMs).toBe(105_000);
    clock.set(60_000);
    expect(limiter.peek('ann', 0).resetAfterMs).toBe(60_000);
    clock.set(119_999.999);
    expect(limiter.peek('ann', 0).resetAfterMs).toBe(1);
    clock.set(120_000);
    expect(limiter.peek('ann', 0)).toMatchObject({ remaining: 10, resetAfterMs: 0 });
  });

  it('refunds the newest window first, at most the limit at once', () => {
    const { limiter, clock } = counter(10, 60_000);
    limiter.tryAcquire('ann', 10);
    clock.set(90_000);
    limiter.tryAcquire('ann', 5);
    limiter.refund('ann', 7);
    // 8 of the previous window, half of them covered.
    expect(limiter.peek('ann', 0)).toMatchObject({ remaining: 6, resetAfterMs: 30_000 });
    limiter.refund('ann', 8);
    expect(limiter.peek('ann', 0)).toMatchObject({ remaining: 10, resetAfterMs: 0 });
  });

  it.each([1, 2, 10, 100])('admits at most 2 x %d - 1 in any trailing window', (limit) => {
    const windowMs = 10_000;
    const { limiter, clock } = counter(limit, windowMs);
    const admitted: number[] = [];
    clock.set(windowMs - 0.001);
    for (let call = 0; call < limit; call++)
      if (limiter.isAllowed('ann')) admitted.push(clock.now());
    for (let ms = windowMs; ms < 2 * windowMs - 0.001; ms++) {
      clock.set(ms);
      while (limiter.isAllowed('ann')) admitted.push(ms);
    }
    expect(admitted).toHaveLength(2 * limit - 1);
  });

  it.each([2, 10, 100])('under constant hammering settles at %d - 1 a window', (limit) => {
    const windowMs = 1_000;
    const { limiter, clock } = counter(limit, windowMs);
    const perWindow = new Array(20).fill(0);
    for (let ms = 0; ms < 20 * windowMs; ms++) {
      clock.set(ms);
      while (limiter.isAllowed('ann')) perWindow[Math.floor(ms / windowMs)]++;
    }
    expect(perWindow.slice(2)).toEqual(new Array(18).fill(limit - 1));
  });
});
