// The scripts against a plain model of them, every operation and also a clock that is set back. The model is the Redis of
// test/simulation.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Algorithm,
  defineCommands,
  type ScriptCall,
  sendCommand,
} from '../../src/redis/commands.ts';
import { RedisModel } from '../model/redis-scripts.ts';
import { Random } from '../support/random.ts';
import { RedisServer } from '../support/redis.ts';
import { until } from '../support/until.ts';

const START_US = 1_753_000_000_000_001;
const OPERATIONS = 24_000;
/** Calls on the wire at once: one connection keeps their order. */
const BATCH = 400;
const KEYS = ['ann', 'bob', 'cleo', 'dan'];
const NODES = ['n1', 'n2', 'n3', 'n4', 'n5'];
const HOUR_MS = 3_600_000;

interface Subject {
  readonly algorithm: Algorithm;
  readonly limit: number;
  readonly periodUs: number;
  readonly policy: readonly number[];
  /** Left out: a log whose clock is set back counts released permits again with older ones that come back. */
  readonly without?: 'release' | 'set back';
}

const windows = (algorithm: Algorithm, limit: number, periodUs: number): Subject => {
  return { algorithm, limit, periodUs, policy: [limit, periodUs] };
};
const bucket = (capacity: number, rate: number, token: number): Subject => {
  const periodUs = Math.ceil((capacity * token) / rate);
  return { algorithm: 'token-bucket', limit: capacity, periodUs, policy: [capacity, rate, token] };
};

const FED: readonly Subject[] = [
  windows('fixed-window', 20, 60_000_000),
  windows('fixed-window', 100_000, 13_337),
  windows('sliding-window-counter', 20, 60_000_000),
  windows('sliding-window-counter', 33_554_431, 86_400_000_000),
  { ...windows('sliding-window-log', 20, 60_000_000), without: 'set back' },
  { ...windows('sliding-window-log', 100_000, 13_337), without: 'set back' },
  { ...windows('sliding-window-log', 20, 60_000_000), without: 'release' },
  bucket(20, 1, 1_000_000),
  bucket(100_000, 7, 13_337),
];

let server: RedisServer;
let client: ReturnType<RedisServer['client']>;
beforeAll(async () => {
  server = await RedisServer.start();
  client = server.client();
  defineCommands(client);
});
afterAll(() => server.stop());

