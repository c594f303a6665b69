import { gzipSync } from 'node:zlib';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ReplayRedis } from '../../../src/cli/replay/redis.ts';
import type { ReplayResult, ResultRow } from '../../../src/cli/replay/result.ts';
import { modelFixedWindowSinceFirst } from '../../model/fixed-window-since-first.ts';
import { open } from '../../support/browser.ts';
import { Random } from '../../support/random.ts';
import { RedisServer } from '../../support/redis.ts';
import { type Request, readTrace } from '../../support/trace.ts';
import { until } from '../../support/until.ts';
import { file, type Live, live, replay, replayed } from './run.ts';

const START_MS = 1_500_000_000_000;
const HOUR_MS = 3_600_000;
const ALL = ['--algorithm', 'all', '--key', 'client'];

interface Call extends Request {
  readonly cost: number;
}

let server: RedisServer;
let url: string;
let admin: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  url = `redis://127.0.0.1:${server.port}`;
  admin = server.admin();
  await admin.set('sluicegate:of-somebody-else', 'kept');
});
afterAll(() => server.stop());

const keysLeft = () => admin.keys('*');
const NOTHING_LEFT = ['sluicegate:of-somebody-else'];

const json = (calls: readonly Call[], startMs = START_MS) =>
  calls
    .map(({ ms, client, cost }) => {
      const time = new Date(startMs + ms).toISOString();
      return `{"time":"${time}","client":"c${client}","cost":${cost},"parity":${client % 2}}\n`;
    })
    .join('');

const csv = (requests: readonly Request[]) =>
  `time,client\n${requests.map(({ ms, client }) => `${START_MS + ms},c${client}\n`).join('')}`;

/** Bursts and silences of 40 clients, some of them at the same moment, some too dear. */
function randomCalls(seed: number, count: number): Call[] {
  const random = new Random(seed);
  let ms = 0;
  return Array.from({ length: count }, () => {
    if (random.chance(60)) ms += random.below(random.chance(2) ? 30_000 : 60);
    const cost = random.chance(70) ? 1 : random.below(9);
    return { ms, client: Math.floor(random.fraction() ** 3 * 40), cost };
  });
}

/** All that does not depend on where it was decided. */
function decided({ results, timeline, distribution }: ReplayResult, algorithm: string) {
  const chosen = results.flatMap((row, i) => (row.algorithm === algorithm ? [i] : []));
  return {
    rows: chosen.map((i) => ({ ...results[i], memoryBytes: 0, decisionsPerSecond: 0 })),
    timeline: chosen.map((i) => timeline.denied[i]),
    distribution: chosen.map((i) => distribution.clientsDenied[i]),
  };
}

/** What fixed windows that begin with a client's first permit make of the calls. */
function fixedSinceFirst(calls: readonly Call[], limit: number, windowMs: number) {
  let nowMs = 0;
  const model = modelFixedWindowSinceFirst({ limit, windowMs }, () => nowMs);
  let longestWaitMs = 0;
  let denied = 0;
  for (const { ms, client, cost } of calls) {
    nowMs = ms;
    const { allowed, retryAfterMs } = model.tryAcquire(client, cost);
    if (allowed) continue;
    denied += 1;
    if (retryAfterMs !== Infinity) longestWaitMs = Math.max(longestWaitMs, retryAfterMs);
  }
  return { admitted: calls.length - denied, denied, longestWaitMs };
}

const rowOf = ({ results }: ReplayResult, algorithm: string): ResultRow =>
  results.find((row) => row.algorithm === algorithm) ?? expect.fail(`no row of ${algorithm}`);

