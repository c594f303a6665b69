import { Redis } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import {
  RedisFixedWindowLimiter,
  RedisSlidingWindowCounterLimiter,
  RedisSlidingWindowLimiter,
  RedisTokenBucketLimiter,
} from '../../src/redis.ts';

// Never connects.
const redis = new Redis({ lazyConnect: true });
afterAll(() => redis.disconnect());

const DAY_MS = 86_400_000;
const window = { redis, name: 'options', limit: 10, windowMs: 60_000 };
const bucket = { redis, name: 'options', capacity: 10, refillPerSecond: 1 };

describe('options of limiters in Redis', () => {
  it.each([
    ['no client', { redis: undefined }, TypeError, /redis must be an ioredis client.*undefined/],
    ['an address for a client', { redis: 'redis://localhost' }, TypeError, /ioredis client/],
    ['no name', { name: undefined }, TypeError, /name must be a string; got undefined/],
    ['a name with quotes', { name: 'a"b' }, RangeError, /name must be 1 to 128 printable/],
    ['a prefix with braces', { prefix: '{app}' }, RangeError, /prefix must be .*without spaces/],
    ['an empty prefix', { prefix: '' }, RangeError, /prefix must be/],
    ['a prefix that is a number', { prefix: 1 }, TypeError, /prefix must be a string; got 1/],
    ['no time to answer', { deadlineMs: 0 }, RangeError, /deadlineMs must be .* from 1 to 3600000/],
    ['a deadline of no number', { deadlineMs: '50' }, TypeError, /deadlineMs must be a number/],
    ['no end to wait for', { deadlineMs: Infinity }, RangeError, /deadlineMs/],
    ['a typo', { deadlineMS: 50 }, TypeError, /unknown option "deadlineMS"/],
    ['a limit of 0', { limit: 0 }, RangeError, /limit must be a whole number from 1/],
    ['a window of 0', { windowMs: 0 }, RangeError, /windowMs/],
    ['a clock, which Redis has', { clock: () => 0 }, TypeError, /unknown option "clock"/],
  ])('refuse %s', (_, wrong, kind, message) => {
    for (const Limiter of [
      RedisSlidingWindowLimiter,
      RedisSlidingWindowCounterLimiter,
      RedisFixedWindowLimiter,
    ]) {
      const make = () => new Limiter({ ...window, ...wrong } as never);
      expect(make).toThrow(kind);
      expect(make).toThrow(message);
    }
  });

  it('name the largest legal value of what doubles cannot count exactly', () => {
    const capacity = (capacity: number) => () =>
      new RedisTokenBucketLimiter({ ...bucket, capacity, refillPerSecond: 0.1234567 });
    expect(capacity(901)).toThrow(/capacity must be at most 900 in Redis.*got 901/);
    expect(capacity(900)).not.toThrow();
    const log = (limit: number) => () =>
      new RedisSlidingWindowLimiter({ ...window, windowMs: DAY_MS, limit });
    expect(log(2 ** 53 - 1)).toThrow(/limit must be a whole number from 1 to 2467725823216/);
    expect(log(2_467_725_823_216)).not.toThrow();
    const counter = (limit: number, days: number) => () =>
      new RedisSlidingWindowCounterLimiter({ ...window, windowMs: days * DAY_MS, limit });
    expect(counter(33_554_432, 1)).toThrow(/from 1 to 33554431/);
    for (const [limit, days] of [
      [1_000_000, 1],
      [3_000_000, 30],
    ] as const) {
      expect(counter(limit, days)).not.toThrow();
    }
  });

  it('give the policy that the limiter in process has', () => {
    expect(new RedisTokenBucketLimiter({ ...bucket, refillPerSecond: 3 }).policy).toEqual({
      name: 'options',
      limit: 10,
      windowMs: 3_334,
    });
    expect(new RedisFixedWindowLimiter({ ...window, windowMs: 13.337 }).policy).toEqual({
      name: 'options',
      limit: 10,
      windowMs: 14,
    });
  });
});
