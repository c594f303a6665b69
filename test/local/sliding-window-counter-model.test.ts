import { describe, it } from 'vitest';
import { SlidingWindowCounterLimiter } from '../../src/index.ts';
import { modelSlidingWindowCounter } from '../model/sliding-window-counter.ts';
import { compareRandomly } from '../support/compare.ts';

const DAY_MS = 86_400_000;
const CALLS = 60_000;

/** [what is special, limit, window in milliseconds] */
const POLICIES: readonly [string, number, number][] = [
  ['one permit', 1, 10_000],
  ['a common one', 100, 60_000],
  ['a window of no whole milliseconds', 7, 13.337],
  ['the shortest window', 127, 0.001],
  ['the largest limit of a millisecond', 4_095, 1],
  ['the largest limit of a second', 131_071, 1_000],
  ['the largest limit of a minute', 1_048_575, 60_000],
  ['the largest limit of an hour', 8_388_607, 3_600_000],
  ['the largest limit of a day', 33_554_431, DAY_MS],
  ['the largest limit of 30 days', 3_558_399, 30 * DAY_MS],
  ['the largest limit of 365 days', 292_471, 365 * DAY_MS],
];

describe('the sliding window counter answers like exact fractions', () => {
  it.each(POLICIES)('%s: limit %d in %d ms', (_, limit, windowMs) => {
    const policy = { limit, windowMs, maxKeys: 50 };
    compareRandomly(
      {
        make: (clock) => ({
          limiter: new SlidingWindowCounterLimiter({ ...policy, clock }),
          model: modelSlidingWindowCounter(policy, clock),
        }),
        limit,
        periodUs: windowMs * 1000,
      },
      limit,
      CALLS,
    );
  });
});
