import { freshStrings, inSequence } from '../keys.ts';
import { loadSubject, type SubjectName } from '../subjects/index.ts';
import { tickingClock } from '../ticking-clock.ts';
import { TICK_MS } from '../workloads.ts';
import { collect } from './collect.ts';

export interface LatencyJob {
  readonly measure: 'latency';
  readonly subject: SubjectName;
  readonly keys: number;
}

/** Single calls while new keys arrive at full speed, in microseconds; each includes one reading of the timer. */
export interface LatencyResult {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly p9999: number;
  readonly max: number;
  /** Longest time from the end of one call to the end of the next: garbage collections between calls count here. */
  readonly longestGap: number;
}

export async function latency({ subject, keys }: LatencyJob): Promise<LatencyResult> {
  const create = await loadSubject(subject);
  const clock = tickingClock(TICK_MS);
  // Nothing refills to full before the last key is in.
  const limiter = create({ keys, capacity: 10, refillIntervalMs: 60_000, clock: clock.now });
  const { at } = freshStrings(inSequence(keys));
  const times = new Float64Array(keys).fill(1);
  collect();
  let longestGap = 0;
  let allowed = 0;
  let lastEnd = performance.now();
  for (let i = 0; i < keys; i++) {
    clock.tick();
    const key = at(i);
    const start = performance.now();
    if (limiter.isAllowed(key)) allowed++;
    const end = performance.now();
    times[i] = end - start;
    if (end - lastEnd > longestGap) longestGap = end - lastEnd;
    lastEnd = end;
  }
  if (allowed !== keys) throw new Error('a new key was denied');
  times.sort();
  const us = (q: number) => 1000 * (times[Math.min(keys - 1, Math.floor(q * keys))] as number);
  return {
    p50: us(0.5),
    p99: us(0.99),
    p999: us(0.999),
    p9999: us(0.9999),
    max: us(1),
    longestGap: 1000 * longestGap,
  };
}
