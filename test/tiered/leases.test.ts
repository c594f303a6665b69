import type { RedisOptions } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Decision,
  LimiterUnavailableError,
  type RemoteLimiter,
  TieredLimiter,
  type TieredOptions,
} from '../../src/redis.ts';
import { SEAM } from '../../src/timers.ts';
import { FaultyWire } from '../support/faulty-wire.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { RedisServer, scriptCalls } from '../support/redis.ts';
import { type MakeRemote, REMOTES } from '../support/remotes.ts';
import { until } from '../support/until.ts';

/** In the middle of a minute, and of every shorter window. */
const START_MS = 1_753_001_234_567.891;
const WINDOW_MS = 3_600_000;
const MAX_AGE_MS = 1_000;

let server: RedisServer;
let wire: FaultyWire;
let names = 0;
beforeAll(async () => {
  server = await RedisServer.start();
  wire = await FaultyWire.to(server.port);
});
afterAll(async () => {
  await wire.close();
  await server.stop();
});

const [, [, COUNTER], , [, FIXED]] = REMOTES;

interface Settings extends Partial<Omit<TieredOptions, 'onFailure' | 'fallback' | 'remote'>> {
  readonly make?: MakeRemote;
  readonly limit?: number;
  readonly windowMs?: number;
  readonly deadlineMs?: number;
  /** Through a wire that can be broken, by a client with these options. */
  readonly throughWire?: RedisOptions;
  readonly permits?: number;
  readonly onFailure?: 'open' | 'closed';
}

/** A limit in Redis and its nodes, all on one clock that stands until it is moved. */
function limitOf({
  make = FIXED,
  limit = 1_000,
  windowMs = WINDOW_MS,
  deadlineMs = 10_000,
  throughWire,
  permits = 100,
  ...options
}: Settings = {}) {
  const timers = new ManualTimers();
  const name = `leases-${names++}`;
  const scriptTime = () => START_MS + timers.now();
  const remoteOf = (client: RedisOptions = {}): RemoteLimiter =>
    make({
      redis: server.client(client),
      name,
      limit,
      windowMs,
      deadlineMs,
      [SEAM]: { timers, scriptTime },
    });
  const node = () =>
    new TieredLimiter({
      remote: remoteOf(throughWire && { port: wire.port, ...throughWire }),
      lease: { permits, maxAgeMs: MAX_AGE_MS },
      onFailure: 'closed',
      ...options,
      [SEAM]: { timers },
    } as TieredOptions);
  /** What Redis has left, whoever holds the rest. */
  const oracle = remoteOf();
  const remaining = async () => (await oracle.peek('ann', 0)).remaining;
  return { timers, node, oracle, remaining };
}

async function inTurn(limiter: TieredLimiter, calls: number, cost = 1): Promise<Decision[]> {
  const decisions: Decision[] = [];
  for (let i = 0; i < calls; i++) decisions.push(await limiter.tryAcquire('ann', cost));
  return decisions;
}

const allowedOf = (decisions: readonly Decision[]) => decisions.filter((d) => d.allowed).length;
const sourcesOf = (decisions: readonly Decision[]) => decisions.map((d) => d.source);
/** Gives the permits back that the calls before have made a node hold, once Redis has said so. */
const heldBy = async (limiter: TieredLimiter, remaining: () => Promise<number>) =>
  (await limiter.peek('ann', 0)).remaining - (await remaining());

