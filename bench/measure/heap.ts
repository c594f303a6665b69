import { endlessKeys } from '../keys.ts';
import { loadSubject, type SubjectName } from '../subjects/index.ts';
import { tickingClock } from '../ticking-clock.ts';
import { LONG_WINDOW_MS, TICK_MS } from '../workloads.ts';
import { settledMemory } from './collect.ts';

export interface HeapJob {
  readonly measure: 'heap';
  readonly subject: SubjectName;
  readonly calls: number;
}

/** What is left on the JavaScript heap of calls that are over. */
export interface HeapResult {
  readonly heapBytes: number;
  readonly bufferBytes: number;
  readonly evictedIdle: number;
  readonly overflowed: number;
}

const MAX_KEYS = 100_000;
const WARM_UP_CALLS = 1_000_000;

/**
 * Every call brings a new key as a new string. A key is as new again after half as many calls as the table has room
 * for, so there are always about 50,000 live keys and the table has to evict all the time.
 */
export async function heap({ subject, calls }: HeapJob): Promise<HeapResult> {
  const create = await loadSubject(subject);
  const clock = tickingClock(TICK_MS);
  const refillIntervalMs = (MAX_KEYS / 2) * TICK_MS;
  const policy = {
    capacity: 10,
    refillIntervalMs: Math.round(refillIntervalMs),
    windowMs: LONG_WINDOW_MS,
  };
  const limiter = create({ ...policy, keys: MAX_KEYS, clock: clock.now });
  const { at } = endlessKeys();
  let calledSoFar = 0;
  const call = (times: number) => {
    let allowed = 0;
    for (let i = 0; i < times; i++) {
      clock.tick();
      if (limiter.isAllowed(at(calledSoFar + i))) allowed++;
    }
    calledSoFar += times;
    if (allowed !== times) throw new Error('a new key was denied');
  };
  // Code that V8 compiles on the way is no growth; a map's entries of these first calls are not counted either.
  call(WARM_UP_CALLS);
  const before = settledMemory();
  call(calls);
  const after = settledMemory();
  const stats = limiter.stats?.();
  return {
    heapBytes: after.heapUsed - before.heapUsed,
    bufferBytes: after.arrayBuffers - before.arrayBuffers,
    evictedIdle: stats?.evictedIdle ?? 0,
    overflowed: stats?.overflowed ?? 0,
  };
}
