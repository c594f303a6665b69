import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Decision } from '../../src/index.ts';
import { type RemoteLimiter, TieredLimiter } from '../../src/redis.ts';
import { ManualClock } from '../../src/testing.ts';
import { SEAM } from '../../src/timers.ts';
import { RedisServer, scriptCalls } from '../support/redis.ts';
import { REMOTES, type RemotePolicy } from '../support/remotes.ts';
import { until } from '../support/until.ts';

/** What these tests are about is not how fast a busy machine answers. */
const DEADLINE_MS = 10_000;
const NOON_MS = 1_753_012_800_000;

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
beforeEach(async () => void (await server.admin().flushall()));
afterAll(() => server.stop());

const all = <T>(count: number, make: (i: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));
const allowedOf = (answers: Decision[]) => answers.filter((answer) => answer.allowed).length;

/** The decision, and the milliseconds since it was asked for. */
async function timed(call: Promise<Decision>) {
  const start = performance.now();
  return { ...(await call), elapsed: () => performance.now() - start };
}

describe.each(REMOTES)('%s', (_, make) => {
  type Options = Partial<RemotePolicy>;
  const limiterOf = (limit: number, windowMs: number, options: Options = {}): RemoteLimiter => {
    const redis = options.redis ?? server.client();
    return make({ name: 'tests', limit, windowMs, deadlineMs: DEADLINE_MS, redis, ...options });
  };
  const clocked = (limit: number, windowMs: number) => {
    const clock = new ManualClock(NOON_MS);
    const limiter = limiterOf(limit, windowMs, { [SEAM]: { scriptTime: clock.now } });
    return { limiter, clock };
  };
  const keyOf = async () => (await server.admin().keys('*'))[0] as string;

  it('admits exactly the limit of 10 connections with 1,000 calls each at once', async () => {
    const limiters = all(10, () => limiterOf(777, 36_000_000));
    const calls = limiters.flatMap((limiter) => all(1_000, () => limiter.tryAcquire('ann')));
    expect(allowedOf(await Promise.all(calls))).toBe(777);
  });

  it('admits exactly the limit to processes whose clocks are a day apart', async () => {
    const dayMs = 86_400_000;
    const start = performance.now();
    const limiters = [0, dayMs, -dayMs].map((skew) => {
      const timers = {
        now: () => performance.now() - start + skew,
        wake: (callback: () => void, ms: number) => void setTimeout(callback, ms),
      };
      return limiterOf(100, 3_600_000, { [SEAM]: { timers } });
    });
    const calls = limiters.flatMap((limiter) => all(100, () => limiter.tryAcquire('ann')));
    expect(allowedOf(await Promise.all(calls))).toBe(100);
    for (const limiter of limiters) {
      expect(await limiter.tryAcquire('ann')).toMatchObject({ allowed: false });
    }
  });

  it('makes one round trip for each operation', async () => {
    const limiter = limiterOf(100, 3_600_000);
    const admin = server.admin();
    await admin.config('RESETSTAT');
    for (let i = 0; i < 200; i++) await limiter.tryAcquire(`user:${i}`);
    expect(await scriptCalls(admin)).toBe(200);
    await limiter.peek('user:1', 5);
    await limiter.refund('user:1', 5);
    await limiter.reset('user:1');
    expect(await scriptCalls(admin)).toBe(203);
    expect(await admin.info('commandstats')).not.toMatch(/cmdstat_script/);
  });

  it('makes no round trip for a denial that is known, and one for each admission', async () => {
    const remote = limiterOf(5, 3_600_000);
    const limiter = new TieredLimiter({ remote, onFailure: 'closed' });
    const admin = server.admin();
    await limiter.peek('ann');
    await admin.config('RESETSTAT');
    const sources: string[] = [];
    for (let i = 0; i < 105; i++) sources.push((await limiter.tryAcquire('ann')).source);
    expect(sources).toEqual([...all(6, () => 'redis'), ...all(99, () => 'denial-cache')]);
    // Five admissions and the first denial.
    expect(await scriptCalls(admin)).toBe(6);
  });

  it('shares round trips between calls of one tick, and decides each by itself', async () => {
    const limiter = limiterOf(40, 3_600_000);
    const admin = server.admin();
    await limiter.peek('ann');
    await admin.config('RESETSTAT');
    const answers = await Promise.all(all(100, () => limiter.tryAcquire('ann')));
    const remaining = all(100, (i) => Math.max(0, 39 - i));
    expect(answers.map((answer) => answer.remaining)).toEqual(remaining);
    expect(await scriptCalls(admin)).toBeLessThanOrEqual(5);
  });

  it('answers as before after SCRIPT FLUSH, and pays for it once a connection', async () => {
    const limiter = limiterOf(2_000, 36_000_000);
    const admin = server.admin();
    await limiter.tryAcquire('ann', 10);
    const operations = [
      () => limiter.tryAcquire('ann'),
      () => limiter.peek('ann'),
      () => limiter.refund('ann'),
    ];
    for (const operation of operations) {
      await admin.script('FLUSH');
      await operation();
    }
    expect((await limiter.peek('ann', 0)).remaining).toBe(1_990);
    await admin.script('FLUSH');
    await admin.config('RESETSTAT');
    for (let i = 0; i < 1_000; i++) await limiter.tryAcquire('ann');
    const stats = await admin.info('commandstats');
    expect(Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1])).toBe(1);
    expect(Number(/cmdstat_evalsha:.*failed_calls=(\d+)/.exec(stats)?.[1])).toBe(1);
  });

  it('loses no call of a burst that meets SCRIPT FLUSH with auto-pipelining', async () => {
    const limiter = limiterOf(30, 3_600_000, {
      redis: server.client({ enableAutoPipelining: true }),
    });
    await limiter.peek('ann');
    await server.admin().script('FLUSH');
    const answers = await Promise.all(all(100, () => limiter.tryAcquire('ann')));
    expect(allowedOf(answers)).toBe(30);
  });

  it('refuses a bad cost or key before it asks Redis', async () => {
    const limiter = limiterOf(10, 3_600_000);
    await limiter.peek('ann');
    await server.admin().config('RESETSTAT');
    for (const cost of [1.5, Number.NaN, -100, Infinity, 2 ** 53]) {
      await expect(limiter.tryAcquire('ann', cost)).rejects.toThrow(RangeError);
      await expect(limiter.refund('ann', cost)).rejects.toThrow(RangeError);
    }
    await expect(limiter.tryAcquire('')).rejects.toThrow(TypeError);
    expect(await scriptCalls(server.admin())).toBe(0);
  });

  it('keeps the counts when the limit is raised or lowered', async () => {
    const ten = limiterOf(10, 36_000_000);
    expect(allowedOf(await Promise.all(all(50, () => ten.tryAcquire('ann'))))).toBe(10);
    if (make === REMOTES[2]?.[1]) return; // A bucket's rate went up with its limit: another key.
    const twenty = limiterOf(20, 36_000_000);
    expect(allowedOf(await Promise.all(all(50, () => twenty.tryAcquire('ann'))))).toBe(10);
    expect(await ten.tryAcquire('ann')).toMatchObject({ allowed: false, remaining: 0 });
  });

  it('sets a TTL of just the time until the key is as new', async () => {
    const limiter = limiterOf(10, 60_000);
    const { resetAfterMs, elapsed } = await timed(limiter.tryAcquire('ann', 5));
    const ttl = await server.admin().pttl(await keyOf());
    expect(ttl).toBeLessThanOrEqual(resetAfterMs + 100);
    expect(ttl).toBeGreaterThanOrEqual(resetAfterMs - elapsed() - 100);
  });

  it('leaves nothing behind of a window of less than a second', async () => {
    const limiter = limiterOf(2, 120);
    await limiter.tryAcquire('ann', 2);
    expect(await server.admin().pttl(await keyOf())).toBeLessThanOrEqual(240);
    await until(async () => (await server.admin().dbsize()) === 0);
    expect(await limiter.tryAcquire('ann', 2)).toMatchObject({ allowed: true });
  });

  it('writes nothing on a denial, a peek and a cost of 0', async () => {
    const limiter = limiterOf(5, 3_600_000);
    await limiter.tryAcquire('ann', 4);
    const key = await keyOf();
    const state = await server.admin().dumpBuffer(key);
    const ttl = await server.admin().pttl(key);
    const writes = async () => {
      const info = await server.admin().info('persistence');
      return /rdb_changes_since_last_save:(\d+)/.exec(info)?.[1];
    };
    const writesBefore = await writes();
    await new Promise((done) => setTimeout(done, 20));
    for (const cost of [2, 5, 6, 2 ** 52]) {
      expect(await limiter.tryAcquire('ann', cost)).toMatchObject({ allowed: false });
    }
    await limiter.tryAcquire('ann', 0);
    await limiter.peek('ann');
    await limiter.peek('bob');
    await limiter.tryAcquire('cid', 0);
    await limiter.tryAcquire('cid', 6);
    await limiter.refund('cid', 6);
    expect(await writes()).toBe(writesBefore);
    expect(await server.admin().dumpBuffer(key)).toEqual(state);
    expect(await server.admin().pttl(key)).toBeLessThan(ttl);
    expect(await server.admin().dbsize()).toBe(1);
  });

  it('heals a key that lost its TTL, by a denial as well as by an admission', async () => {
    const limiter = limiterOf(5, 3_600_000);
    await limiter.tryAcquire('ann', 4);
    const key = await keyOf();
    for (const cost of [3, 1, 1]) {
      await server.admin().persist(key);
      const { resetAfterMs, elapsed } = await timed(limiter.tryAcquire('ann', cost));
      const ttl = await server.admin().pttl(key);
      expect(ttl).toBeLessThanOrEqual(resetAfterMs + 100);
      expect(ttl).toBeGreaterThanOrEqual(resetAfterMs - elapsed() - 100);
    }
  });

  it('rejects with what Redis said about a value of a foreign type, until reset', async () => {
    const limiter = limiterOf(5, 3_600_000);
    await limiter.tryAcquire('ann');
    const key = await keyOf();
    await server.admin().del(key);
    await server.admin().lpush(key, 'foreign');
    for (const call of [limiter.tryAcquire('ann'), limiter.peek('ann'), limiter.refund('ann')]) {
      await expect(call).rejects.toMatchObject({
        code: 'ERR_LIMITER_UNAVAILABLE',
        message: expect.stringContaining('WRONGTYPE'),
        cause: expect.any(Error),
      });
    }
    await limiter.reset('ann');
    expect(await limiter.tryAcquire('ann')).toMatchObject({ allowed: true, remaining: 4 });
  });

  it('leaves no key without TTL and none below zero when a refund comes after its window', async () => {
    const { limiter, clock } = clocked(5, 60_000);
    await limiter.tryAcquire('ann', 5);
    clock.advance(120_000);
    await limiter.refund('ann', 5);
    expect(await limiter.peek('ann', 0)).toMatchObject({ remaining: 5, resetAfterMs: 0 });
    expect(await limiter.tryAcquire('ann', 5)).toMatchObject({ allowed: true });
    expect(await server.admin().pttl(await keyOf())).toBeGreaterThan(0);
  });

  it('admits exactly the limit of 10,000 calls at one instant', async () => {
    const { limiter } = clocked(100, 60_000);
    expect(allowedOf(await Promise.all(all(10_000, () => limiter.tryAcquire('ann'))))).toBe(100);
  });

  it('never locks a steady user out who stays below the limit', async () => {
    const { limiter, clock } = clocked(5, 2_000);
    for (let i = 0; i < 120; i++) {
      const spread = await limiter.tryAcquire('ann');
      // One call every half second: four a window, and the fifth that the counter's estimate may hold.
      expect(spread.allowed).toBe(true);
      clock.advance(500);
    }
    clock.advance(4_000);
    expect(allowedOf(await Promise.all(all(8, () => limiter.tryAcquire('ann'))))).toBe(5);
  });

  it('allows a denied call at the wait that it named, and not a millisecond earlier', async () => {
    const { limiter, clock } = clocked(10, 1_000);
    for (let i = 0; i < 300; i++) {
      clock.advance((i * 37) % 211);
      const cost = 1 + (i % 7);
      const { allowed, retryAfterMs } = await limiter.tryAcquire('ann', cost);
      if (allowed) continue;
      clock.advance(retryAfterMs - 1);
      expect(await limiter.peek('ann', cost)).toMatchObject({ allowed: false });
      clock.advance(1);
      expect(await limiter.tryAcquire('ann', cost)).toMatchObject({ allowed: true });
    }
  });

  it('keeps every microsecond of the time', async () => {
    const { limiter, clock } = clocked(1_000_000, 60_000);
    clock.set(1_700_000_000_123.456);
    await limiter.tryAcquire('ann', 5);
    const key = await keyOf();
    const admin = server.admin();
    const stored =
      (await admin.type(key)) === 'zset'
        ? (await admin.zrange(key, '0', '-1', 'WITHSCORES')).join(' ')
        : `${await admin.get(key)}`;
    // The counter keeps the number of its window.
    expect(stored).toMatch(make === REMOTES[1]?.[1] ? /^28333333 0 5$/ : /1700000000123456/);
  });

  it('takes no longer for a limit of 1,000,000 than for one of 10', async () => {
    const admin = server.admin();
    const redis = server.client();
    const microseconds = async (limit: number, cost: number) => {
      const limiter = limiterOf(limit, 3_600_000, { redis });
      const key = `limit ${limit}`;
      await Promise.all(all(limit / cost, () => limiter.tryAcquire(key, cost)));
      let least = Infinity;
      for (let round = 0; round < 10; round++) {
        await admin.config('RESETSTAT');
        for (let i = 0; i < 20; i++) await limiter.tryAcquire(key);
        const stats = await admin.info('commandstats');
        const mean = Number(/cmdstat_evalsha:.*usec_per_call=([\d.]+)/.exec(stats)?.[1]);
        least = Math.min(least, mean);
      }
      return least;
    };
    await microseconds(10, 1);
    const [small, large] = [await microseconds(10, 1), await microseconds(1_000_000, 50)];
    expect(large).toBeLessThan(4 * small);
  });

  it('shares nothing between names, prefixes and windows', async () => {
    const limiters = [
      limiterOf(1, 3_600_000),
      limiterOf(1, 3_600_000, { name: 'tests:2' }),
      limiterOf(1, 3_600_000, { name: 'tests%3A2' }),
      limiterOf(1, 3_600_000, { name: 'te{st}s' }),
      limiterOf(1, 3_600_000, { prefix: 'other' }),
      limiterOf(1, 3_600_001),
    ];
    for (const limiter of limiters) {
      expect(await limiter.tryAcquire('a:b')).toMatchObject({ allowed: true });
    }
    expect(await server.admin().dbsize()).toBe(limiters.length);
  });

  it('can be closed while its client goes on', async () => {
    const redis = server.client();
    const limiter = limiterOf(1, 3_600_000, { redis });
    await limiter.tryAcquire('ann');
    await limiter.close();
    await expect(limiter.tryAcquire('ann')).rejects.toMatchObject({ code: 'ERR_CLOSED' });
    expect(await redis.ping()).toBe('PONG');
  });
});

