import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisSlidingWindowLimiter, TieredLimiter } from '../../src/redis.ts';
import { FaultyWire } from '../support/faulty-wire.ts';
import { RedisServer } from '../support/redis.ts';
import { until } from '../support/until.ts';

const POLICY = { name: 'failover', limit: 10, windowMs: 3_600_000, deadlineMs: 1_000 };
const BREAKER = { failures: 3, cooldownMs: 100 };

async function pair(): Promise<[RedisServer, RedisServer]> {
  const [master, replica] = [await RedisServer.start(), await RedisServer.start()];
  await replica.admin().replicaof('127.0.0.1', master.port);
  await until(async () => (await replica.admin().info('replication')).includes('link_status:up'), {
    ms: 20_000,
    what: 'the replica',
  });
  return [master, replica];
}

/** WAIT is about what its own connection has written. */
async function copied(master: RedisServer): Promise<void> {
  await master.admin().set('marker', 1, 'EX', 100);
  expect(await master.admin().wait(1, 5_000)).toBe(1);
}

function tieredOver(redis: Redis, changes: string[] = []): TieredLimiter {
  const remote = new RedisSlidingWindowLimiter({ ...POLICY, redis });
  return new TieredLimiter({
    remote,
    breaker: BREAKER,
    onFailure: 'open',
    onDegraded: () => changes.push('degraded'),
    onRecovered: () => changes.push('recovered'),
  });
}

const fromRedis = (limiter: TieredLimiter) => async () =>
  (await limiter.tryAcquire('probe')).source === 'redis';

describe('a replica that takes over', () => {
  let master: RedisServer;
  let replica: RedisServer;
  let wire: FaultyWire;
  beforeAll(async () => {
    [master, replica] = await pair();
    wire = await FaultyWire.to(master.port);
  });
  afterAll(async () => {
    await wire.close();
    await master.stop();
    await replica.stop();
  });

  it('goes on with the counts and the times to live, and gets nothing that was held up', async () => {
    const redis = new Redis({ port: wire.port, retryStrategy: () => 20 });
    master.owns(redis.on('error', () => {}));
    const limiter = tieredOver(redis);
    await until(fromRedis(limiter));
    expect(await limiter.tryAcquire('ann', 4)).toMatchObject({ source: 'redis', remaining: 6 });
    await copied(master);

    await wire.set('silent');
    const held = [3, 3, 3, 3].map((cost) => limiter.tryAcquire('ann', cost));
    expect((await Promise.all(held)).map((answer) => answer.source)).toEqual(Array(4).fill('open'));
    await master.kill();
    await replica.admin().replicaof('NO', 'ONE');
    wire.retarget(replica.port);
    await wire.set('refuse');
    await wire.set('pass');

    await until(fromRedis(limiter), { ms: 10_000 });
    await new Promise((done) => setTimeout(done, 200));
    expect(await limiter.peek('ann', 0)).toMatchObject({ source: 'redis', remaining: 6 });
    const admin = replica.admin();
    for (const key of await admin.keys('*')) expect(await admin.pttl(key)).toBeGreaterThan(0);
  });
});

describe('a master that becomes a replica while clients stay connected', () => {
  it('is no longer asked to decide, and decides again when it is a master', async () => {
    const [master, replica] = await pair();
    const limiter = tieredOver(master.client());
    await until(fromRedis(limiter));
    await replica.admin().replicaof('NO', 'ONE');
    await master.admin().replicaof('127.0.0.1', replica.port);
    for (let i = 0; i < 6; i++) {
      expect(await limiter.tryAcquire('ann')).toMatchObject({ allowed: true, source: 'open' });
    }
    await master.admin().replicaof('NO', 'ONE');
    await until(fromRedis(limiter), { ms: 10_000 });
    await master.stop();
    await replica.stop();
  });
});

describe('a Sentinel', () => {
  it('fails over: every call is answered meanwhile, and the counts go on', {
    timeout: 60_000,
  }, async () => {
    const [master, replica] = await pair();
    const sentinel = await RedisServer.sentinel(master, 'limits');
    await until(
      async () => `${await sentinel.admin().call('SENTINEL', 'REPLICAS', 'limits')}` !== '',
      { ms: 20_000, what: 'the Sentinel knows the replica' },
    );
    const redis = new Redis({
      sentinels: [{ host: '127.0.0.1', port: sentinel.port }],
      name: 'limits',
      retryStrategy: () => 50,
      sentinelRetryStrategy: () => 50,
    });
    sentinel.owns(redis.on('error', () => {}));
    const changes: string[] = [];
    const limiter = tieredOver(redis, changes);
    await until(fromRedis(limiter));
    changes.length = 0;
    expect(await limiter.tryAcquire('ann', 7)).toMatchObject({ source: 'redis', remaining: 3 });
    await copied(master);
    await master.kill();

    let slowest = 0;
    await until(
      async () => {
        const start = performance.now();
        const { source } = await limiter.tryAcquire('probe');
        slowest = Math.max(slowest, performance.now() - start);
        return source === 'redis';
      },
      { ms: 40_000, what: 'the failover' },
    );
    // Generous: it shows that no call hung for the seconds that the failover took.
    expect(slowest).toBeLessThan(3 * POLICY.deadlineMs);
    expect(await limiter.peek('ann', 0)).toMatchObject({ source: 'redis', remaining: 3 });
    expect(changes[0]).toBe('degraded');
    expect(changes.at(-1)).toBe('recovered');
    await sentinel.stop();
    await master.stop();
    await replica.stop();
  });
});
