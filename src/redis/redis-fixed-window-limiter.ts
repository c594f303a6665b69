import { knownOptions, type WindowRate, windowPolicy } from '../options.ts';
import { REDIS_OPTIONS, type RedisOptions, ScriptLimiter } from './script-limiter.ts';

export type RedisFixedWindowOptions = WindowRate & RedisOptions;

const OPTIONS = ['limit', 'windowMs', ...REDIS_OPTIONS];

/**
 * Fixed window in Redis: at most `limit` permits in a window that begins with the first permit after the last window,
 * shared by all processes with the same `name` and window. The simplest to explain and the cheapest in Redis: one short
 * string a key.
 *
 * Around the end of a window up to 2 x limit permits can pass at once. Where that matters, take
 * `RedisSlidingWindowCounterLimiter`, which costs the same.
 *
 * Raising or lowering the limit keeps the counts; another window begins anew.
 *
 * @throws SluicegateRangeError, SluicegateTypeError for an option outside its range, with the largest legal value.
 */
export class RedisFixedWindowLimiter extends ScriptLimiter {
  constructor(options: RedisFixedWindowOptions) {
    knownOptions(options, OPTIONS);
    const { limit, windowUs } = windowPolicy(options);
    super(
      {
        algorithm: 'fixed-window',
        unit: `${windowUs}`,
        limit,
        windowMs: Math.ceil(windowUs / 1000),
        args: [limit, windowUs],
      },
      options,
    );
  }
}
