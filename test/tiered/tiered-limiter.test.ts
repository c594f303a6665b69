import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Decision, type Key, TokenBucketLimiter } from '../../src/index.ts';
import {
  LimiterUnavailableError,
  type RemoteLimiter,
  TieredLimiter,
  type TieredOptions,
} from '../../src/redis.ts';
import { ManualClock } from '../../src/testing.ts';
import { SEAM } from '../../src/timers.ts';
import { describeLimiter } from '../contract/limiter-contract.ts';
import { ManualTimers, settled } from '../support/manual-timers.ts';

const LIMIT = 10;

/** A limiter across machines whose servers are a table in process. */
class FakeRemote implements RemoteLimiter {
  readonly policy = { name: 'fake', limit: LIMIT, windowMs: 10_000 };
  calls: string[] = [];
  fault: Error | undefined;
  /** Calls wait until this settles. */
  gate: Promise<void> | undefined;
  readonly table: TokenBucketLimiter;

  constructor(timers: ManualTimers) {
    const policy = { capacity: LIMIT, refillPerSecond: 1, clock: timers.now };
    this.table = new TokenBucketLimiter(policy);
  }

  tryAcquire = async (key: Key, cost = 1): Promise<Decision> => {
    await this.#called(`tryAcquire ${key} ${cost}`);
    return { ...this.table.tryAcquire(key, cost), source: 'redis' };
  };

  peek = async (key: Key, cost = 1): Promise<Decision> => {
    await this.#called(`peek ${key} ${cost}`);
    return { ...this.table.peek(key, cost), source: 'redis' };
  };

  refund = async (key: Key, cost = 1): Promise<void> => {
    await this.#called(`refund ${key} ${cost}`);
    this.table.refund(key, cost);
  };

  reset = async (key: Key): Promise<void> => {
    await this.#called(`reset ${key}`);
    this.table.reset(key);
  };

  close = async (): Promise<void> => {};

  async #called(call: string): Promise<void> {
    this.calls.push(call);
    const { fault } = this;
    await this.gate;
    if (fault) throw fault;
  }
}

function build(options: Partial<TieredOptions> = {}) {
  const timers = new ManualTimers();
  const remote = new FakeRemote(timers);
  const clock = { clock: timers.now };
  const all = { remote, onFailure: 'closed', [SEAM]: { timers }, ...options };
  const limiter = new TieredLimiter(all as TieredOptions);
  const down = () => {
    remote.fault = new LimiterUnavailableError('fake', 'it is down');
  };
  const up = () => {
    remote.fault = undefined;
  };
  return { timers, clock, remote, limiter, down, up };
}

/** On the real clock nothing comes back while a test runs. */
const local = (capacity: number, clock?: () => number) =>
  clock
    ? new TokenBucketLimiter({ capacity, refillPerSecond: 1, clock })
    : new TokenBucketLimiter({ capacity, refillPerSecond: 0.001 });

describeLimiter('tiered', ({ name, limit, windowMs }) => {
  const clock = new ManualClock(1_234_567.891);
  const refill = { refillTokens: limit, refillIntervalMs: windowMs };
  const table = new TokenBucketLimiter({ name, capacity: limit, ...refill, clock: clock.now });
  const remote: RemoteLimiter = {
    policy: table.policy,
    tryAcquire: async (key, cost) => table.tryAcquire(key, cost),
    peek: async (key, cost) => table.peek(key, cost),
    refund: async (key, cost) => table.refund(key, cost),
    reset: async (key) => table.reset(key),
    close: async () => table.close(),
  };
  const timers = { now: clock.now, wake: () => {} };
  const limiter = new TieredLimiter({ remote, onFailure: 'closed', [SEAM]: { timers } });
  return { limiter, advance: (ms) => clock.advance(ms) };
});

