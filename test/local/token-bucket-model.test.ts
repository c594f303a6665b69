import { describe, it } from 'vitest';
import { TokenBucketLimiter } from '../../src/index.ts';
import { modelTokenBucket } from '../model/token-bucket.ts';
import { compareRandomly } from '../support/compare.ts';

const DAY_MS = 86_400_000;
const CALLS = 60_000;

/** [what is special, capacity, tokens, per milliseconds, longest time in days] */
const POLICIES: readonly [string, number, number, number, number?][] = [
  ['one token, an odd rate', 1, 10, 13_000],
  ['a common one', 100, 10, 1_000],
  ['more tokens than milliseconds', 2_000, 2_000, 1_000],
  ['tokens that are no whole microseconds', 1_000, 1_000, 60_000],
  ['a slow refill', 5, 1, DAY_MS],
  ['the shortest interval', 3, 1, 0.001],
  ['a billion tokens', 1e9, 1e9, 1_000],
  ['the longest interval', 36_558, 1, 365 * DAY_MS],
  ['the largest capacity', Number.MAX_SAFE_INTEGER, 999, 0.128],
  ['the largest product of capacity and interval', 1_152_921, 7, 1_000_000_000.999],
  ['the largest rate', 1_000, 1_779_199, 1_000, 25],
  ['the largest rate and a large bucket', 1_000_000_000, 1_779_199, 1_000, 25],
];

describe('the token bucket answers like exact fractions', () => {
  it.each(POLICIES)('%s: capacity %d, %d per %d ms', (...row) => {
    const [, capacity, refillTokens, refillIntervalMs, days = 3650] = row;
    const policy = { capacity, refillTokens, refillIntervalMs, maxKeys: 50 };
    compareRandomly(
      {
        make: (clock) => ({
          limiter: new TokenBucketLimiter({ ...policy, clock }),
          model: modelTokenBucket(policy, clock),
        }),
        limit: capacity,
        periodUs: Math.ceil(((capacity * refillIntervalMs) / refillTokens) * 1000),
        spanUs: days * DAY_MS * 1000,
      },
      capacity,
      CALLS,
    );
  });
});