describe('the sliding window log in Redis', () => {
  const make = REMOTES[0][1];
  const clocked = (limit: number) => {
    const clock = new ManualClock(NOON_MS);
    const redis = server.client();
    const options = { name: 'log', limit, windowMs: 1_000, deadlineMs: DEADLINE_MS, redis };
    return { clock, limiter: make({ ...options, [SEAM]: { scriptTime: clock.now } }) };
  };
  const members = async () => {
    const admin = server.admin();
    return admin.zcard((await admin.keys('*'))[0] as string);
  };

  it('keeps one member a call, whatever the cost', async () => {
    const { limiter } = clocked(1_000_000);
    for (const cost of [1, 1_000, 100_000]) await limiter.tryAcquire('ann', cost);
    expect(await members()).toBe(3);
    await limiter.refund('ann', 100_500);
    expect(await members()).toBe(2);
    expect((await limiter.peek('ann', 0)).remaining).toBe(1_000_000 - 501);
  });

  it('takes nothing away in a refund that a full Redis cannot finish', async () => {
    const { limiter } = clocked(100);
    await limiter.tryAcquire('ann', 60);
    await server.admin().config('SET', 'maxmemory', '1');
    try {
      await expect(limiter.refund('ann', 10)).rejects.toThrow('OOM');
      expect((await limiter.peek('ann', 0)).remaining).toBe(40);
    } finally {
      await server.admin().config('SET', 'maxmemory', '0');
    }
    await limiter.refund('ann', 10);
    expect((await limiter.peek('ann', 0)).remaining).toBe(50);
  });

  it('forgets what has left the window, a bounded part of it at a time', async () => {
    const { limiter, clock } = clocked(1_000);
    for (let i = 0; i < 250; i++) await limiter.tryAcquire('ann');
    clock.advance(999);
    await limiter.tryAcquire('ann');
    clock.advance(1);
    const counts: number[] = [];
    for (let i = 0; i < 4; i++) {
      await limiter.tryAcquire('ann');
      counts.push(await members());
    }
    expect(counts).toEqual([152, 53, 4, 5]);
    clock.advance(1_000);
    await limiter.tryAcquire('ann');
    expect(await members()).toBe(1);
  });

  it('is never above the limit when its running total starts over', async () => {
    const { limiter, clock } = clocked(100);
    await limiter.tryAcquire('ann', 30);
    const admin = server.admin();
    const key = (await admin.keys('*'))[0] as string;
    await admin.del(key);
    const total = `${Number.MAX_SAFE_INTEGER}`;
    await admin.zadd(key, NOON_MS * 1000, `${total} ${'30'.padStart(16, '0')}`);
    clock.advance(500);
    expect(await limiter.tryAcquire('ann', 20)).toMatchObject({ allowed: true, remaining: 50 });
    clock.advance(500);
    expect(await limiter.tryAcquire('ann', 51)).toMatchObject({ allowed: false, remaining: 50 });
    clock.advance(500);
    expect(await limiter.tryAcquire('ann', 100)).toMatchObject({ allowed: true });
  });

  it('refuses to count members that are not its own', async () => {
    const { limiter } = clocked(100);
    await limiter.tryAcquire('ann');
    const key = (await server.admin().keys('*'))[0] as string;
    await server.admin().zadd(key, 2 ** 53, 'foreign');
    await expect(limiter.tryAcquire('ann')).rejects.toThrow('members that are not ours');
  });
});

