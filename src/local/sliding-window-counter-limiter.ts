import type { LocalOptions } from '../limiter.ts';
import { counterPolicy, knownOptions, type WindowRate } from '../options.ts';
import { LOCAL_OPTIONS, newTable, TableLimiter } from './table-limiter.ts';

export type SlidingWindowCounterOptions = WindowRate & LocalOptions;

const OPTIONS = ['limit', 'windowMs', ...LOCAL_OPTIONS];

/**
 * Sliding window counter: about `limit` permits in any trailing window, from two counts a key. The previous window's
 * permits are taken to have been spread evenly, by the strict rule of `assembly/sliding-window-counter.ts`: the worst
 * trailing window holds 2 x limit - 1 permits, and under constant hammering limit - 1 pass, so with a limit of 1 one
 * in two windows.
 *
 * Windows are multiples of `windowMs` on the clock's own zero. For exact rates with bursts, take `TokenBucketLimiter`.
 *
 * @throws SluicegateRangeError, SluicegateTypeError for an option outside its range, with the largest legal value.
 */
export class SlidingWindowCounterLimiter extends TableLimiter {
  constructor(options: SlidingWindowCounterOptions) {
    knownOptions(options, OPTIONS);
    const { limit, windowUs } = counterPolicy(options);
    super(newTable({ algorithm: 'slidingWindowCounter', limit, windowUs }, options));
  }
}