describe('a lease', () => {
  it('takes as many permits as the key was asked for, and spends them without a trip', async () => {
    const { node } = limitOf();
    const limiter = node();
    const sources = sourcesOf(await inTurn(limiter, 16));
    // Asked for 1, 2, 4, 8 and 16 times so far: each trip takes as many.
    expect(sources.flatMap((source, call) => (source === 'redis' ? [call] : []))).toEqual([
      0, 1, 3, 7, 15,
    ]);
    expect(new Set(sources)).toEqual(new Set(['redis', 'lease']));
  });

  it('takes at most `permits`', async () => {
    const { node } = limitOf({ permits: 10, limit: 1_000_000 });
    const limiter = node();
    await inTurn(limiter, 100);
    const admin = server.admin();
    const before = await scriptCalls(admin);
    expect(allowedOf(await inTurn(limiter, 1_000))).toBe(1_000);
    expect((await scriptCalls(admin)) - before).toBe(100);
  });

  it('takes half of what is left at most, divided by the nodes', async () => {
    const { node, remaining } = limitOf({ limit: 101 });
    const [first, second] = [node(), node()];
    const burst = (limiter: TieredLimiter, calls: number) =>
      Promise.all(Array.from({ length: calls }, () => limiter.tryAcquire('ann')));
    await burst(first, 50);
    expect(await remaining()).toBe(50);
    await inTurn(first, 2);
    expect(await remaining()).toBe(25);
    // What callers wait for is no question of shares.
    await burst(second, 11);
    expect(await remaining()).toBe(14);
    await inTurn(second, 1);
    expect(await remaining()).toBe(14 - 3);
  });

  it('forgets the nodes that have not asked for long', async () => {
    const { node, remaining, timers } = limitOf({ limit: 101 });
    const [first, second] = [node(), node()];
    await inTurn(first, 2);
    expect(await remaining()).toBe(98);
    await timers.advance(2 * MAX_AGE_MS);
    await until(async () => (await remaining()) === 99);
    await Promise.all(Array.from({ length: 19 }, () => second.tryAcquire('ann')));
    expect(await remaining()).toBe(62);
    await inTurn(second, 19);
    expect(await remaining()).toBe(62 - 31);
  });

  it.each(REMOTES)('denies exactly: %s', async (_, make) => {
    const { node, oracle } = limitOf({ make, limit: 37, denialCache: false });
    const limiter = node();
    const decisions = await inTurn(limiter, 40);
    expect(allowedOf(decisions)).toBe(37);
    expect(decisions.slice(0, 37).map((d) => d.remaining)).toEqual(
      Array.from({ length: 37 }, (_, call) => 36 - call),
    );
    const { retryAfterMs, resetAfterMs } = await oracle.peek('ann');
    expect(decisions[39]).toEqual({
      allowed: false,
      limit: 37,
      remaining: 0,
      retryAfterMs,
      retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
      resetAfterMs,
      source: 'redis',
    });
  });

  it.each(REMOTES)('admits the limit to many callers at once: %s', async (_, make) => {
    const { node, remaining } = limitOf({ make, limit: 500 });
    const nodes = [node(), node(), node()];
    const calls = nodes.flatMap((one) => Array.from({ length: 150 }, () => one.tryAcquire('ann')));
    const rest = nodes.map((one) => inTurn(one, 40));
    const allowed = allowedOf([await Promise.all(calls), ...(await Promise.all(rest))].flat());
    // The rest is in the hands of nodes that nobody asks any more.
    const held = await Promise.all(nodes.map((one) => heldBy(one, remaining)));
    expect(allowed).toBeGreaterThan(300);
    expect(allowed + held.reduce((sum, permits) => sum + permits) + (await remaining())).toBe(500);
  });

  it('is one trip for all that wait for the same key', async () => {
    const { node, remaining } = limitOf();
    const limiter = node();
    await remaining();
    await limiter.peek('bob');
    const admin = server.admin();
    const before = await scriptCalls(admin);
    const decisions = await Promise.all(
      Array.from({ length: 200 }, () => limiter.tryAcquire('ann')),
    );
    expect(allowedOf(decisions)).toBe(200);
    // The first that came, and the rest.
    expect((await scriptCalls(admin)) - before).toBe(2);
  });

  it('serves costs of all sizes, together and in turn', async () => {
    const { node, remaining } = limitOf({ limit: 60, denialCache: false });
    const limiter = node();
    await inTurn(limiter, 8);
    const costs = [5, 30, 1, 40, 3, 2];
    const decisions = await Promise.all(costs.map((cost) => limiter.tryAcquire('ann', cost)));
    expect(decisions.map((d) => d.allowed)).toEqual([true, true, true, false, true, true]);
    const held = await heldBy(limiter, remaining);
    expect((await remaining()) + held).toBe(60 - 8 - 41);
    expect(decisions[3]?.retryAfterMs).toBe(WINDOW_MS);
  });

  it('counts what it holds when it asks for a call that costs more', async () => {
    const { node, remaining } = limitOf({ limit: 20, denialCache: false });
    const limiter = node();
    await inTurn(limiter, 4);
    const held = await heldBy(limiter, remaining);
    expect(held).toBeGreaterThan(0);
    expect(await limiter.peek('ann', 17)).toMatchObject({ allowed: false, remaining: 16 });
    expect(await limiter.tryAcquire('ann', 17)).toMatchObject({ allowed: false, remaining: 16 });
    expect(await limiter.peek('ann', 16)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.tryAcquire('ann', 16)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await remaining()).toBe(0);
  });

  it('never lets a cost above the limit pass, and lets a cost of 0 change nothing', async () => {
    const { node, remaining } = limitOf({ limit: 20 });
    const limiter = node();
    await inTurn(limiter, 4);
    expect(await limiter.tryAcquire('ann', 21)).toMatchObject({
      allowed: false,
      retryAfterMs: Infinity,
    });
    const before = await remaining();
    expect(await limiter.tryAcquire('ann', 0)).toMatchObject({ allowed: true, remaining: 16 });
    expect(await remaining()).toBe(before);
  });

  it('is for the bytes that a key had, whatever comes to stand there', async () => {
    const { node, oracle } = limitOf();
    const limiter = node();
    const key = Buffer.from('ann');
    const calls = Array.from({ length: 10 }, () => limiter.tryAcquire(key));
    key.fill(0);
    await Promise.all(calls);
    expect((await oracle.peek(Buffer.from('ann'), 0)).remaining).toBeLessThanOrEqual(990);
    expect((await oracle.peek(key, 0)).remaining).toBe(1_000);
  });

  it('is spent before a known denial is looked at, and never makes one wrong', async () => {
    const { node } = limitOf({ limit: 20 });
    const limiter = node();
    await inTurn(limiter, 4);
    expect(await limiter.tryAcquire('ann', 17)).toMatchObject({ allowed: false, source: 'redis' });
    expect(await limiter.tryAcquire('ann', 17)).toMatchObject({
      allowed: false,
      source: 'denial-cache',
    });
    expect(allowedOf(await inTurn(limiter, 16))).toBe(16);
  });
});

