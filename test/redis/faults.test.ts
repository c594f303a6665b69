import { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Decision, TokenBucketLimiter } from '../../src/index.ts';
import { type RemoteLimiter, TieredLimiter } from '../../src/redis.ts';
import { FaultyWire } from '../support/faulty-wire.ts';
import { settled } from '../support/manual-timers.ts';
import { pairwise } from '../support/pairwise.ts';
import { RedisServer } from '../support/redis.ts';
import { REMOTES } from '../support/remotes.ts';
import { until } from '../support/until.ts';

const DEADLINE_MS = 150;
const COOLDOWN_MS = 100;
const FAILURES = 3;
/** No call hangs. How exactly a deadline is kept is shown with a timer of our own, elsewhere. */
const SETTLES_MS = 1_000;
const LIMIT = 1_000;

/** What happens, how it ends, and what the calls meanwhile leave behind. */
interface Fault {
  begin(place: Place): Promise<void>;
  end(place: Place): Promise<void>;
  /** Redis goes on deciding. */
  readonly harmless?: boolean;
  /** Calls that are answered by the failure policy may have run, each once. */
  readonly runs?: boolean;
}

interface Place {
  readonly server: RedisServer;
  readonly proxy: FaultyWire;
  /** The Redis key of the calls that the fault meets. */
  readonly redisKey: string;
}

const wire = (mode: Parameters<FaultyWire['set']>[0], more: Partial<Fault> = {}): Fault => ({
  begin: ({ proxy }) => proxy.set(mode),
  end: ({ proxy }) => proxy.set('pass'),
  ...more,
});
const nothing = async () => {};

const FAULTS: Record<string, Fault> = {
  'connection refused': wire('refuse'),
  'accepted, then silence': wire('silent'),
  'slower than the deadline': {
    ...wire('delay'),
    begin: async ({ proxy }) => {
      proxy.delayMs = 2 * DEADLINE_MS;
      await proxy.set('delay');
    },
  },
  'cut after the script ran': wire('cut', { runs: true }),
  'half-open connection': wire('half-open'),
  'SHUTDOWN, restarted empty': {
    begin: async ({ server }) =>
      void (await server
        .admin()
        .shutdown('NOSAVE')
        .catch(() => {})),
    end: ({ server }) => server.up(),
  },
  'SCRIPT FLUSH': {
    begin: async ({ server }) => void (await server.admin().script('FLUSH')),
    end: nothing,
    harmless: true,
  },
  'DEBUG SLEEP': {
    begin: async ({ server }) => {
      void server
        .admin()
        .call('DEBUG', 'SLEEP', '2')
        .catch(() => {});
      await new Promise((done) => setTimeout(done, 20));
    },
    end: async ({ server }) => void (await server.admin().ping()),
  },
  'READONLY: the server became a replica': {
    begin: async ({ server }) => void (await server.admin().replicaof('127.0.0.1', 1)),
    end: async ({ server }) => void (await server.admin().replicaof('NO', 'ONE')),
  },
  'OOM: maxmemory reached': {
    begin: async ({ server }) => void (await server.admin().config('SET', 'maxmemory', '1')),
    end: async ({ server }) => void (await server.admin().config('SET', 'maxmemory', '0')),
  },
  'WRONGTYPE: a foreign value under the key': {
    begin: async ({ server, redisKey }) => {
      await server.admin().del(redisKey);
      await server.admin().lpush(redisKey, 'foreign');
    },
    end: async ({ server, redisKey }) => void (await server.admin().del(redisKey)),
  },
};

const rows = pairwise({
  fault: Object.keys(FAULTS),
  algorithm: REMOTES.map(([name]) => name),
  onFailure: ['open', 'closed', 'fallback'] as const,
  ioredis: [6, 5],
  enableOfflineQueue: [true, false],
  enableAutoPipelining: [false, true],
  keyPrefix: ['', 'app:'],
  lazyConnect: [false, true],
  stringNumbers: [false, true],
  maxRetriesPerRequest: [20, 0, null],
  leases: [false, true],
});

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
  console.log(`pairwise covering set, ${rows.length} rows:`);
  for (const row of rows) console.log(JSON.stringify(row));
});
afterAll(() => server.stop());

function clientOf({ ioredis, ...row }: (typeof rows)[number], port: number): Redis6 {
  const { enableOfflineQueue, enableAutoPipelining, keyPrefix, lazyConnect } = row;
  const { stringNumbers, maxRetriesPerRequest } = row;
  const settings = { enableOfflineQueue, enableAutoPipelining, keyPrefix, lazyConnect };
  const options = { ...settings, stringNumbers, maxRetriesPerRequest, retryStrategy: () => 20 };
  const Client = (ioredis === 5 ? Redis5 : Redis6) as typeof Redis6;
  const client = new Client({ ...options, host: '127.0.0.1', port } as unknown as string);
  return client.on('error', () => {});
}

/** The answer, and an error if it took too long. */
async function timely(call: Promise<Decision>): Promise<Decision> {
  const start = performance.now();
  const answer = await call;
  const ms = performance.now() - start;
  if (ms > SETTLES_MS) throw new Error(`a call took ${ms} ms`);
  return answer;
}

