import type { Cluster, Redis } from 'ioredis';
import {
  type LocalLimiter,
  type RemoteLimiter,
  SlidingWindowCounterLimiter,
  TokenBucketLimiter,
} from '../../index.ts';
import { RedisSlidingWindowCounterLimiter, RedisTokenBucketLimiter } from '../../redis.ts';

/** A path of the demo with a limit of its own. */
export interface DemoRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly title: string;
  /** The limit in words. */
  readonly rule: string;
  readonly limiter: LocalLimiter;
  /** The same limit in Redis. */
  readonly remote: (redis: Redis | Cluster) => RemoteLimiter;
}

const MAX_KEYS = 10_000;
/** Longer than the default: a demo may share its machine with a build. */
const DEADLINE_MS = 500;

/** The routes, with limits that worker threads can join where `shared`. */
export function demoRoutes(shared: boolean): DemoRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/token-bucket',
      title: 'Token bucket',
      rule: '10 at once, refilled at 2 a second',
      limiter: new TokenBucketLimiter({
        name: 'token-bucket',
        capacity: 10,
        refillPerSecond: 2,
        maxKeys: MAX_KEYS,
        shared,
      }),
      remote: (redis) =>
        new RedisTokenBucketLimiter({
          redis,
          name: 'token-bucket',
          capacity: 10,
          refillPerSecond: 2,
          deadlineMs: DEADLINE_MS,
        }),
    },
    {
      method: 'GET',
      path: '/api/sliding-window-counter',
      title: 'Sliding window counter',
      rule: '10 in 10 seconds',
      limiter: new SlidingWindowCounterLimiter({
        name: 'sliding-window-counter',
        limit: 10,
        windowMs: 10_000,
        maxKeys: MAX_KEYS,
        shared,
      }),
      remote: (redis) =>
        new RedisSlidingWindowCounterLimiter({
          redis,
          name: 'sliding-window-counter',
          limit: 10,
          windowMs: 10_000,
          deadlineMs: DEADLINE_MS,
        }),
    },
    {
      method: 'POST',
      path: '/api/login',
      title: 'Login',
      rule: '5 tries a minute',
      limiter: new SlidingWindowCounterLimiter({
        name: 'login',
        limit: 5,
        windowMs: 60_000,
        maxKeys: MAX_KEYS,
        shared,
      }),
      remote: (redis) =>
        new RedisSlidingWindowCounterLimiter({
          redis,
          name: 'login',
          limit: 5,
          windowMs: 60_000,
          deadlineMs: DEADLINE_MS,
        }),
    },
  ];
}