describe('the gate in process', () => {
  it('answers what it denies without asking Redis', async () => {
    const { limiter, remote } = build({ local: local(2) });
    const sources: string[] = [];
    for (let i = 0; i < 4; i++) sources.push((await limiter.tryAcquire('ann')).source);
    expect(sources).toEqual(['redis', 'redis', 'local', 'local']);
    expect(remote.calls).toHaveLength(2);
    expect(await limiter.peek('ann')).toMatchObject({ allowed: false, source: 'local' });
    expect(remote.calls).toHaveLength(2);
  });

  it('gets back the permits of the bytes that the key had', async () => {
    const gate = local(100);
    const { limiter } = build({ local: gate });
    const key = Buffer.from('ann');
    const call = limiter.tryAcquire(key, LIMIT + 1);
    key.fill(0);
    expect((await call).allowed).toBe(false);
    expect(gate.peek(Buffer.from('ann'), 0).remaining).toBe(100);
  });

  it('gets back what Redis denies', async () => {
    const gate = local(100);
    const { limiter } = build({ local: gate });
    await limiter.tryAcquire('ann', 10);
    for (let i = 0; i < 5; i++) await limiter.tryAcquire('ann', 7);
    expect(gate.peek('ann', 0).remaining).toBe(90);
  });

  it('gets back what the failure policy denies', async () => {
    const gate = local(100);
    const { limiter, down } = build({ local: gate });
    down();
    for (let i = 0; i < 20; i++) await limiter.tryAcquire('ann', 3);
    expect(gate.peek('ann', 0).remaining).toBe(100);
  });

  it('is refunded and reset with the rest', async () => {
    const gate = local(100);
    const { limiter } = build({ local: gate });
    await limiter.tryAcquire('ann', 8);
    await limiter.refund('ann', 5);
    expect(gate.peek('ann', 0).remaining).toBe(97);
    await limiter.reset('ann');
    expect(gate.peek('ann', 0).remaining).toBe(100);
  });

  it('may be closed while a call is on its way', async () => {
    const gate = local(100);
    const { limiter, remote } = build({ local: gate });
    await limiter.tryAcquire('ann', 10);
    remote.gate = settled();
    const late = limiter.tryAcquire('ann', 10);
    gate.close();
    expect(await late).toMatchObject({ allowed: false, source: 'redis' });
  });
});

