import Benchmark from 'benchmark';
import type { Decision } from '../../src/index.ts';
import { type KeyStream, keyStreams } from '../keys.ts';
import { loadSubject, type SubjectName } from '../subjects/index.ts';
import type { Contestant } from '../subjects/subject.ts';
import { type TickingClock, tickingClock } from '../ticking-clock.ts';
import { arrivalOrder, type Method, TICK_MS, timedPolicy, type Workload } from '../workloads.ts';
import { collect } from './collect.ts';

/** Calls that count as one operation of the `benchmark` package: its own loop then weighs nothing. */
const BATCH = 100_000;
const WARM_UP_BATCHES = 3;
/** Keys that it takes for V8 to have seen what a subject's objects are like. */
const SHAPE_KEYS = 1_000;

export interface TimingJob {
  readonly measure: 'timing';
  readonly subject: SubjectName;
  readonly workload: Workload;
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
  const { workload, method, minSamples, minSampleSeconds: minTime } = job;
  const create = await loadSubject(job.subject);
  const clock = tickingClock(TICK_MS);
  const keys = workload.keys / workload.limiters;
  const setup = { ...timedPolicy(workload), keys, clock: clock.now };
  const { all, arrivals } = keyStreams(workload.kind, workload.keys, arrivalOrder(workload));
  settleShapes(create({ ...setup, keys: SHAPE_KEYS }), all, clock);
  const limiters = Array.from({ length: workload.limiters }, () => create(setup));
  // Keys come to life in another order than they are used in, or a Map's entries would lie in memory as they are read.
  populate(limiters, all, clock);

  const makeBatch = method === 'isAllowed' ? allowedBatch : decisionBatch;
  const batch = makeBatch(limiters, arrivals, clock);
  for (let i = 0; i < WARM_UP_BATCHES; i++) batch();
  collect();
  // `maxTime` is where sampling ends once there are `minSamples`.
  const options = { minSamples, minTime, maxTime: minSamples * minTime };
  const benchmark = new Benchmark(method, batch, options).run();
  if (benchmark.error !== undefined) throw benchmark.error;
  const { sample, mean, deviation } = benchmark.stats;
  return { samples: sample.map(perCall), mean: perCall(mean), deviation: perCall(deviation) };
}

function perCall(secondsPerBatch: number): number {
  return Math.round((secondsPerBatch * 1e11) / BATCH) / 100;
}

/**
 * Uses another limiter of the kind a little. V8 learns on a bucket's second use that its tokens have fractions, and
 * would convert every object made before at its next use: in the middle of the timing.
 */
function settleShapes(limiter: Contestant, { at }: KeyStream, clock: TickingClock): void {
  for (let pass = 0; pass < 3; pass++) populate([limiter], { at, length: SHAPE_KEYS }, clock);
}

function populate(limiters: readonly Contestant[], keys: KeyStream, { tick }: TickingClock): void {
  for (let i = 0; i < keys.length; i++) {
    tick();
    (limiters[i % limiters.length] as Contestant).isAllowed(keys.at(i));
  }
}

/** The next `BATCH` arrivals with each call, over and over. `limiters` are a power of two. */
function allowedBatch(
  limiters: readonly Contestant[],
  { at, length }: KeyStream,
  { tick }: TickingClock,
): () => void {
  const mask = limiters.length - 1;
  let from = 0;
  return () => {
    const to = from + BATCH;
    let allowed = 0;
    for (let i = from; i < to; i++) {
      tick();
      if ((limiters[i & mask] as Contestant).isAllowed(at(i))) allowed++;
    }
    from = to % length;
    expectAllAllowed(allowed);
  };
}

/** Decisions are put where anyone could see them, since V8 leaves out objects that never leave a function. */
export const seen: { last: Decision | undefined } = { last: undefined };

function decisionBatch(
  limiters: readonly Contestant[],
  { at, length }: KeyStream,
  { tick }: TickingClock,
): () => void {
  const mask = limiters.length - 1;
  let from = 0;
  return () => {
    const to = from + BATCH;
    let allowed = 0;
    for (let i = from; i < to; i++) {
      tick();
      const decision = (limiters[i & mask] as Contestant).tryAcquire(at(i));
      if (decision.allowed) allowed++;
      seen.last = decision;
    }
    from = to % length;
    expectAllAllowed(allowed);
  };
}

function expectAllAllowed(allowed: number): void {
  if (allowed !== BATCH) throw new Error(`${BATCH - allowed} timed calls of ${BATCH} were denied`);
}