describe('a process that is busy for longer than the deadline', () => {
  it('is not taken for a Redis that does not answer', async () => {
    const redis = server.client();
    const options = { name: 'busy', limit: 50, windowMs: 600_000, deadlineMs: 1_000 };
    const limiter = REMOTES[2][1]({ ...options, redis });
    await until(() => limiter.tryAcquire('ann').catch(() => undefined));
    const calls = all(20, () => limiter.tryAcquire('ann'));
    // The calls leave with the end of this tick.
    await new Promise((done) => setImmediate(done));
    const end = performance.now() + 1_200;
    while (performance.now() < end);
    expect(allowedOf(await Promise.all(calls))).toBe(20);
  });
});

describe('a Redis that evicts keys', () => {
  it('goes on deciding, and forgets', async () => {
    const admin = server.admin();
    const [, make] = REMOTES[2];
    const redis = server.client();
    const limiter = make({
      name: 't',
      limit: 5,
      windowMs: 3_600_000,
      deadlineMs: DEADLINE_MS,
      redis,
    });
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const used = Number(/used_memory:(\d+)/.exec(await admin.info('memory'))?.[1]);
    await admin.config('SET', 'maxmemory', `${used + 200_000}`);
    try {
      const answers = await Promise.all(all(5_000, (i) => limiter.tryAcquire(`invented ${i}`)));
      expect(allowedOf(answers)).toBe(5_000);
      const evicted = /evicted_keys:(\d+)/.exec(await admin.info('stats'))?.[1];
      expect(Number(evicted)).toBeGreaterThan(0);
    } finally {
      await admin.config('SET', 'maxmemory', '0');
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
    }
  });
});

describe('a foreign string under the key', () => {
  it.each(REMOTES.slice(1))('is taken for nothing and gets a TTL: %s', async (_, make) => {
    const options = { name: 't', limit: 5, windowMs: 60_000, deadlineMs: DEADLINE_MS };
    const limiter = make({ ...options, redis: server.client() });
    await until(() => limiter.tryAcquire('ann').catch(() => undefined));
    const key = (await server.admin().keys('*'))[0] as string;
    await server.admin().set(key, '5');
    expect(await limiter.tryAcquire('ann')).toMatchObject({ allowed: true, remaining: 4 });
    expect(await server.admin().pttl(key)).toBeGreaterThan(0);
  });
});
