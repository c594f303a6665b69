import type { LocalOptions } from '../limiter.ts';
import { bucketPolicy, knownOptions, type TokenBucketRate } from '../options.ts';
import { LOCAL_OPTIONS, newTable, TableLimiter } from './table-limiter.ts';

export type TokenBucketOptions = TokenBucketRate & LocalOptions;

const OPTIONS = [
  'capacity',
  'refillPerSecond',
  'refillTokens',
  'refillIntervalMs',
  ...LOCAL_OPTIONS,
];

/**
 * Token bucket: every key has a bucket of `capacity` tokens, full at first, that refills evenly. Allows bursts up to
 * the capacity and the refill rate in the long run, at most capacity + rate x span in any span of time.
 * Counts in whole numbers: nothing drifts, for any rational rate. The policy's window is the time from empty to full.
 *
 * For "at most N a window" without bursts across windows, take `SlidingWindowCounterLimiter`.
 *
 * @throws SluicegateRangeError, SluicegateTypeError for an option outside its range, with the largest legal value.
 */
export class TokenBucketLimiter extends TableLimiter {
  constructor(options: TokenBucketOptions) {
    knownOptions(options, OPTIONS);
    const { capacity, rate } = bucketPolicy(options);
    super(newTable({ algorithm: 'tokenBucket', capacity, rate }, options));
  }
}
