import { knownOptions, logPolicy, type WindowRate } from '../options.ts';
import { REDIS_OPTIONS, type RedisOptions, ScriptLimiter } from './script-limiter.ts';

export type RedisSlidingWindowOptions = WindowRate & RedisOptions;

const OPTIONS = ['limit', 'windowMs', ...REDIS_OPTIONS];

/**
 * Sliding window log in Redis, exact: never more than `limit` permits in any span of `windowMs`, shared by all processes
 * with the same `name` and window. A denial says when the permit that is in the way leaves the window.
 *
 * Costs one sorted-set member, about 100 bytes, for each call in the window, whatever its cost, and time that grows with
 * the logarithm of their number. Where that is too much, take `RedisSlidingWindowCounterLimiter`.
 *
 * Raising or lowering the limit keeps the counts; another window begins anew.
 *
 * @throws SluicegateRangeError, SluicegateTypeError for an option outside its range, with the largest legal value.
 */
export class RedisSlidingWindowLimiter extends ScriptLimiter {
  constructor(options: RedisSlidingWindowOptions) {
    knownOptions(options, OPTIONS);
    const { limit, windowUs } = logPolicy(options);
    super(
      {
        algorithm: 'sliding-window-log',
        unit: `${windowUs}`,
        limit,
        windowMs: Math.ceil(windowUs / 1000),
        args: [limit, windowUs],
      },
      options,
    );
  }
}