describe('what is not spent', () => {
  /** A node that holds permits, and how many. */
  async function holder(settings: Settings = {}) {
    const limit = limitOf(settings);
    const limiter = limit.node();
    await inTurn(limiter, 2);
    const held = await heldBy(limiter, limit.remaining);
    expect(held).toBe(1);
    return { ...limit, limiter, left: await limit.remaining() };
  }

  it.each(REMOTES)('goes back when the limiter is closed: %s', async (_, make) => {
    const { limiter, remaining, left } = await holder({ make });
    await limiter.close();
    expect(await remaining()).toBe(left + 1);
  });

  it.each(REMOTES)('goes back when the key has been quiet: %s', async (_, make) => {
    const { timers, remaining, left } = await holder({ make });
    await timers.advance(MAX_AGE_MS / 2);
    await until(async () => (await remaining()) === left + 1);
  });

  it('goes back when it is too old, however often the key is asked for', async () => {
    const { limiter, timers, remaining } = await holder({ limit: 100_000 });
    await Promise.all(Array.from({ length: 200 }, () => limiter.tryAcquire('ann')));
    await inTurn(limiter, await heldBy(limiter, remaining));
    await inTurn(limiter, 1);
    expect(await heldBy(limiter, remaining)).toBe(99);
    const left = await remaining();
    for (let i = 0; i < 4; i++) {
      await timers.advance(MAX_AGE_MS / 4 - 1);
      expect((await limiter.tryAcquire('ann')).source).toBe('lease');
    }
    await timers.advance(4);
    expect((await limiter.tryAcquire('ann')).source).toBe('redis');
    await timers.advance(MAX_AGE_MS / 4);
    await until(
      async () => (await remaining()) + (await heldBy(limiter, remaining)) === left + 99 - 5,
    );
  });

  it.each([
    ['fixed window', FIXED],
    ['sliding window counter', COUNTER],
  ])('is not spent in the next window: %s', async (_, make) => {
    const windowMs = 400;
    const { limiter, timers } = await holder({ make, windowMs, limit: 10 });
    await timers.advance(windowMs);
    // Asks again, though what it holds is younger than a lease may be.
    expect((await limiter.tryAcquire('ann')).source).toBe('redis');
  });

  it('is spent until its window ends', async () => {
    const windowMs = 400;
    const { limiter, timers } = await holder({ make: FIXED, windowMs, limit: 10 });
    await timers.advance(windowMs - 1);
    expect((await limiter.tryAcquire('ann')).source).toBe('lease');
  });

  it('keeps no timer while nothing is held', async () => {
    const { node, timers } = limitOf();
    const limiter = node();
    await inTurn(limiter, 1);
    const deadlines = timers.pending;
    await timers.advance(20_000);
    expect(deadlines).toBeGreaterThan(0);
    expect(timers.pending).toBe(0);
  });

  it('is nobody’s after a reset', async () => {
    const { limiter, remaining } = await holder();
    await limiter.reset('ann');
    expect((await limiter.tryAcquire('ann')).source).toBe('redis');
    await limiter.close();
    const left = await remaining();
    expect(left).toBeGreaterThanOrEqual(998);
    expect(left).toBeLessThanOrEqual(999);
  });
});