describe('a replay in Redis', () => {
  it.each([
    // [trace, limit, what the README of the traces says of log and counter]
    ['wrccdc-dns-tls', 20, 10, 28_049, 28_288],
    ['azure-llm-2023', 100, 60, 8_905, 9_117],
  ] as const)(
    'counts as its README says: %s',
    async (trace, limit, seconds, log, counter) => {
      const requests = readTrace(trace);
      const path = file(`${trace}.csv.gz`, gzipSync(csv(requests)));
      const args = [path, ...ALL, '--limit', `${limit}/${seconds}s`];
      const inRedis = await replayed([...args, '--redis', url]);
      const here = await replayed(args);
      expect([here.decidedIn, inRedis.decidedIn]).toEqual(['process', 'redis']);
      for (const same of ['token-bucket', 'sliding-window-counter', 'sliding-window-log']) {
        expect(decided(inRedis, same)).toEqual(decided(here, same));
      }
      expect(rowOf(inRedis, 'sliding-window-log').admitted).toBe(log);
      expect(rowOf(inRedis, 'sliding-window-counter').admitted).toBe(counter);
      const calls = requests.map((request) => ({ ...request, cost: 1 }));
      expect(rowOf(inRedis, 'fixed-window')).toMatchObject(
        fixedSinceFirst(calls, limit, seconds * 1000),
      );
      expect(rowOf(inRedis, 'fixed-window').admitted).not.toBe(
        rowOf(here, 'fixed-window').admitted,
      );
      expect(await keysLeft()).toEqual(NOTHING_LEFT);
    },
    60_000,
  );

  it.each([
    ['now', START_MS],
    ['before 1970', -START_MS],
  ])('counts costs and groups as without, several limits at once: %s', async (_, startMs) => {
    const calls = randomCalls(3, 6_000);
    const limits = ['--limit', '7/10s', '--limit', '7/10000ms', '--limit', '20/45s'];
    const args = ['-', ...ALL, ...limits, '--cost', 'cost', '--group-by', 'parity'];
    const log = json(calls, startMs);
    const inRedis = await replayed([...args, '--redis', url], log);
    const here = await replayed(args, log);
    expect(inRedis).toMatchObject({ requests: 6_000, results: { length: 12 } });
    for (const same of ['token-bucket', 'sliding-window-counter', 'sliding-window-log']) {
      expect(decided(inRedis, same)).toEqual(decided(here, same));
    }
    const [first, second, third] = inRedis.results.filter((r) => r.algorithm === 'fixed-window');
    expect(first).toMatchObject(fixedSinceFirst(calls, 7, 10_000));
    expect(second).toMatchObject(fixedSinceFirst(calls, 7, 10_000));
    expect(third).toMatchObject(fixedSinceFirst(calls, 20, 45_000));
    for (const { denied, neverPass, groups } of inRedis.results) {
      expect(denied).toBeGreaterThan(neverPass);
      expect(groups).toHaveLength(2);
    }
    expect(first?.neverPass).toBeGreaterThan(0);
    expect(await keysLeft()).toEqual(NOTHING_LEFT);
  });

  it('looks for limits in process, and finds what Redis decides', async () => {
    const log = json(randomCalls(5, 4_000));
    const limits = ['--limit', '10/10s', '--limit', '50/10s'];
    const args = ['-', ...ALL, ...limits, '--suggest', '1', '--redis', url];
    const { results, suggestions } = await replayed(args, log);
    expect(suggestions).toHaveLength(4);
    for (const { permits, algorithm, denied, clientsEverDenied } of results) {
      const tried = suggestions.find((one) => one.algorithm === algorithm)?.tried;
      expect(tried).toContainEqual({ limit: permits, denied, clientsEverDenied });
    }
  });

  it('tells that, and what its keys took', async () => {
    const calls = Array.from({ length: 200 }, (_, client) => ({ ms: client, client, cost: 1 }));
    const report = file('redis.html');
    const args = ['-', ...ALL, '--limit', '5/10s', '--redis', url];
    const { stdout, stderr } = await replay([...args, '--report', report], json(calls));
    expect(stdout).toContain('\ndecided in Redis, as shipped for it; a fixed window begins with ');
    expect(stderr).not.toContain('could not');
    const { results } = await replayed(args, json(calls));
    // 200 strings or sorted sets with their names.
    for (const { memoryBytes } of results) {
      expect(memoryBytes).toBeGreaterThan(200 * 80);
      expect(memoryBytes).toBeLessThan(200 * 400);
    }
    const { page, complaints } = await open(`file://${report}`);
    await page.getByText('Decided in Redis').waitFor();
    expect(complaints.console).toEqual([]);
    await page.close();
  });

  it.each([
    ['MEMORY', '-memory', ''],
    ['SCAN', '-scan', /^could not delete the keys sluicegate-replay-[0-9a-f]{16}\*, .* 'scan' /],
  ])('has no memory to tell without leave for %s', async (_, rule, warning) => {
    await admin.acl('SETUSER', 'barred', 'on', '>pass', '~*', '+@all', rule);
    const address = url.replace('//', '//barred:pass@');
    const args = ['-', ...ALL, '--limit', '5/10s', '--redis', address];
    const { code, stdout, stderr } = await replay(args, json(randomCalls(1, 50)));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ +fixed-window .* x +- +[\d,]+$/m);
    expect(stderr).toMatch(warning);
    const keys = (await keysLeft()).filter((key) => !NOTHING_LEFT.includes(key));
    expect(keys.length > 0).toBe(rule === '-scan');
    // They go by themselves.
    for (const key of keys) expect(await admin.pttl(key)).toBeGreaterThan(0);
    if (keys.length > 0) await admin.del(keys);
  });
});

