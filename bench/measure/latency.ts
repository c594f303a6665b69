import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Random } from '../../test/support/random.ts';
import { freshStrings, inSequence, type KeyStream } from '../keys.ts';
import { type AnyName, loadAny } from '../subjects/index.ts';
import { type AnyContestant, ask } from '../subjects/subject.ts';
import { type TickingClock, tickingClock } from '../ticking-clock.ts';
import { LONG_WINDOW_MS, TICK_MS } from '../workloads.ts';
import { collect } from './collect.ts';
import { type Pauses, watchPauses } from './pauses.ts';

/**
 * - `new`: keys come for the first time, and all stay live.
 * - `churn`: a million keys are live at any moment; every other call brings a new one, and as many become as new.
 */
export type Pattern = 'new' | 'churn';

export interface LatencyJob {
  readonly measure: 'latency';
  readonly subject: AnyName;
  readonly pattern: Pattern;
}

/** Single calls at full speed, in microseconds; each includes one reading of the timer. */
export interface LatencyResult {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  /** How much later than due the event loop served a timer, in milliseconds: median, 99 of 100, longest. */
  readonly loop50: number;
  readonly loop99: number;
  readonly loopMax: number;
  readonly collections: Pauses;
}

export const NEW_KEYS = 3_000_000;
export const LIVE_KEYS = 1_000_000;
const CHURN_CALLS = 2_000_000;
/** Calls between two turns of the event loop. */
const TURN = 1_000;
const LOOP_RESOLUTION_MS = 1;
/** Real milliseconds, for the packages: about as long as they take for a million calls. */
const CHURN_WINDOW_MS = 1_000;

interface Course {
  /** Keys that come before the measurement. */
  readonly before: number;
  /** Keys by number, in order of arrival. */
  readonly order: Uint32Array;
  readonly room: number;
  readonly refillIntervalMs: number;
  readonly windowMs: number;
}

const COURSES: Record<Pattern, () => Course> = {
  new: () => ({
    before: 0,
    order: inSequence(NEW_KEYS),
    room: NEW_KEYS,
    refillIntervalMs: 60_000,
    windowMs: LONG_WINDOW_MS,
  }),
  churn: () => ({
    before: LIVE_KEYS,
    order: churn(),
    room: LIVE_KEYS,
    // Each call makes its key live for a million calls more, so a million calls' keys are live.
    refillIntervalMs: Math.floor(LIVE_KEYS * TICK_MS),
    windowMs: CHURN_WINDOW_MS,
  }),
};

/** Every even call a new key; every odd call one of the half a million keys that came last. */
function churn(): Uint32Array {
  const random = new Random(54_321);
  return inSequence(LIVE_KEYS + CHURN_CALLS).map((i) => {
    if (i < LIVE_KEYS) return i;
    const newest = LIVE_KEYS + Math.floor((i - LIVE_KEYS) / 2);
    return i % 2 === 0 ? newest : newest - random.below(LIVE_KEYS / 2);
  });
}

export async function latency({ subject, pattern }: LatencyJob): Promise<LatencyResult> {
  const create = await loadAny(subject);
  const clock = tickingClock(TICK_MS);
  const { before, order, room, refillIntervalMs, windowMs } = COURSES[pattern]();
  const policy = { capacity: 1_000, refillIntervalMs, windowMs };
  const limiter = create({ keys: room, ...policy, clock: clock.now });
  const { at, length } = freshStrings(order);
  for (let i = 0; i < before; i++) {
    clock.tick();
    await ask(limiter, at(i));
  }
  collect();
  const pauses = watchPauses();
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  await nextTurn();
  loop.enable();
  const measured = { length: length - before, at: (i: number) => at(before + i) };
  const times = await callTimes(limiter, measured, clock);
  loop.disable();
  // The histogram counts the timer's own time as well.
  const ms = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - LOOP_RESOLUTION_MS);
  return {
    ...quantiles(times),
    loop50: ms(loop.percentile(50)),
    loop99: ms(loop.percentile(99)),
    loopMax: ms(loop.max),
    collections: await pauses.stop(),
  };
}

/** Milliseconds of each call. */
async function callTimes(
  limiter: AnyContestant,
  { at, length }: KeyStream,
  { tick }: TickingClock,
): Promise<Float64Array> {
  const times = new Float64Array(length).fill(1);
  let allowed = 0;
  for (let i = 0; i < length; i++) {
    tick();
    const key = at(i) as string;
    let end: number;
    const start = performance.now();
    if ('ask' in limiter) {
      const answer = await limiter.ask(key);
      end = performance.now();
      if (limiter.allows(answer)) allowed++;
    } else {
      const isAllowed = limiter.isAllowed(key);
      end = performance.now();
      if (isAllowed) allowed++;
    }
    times[i] = end - start;
    if (i % TURN === 0) await nextTurn();
  }
  if (allowed !== length) throw new Error('a key was denied');
  return times;
}

/** In microseconds. */
function quantiles(times: Float64Array) {
  const sorted = times.toSorted();
  const us = (q: number) =>
    1000 * (sorted[Math.min(times.length - 1, Math.floor(q * times.length))] as number);
  return { p50: us(0.5), p99: us(0.99), p999: us(0.999), max: us(1) };
}
