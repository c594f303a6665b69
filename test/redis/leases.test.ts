import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LEASE, type LeaseWish, type Lessor } from '../../src/lease.ts';
import type { RemoteLimiter } from '../../src/redis.ts';
import { ManualClock } from '../../src/testing.ts';
import { SEAM } from '../../src/timers.ts';
import { RedisServer } from '../support/redis.ts';
import { type MakeRemote, REMOTES } from '../support/remotes.ts';

const START_MS = 1_753_000_000_000;
const WINDOW_MS = 10_000;
const LIMIT = 30;

let server: RedisServer;
let names = 0;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const [LOG, COUNTER, BUCKET, FIXED] = REMOTES;

function limitOf([, make]: readonly [string, MakeRemote]) {
  const clock = new ManualClock(START_MS);
  const limiter = make({
    redis: server.client(),
    name: `lease-${names++}`,
    limit: LIMIT,
    windowMs: WINDOW_MS,
    deadlineMs: 10_000,
    [SEAM]: { scriptTime: clock.now },
  }) as RemoteLimiter & Lessor;
  const lease = (permits: number, wish: Partial<LeaseWish> = {}) =>
    limiter[LEASE].take('ann', {
      ...{ least: 1, need: permits, most: permits, node: 'one', nodeMs: 1_000 },
      ...wish,
    }).answer;
  const release = (permits: number, { stamp }: { stamp: number }) =>
    limiter[LEASE].release('ann', permits, stamp);
  const remaining = async () => (await limiter.peek('ann', 0)).remaining;
  return { clock, limiter, lease, release, remaining };
}

describe.each(REMOTES)('a lease from the %s', (name, make) => {
  it('is as many permits as fit', async () => {
    const { lease, remaining } = limitOf([name, make]);
    expect(await lease(20)).toMatchObject({
      granted: 20,
      remaining: 10,
      retryAfterUs: 0,
      nodes: 1,
    });
    const rest = await lease(20);
    expect(rest).toMatchObject({ granted: 10, remaining: 0 });
    expect(rest.retryAfterUs).toBeGreaterThan(0);
    expect(await lease(1)).toMatchObject({ granted: 0, remaining: 0 });
    expect(await remaining()).toBe(0);
  });

  it('is none where too few fit to be of use, and says how long that will be so', async () => {
    const { lease, limiter, remaining } = limitOf([name, make]);
    await lease(20);
    const none = await lease(25, { least: 12 });
    expect(none).toMatchObject({ granted: 0, remaining: 10 });
    const { retryAfterMs } = await limiter.peek('ann', 12);
    expect(Math.ceil(none.retryAfterUs / 1000)).toBe(retryAfterMs);
    expect(await remaining()).toBe(10);
  });

  it('is a fair share, but for what is needed', async () => {
    const { lease } = limitOf([name, make]);
    expect(await lease(1, { most: 100 })).toMatchObject({ granted: 15, nodes: 1 });
    expect(await lease(1, { most: 100, node: 'two' })).toMatchObject({ granted: 3, nodes: 2 });
    expect(await lease(9, { most: 100, node: 'two' })).toMatchObject({ granted: 9, nodes: 2 });
  });

  it('counts nodes for as long as they said', async () => {
    const { clock, lease } = limitOf([name, make]);
    for (let i = 0; i < 5; i++) await lease(1, { node: `${i}`, nodeMs: 10_000 * (i + 1) });
    clock.advance(25_000);
    expect(await lease(1, { node: 'new' })).toMatchObject({ nodes: 4 });
  });

  it('goes back as a whole at once', async () => {
    const { lease, release, remaining } = limitOf([name, make]);
    const grant = await lease(20);
    await release(20, grant);
    expect(await remaining()).toBe(LIMIT);
  });

  it('goes back without taking others’ permits along', async () => {
    const { clock, limiter, lease, release, remaining } = limitOf([name, make]);
    const grant = await lease(10);
    clock.advance(1_000);
    await limiter.tryAcquire('ann', 5);
    const before = await remaining();
    await release(4, grant);
    const after = await remaining();
    expect(after).toBeGreaterThanOrEqual(before);
    expect(after).toBeLessThanOrEqual(before + 4);
    // Whatever comes back, those five stay counted for their time.
    clock.advance(WINDOW_MS - 1);
    const allowed = (await limiter.tryAcquire('ann', LIMIT)).allowed;
    expect(allowed).toBe(name === 'fixed window' || name === 'token bucket');
  });

  it('does not come back from the past', async () => {
    const { clock, limiter, lease, release, remaining } = limitOf([name, make]);
    const grant = await lease(20);
    clock.advance(2 * WINDOW_MS);
    await limiter.tryAcquire('ann', 25);
    await release(20, grant);
    expect(await remaining()).toBe(LIMIT - 25);
  });

  it('reports a foreign value under its key', async () => {
    const { lease, limiter } = limitOf([name, make]);
    await limiter.tryAcquire('ann');
    const admin = server.admin();
    const [key = ''] = (await admin.keys(`*lease-${names - 1}*`)).filter((k) => k.endsWith('}'));
    await admin.del(key);
    await admin.hset(key, 'a', 'b');
    await expect(lease(1)).rejects.toThrow('WRONGTYPE');
  });
});

describe('what comes back of a lease', () => {
  it('is nothing that has flowed into the bucket since', async () => {
    const { clock, lease, release, remaining } = limitOf(BUCKET);
    // Three tokens a second. Two leases, one of which goes back: the bucket would then be full without the other.
    const [one, two] = [await lease(9), await lease(9)];
    await release(9, one);
    clock.advance(2_000);
    expect(await remaining()).toBe(LIMIT - 3);
    await lease(10);
    await release(9, two);
    // Full but for 3 of the first lease, less 10: the three of them at most have come back.
    expect(await remaining()).toBe(LIMIT - 10);
  });

  it('are the oldest permits of the log, so that what stays counts for longer', async () => {
    const { clock, limiter, lease, release, remaining } = limitOf(LOG);
    await limiter.tryAcquire('ann', 5);
    clock.advance(1_000);
    const grant = await lease(10);
    clock.advance(1_000);
    await limiter.tryAcquire('ann', 7);
    await release(8, grant);
    expect(await remaining()).toBe(LIMIT - 14);
    clock.advance(WINDOW_MS - 2_000);
    // The five of the beginning have gone with the lease: seven of its permits are still there.
    expect(await remaining()).toBe(LIMIT - 14);
    clock.advance(1_000);
    expect(await remaining()).toBe(LIMIT - 7);
    await release(2, grant);
    expect(await remaining()).toBe(LIMIT - 7);
    clock.advance(1_000);
    expect(await remaining()).toBe(LIMIT);
  });

  it('is what the previous window of the counter still counts', async () => {
    const { clock, limiter, lease, release, remaining } = limitOf(COUNTER);
    const grant = await lease(20);
    clock.advance(WINDOW_MS);
    await limiter.tryAcquire('ann', 2);
    expect(await remaining()).toBe(LIMIT - 20 - 2);
    await release(12, grant);
    expect(await remaining()).toBe(LIMIT - 8 - 2);
  });

  it('is nothing that an earlier fixed window counted', async () => {
    const { clock, limiter, lease, release, remaining } = limitOf(FIXED);
    const grant = await lease(20);
    clock.advance(WINDOW_MS);
    await limiter.tryAcquire('ann', 2);
    await release(20, grant);
    expect(await remaining()).toBe(LIMIT - 2);
  });
});
