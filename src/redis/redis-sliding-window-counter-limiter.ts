import { counterPolicy, knownOptions, type WindowRate } from '../options.ts';
import { REDIS_OPTIONS, type RedisOptions, ScriptLimiter } from './script-limiter.ts';

export type RedisSlidingWindowCounterOptions = WindowRate & RedisOptions;

const OPTIONS = ['limit', 'windowMs', ...REDIS_OPTIONS];

/**
 * Sliding window counter in Redis: the algorithm and the whole numbers of `SlidingWindowCounterLimiter`, shared by all
 * processes with the same `name` and window. A key is one short string in Redis, whatever the limit.
 *
 * It approximates: the worst trailing window holds 2 x limit - 1 permits, and under constant hammering limit - 1 pass.
 * Windows are multiples of `windowMs` since 1970 on the clock of Redis. For an exact window, take
 * `RedisSlidingWindowLimiter`.
 *
 * Raising or lowering the limit keeps the counts; another window begins anew.
 *
 * @throws SluicegateRangeError, SluicegateTypeError for an option outside its range, with the largest legal value.
 */
export class RedisSlidingWindowCounterLimiter extends ScriptLimiter {
  constructor(options: RedisSlidingWindowCounterOptions) {
    knownOptions(options, OPTIONS);
    const { limit, windowUs } = counterPolicy(options);
    super(
      {
        algorithm: 'sliding-window-counter',
        unit: `${windowUs}`,
        limit,
        windowMs: Math.ceil(windowUs / 1000),
        args: [limit, windowUs],
      },
      options,
    );
  }
}
