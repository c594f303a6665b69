import { doubleBucketPolicy, fillMs, knownOptions, type TokenBucketRate } from '../options.ts';
import { REDIS_OPTIONS, type RedisOptions, ScriptLimiter } from './script-limiter.ts';

export type RedisTokenBucketOptions = TokenBucketRate & RedisOptions;

const OPTIONS = [
  'capacity',
  'refillPerSecond',
  'refillTokens',
  'refillIntervalMs',
  ...REDIS_OPTIONS,
];

/**
 * Token bucket in Redis: the algorithm and the whole numbers of `TokenBucketLimiter`, shared by all processes with the
 * same `name` and refill rate. A key is one short string in Redis, which expires when the bucket is full again.
 *
 * Raising or lowering the capacity keeps what has been taken; another rate begins anew.
 *
 * @throws SluicegateRangeError, SluicegateTypeError for an option outside its range, with the largest legal value.
 */
export class RedisTokenBucketLimiter extends ScriptLimiter {
  constructor(options: RedisTokenBucketOptions) {
    knownOptions(options, OPTIONS);
    const policy = doubleBucketPolicy(options);
    const { capacity, rate } = policy;
    super(
      {
        algorithm: 'token-bucket',
        unit: `${rate.tokens}/${rate.micros}`,
        limit: capacity,
        windowMs: fillMs(policy),
        args: [capacity, Number(rate.tokens), Number(rate.micros)],
      },
      options,
    );
  }
}