function usedOf(answer: Decision): number {
  return LIMIT - answer.remaining;
}

it('tries every two values of two settings together', () => {
  const names = Object.keys(rows[0] as object) as (keyof (typeof rows)[number])[];
  const met = (one: keyof (typeof rows)[number], other: keyof (typeof rows)[number]) =>
    new Set(rows.map((row) => JSON.stringify([row[one], row[other]]))).size;
  const values = (name: keyof (typeof rows)[number]) => new Set(rows.map((row) => row[name])).size;
  for (const one of names) {
    for (const other of names) {
      if (one !== other) expect(met(one, other)).toBe(values(one) * values(other));
    }
  }
});

describe.each(rows)('$fault, $algorithm, $onFailure, ioredis $ioredis, leases $leases', (row) => {
  it('answers every call in time by the stated policy, replays nothing, and recovers', async () => {
    const fault = FAULTS[row.fault] as Fault;
    const proxy = await FaultyWire.to(server.port);
    const client = clientOf(row, proxy.port);
    const make = REMOTES.find(([name]) => name === row.algorithm)?.[1] as (typeof REMOTES)[0][1];
    const options = { name: 'faults', limit: LIMIT, windowMs: 360_000_000 };
    const deadlineMs = fault.harmless ? 10 * DEADLINE_MS : DEADLINE_MS;
    const remote = make({ ...options, redis: client, deadlineMs });
    const changes: string[] = [];
    const tiered = new TieredLimiter({
      remote,
      breaker: { failures: FAILURES, cooldownMs: COOLDOWN_MS },
      ...(row.leases && { lease: { permits: 20, maxAgeMs: 60 } }),
      onDegraded: () => changes.push('degraded'),
      onRecovered: () => changes.push('recovered'),
      ...(row.onFailure === 'fallback'
        ? {
            onFailure: 'fallback',
            fallback: new TokenBucketLimiter({ capacity: 5, refillPerSecond: 1 }),
          }
        : { onFailure: row.onFailure }),
    });
    const source = fault.harmless ? 'redis' : row.onFailure;
    let redisKey = '';
    let over = true;
    try {
      await until(async () => (await timely(tiered.tryAcquire('met'))).source === 'redis');
      await until(async () => (await tiered.peek('met', 0)).source === 'redis');
      const usedBefore = usedOf(await seen(remote));
      changes.length = 0;
      redisKey = (await server.admin().keys('*faults*smet*'))[0] as string;
      over = false;
      await fault.begin({ server, proxy, redisKey });

      const answers = await Promise.all(times(8, () => timely(tiered.tryAcquire('met'))));
      // A call that found a permit of a lease needed nobody.
      const unleased = answers.filter((answer) => answer.source !== 'lease');
      expect(answers.length - unleased.length).toBeLessThanOrEqual(row.leases ? 2 : 0);
      expect(unleased.map((answer) => answer.source)).toEqual(unleased.map(() => source));
      if (!fault.harmless) await noCallWaits(tiered, row);
      expect(changes).toEqual(fault.harmless ? [] : ['degraded']);

      await fault.end({ server, proxy, redisKey });
      over = true;
      await until(async () => (await timely(tiered.tryAcquire('other'))).source === 'redis', {
        ms: 5_000,
        what: 'recovery',
      });
      expect(changes).toEqual(fault.harmless ? [] : ['degraded', 'recovered']);

      // Whatever was held up has arrived by now, and what it left is one permit a call at most.
      await new Promise((done) => setTimeout(done, 2 * DEADLINE_MS));
      const used =
        usedOf(await seen(remote)) - (row.fault.match(/SHUTDOWN|WRONGTYPE/) ? 0 : usedBefore);
      if (fault.harmless) expect(used).toBe(8);
      else if (fault.runs) expect(used).toBeLessThanOrEqual(8);
      else expect(used).toBe(0);
    } finally {
      if (!over) await fault.end({ server, proxy, redisKey });
      client.disconnect();
      await proxy.close();
      await server.admin().flushall();
    }
  });
});

/** All are answered before any socket or timer has had its turn. */
async function noCallWaits(
  tiered: TieredLimiter,
  { fault, onFailure }: (typeof rows)[number],
): Promise<void> {
  // Should the cooldown be over already, one of them goes to Redis as well: not about the key that is looked at later,
  // but the foreign value stands under that one only.
  const key = fault.startsWith('WRONGTYPE') ? 'met' : 'more';
  const sources: string[] = [];
  for (let i = 0; i < 50; i++) {
    void tiered.tryAcquire(key).then(({ source }) => sources.push(source));
  }
  await settled();
  expect(sources).toEqual(Array(50).fill(onFailure));
}

/** What Redis holds, once it answers. */
async function seen(remote: RemoteLimiter): Promise<Decision> {
  let answer: Decision | undefined;
  await until(async () => {
    answer = await remote.peek('met', 0).catch(() => undefined);
    return answer !== undefined;
  });
  return answer as Decision;
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
