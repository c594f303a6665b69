import Benchmark from 'benchmark';
import { streamsOf } from '../arrivals.ts';
import type { KeyStream } from '../keys.ts';
import { type AnyName, loadAny } from '../subjects/index.ts';
import {
  type AnyContestant,
  ask,
  type Contestant,
  type PromisedPackage,
} from '../subjects/subject.ts';
import { type TickingClock, tickingClock } from '../ticking-clock.ts';
import { type Method, TICK_MS, timedPolicy, type Workload } from '../workloads.ts';
import { allowedBatch, BATCH, decisionBatch, manyBatch, promisedBatch } from './batches.ts';
import { collect } from './collect.ts';

const WARM_UP_BATCHES = 3;
/** Keys that it takes for V8 to have seen what a subject's objects are like. */
const SHAPE_KEYS = 1_000;

export interface TimingJob {
  readonly measure: 'timing';
  readonly subject: AnyName;
  readonly workload: Workload;
  /** Packages know `isAllowed` only. */
  readonly method: Method;
  readonly minSamples: number;
  readonly minSampleSeconds: number;
}

/** Nanoseconds a call to two decimals, the producing of the key and the clock's tick included. */
export interface TimingResult {
  readonly samples: readonly number[];
  readonly mean: number;
  readonly deviation: number;
}

export async function timing(job: TimingJob): Promise<TimingResult> {
  const { workload, method } = job;
  const create = await loadAny(job.subject);
  const clock = tickingClock(TICK_MS);
  const keys = workload.live / workload.limiters;
  const setup = { ...timedPolicy(workload), keys, clock: clock.now };
  const { all, arrivals } = streamsOf(workload);
  await settleShapes(create({ ...setup, keys: SHAPE_KEYS }), arrivals, clock);
  const limiters = Array.from({ length: workload.limiters }, () => create(setup));
  // Keys come to life in another order than they are used in, or a Map's entries would lie in memory as they are read.
  await populate(limiters, all, clock);

  const batch = batchOf(limiters, arrivals, clock, method);
  for (let i = 0; i < WARM_UP_BATCHES; i++) await batch();
  collect();
  const { sample, mean, deviation } = await sampled(batch, 'ask' in (limiters[0] ?? {}), job);
  return { samples: sample.map(perCall), mean: perCall(mean), deviation: perCall(deviation) };
}

function batchOf(
  limiters: readonly AnyContestant[],
  arrivals: KeyStream,
  clock: TickingClock,
  method: Method,
): () => void | Promise<void> {
  if (limiters.some((limiter) => 'ask' in limiter)) {
    return promisedBatch(limiters as readonly PromisedPackage[], arrivals);
  }
  const contestants = limiters as readonly Contestant[];
  switch (method) {
    case 'isAllowed':
      return allowedBatch(contestants, arrivals, clock);
    case 'tryAcquire':
      return decisionBatch(contestants, arrivals, clock);
    case 'isAllowedMany':
      return manyBatch(contestants, arrivals, clock);
  }
}

function sampled(
  batch: () => void | Promise<void>,
  isPromised: boolean,
  { minSamples, minSampleSeconds: minTime }: TimingJob,
): Promise<Benchmark.Stats> {
  // `maxTime` is where sampling ends once there are `minSamples`.
  const options = { minSamples, minTime, maxTime: minSamples * minTime, defer: isPromised };
  const body = isPromised
    ? async (deferred: { resolve(): void }) => {
        await batch();
        deferred.resolve();
      }
    : batch;
  return new Promise((resolve, reject) => {
    const benchmark = new Benchmark('batch', body, options);
    benchmark.on('complete', () => {
      if (benchmark.error === undefined) resolve(benchmark.stats);
      else reject(benchmark.error);
    });
    benchmark.run();
  });
}

function perCall(secondsPerBatch: number): number {
  return Math.round((secondsPerBatch * 1e11) / BATCH) / 100;
}

/**
 * Uses another limiter of the kind a little. V8 learns on a bucket's second use that its tokens have fractions, and
 * would convert every object made before at its next use: in the middle of the timing.
 */
async function settleShapes(limiter: AnyContestant, { at }: KeyStream, clock: TickingClock) {
  for (let pass = 0; pass < 3; pass++) await populate([limiter], { at, length: SHAPE_KEYS }, clock);
}

async function populate(
  limiters: readonly AnyContestant[],
  keys: KeyStream,
  { tick }: TickingClock,
): Promise<void> {
  for (let i = 0; i < keys.length; i++) {
    tick();
    await ask(limiters[i % limiters.length] as AnyContestant, keys.at(i));
  }
}