describe('known denials', () => {
  it('cost no round trip until the wait that Redis named is over', async () => {
    const { limiter, remote, timers } = build();
    await limiter.tryAcquire('ann', 10);
    expect(await limiter.tryAcquire('ann', 2)).toMatchObject({
      source: 'redis',
      retryAfterMs: 2_000,
    });
    remote.calls = [];
    await timers.advance(500);
    expect(await limiter.tryAcquire('ann', 2)).toEqual({
      allowed: false,
      limit: 10,
      remaining: 0,
      retryAfterMs: 1_500,
      retryAfterSeconds: 2,
      resetAfterMs: 9_500,
      source: 'denial-cache',
    });
    expect(await limiter.peek('ann', 2)).toMatchObject({ source: 'denial-cache' });
    await timers.advance(1_499);
    expect(await limiter.tryAcquire('ann', 5)).toMatchObject({ retryAfterMs: 1 });
    expect(remote.calls).toEqual([]);
    await timers.advance(1);
    expect(await limiter.tryAcquire('ann', 2)).toMatchObject({ allowed: true, source: 'redis' });
  });

  it('hold for costs at least as large, and for that key only', async () => {
    const { limiter } = build();
    await limiter.tryAcquire('ann', 8);
    await limiter.tryAcquire('ann', 5);
    const sources = await Promise.all([
      limiter.tryAcquire('ann', 6),
      limiter.tryAcquire('ann', 11),
      limiter.tryAcquire('ann', 2),
      limiter.tryAcquire('ann', 0),
      limiter.tryAcquire('bob', 5),
    ]);
    expect(sources.map(({ source, allowed }) => `${source} ${allowed}`)).toEqual([
      ...['denial-cache false', 'denial-cache false'],
      ...['redis true', 'redis true', 'redis true'],
    ]);
    expect(sources[1]?.retryAfterMs).toBe(Infinity);
  });

  it('are looked up again after their greatest age', async () => {
    const { limiter, timers, remote } = build({ denialCache: { maxAgeMs: 300 } });
    await limiter.tryAcquire('ann', 10);
    await limiter.tryAcquire('ann', 9);
    remote.table.reset('ann');
    await timers.advance(299);
    expect(await limiter.tryAcquire('ann', 9)).toMatchObject({ source: 'denial-cache' });
    await timers.advance(1);
    expect(await limiter.tryAcquire('ann', 9)).toMatchObject({ allowed: true, source: 'redis' });
  });

  it.each(['refund', 'reset'] as const)('are dropped by %s', async (method) => {
    const { limiter } = build();
    await limiter.tryAcquire('ann', 10);
    await limiter.tryAcquire('ann', 10);
    await limiter[method]('ann', 10);
    expect(await limiter.tryAcquire('ann', 10)).toMatchObject({ allowed: true, source: 'redis' });
  });

  it('are not kept for a cost that never passes, nor where they are switched off', async () => {
    const { limiter } = build();
    for (let i = 0; i < 2; i++) {
      expect(await limiter.tryAcquire('ann', 11)).toMatchObject({ source: 'redis' });
    }
    const without = build({ denialCache: false }).limiter;
    await without.tryAcquire('ann', 10);
    for (let i = 0; i < 2; i++) {
      expect(await without.tryAcquire('ann')).toMatchObject({ source: 'redis', allowed: false });
    }
  });

  it('take bounded memory: of 50,000 keys at most 10,000 are known', async () => {
    const { limiter, remote } = build();
    for (let key = 0; key < 50_000; key++) remote.table.tryAcquire(key, 10);
    for (let key = 0; key < 50_000; key++) await limiter.tryAcquire(key);
    remote.calls = [];
    for (let key = 0; key < 50_000; key++) await limiter.peek(key);
    expect(remote.calls).toHaveLength(40_000);
  });
});

describe('the failure policy', () => {
  it('open lets calls pass, says so, and still never allows a cost above the limit', async () => {
    const { limiter, down } = build({ onFailure: 'open' });
    down();
    expect(await limiter.tryAcquire('ann', 4)).toEqual({
      allowed: true,
      limit: 10,
      remaining: 6,
      retryAfterMs: 0,
      retryAfterSeconds: 0,
      resetAfterMs: 0,
      source: 'open',
    });
    expect(await limiter.tryAcquire('ann', 11)).toMatchObject({
      allowed: false,
      retryAfterMs: Infinity,
    });
  });

  it('closed denies, and says when it is worth coming back', async () => {
    const { limiter, down, timers } = build({
      onFailure: 'closed',
      breaker: { failures: 2, cooldownMs: 700 },
    });
    down();
    await limiter.tryAcquire('ann');
    await limiter.tryAcquire('ann');
    await timers.advance(100);
    expect(await limiter.tryAcquire('ann')).toEqual({
      allowed: false,
      limit: 10,
      remaining: 0,
      retryAfterMs: 600,
      retryAfterSeconds: 1,
      resetAfterMs: 600,
      source: 'closed',
    });
    expect(await limiter.tryAcquire('ann', 0)).toMatchObject({ allowed: true, source: 'closed' });
  });

  it('fallback decides by its own budget', async () => {
    const { limiter, down, remote } = build({ onFailure: 'fallback', fallback: local(2) });
    down();
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await limiter.tryAcquire('ann'));
    expect(answers.map(({ allowed, source, limit }) => [allowed, source, limit])).toEqual([
      [true, 'fallback', 2],
      [true, 'fallback', 2],
      [false, 'fallback', 2],
    ]);
    await limiter.refund('ann');
    expect(await limiter.peek('ann')).toMatchObject({ allowed: true, source: 'fallback' });
    expect(remote.table.peek('ann', 0).remaining).toBe(10);
  });

  it('is never asked about a call that Redis denied', async () => {
    const fallback = local(100);
    const { limiter } = build({ onFailure: 'fallback', fallback });
    await limiter.tryAcquire('ann', 10);
    for (let i = 0; i < 3; i++) {
      expect(await limiter.tryAcquire('ann')).toMatchObject({ allowed: false });
    }
    expect(fallback.stats()).toMatchObject({ allowed: 0, denied: 0 });
  });

  it('keeps the memory that its fallback was made with', async () => {
    const fallback = new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1, maxKeys: 100 });
    const { limiter, down } = build({ onFailure: 'fallback', fallback });
    down();
    const before = fallback.stats().memoryBytes;
    for (let key = 0; key < 10_000; key++) await limiter.tryAcquire(key);
    expect(fallback.stats().memoryBytes).toBe(before);
  });

  it('takes over from any fault of the remote, not only from ours', async () => {
    const { limiter, remote } = build({ onFailure: 'open' });
    remote.fault = new Error('something else');
    expect(await limiter.tryAcquire('ann')).toMatchObject({ allowed: true, source: 'open' });
    expect(await limiter.peek('ann')).toMatchObject({ allowed: true, source: 'open' });
  });

  it('makes refund a thing that never rejects, and reset one that tells', async () => {
    const { limiter, down } = build({ breaker: { failures: 3 } });
    down();
    await limiter.refund('ann');
    await expect(limiter.reset('ann')).rejects.toThrow('it is down');
    await limiter.refund('ann');
    await expect(limiter.reset('ann')).rejects.toMatchObject({ code: 'ERR_LIMITER_UNAVAILABLE' });
  });
});