describe('while the log is still being written', () => {
  let running: Live | undefined;
  afterEach(() => running?.stop());

  /** A replay that has decided all it has read, and waits for more. */
  async function waiting(limit = '5/10s'): Promise<Live> {
    running = live(['-', ...ALL, '--limit', limit, '--redis', url]);
    running.write(json(randomCalls(2, 20_000)));
    await until(async () => (await keysLeft()).length > 20, {
      ms: 20_000,
      what: 'keys of the replay',
    });
    return running;
  }

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s deletes the keys first', async (signal) => {
    const replaying = await waiting();
    const keys = (await keysLeft()).filter((key) => !NOTHING_LEFT.includes(key));
    for (const key of keys) {
      expect(key).toMatch(/^sluicegate-replay-[0-9a-f]{16}-\d:/);
      expect(await admin.pttl(key)).toBeGreaterThan(0);
      expect(await admin.pttl(key)).toBeLessThanOrEqual(HOUR_MS);
    }
    replaying.kill(signal);
    expect(await replaying.ended).toEqual({ code: null, signal, stdout: '', stderr: '' });
    expect(await keysLeft()).toEqual(NOTHING_LEFT);
  });

  it('the same signal once more changes nothing: npm passes on what the terminal has sent', async () => {
    const replaying = await waiting();
    server.freeze();
    for (let i = 0; i < 40; i++) {
      replaying.kill('SIGINT');
      await new Promise((done) => setTimeout(done, 5));
    }
    server.freeze(false);
    expect(await replaying.ended).toMatchObject({ signal: 'SIGINT', stderr: '' });
    expect(await keysLeft()).toEqual(NOTHING_LEFT);
  });

  it('a Redis that stops ends the replay', async () => {
    const replaying = await waiting();
    await server.kill();
    replaying.write(json(randomCalls(2, 20_000), START_MS + 1e9));
    const { code, stdout, stderr } = await replaying.ended;
    await server.up();
    await admin.set(NOTHING_LEFT[0] as string, 'kept');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^could not delete the keys sluicegate-replay-\w+\*, which expire within an hour: .*\nsluicegate: Redis at redis:\/\/127\.0\.0\.1:\d+ does not decide: Connection is closed\.\n$/,
    );
  });

  it('a Redis that falls silent ends the replay', async () => {
    const replaying = await waiting();
    server.freeze();
    replaying.write(json(randomCalls(2, 20_000), START_MS + 1e9));
    const { code, stdout, stderr } = await replaying.ended;
    server.freeze(false);
    await admin.flushall();
    await admin.set(NOTHING_LEFT[0] as string, 'kept');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/ does not decide: no answer within 10 s\n$/);
  }, 30_000);

  it('a Redis that is full ends the replay, and its keys are deleted', async () => {
    const replaying = await waiting();
    await admin.config('SET', 'maxmemory', '1');
    replaying.write(json(randomCalls(2, 20_000), START_MS + 1e9));
    const { code, stdout, stderr } = await replaying.ended;
    await admin.config('SET', 'maxmemory', '0');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^sluicegate: Redis at \S+ does not decide: OOM [^\n]*\n$/);
    expect(await keysLeft()).toEqual(NOTHING_LEFT);
  });
});

