import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import type { LimiterHandle, LocalLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { bundled } from '../support/threads/bundle.ts';
import { builtPackage, mutatedPackage, packageAt } from '../support/threads/compile.ts';
import { messageOf, sharedWords, startWorker } from '../support/threads/crew.ts';
import { faultsOf, inspect, KEYS_PER_CELL, WELL_FORMED } from '../support/threads/inspection.ts';
import { ALGORITHMS, type Algorithm } from '../support/threads/limiters.ts';
import { INTERRUPTIBLE } from '../support/threads/mutations.ts';

/** In all; `node scripts/stress.js` sets more. */
const KILLS = Number(process.env.KILLS ?? 2_000);
const SCENARIOS = 4;
/** With one table. */
const BATCH = 250;
const TIMEOUT = 60_000 + KILLS * 500;
const LANES = 4;
const SURVIVORS = 2;
/** A new worker lives for up to so long after its first call. */
const LIFE_MS = 3;

type Mode = 'update' | 'insert';
const KEYS = { update: 64, insert: 1_000_000 } as const;
const LIMITS = { update: 4_000_000, insert: 2 } as const;

interface Counts {
  kills: number;
  /** Admitted calls that their worker lived to count. */
  admitted: number;
  /** Charged, but never counted. */
  lost: number;
  /** Counted, but never charged, or above the limit. */
  excess: number;
  lockTimeouts: number;
  heldLocks: number;
  frozenSlots: number;
  misplacedSlots: number;
  duplicateSlots: number;
  longestCallMs: number;
}

const outDir = mkdtempSync(join(tmpdir(), 'sluicegate-victims-'));
afterAll(() => rmSync(outDir, { recursive: true, force: true }));

/**
 * A limiter that no thread here has: the worker that made it has ended. So nobody learns of the deaths that follow, and
 * what a dead thread holds, it holds for ever.
 */
async function orphan(
  algorithm: Algorithm,
  mode: Mode,
  clock: ManualClock,
): Promise<LimiterHandle> {
  const limit = LIMITS[mode];
  const options = { maxKeys: KEYS[mode] };
  const made =
    algorithm === 'token bucket'
      ? { kind: 'TokenBucketLimiter', options: { ...options, capacity: limit, refillPerSecond: 1 } }
      : {
          kind: 'SlidingWindowCounterLimiter',
          options: { ...options, limit, windowMs: 3_600_000 },
        };
  const creator = startWorker('creator.js', { ...made, clock: clock.shared });
  const handle = await messageOf<LimiterHandle>(creator);
  await creator.terminate();
  return handle;
}

async function killBatch(
  algorithm: Algorithm,
  mode: Mode,
  kills: number,
  script: string,
): Promise<Counts> {
  const clock = new ManualClock();
  const handle = await orphan(algorithm, mode, clock);
  const keys = KEYS[mode];
  const admitted = sharedWords(keys);
  const control = sharedWords(3);
  const start = (seed: number, survives: boolean) =>
    new Worker(script, {
      workerData: { handle, clock: clock.shared, mode, admitted, keys, control, seed, survives },
    });
  const survivors = Array.from({ length: SURVIVORS }, (_, i) => start(i + 1, true));
  await Promise.all(survivors.map((worker) => messageOf(worker)));

  let started = 0;
  const lane = async () => {
    while (started < kills) {
      const worker = start(SURVIVORS + ++started, false);
      await messageOf(worker);
      await new Promise((resolve) => setTimeout(resolve, LIFE_MS * Math.random()));
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const ends = survivors.map((worker) => messageOf(worker));
  Atomics.store(control, 0, 1);
  await Promise.all(ends);

  const { attach } = await packageAt(builtPackage);
  const table = faultsOf(inspect(handle));
  const limiter = attach(handle, { clock: clock.now });
  const longestCallMs = (control[2] ?? 0) / 1_000;
  return { kills, ...balance(limiter, admitted), ...table, longestCallMs };
}

/** What the keys were charged against what was counted. */
function balance(limiter: LocalLimiter, admitted: Int32Array) {
  const { limit } = limiter.policy;
  let lost = 0;
  let excess = 0;
  let sum = 0;
  admitted.forEach((count, key) => {
    const charged = limit - limiter.peek(key, 0).remaining;
    sum += count;
    lost += Math.max(0, charged - count);
    excess += Math.max(0, count - charged);
  });
  return { admitted: sum, lost, excess, lockTimeouts: limiter.stats().lockTimeouts };
}

async function kill(algorithm: Algorithm, mode: Mode, kills: number): Promise<Counts> {
  const script = await bundled('victim.js', builtPackage, outDir);
  let all: Counts | undefined;
  for (let left = kills; left > 0; left -= BATCH) {
    const batch = await killBatch(algorithm, mode, Math.min(left, BATCH), script);
    if (all === undefined) all = batch;
    else for (const name of Object.keys(all) as (keyof Counts)[]) add(all, name, batch[name]);
  }
  return all as Counts;
}

function add(counts: Counts, name: keyof Counts, value: number): void {
  counts[name] = name === 'longestCallMs' ? Math.max(counts[name], value) : counts[name] + value;
}

describe.each(ALGORITHMS)('%s, its workers terminated at random moments', (algorithm) => {
  it.each(['update', 'insert'] as const)(
    'holds no lock, loses no slot and at most one decision a kill: %s',
    {
      timeout: TIMEOUT,
    },
    async (mode) => {
      const begun = performance.now();
      const counts = await kill(algorithm, mode, Math.ceil(KILLS / SCENARIOS));
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
      console.log(`${algorithm}, ${mode}, ${seconds} s: ${JSON.stringify(counts)}`);
      expect(counts).toMatchObject(WELL_FORMED);
      expect(counts.excess).toBeLessThanOrEqual(counts.lockTimeouts);
      expect(counts.lost).toBeLessThanOrEqual(counts.kills + KEYS_PER_CELL * counts.lockTimeouts);
      // Every call that was not cut short came back; how soon is for the printed line.
      expect(counts.longestCallMs).toBeLessThan(5_000);
    },
  );
});

describe('with a place to stop at inside the lock', () => {
  it.each(ALGORITHMS)(
    '%s would be left with locks that nobody releases',
    {
      timeout: TIMEOUT,
    },
    async (algorithm) => {
      const folder = mutatedPackage([INTERRUPTIBLE]);
      const script = await bundled('victim.js', folder, mkdtempSync(join(outDir, 'mutated-')));
      const { kills, heldLocks } = await killBatch(algorithm, 'insert', 40, script);
      console.log(`${algorithm}: ${heldLocks} locks held for ever after ${kills} kills`);
      expect(heldLocks).toBeGreaterThan(0);
    },
  );
});
