import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Decision,
  type Key,
  type LocalLimiter,
  SlidingWindowCounterLimiter,
  TokenBucketLimiter,
} from '../../src/index.ts';
import {
  RedisFixedWindowLimiter,
  RedisSlidingWindowCounterLimiter,
  RedisSlidingWindowLimiter,
  RedisTokenBucketLimiter,
  type RemoteLimiter,
} from '../../src/redis.ts';
import { SEAM } from '../../src/timers.ts';
import { modelFixedWindowSinceFirst } from '../model/fixed-window-since-first.ts';
import type { ModelLimiter } from '../model/model-limiter.ts';
import { modelSlidingWindowCounter } from '../model/sliding-window-counter.ts';
import { modelSlidingWindowLog } from '../model/sliding-window-log.ts';
import { modelTokenBucket } from '../model/token-bucket.ts';
import { Random } from '../support/random.ts';
import { RedisServer } from '../support/redis.ts';

const DAY_MS = 86_400_000;
const KEYS: readonly Key[] = ['ann', 42, '42', new Uint8Array([52, 50]), '\u{1d4b3}', '}x', 'é'];
const START_US = 1_753_000_000_000_001;
const SPAN_US = 10 * 365 * DAY_MS * 1000;
/** Calls on the wire at once: one connection keeps their order. */
const BATCH = 500;

interface Subject {
  readonly limit: number;
  readonly periodUs: number;
  remote(clock: () => number, name: string): RemoteLimiter;
  model(clock: () => number): ModelLimiter;
  local?(clock: () => number): LocalLimiter;
}

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

function options(clock: () => number, name: string) {
  return { redis: client(), name, deadlineMs: 20_000, [SEAM]: { scriptTime: clock } };
}

let shared: ReturnType<RedisServer['client']> | undefined;
function client() {
  shared ??= server.client();
  return shared;
}

function windowSubject(
  limit: number,
  windowMs: number,
  Remote: typeof RedisFixedWindowLimiter,
  model: (policy: { limit: number; windowMs: number }, clock: () => number) => ModelLimiter,
): Subject {
  const policy = { limit, windowMs };
  return {
    limit,
    periodUs: windowMs * 1000,
    remote: (clock, name) => new Remote({ ...options(clock, name), ...policy }),
    model: (clock) => model(policy, clock),
  };
}

const log = (limit: number, windowMs: number) =>
  windowSubject(limit, windowMs, RedisSlidingWindowLimiter, modelSlidingWindowLog);
const fixed = (limit: number, windowMs: number) =>
  windowSubject(limit, windowMs, RedisFixedWindowLimiter, modelFixedWindowSinceFirst);
const counter = (limit: number, windowMs: number): Subject => ({
  ...windowSubject(limit, windowMs, RedisSlidingWindowCounterLimiter, modelSlidingWindowCounter),
  local: (clock) => new SlidingWindowCounterLimiter({ limit, windowMs, clock, maxKeys: 100 }),
});
const bucket = (capacity: number, refillTokens: number, refillIntervalMs: number): Subject => {
  const policy = { capacity, refillTokens, refillIntervalMs };
  return {
    limit: capacity,
    periodUs: Math.ceil(((capacity * refillIntervalMs) / refillTokens) * 1000),
    remote: (clock, name) => new RedisTokenBucketLimiter({ ...options(clock, name), ...policy }),
    model: (clock) => modelTokenBucket(policy, clock),
    local: (clock) => new TokenBucketLimiter({ ...policy, clock, maxKeys: 100 }),
  };
};

/** [what is special, calls, the limiter in its three forms] */
const SUBJECTS: readonly [string, number, Subject][] = [
  ['log: a common one', 60_000, log(20, 60_000)],
  ['log: one permit', 20_000, log(1, 10_000)],
  ['log: a window of no whole milliseconds', 20_000, log(7, 13.337)],
  ['log: the largest limit', 20_000, log(2_467_725_823_216, DAY_MS)],
  ['counter: a common one', 40_000, counter(100, 60_000)],
  ['counter: one permit', 10_000, counter(1, 10_000)],
  ['counter: a window of no whole milliseconds', 10_000, counter(7, 13.337)],
  ['counter: 1,000,000 a day', 10_000, counter(1_000_000, DAY_MS)],
  ['counter: the largest limit of a day', 10_000, counter(33_554_431, DAY_MS)],
  ['counter: the largest limit of 30 days', 20_000, counter(3_558_399, 30 * DAY_MS)],
  ['counter: the largest limit of 365 days', 20_000, counter(292_471, 365 * DAY_MS)],
  ['bucket: a common one', 40_000, bucket(100, 10, 1_000)],
  ['bucket: one token, an odd rate', 20_000, bucket(1, 10, 13_000)],
  ['bucket: tokens that are no whole microseconds', 20_000, bucket(1_000, 1_000, 60_000)],
  ['bucket: the largest capacity', 20_000, bucket(Number.MAX_SAFE_INTEGER, 999, 0.001)],
  ['bucket: the largest product', 20_000, bucket(9_007_199, 7, 1_000_000.001)],
  ['fixed window: a common one', 80_000, fixed(20, 60_000)],
  ['fixed window: the largest limit', 20_000, fixed(Number.MAX_SAFE_INTEGER, DAY_MS)],
];