describe('a Redis that does not answer', () => {
  it('does not keep what is held from being spent', async () => {
    const { node } = limitOf({ throughWire: {}, limit: 1_000_000, deadlineMs: 10_000 });
    const limiter = node();
    await Promise.all(Array.from({ length: 20 }, () => limiter.tryAcquire('ann')));
    await inTurn(limiter, 2);
    await wire.set('refuse');
    try {
      const decisions = await inTurn(limiter, 10);
      expect(new Set(sourcesOf(decisions))).toEqual(new Set(['lease']));
    } finally {
      await wire.set('pass');
    }
  });

  it('keeps nobody beyond the deadline, and those who joined not beyond their own', async () => {
    const { node, timers } = limitOf({ throughWire: {}, deadlineMs: 100, breaker: false });
    const limiter = node();
    await inTurn(limiter, 1);
    await wire.set('silent');
    const settled: string[] = [];
    const call = (name: string) =>
      void limiter.tryAcquire('ann').then(({ source }) => settled.push(`${name} ${source}`));
    call('first');
    await timers.advance(60);
    call('second');
    await timers.advance(39);
    expect(settled).toEqual([]);
    await timers.advance(1);
    await until(() => settled.length >= 1);
    await timers.advance(60);
    await until(() => settled.length === 2);
    expect(settled).toEqual(['first closed', 'second closed']);
    await wire.set('pass');
  });

  it('gives back what it took for a call that nobody waits for any more', async () => {
    const { node, timers, remaining } = limitOf({
      throughWire: {},
      deadlineMs: 5_000,
      breaker: false,
      limit: 1_000,
    });
    const limiter = node();
    await inTurn(limiter, 8);
    const held = await heldBy(limiter, remaining);
    const spent = await inTurn(limiter, held);
    expect(new Set(sourcesOf(spent))).toEqual(new Set(['lease']));
    const left = await remaining();
    server.freeze();
    const late = limiter.tryAcquire('ann');
    await timers.advance(5_000);
    expect(await late).toMatchObject({ allowed: false, source: 'closed' });
    server.freeze(false);
    // But for the permit that the call itself asked for, as it would be without a lease.
    await until(async () => (await remaining()) === left - 1);
  });

  it('has taken once what it was asked for twice, since the first answer was lost', async () => {
    const { node, remaining } = limitOf({ throughWire: {}, permits: 20, limit: 100_000 });
    const limiter = node();
    await Promise.all(Array.from({ length: 50 }, () => limiter.tryAcquire('ann')));
    await inTurn(limiter, await heldBy(limiter, remaining));
    const left = await remaining();
    await wire.set('cut');
    const cut = limiter.tryAcquire('ann');
    await until(async () => (await remaining()) < left);
    await wire.set('pass');
    expect(await cut).toMatchObject({ allowed: true, source: 'redis' });
    expect(await remaining()).toBe(left - 20);
    await wire.set('cut');
    const closed = limiter.close();
    await until(async () => (await remaining()) > left - 20);
    await wire.set('pass');
    await closed;
    expect(await remaining()).toBe(left - 1);
  });

  it('counts what may be lost among what it may hold', async () => {
    const { node, timers, remaining } = limitOf({
      throughWire: { autoResendUnfulfilledCommands: false },
      deadlineMs: 5_000,
      breaker: false,
      permits: 20,
      limit: 100_000,
    });
    const limiter = node();
    await Promise.all(Array.from({ length: 50 }, () => limiter.tryAcquire('ann')));
    while ((await heldBy(limiter, remaining)) > 0) await limiter.tryAcquire('ann');
    const left = await remaining();
    await wire.set('cut');
    const cut = limiter.tryAcquire('ann');
    await until(async () => (await remaining()) < left);
    await timers.advance(5_000);
    expect((await cut).source).toBe('closed');
    expect(await remaining()).toBe(left - 20);
    await wire.set('pass');
    // All that it may hold is lost: until it has come back by itself, every call is a trip of its own.
    await until(async () => (await limiter.tryAcquire('ann')).source === 'redis');
    const sources = sourcesOf(await inTurn(limiter, 5));
    expect(sources).toEqual(['redis', 'redis', 'redis', 'redis', 'redis']);
    expect(await heldBy(limiter, remaining)).toBe(0);
    await timers.advance(2 * WINDOW_MS);
    await inTurn(limiter, 2);
    expect(await heldBy(limiter, remaining)).toBe(1);
  });

  it('leaves a reset to fail as it always does', async () => {
    const { node, timers } = limitOf({ throughWire: {}, deadlineMs: 100, breaker: false });
    const limiter = node();
    await inTurn(limiter, 2);
    await wire.set('silent');
    const reset = limiter.reset('ann');
    reset.catch(() => {});
    await timers.advance(100);
    await expect(reset).rejects.toBeInstanceOf(LimiterUnavailableError);
    await wire.set('pass');
  });
});