describe('the breaker', () => {
  const breaker = { failures: 3, cooldownMs: 1_000 };

  it('opens after so many failures in a row, and then asks Redis no more', async () => {
    const { limiter, remote, down, up } = build({ breaker });
    down();
    await limiter.tryAcquire('ann');
    await limiter.tryAcquire('ann');
    up();
    await limiter.tryAcquire('ann');
    down();
    remote.calls = [];
    for (let i = 0; i < 10; i++) await limiter.tryAcquire('ann');
    await limiter.peek('ann');
    await limiter.refund('ann');
    expect(remote.calls).toHaveLength(3);
  });

  it('tries once a cooldown, and lets nobody wait for it', async () => {
    const { limiter, remote, down, up, timers } = build({ breaker, onFailure: 'open' });
    down();
    for (let i = 0; i < 3; i++) await limiter.tryAcquire('ann');
    remote.calls = [];
    await timers.advance(999);
    await limiter.tryAcquire('ann');
    expect(remote.calls).toHaveLength(0);
    await timers.advance(1);
    remote.gate = new Promise(() => {});
    const answers = await Promise.all([1, 1, 1].map(() => limiter.tryAcquire('ann')));
    expect(answers.map((answer) => answer.source)).toEqual(['open', 'open', 'open']);
    expect(remote.calls).toHaveLength(1);
    remote.gate = undefined;
    up();
    await timers.advance(1_000);
    expect(await limiter.tryAcquire('ann')).toMatchObject({ source: 'open' });
    await settled();
    expect(await limiter.tryAcquire('ann')).toMatchObject({ source: 'redis' });
  });

  it('leaves taken what a try took: the newest permits may be others’ by then', async () => {
    const { limiter, remote, down, up, timers } = build({ breaker, onFailure: 'closed' });
    down();
    for (let i = 0; i < 3; i++) await limiter.tryAcquire('ann', 4);
    up();
    await timers.advance(1_000);
    expect(await limiter.tryAcquire('ann', 4)).toMatchObject({ source: 'closed', allowed: false });
    await settled();
    expect(remote.calls.at(-1)).toBe('tryAcquire ann 4');
    expect(remote.table.peek('ann', 0).remaining).toBe(6);
  });

  it('can be switched off: then every call asks Redis', async () => {
    const { limiter, remote, down } = build({ breaker: false });
    down();
    for (let i = 0; i < 20; i++) await limiter.tryAcquire('ann');
    expect(remote.calls).toHaveLength(20);
  });
});

