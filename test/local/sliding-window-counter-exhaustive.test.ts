import { describe, expect, it } from 'vitest';
import { SlidingWindowCounterLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { sameAnswer } from '../model/model-limiter.ts';
import { modelSlidingWindowCounter } from '../model/sliding-window-counter.ts';

interface Call {
  /** Units of time after the call before. */
  readonly after: number;
  readonly cost: number;
}

function* numbers(least: number, most: number): Generator<number> {
  for (let number = least; number <= most; number++) yield number;
}

/** Every sequence of so many calls; the first somewhere in a window, the others up to two windows later. */
function* sequences(calls: number, limit: number, window: number): Generator<readonly Call[]> {
  if (calls === 0) {
    yield [];
    return;
  }
  for (const before of sequences(calls - 1, limit, window)) {
    for (const after of numbers(0, before.length === 0 ? window - 1 : 2 * window)) {
      for (const cost of numbers(1, limit)) yield [...before, { after, cost }];
    }
  }
}

/** Plays every sequence on a key of its own, then asks for every cost at every moment of the next two windows. */
function compareAll(limit: number, window: number, unitUs: number, calls: number): number {
  const clock = new ManualClock();
  const policy = { limit, windowMs: (window * unitUs) / 1000 };
  const limiter = new SlidingWindowCounterLimiter({ ...policy, maxKeys: 10, clock: clock.now });
  const model = modelSlidingWindowCounter(policy, clock.now);
  let compared = 0;
  let at = 0;
  for (const sequence of sequences(calls, limit, window)) {
    for (const after of numbers(0, 2 * window)) {
      // Two whole windows later: for a new key the same moments again.
      at = (Math.floor(at / window) + 3) * window;
      const key = ++compared;
      const compare = (method: 'tryAcquire' | 'peek', call: Call) => {
        clock.set((at * unitUs) / 1000);
        const got = limiter[method](key, call.cost);
        const due = model[method](key, call.cost);
        if (sameAnswer(got, due)) return;
        const story = JSON.stringify({ limit, window, sequence, method, ...call });
        throw new Error(`${JSON.stringify(got)} and not ${JSON.stringify(due)}: ${story}`);
      };
      for (const call of sequence) {
        at += call.after;
        compare('tryAcquire', call);
      }
      at += after;
      for (const cost of numbers(0, limit + 1)) compare('peek', { after, cost });
    }
  }
  limiter.close();
  return compared;
}

describe('in a small world the sliding window counter is right in every case', () => {
  it.each([
    ['two calls, limits to 4, windows to 4 microseconds', 2, 4, 1, 15_900],
    ['three calls, limits to 4, windows to 3 milliseconds', 3, 3, 1_000, 130_600],
  ])('%s', (_, calls, windows, unitUs, cases) => {
    let compared = 0;
    for (const limit of numbers(1, 4)) {
      for (const window of numbers(1, windows)) {
        compared += compareAll(limit, window, unitUs, calls);
      }
    }
    expect(compared).toBe(cases);
  });
});
