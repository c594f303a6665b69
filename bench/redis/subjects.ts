import { Redis } from 'ioredis';
import { type RedisReply, RedisStore } from 'rate-limit-redis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import {
  RedisFixedWindowLimiter,
  RedisSlidingWindowCounterLimiter,
  RedisSlidingWindowLimiter,
  RedisTokenBucketLimiter,
  type RemoteLimiter,
  TieredLimiter,
} from '../../src/redis.ts';

/** One limiter, ours or another's, asked for one permit at a time. */
export interface Subject {
  readonly name: string;
  readonly rival: boolean;
  /** Whether the key may pass. */
  readonly ask: (key: string) => Promise<boolean>;
  readonly close: () => void;
}

export interface Policy {
  readonly limit: number;
  readonly windowMs: number;
}

type Make = (policy: Policy, redis: Redis) => (key: string) => Promise<boolean>;

const DEADLINE_MS = 5_000;

const ours =
  (
    make: (options: Policy & { redis: Redis; name: string; deadlineMs: number }) => RemoteLimiter,
  ): Make =>
  (policy, redis) => {
    const limiter = make({ ...policy, redis, name: 'bench', deadlineMs: DEADLINE_MS });
    return async (key) => (await limiter.tryAcquire(key)).allowed;
  };

const bucket = ({ limit, windowMs, ...rest }: Policy & { redis: Redis; name: string }) =>
  new RedisTokenBucketLimiter({
    capacity: limit,
    refillTokens: limit,
    refillIntervalMs: windowMs,
    ...rest,
  });

/** A fixed window of which up to so many permits are taken ahead. */
const leased = (permits: number): Make =>
  ours((options) => {
    const remote = new RedisFixedWindowLimiter(options);
    const lease = { permits, maxAgeMs: 1_000 };
    return new TieredLimiter({ remote, lease, onFailure: 'closed' });
  });

const MAKES: Record<string, Make> = {
  'fixed window': ours((options) => new RedisFixedWindowLimiter(options)),
  'token bucket': ours(bucket),
  'sliding window counter': ours((options) => new RedisSlidingWindowCounterLimiter(options)),
  'sliding window log': ours((options) => new RedisSlidingWindowLimiter(options)),
  'tiered, fixed window': ours((options) => {
    const remote = new RedisFixedWindowLimiter(options);
    return new TieredLimiter({ remote, onFailure: 'closed' });
  }),
};

/** What leases change, from none to many. */
const LEASED: Record<string, Make> = {
  'leases of 1': leased(1),
  'leases of 10': leased(10),
  'leases of 100': leased(100),
};

const RIVALS: Record<string, Make> = {
  'rate-limiter-flexible': ({ limit, windowMs }, redis) => {
    const options = { storeClient: redis, points: limit, duration: windowMs / 1000 };
    const limiter = new RateLimiterRedis(options);
    return async (key) => {
      try {
        await limiter.consume(key);
        return true;
      } catch (denial) {
        if (denial instanceof RateLimiterRes) return false;
        throw denial;
      }
    };
  },
  'rate-limit-redis': ({ limit, windowMs }, redis) => {
    // Written as its README has it for ioredis; express-rate-limit compares the hits with the limit.
    const sendCommand = (command: string, ...args: string[]) =>
      redis.call(command, ...args) as Promise<RedisReply>;
    const store = new RedisStore({ sendCommand });
    store.init({ windowMs } as Parameters<typeof store.init>[0]);
    return async (key) => (await store.increment(key)).totalHits <= limit;
  },
};

/** Whatever answers after one round trip: no limiter that makes one is faster. */
const FLOOR: Record<string, Make> = {
  'PING, which decides nothing': (_, redis) => async () => (await redis.ping()) === 'PONG',
};

const ALL = { ...MAKES, ...LEASED, ...RIVALS, ...FLOOR };

export const NAMES = [...Object.keys(MAKES), ...Object.keys(RIVALS)];
export const LEASED_NAMES = [...Object.keys(LEASED), ...Object.keys(RIVALS)];
export const FLOOR_NAMES = Object.keys(FLOOR);

/** The named limiter over a connection of its own. */
export async function subject(name: string, policy: Policy, port: number): Promise<Subject> {
  const redis = new Redis(port, '127.0.0.1');
  await redis.ping();
  const make = ALL[name] as Make;
  return { name, rival: name in RIVALS, ask: make(policy, redis), close: () => redis.disconnect() };
}
