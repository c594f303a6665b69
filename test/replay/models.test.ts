import { describe, expect, it } from 'vitest';
import { Batch } from '../../src/replay/batch.ts';
import type { WindowStart } from '../../src/replay/fixed-window.ts';
import { ALGORITHMS, judgeFor } from '../../src/replay/judges.ts';
import { limitOf } from '../../src/replay/limit.ts';
import { Timeline } from '../../src/replay/timeline.ts';
import { Trails } from '../../src/replay/trails.ts';
import { modelFixedWindowSinceFirst } from '../model/fixed-window-since-first.ts';
import { Random } from '../support/random.ts';

const WINDOW_US = 10_000_000;
const LIMIT = 7;
const START_US = 1_767_225_600_000_000;

interface Call {
  client: number;
  us: number;
  cost: number;
}

/** Calls of many clients in bursts and silences, some of them at once, some too dear. */
function calls(seed: number, count: number, clients: number, gridUs = 1): Call[] {
  const random = new Random(seed);
  let us = START_US;
  return Array.from({ length: count }, () => {
    if (random.chance(70)) {
      const steps = random.chance(2) ? 3 * WINDOW_US : Math.max(40_000, 3 * gridUs);
      us += Math.floor(random.below(steps) / gridUs) * gridUs;
    }
    const cost = random.chance(80) ? 1 : random.below(LIMIT + 2);
    return { client: Math.floor(random.fraction() ** 3 * clients), us, cost };
  });
}

function waitsOf(
  algorithm: (typeof ALGORITHMS)[number],
  all: readonly Call[],
  windowStart?: WindowStart,
): number[] {
  const limit = limitOf(LIMIT, WINDOW_US / 1000);
  const judge = judgeFor(algorithm, limit, 10_000, windowStart);
  const batch = new Batch(256);
  const room = new Float64Array(256);
  const waits: number[] = [];
  const decide = () => {
    judge.decide(batch, room);
    waits.push(...room.subarray(0, batch.length));
    batch.length = 0;
  };
  for (const { us, client, cost } of all) if (batch.add(us, client, cost)) decide();
  decide();
  judge.close();
  return waits;
}

/** By the definition: look at everything the client ever took. */
function plainLog(all: readonly Call[]): number[] {
  const taken = new Map<number, Call[]>();
  return all.map((call) => {
    const own = taken.get(call.client) ?? [];
    taken.set(call.client, own);
    const usedAt = (us: number) =>
      own.filter((other) => other.us > us - WINDOW_US).reduce((sum, { cost }) => sum + cost, 0);
    if (call.cost > LIMIT) return Infinity;
    if (call.cost === 0 || usedAt(call.us) + call.cost <= LIMIT) {
      own.push(call);
      return 0;
    }
    const leaves = own.map(({ us }) => us + WINDOW_US).filter((us) => us > call.us);
    const free = leaves.find((us) => usedAt(us) + call.cost <= LIMIT) ?? Number.NaN;
    return Math.ceil((free - call.us) / 1000);
  });
}

function plainFixed(all: readonly Call[]): number[] {
  const used = new Map<string, number>();
  return all.map(({ client, us, cost }) => {
    const window = Math.floor(us / WINDOW_US);
    const before = used.get(`${client} ${window}`) ?? 0;
    if (cost > LIMIT) return Infinity;
    if (cost > 0 && before + cost > LIMIT) {
      return Math.ceil(((window + 1) * WINDOW_US - us) / 1000);
    }
    used.set(`${client} ${window}`, before + cost);
    return 0;
  });
}

/** As `RedisFixedWindowLimiter` has them: by the model that it is held against. */
function plainFixedSinceFirst(all: readonly Call[]): number[] {
  let us = 0;
  const policy = { limit: LIMIT, windowMs: WINDOW_US / 1000 };
  const model = modelFixedWindowSinceFirst(policy, () => us / 1000);
  return all.map((call) => {
    us = call.us;
    return model.tryAcquire(call.client, call.cost).retryAfterMs;
  });
}

describe('the models', () => {
  it.each([
    [1, 3, 1],
    // On whole seconds permits leave the window at the very moment of a request.
    [2, 3, 1_000_000],
    [3, 40, 1_000],
    [4, 3_000, 1],
  ])(
    'decide as their definitions do (seed %d, %d clients, times of %d us)',
    (seed, clients, grid) => {
      const all = calls(seed, 6_000, clients, grid);
      const log = waitsOf('sliding-window-log', all);
      expect(log).toEqual(plainLog(all));
      expect(waitsOf('fixed-window', all)).toEqual(plainFixed(all));
      expect(waitsOf('fixed-window', all, 'first permit')).toEqual(plainFixedSinceFirst(all));
      expect(log.filter((wait) => wait > 0 && wait < Infinity).length).toBeGreaterThan(20);
    },
  );

  it.each(ALGORITHMS)(
    'let a request pass after the wait it was told, not a whole millisecond before: %s',
    (algorithm) => {
      const all = calls(4, 400, 1).filter(({ cost }) => cost > 0);
      const waits = waitsOf(algorithm, all);
      const at = waits.findIndex((wait) => wait > 1 && wait < Infinity);
      const denied = all[at] as Call;
      const wait = (waits[at] as number) * 1000;
      const before = all.slice(0, at);
      const last = (us: number) => waitsOf(algorithm, [...before, { ...denied, us }]).at(-1);
      expect(last(denied.us + wait)).toBe(0);
      expect(last(denied.us + wait - 1000)).toBeGreaterThan(0);
    },
  );
});

describe('the trails of clients', () => {
  it('take memory for the clients of a window, not for all there ever were', () => {
    const trails = new Trails(WINDOW_US);
    // Of 200,000 clients 1,000 are inside a window at any time.
    for (let client = 0; client < 200_000; client++) {
      for (let i = 0; i < 4; i++) trails.add(client, START_US + client * 10_000 + i, 1);
    }
    // 25 bytes a client ever seen, up to twice that for room to grow, and the entries of a window.
    expect(trails.memoryBytes).toBeLessThan(262_144 * 25 + 1_000_000);
  });
});

describe('the timeline', () => {
  it.each([1, 719, 720, 721, 100_000, 10_000_000])(
    'keeps every count of a log of %d s',
    (seconds) => {
      const timeline = new Timeline(2);
      const random = new Random(seconds);
      const times = Array.from({ length: 5_000 }, () => random.below(seconds * 1_000_000));
      times.sort((a, b) => a - b);
      for (const time of times) timeline.count(time % 2, START_US + time);
      const { startMs, widthMs, series } = timeline.get();
      expect(series[0]?.length).toBeLessThanOrEqual(720);
      const counted = series.flat().reduce((sum, count) => sum + count, 0);
      expect(counted).toBe(times.length);
      const first = times.filter((time) => START_US + time < (startMs + widthMs) * 1000).length;
      expect((series[0]?.[0] ?? 0) + (series[1]?.[0] ?? 0)).toBe(first);
    },
  );
});