describe('the scripts answer like the model, and like the limiter in process', () => {
  it.each(SUBJECTS)('%s', { timeout: 60_000 }, async (name, calls, subject) => {
    const random = new Random(calls + name.length);
    let atUs = START_US;
    const clock = () => atUs / 1000;
    const remote = subject.remote(clock, name);
    const model = subject.model(clock);
    const local = subject.local?.(clock);
    let edgeUs = atUs;
    await client().flushall();
    for (let made = 0; made < calls; made += BATCH) {
      const checks: Promise<void>[] = [];
      for (let i = 0; i < BATCH; i++) {
        atUs = moved(random, atUs, edgeUs, subject.periodUs);
        const key = random.pick(KEYS);
        const cost = randomCost(random, subject.limit);
        const dice = random.below(100);
        const method =
          dice < 10 ? 'refund' : dice < 12 ? 'reset' : dice < 30 ? 'peek' : 'tryAcquire';
        const due = model[method](key, cost);
        const place = `call ${made + i}: ${method} ${cost} of ${key} at ${atUs} us`;
        if (local !== undefined)
          compare(local[method](key, cost) ?? undefined, due ?? undefined, `in process, ${place}`);
        checks.push(
          remote[method](key, cost).then((got) =>
            compare(got ?? undefined, due ?? undefined, place),
          ),
        );
        const wait = due?.retryAfterMs ?? 0;
        if (wait > 0 && wait < Infinity) edgeUs = atUs + wait * 1000;
      }
      await Promise.all(checks);
    }
    expect(await client().dbsize()).toBeLessThanOrEqual(KEYS.length);
  });
});

/** The inverse of `a` modulo `m`, by Euclid. */
function inverse(a: bigint, m: bigint): bigint {
  let [r0, r1, t0, t1] = [m, a % m, 0n, 1n];
  while (r1 > 0n) [r0, r1, t0, t1] = [r1, r0 % r1, t1, t0 - (r0 / r1) * t1];
  return ((t0 % m) + m) % m;
}

it('the counter divides exactly where the product is one off a multiple and far above 2^53', async () => {
  const limit = 33_554_431;
  const windowUs = BigInt(DAY_MS) * 1000n;
  const random = new Random(53);
  let atUs = 0n;
  const clock = () => Number(atUs) / 1000;
  const { remote: makeRemote, model: makeModel } = counter(limit, DAY_MS);
  const remote = makeRemote(clock, 'one off');
  const model = makeModel(clock);
  const checks: Promise<void>[] = [];
  for (let i = 0; i < 400; i++) {
    // Coprime to a day of microseconds, whose prime factors are 2, 3 and 5.
    const previous = random.below(1_000_000) * 30 + 1 + random.below(100) * 30;
    const off = i % 2 === 0 ? 1n : windowUs - 1n;
    const left = (inverse(BigInt(previous), windowUs) * off) % windowUs;
    const start = (20_000n + 3n * BigInt(i)) * windowUs;
    const ask = (method: 'tryAcquire' | 'peek', cost: number) => {
      const due = model[method]('ann', cost);
      const place = `${previous} before, ${left} us left, ${method} ${cost}`;
      checks.push(remote[method]('ann', cost).then((got) => compare(got, due, place)));
    };
    atUs = start;
    ask('tryAcquire', previous);
    atUs = start + 2n * windowUs - left;
    for (const cost of [1, limit - previous, limit]) ask('peek', cost);
  }
  await Promise.all(checks);
});

function compare(
  got: Decision | undefined,
  due: ReturnType<ModelLimiter['peek']> | undefined,
  place: string,
): void {
  if (!got || !due) return;
  if (
    got.allowed !== due.allowed ||
    got.remaining !== due.remaining ||
    got.retryAfterMs !== due.retryAfterMs ||
    got.resetAfterMs !== due.resetAfterMs
  ) {
    throw new Error(`${JSON.stringify(got)} and not ${JSON.stringify(due)}, ${place}`);
  }
}

/** Time stands, creeps, leaps and lands on and around the moments that denials named; it never runs backwards. */
function moved(random: Random, atUs: number, edgeUs: number, periodUs: number): number {
  const dice = random.below(1000);
  let to = atUs;
  if (dice < 300) to = atUs + random.below(Math.ceil(periodUs / 20) + 2);
  else if (dice < 450) to = atUs + random.below(periodUs + 2);
  else if (dice < 500) to = atUs + random.below(3 * periodUs + 2);
  else if (dice < 700) to = edgeUs + random.pick([-1000, -999, -1, 0, 0, 1]);
  return Math.min(Math.max(to, atUs), START_US + SPAN_US);
}

function randomCost(random: Random, limit: number): number {
  const dice = random.below(100);
  if (dice < 40) return 1;
  if (dice < 55) return random.between(0, Math.min(limit, 5));
  if (dice < 80) return random.between(1, limit);
  if (dice < 93) return limit;
  if (dice < 96) return 0;
  return random.pick([Math.min(limit + 1, Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER]);
}