describe('many keys', () => {
  it('are leased in part, and all decided', { timeout: 60_000 }, async () => {
    const { node } = limitOf({ limit: 3, deadlineMs: 30_000 });
    const limiter = node();
    const keys = Array.from({ length: 10_500 }, (_, i) => `key-${i}`);
    for (let round = 0; round < 4; round++) {
      const decisions: Decision[] = [];
      for (let i = 0; i < keys.length; i += 500) {
        const some = keys.slice(i, i + 500).map((key) => limiter.tryAcquire(key));
        decisions.push(...(await Promise.all(some)));
      }
      expect(allowedOf(decisions)).toBe(round < 3 ? keys.length : 0);
    }
  });
});

describe('the options of a lease', () => {
  const remote = () => limitOf().oracle;
  it.each([
    [{ permits: 0, maxAgeMs: 1 }, /lease\.permits.*0/],
    [{ permits: 1.5, maxAgeMs: 1 }, /lease\.permits.*1\.5/],
    [{ permits: 10, maxAgeMs: 0 }, /lease\.maxAgeMs.*0/],
    [{ permits: 10 }, /lease\.maxAgeMs.*undefined/],
    [{ permits: 10, maxAgeMs: 1, age: 1 }, /unknown option "age"/],
    [true, /options must be an object; got true/],
  ])('%j', (lease, message) => {
    const options = { remote: remote(), onFailure: 'closed', lease } as unknown as TieredOptions;
    expect(() => new TieredLimiter(options)).toThrow(message);
  });

  it('need a remote that can lease', () => {
    const { policy, tryAcquire, peek, refund, reset, close } = remote();
    const plain = { policy, tryAcquire, peek, refund, reset, close };
    const lease = { permits: 10, maxAgeMs: 1_000 };
    expect(() => new TieredLimiter({ remote: plain, lease, onFailure: 'open' })).toThrow(
      'one of the Redis limiters',
    );
  });
});