/** Makes the calls on the server, a batch at a time, and on the model at the times that the server names. */
async function compare(calls: Iterable<ScriptCall>, model: RedisModel): Promise<number> {
  let made = 0;
  let batch: ScriptCall[] = [];
  const flush = async () => {
    const replies = await Promise.all(batch.map((call) => sendCommand(client, call)));
    for (const [i, call] of batch.entries()) {
      const reply = (replies[i] as unknown[]).map(Number);
      const due = model.run(call, reply[0] as number).map(Number);
      if (`${reply}` !== `${due}`) {
        throw new Error(`${reply} and not ${due}, call ${made + i}: ${JSON.stringify(call)}`);
      }
    }
    made += batch.length;
    batch = [];
  };
  for (const call of calls) {
    batch.push(call);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return made;
}

let requests = 0;

/** Its nodes, as the reply of a lease of one permit names them. */
async function lease(model: RedisModel, node: string, ms: number): Promise<number> {
  const args = [Number.MAX_SAFE_INTEGER, '', 1_000_000, 60_000_000, 'lease', 1, 1, 1, node, ms];
  const keys = ['eve', 'eve:nodes', `eve:${requests++}`];
  const call: ScriptCall = { algorithm: 'fixed-window', form: 'lease', keys, args };
  const reply = ((await sendCommand(client, call)) as unknown[]).map(Number);
  expect(reply).toEqual(model.run(call, reply[0] as number));
  return reply[5] as number;
}

/** Time stands, creeps, leaps and is set back. */
function moved(random: Random, atUs: number, { periodUs, without }: Subject): number {
  const dice = random.below(without === 'set back' ? 960 : 1000);
  if (dice < 400) return atUs;
  if (dice < 750) return atUs + random.below(Math.ceil(periodUs / 30) + 2);
  if (dice < 920) return atUs + random.below(Math.ceil(periodUs / 3) + 2);
  if (dice < 960) return atUs + random.below(3 * periodUs + 2);
  if (dice < 985) return atUs - random.below(Math.ceil(periodUs / 20) + 2);
  return Math.max(START_US, atUs - random.below(2 * periodUs + 2));
}

/** Calls as a limiter makes them, at the times of `clock`, or at the server's own. */
function* randomCalls(subject: Subject, random: Random, clock: () => number | '') {
  const { algorithm, limit, policy } = subject;
  const cost = () => (random.chance(60) ? random.between(0, 3) : random.between(0, limit + 1));
  /** Stamps as replies name them are times: any time near will do, and all are tried. */
  let stamp = START_US;
  let last: ScriptCall | undefined;
  for (let i = 0; i < OPERATIONS; i++) {
    const now = clock();
    const key = random.pick(KEYS);
    const call = (form: ScriptCall['form'], keys: string[], each: (string | number)[]) => {
      const args = [random.chance(1) ? 1 : Number.MAX_SAFE_INTEGER, now, ...policy, ...each];
      return { algorithm, form, keys, args } satisfies ScriptCall;
    };
    const leaseCall = (each: (string | number)[]) => {
      // Sent again, it is the same request.
      if (last === undefined || random.chance(90)) {
        last = call('lease', [key, `${key}:nodes`, `${key}:request:${i}`], each);
      }
      return last;
    };
    const dice = random.below(100);
    if (dice < 30) {
      const least = random.chance(70) ? 1 : random.between(1, limit + 1);
      const need = least + (random.chance(50) ? 0 : random.below(Math.ceil(limit / 4)));
      const most = random.between(1, limit);
      if (now !== '') stamp = now;
      yield leaseCall(['lease', least, need, most, random.pick(NODES), HOUR_MS]);
    } else if (dice < 55 && subject.without !== 'release') {
      const at = now === '' ? Date.now() * 1000 - random.below(subject.periodUs) : stamp;
      const off = random.pick([
        0,
        0,
        0,
        -1,
        1,
        -Math.floor(subject.periodUs / 7),
        subject.periodUs,
      ]);
      yield leaseCall(['release', random.between(0, Math.ceil(limit / 2)), at + off]);
    } else if (dice < 85) {
      const keys = Array.from({ length: random.pick([1, 1, 2, 9]) }, () => random.pick(KEYS));
      const each = keys.flatMap(() => [random.pick(['acquire', 'acquire', 'peek']), cost()]);
      yield call(keys.length === 1 ? 'one' : 'many', keys, each);
    } else {
      yield call('one', [key], [random.chance(90) ? 'refund' : 'reset', cost()]);
    }
  }
}

const name = ({ algorithm, policy, without }: Subject) =>
  `${algorithm} ${policy.join(' ')}${without ? `, without ${without}` : ''}`;

describe('the scripts do what the model does', () => {
  it.each(FED.map((subject) => [name(subject), subject] as const))(
    'at given times: %s',
    { timeout: 60_000 },
    async (_, subject) => {
      await client.flushall();
      const random = new Random(subject.limit);
      let atUs = START_US;
      const clock = () => {
        atUs = moved(random, atUs, subject);
        return atUs;
      };
      const calls = randomCalls(subject, random, clock);
      expect(await compare(calls, new RedisModel())).toBe(OPERATIONS);
    },
  );

  const REAL: readonly Subject[] = [
    windows('fixed-window', 500, 40_000),
    windows('sliding-window-counter', 500, 40_000),
    windows('sliding-window-log', 500, 40_000),
    bucket(500, 1, 80),
  ];
  it.each(REAL.map((subject) => [name(subject), subject] as const))(
    'at its own time, where keys expire: %s',
    { timeout: 60_000 },
    async (_, subject) => {
      await client.flushall();
      const calls = randomCalls(subject, new Random(7), () => '');
      expect(await compare(calls, new RedisModel())).toBe(OPERATIONS);
    },
  );

  it('where nodes stop asking', async () => {
    await client.flushall();
    const model = new RedisModel();
    expect(await lease(model, 'n1', 1_000)).toBe(1);
    expect(await lease(model, 'n2', HOUR_MS)).toBe(2);
    await until(async () => (await lease(model, 'n2', HOUR_MS)) === 1);
  });
});