describe('people are told', () => {
  const heard: unknown[] = [];
  const listeners = (['degraded', 'recovered'] as const).map((what) => {
    const name = `sluicegate:${what}`;
    const listener = (event: unknown) => heard.push([what, event]);
    return { on: () => subscribe(name, listener), off: () => unsubscribe(name, listener) };
  });
  afterEach(() => {
    heard.length = 0;
    for (const { off } of listeners) off();
  });

  it('once when Redis fails and once when it answers again', async () => {
    for (const { on } of listeners) on();
    const onDegraded = vi.fn();
    const onRecovered = vi.fn();
    const { limiter, down, up, timers } = build({ onDegraded, onRecovered });
    await limiter.tryAcquire('ann');
    down();
    for (let i = 0; i < 20; i++) await limiter.tryAcquire('ann');
    await timers.advance(1_500);
    up();
    await limiter.tryAcquire('ann');
    await settled();
    for (let i = 0; i < 20; i++) await limiter.tryAcquire('ann', 0);
    const policy = { name: 'fake', limit: 10, windowMs: 10_000 };
    expect(onDegraded.mock.calls).toEqual([[{ policy, error: expect.any(Error) }]]);
    expect(onRecovered.mock.calls).toEqual([[{ policy, degradedMs: 1_500 }]]);
    expect(heard).toEqual([
      ['degraded', onDegraded.mock.calls[0]?.[0]],
      ['recovered', onRecovered.mock.calls[0]?.[0]],
    ]);
  });

  it('even by a handler that throws, which changes no decision', async () => {
    const warned = new Promise((done) => process.once('warning', done));
    const onDegraded = () => {
      throw new Error('the pager is broken');
    };
    const { limiter, down } = build({ onDegraded, onFailure: 'open' });
    down();
    expect(await limiter.tryAcquire('ann')).toMatchObject({ allowed: true, source: 'open' });
    expect(`${await warned}`).toContain('the pager is broken');
  });
});

describe('options', () => {
  const { remote } = build();
  const good = { remote, onFailure: 'open' };
  const gate = local(1);
  const bad: [string, object, RegExp][] = [
    ['no onFailure', { remote }, /onFailure must be 'open', 'closed' or 'fallback'/],
    ['a typo', { ...good, denialcache: false }, /unknown option "denialcache"/],
    ['a limiter in process as remote', { ...good, remote: gate }, /remote must be .*in process/],
    ['a remote limiter as local', { ...good, local: remote }, /local must be .*across machines/],
    ['no remote', { onFailure: 'open' }, /remote must be .*undefined/],
    ['half a remote', { ...good, remote: { policy: {}, tryAcquire() {} } }, /without peek/],
    ['no fallback', { remote, onFailure: 'fallback' }, /fallback must be/],
    ['a fallback that is not asked', { ...good, fallback: gate }, /only for onFailure: 'fallback'/],
    [
      'one limiter for two tiers',
      { remote, local: gate, fallback: gate, onFailure: 'fallback' },
      /two limiters/,
    ],
    ['a handler that is none', { ...good, onDegraded: 'page' }, /onDegraded must be a function/],
    ['a breaker without failures', { ...good, breaker: { failures: 0 } }, /breaker.failures/],
    ['a breaker with a typo', { ...good, breaker: { cooldown: 1 } }, /unknown option "cooldown"/],
    ['true for a breaker', { ...good, breaker: true }, /options must be an object/],
    ['an age of no time', { ...good, denialCache: { maxAgeMs: 0 } }, /denialCache.maxAgeMs/],
  ];

  it.each(bad)('refuses %s', (_, options, message) => {
    expect(() => new TieredLimiter(options as never)).toThrow(message);
  });
});