describe('a Redis that cannot be used is told, and no secret with it:', () => {
  it.each([
    ['nobody there', 'redis://ann:secret@127.0.0.1:1', /127\.0\.0\.1:1: connect ECONNREFUSED/],
    [
      'no such host',
      'redis://redis.invalid?password=secret',
      /redis\.invalid: (getaddrinfo |no answer within )/,
    ],
    ['no such user', 'redis://ann:secret@HOST', /: WRONGPASS /],
    ['no such database', 'redis://HOST/99', /\/99: ERR DB index is out of range$/],
  ])('%s', async (_, address, message) => {
    const host = `127.0.0.1:${server.port}`;
    const args = [file('one.json', json(randomCalls(1, 1))), ...ALL, '--limit', '5/10s'];
    const { code, stdout, stderr } = await replay([
      ...args,
      '--redis',
      address.replace('HOST', host),
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^sluicegate: cannot use Redis at [^\n]*\n$/);
    expect(stderr.trimEnd()).toMatch(message);
    expect(stderr).not.toContain('secret');
  });

  it('a node of a cluster', async () => {
    const node = await RedisServer.start('--cluster-enabled', 'yes');
    try {
      await node.admin().call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383').catch(addSlots(node));
      await until(async () => /cluster_state:ok/.test(await node.admin().cluster('INFO')), {
        ms: 20_000,
        what: 'the cluster',
      });
      const args = ['-', ...ALL, '--limit', '5/10s', '--redis', `redis://127.0.0.1:${node.port}`];
      const { code, stderr } = await replay(args, json(randomCalls(1, 500)));
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /does not decide: CROSSSLOT .*; it is part of a cluster, name a single/,
      );
    } finally {
      await node.stop();
    }
  });
});

/** Before Redis 7.0 slots are named one by one. */
const addSlots = (node: RedisServer) => () =>
  node.admin().cluster('ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot));

it('ends before the first of its keys expires', async () => {
  const redis = await ReplayRedis.connect(url, () => {});
  const now = vi.spyOn(performance, 'now');
  try {
    const started = performance.now();
    now.mockReturnValue(started + HOUR_MS - 1000);
    redis.checkAge();
    now.mockReturnValue(started + HOUR_MS);
    expect(() => redis.checkAge()).toThrow('the replay took an hour, ');
  } finally {
    now.mockRestore();
    await redis.close();
  }
});

describe('an option that means nothing ends with exit code 2:', () => {
  it.each([
    [['--redis', 'localhost'], /^sluicegate: --redis must be an address like redis:\/\/127/],
    [
      ['--redis', 'redis://127.0.0.1:1', '--limit', '10007/365d'],
      /is no limit for token-bucket in Redis: capacity must be at most /,
    ],
    [
      ['--redis', 'redis://127.0.0.1:1', '--limit', '9e9/s'],
      /^sluicegate: a limit is written like /,
    ],
    [
      [
        '--redis',
        'redis://127.0.0.1:1',
        '--limit',
        '100000000/1ms',
        '--algorithm',
        'sliding-window-log',
      ],
      /is no limit for sliding-window-log in Redis: limit must be /,
    ],
  ])('%j', async (args, message) => {
    const { code, stderr } = await replay(['-', '--limit', '1/s', ...args], '');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });
});
