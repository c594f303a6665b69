import {
  RedisFixedWindowLimiter,
  type RedisOptions,
  RedisSlidingWindowCounterLimiter,
  RedisSlidingWindowLimiter,
  RedisTokenBucketLimiter,
  type RemoteLimiter,
} from '../../src/redis.ts';
import type { SEAM, Seam } from '../../src/timers.ts';

export type RemotePolicy = RedisOptions & {
  readonly limit: number;
  readonly windowMs: number;
  readonly [SEAM]?: Seam;
};

export type MakeRemote = (policy: RemotePolicy) => RemoteLimiter;

/** Every limiter in Redis, each with at most `limit` permits at once, all back after `windowMs`. */
type Remote = readonly [string, MakeRemote];
export const REMOTES: readonly [Remote, Remote, Remote, Remote] = [
  ['sliding window log', (policy) => new RedisSlidingWindowLimiter(policy)],
  ['sliding window counter', (policy) => new RedisSlidingWindowCounterLimiter(policy)],
  [
    'token bucket',
    ({ limit, windowMs, ...rest }) => {
      const refill = { refillTokens: limit, refillIntervalMs: windowMs };
      return new RedisTokenBucketLimiter({ capacity: limit, ...refill, ...rest });
    },
  ],
  ['fixed window', (policy) => new RedisFixedWindowLimiter(policy)],
];
