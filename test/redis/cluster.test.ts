import type { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Key } from '../../src/index.ts';
import { keyText } from '../../src/key-text.ts';
import { slotOf } from '../../src/redis/key.ts';
import { TieredLimiter } from '../../src/redis.ts';
import { RedisCluster } from '../support/cluster.ts';
import { Random } from '../support/random.ts';
import type { RedisServer } from '../support/redis.ts';
import { REMOTES } from '../support/remotes.ts';

/** What these tests are about is not how fast a busy machine answers. */
const DEADLINE_MS = 10_000;
const HOSTILE: Key[] = [
  '}x',
  '{}x',
  '{}',
  'a{b}c',
  '{',
  '}',
  '{{}}',
  'x'.repeat(10_000),
  '🦆',
  '\ud800',
  42,
  '42',
];

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await RedisCluster.start(3);
}, 60_000);
afterAll(() => cluster.stop());

function keysOf(count: number): Key[] {
  const random = new Random(count);
  const letter = () => String.fromCharCode(random.between(32, 300));
  const text = () => Array.from({ length: random.between(1, 40) }, letter).join('');
  return [...HOSTILE, ...Array.from({ length: count - HOSTILE.length }, text)];
}

const clients: [string, () => Cluster][] = [
  ['ioredis 6', () => cluster.client()],
  ['ioredis 6, auto-pipelining', () => cluster.client({ enableAutoPipelining: true })],
  ['ioredis 6, a prefix', () => cluster.client({ keyPrefix: 'app:' })],
  [
    'ioredis 5, auto-pipelining',
    () => {
      const node = cluster.nodes[0] as RedisServer;
      const client = new Cluster5([{ host: '127.0.0.1', port: node.port }], {
        enableAutoPipelining: true,
      });
      return node.owns(client as unknown as Cluster);
    },
  ],
];

it('knows the slot of a hash tag', async () => {
  const admin = cluster.nodes[0]?.admin();
  for (const key of HOSTILE) {
    const tag = keyText(key);
    expect(slotOf(tag)).toBe(await admin?.cluster('KEYSLOT', `a:{${tag}}`));
  }
});

describe.each(clients)('a cluster of 3 over %s', (client, connect) => {
  it.each(REMOTES)('takes 300 random and hostile keys without an error: %s', async (_, make) => {
    const options = { name: `keys over ${client}`, limit: 2, windowMs: 3_600_000 };
    const limiter = make({ ...options, redis: connect(), deadlineMs: DEADLINE_MS });
    const keys = keysOf(300);
    for (const remaining of [1, 0]) {
      const answers = await Promise.all(keys.map((key) => limiter.tryAcquire(key)));
      expect(answers.map((answer) => answer.remaining)).toEqual(keys.map(() => remaining));
    }
    const denied = await Promise.all(keys.map((key) => limiter.peek(key)));
    expect(denied.every((answer) => !answer.allowed)).toBe(true);
    await Promise.all(keys.map((key) => limiter.refund(key)));
    await Promise.all(keys.map((key) => limiter.reset(key)));
    const fresh = await Promise.all(keys.map((key) => limiter.peek(key, 0)));
    expect(fresh.every((answer) => answer.remaining === 2)).toBe(true);
  });

  it.each(REMOTES)('leases permits of hostile keys: %s', async (name, make) => {
    const options = { name: `leases of ${name} over ${client}`, limit: 100, windowMs: 3_600_000 };
    const remote = make({ ...options, redis: connect(), deadlineMs: DEADLINE_MS });
    const lease = { permits: 10, maxAgeMs: 60_000 };
    const limiter = new TieredLimiter({ remote, lease, onFailure: 'closed' });
    for (const key of HOSTILE) {
      const burst = Array.from({ length: 30 }, () => limiter.tryAcquire(key));
      expect((await Promise.all(burst)).filter((decision) => decision.allowed)).toHaveLength(30);
      expect((await limiter.tryAcquire(key)).source).toBe('lease');
    }
    await limiter.close();
    for (const key of HOSTILE) expect((await remote.peek(key, 0)).remaining).toBe(69);
  });
});

describe('a cluster that grows under load', () => {
  it('rejects nothing and admits nothing in excess, with auto-pipelining and without', {
    timeout: 120_000,
  }, async () => {
    const limit = 40;
    const keys = Array.from({ length: 300 }, (_, i) => `user ${i}`);
    const loads = [false, true].flatMap((enableAutoPipelining) => {
      const redis = cluster.client({ enableAutoPipelining });
      return REMOTES.slice(0, 2).map(([name, make]) => {
        const shared = { limit, windowMs: 3_600_000, deadlineMs: DEADLINE_MS };
        return make({ ...shared, name: `${name} ${enableAutoPipelining}`, redis });
      });
    });
    const admitted = loads.map(() => new Map<string, number>());
    let moving = true;
    let calls = 0;
    const faults: string[] = [];
    const press = async (load: number, lane: number) => {
      for (let i = lane; moving; i += 7) {
        const key = keys[i % keys.length] as string;
        calls++;
        try {
          const { allowed } = (await loads[load]?.tryAcquire(key)) ?? {};
          if (allowed) admitted[load]?.set(key, (admitted[load]?.get(key) ?? 0) + 1);
        } catch (error) {
          faults.push(String(error));
        }
      }
    };
    const pressing = loads.flatMap((_, load) =>
      Array.from({ length: 8 }, (__, lane) => press(load, lane)),
    );
    const fourth = await cluster.grow();
    const slots = [...new Set(keys.map((key) => slotOf(keyText(key))))].slice(0, 120);
    for (const slot of slots) {
      const from = cluster.nodes[Math.floor(slot / Math.ceil(16_384 / 3))] as RedisServer;
      await cluster.move(slot, from, fourth);
    }
    moving = false;
    await Promise.all(pressing);
    console.log(`moved ${slots.length} slots under ${calls} calls`);
    expect(faults).toEqual([]);
    for (const counts of admitted) expect(Math.max(...counts.values())).toBeLessThanOrEqual(limit);
    const moved = keys.filter((key) => slots.includes(slotOf(keyText(key))));
    for (const [load, limiter] of loads.entries()) {
      for (const key of moved) {
        const { remaining } = await limiter.peek(key, 0);
        expect(limit - remaining).toBe(admitted[load]?.get(key) ?? 0);
      }
    }
    expect(await fourth.admin().dbsize()).toBeGreaterThan(0);
  });
});
