import { freshStrings, inSequence, type KeyStream } from '../keys.ts';
import { loadSubject, type SubjectName } from '../subjects/index.ts';
import type { Contestant } from '../subjects/subject.ts';
import { tickingClock } from '../ticking-clock.ts';
import { TICK_MS } from '../workloads.ts';
import { settledMemory } from './collect.ts';

export interface MemoryJob {
  readonly measure: 'memory';
  readonly subject: SubjectName;
  readonly keys: number;
}

/** What `keys` live keys take. */
export interface MemoryResult {
  /** As the limiter says itself; 0 where it has no such figure. */
  readonly tableBytes: number;
  /** Growth of the JavaScript heap, strings that are kept as keys included. */
  readonly heapBytes: number;
  /** Growth of the process. Counts whole pages and what the engine holds in reserve, so it is rough for few keys. */
  readonly rssBytes: number;
  readonly liveKeys: number;
  readonly overflowed: number;
}

export async function memory({ subject, keys }: MemoryJob): Promise<MemoryResult> {
  const [base, create] = [await loadSubject('base'), await loadSubject(subject)];
  const stream = freshStrings(inSequence(keys));
  const clock = tickingClock(TICK_MS);
  // So slow that every key stays live.
  const setup = { keys, capacity: 10, refillIntervalMs: 16 * keys * TICK_MS, clock: clock.now };
  // Twice, since a bucket that has been used holds fractions, which take more room in JavaScript.
  const fill = (limiter: Contestant, { length, at }: KeyStream) => {
    for (let i = 0; i < 2 * length; i++) {
      clock.tick();
      if (!limiter.isAllowed(at(i % length))) throw new Error('a key was denied');
    }
  };
  // What producing keys and compiling code make the process grow by has happened before it is measured.
  fill(base(setup), stream);
  fill(create(setup), { ...stream, length: 1_000 });
  const before = settledMemory();
  const limiter = create(setup);
  fill(limiter, stream);
  const after = settledMemory();
  const stats = limiter.stats?.();
  return {
    tableBytes: stats?.memoryBytes ?? 0,
    heapBytes: after.heapUsed - before.heapUsed,
    rssBytes: after.rss - before.rss,
    liveKeys: stats?.liveKeys ?? keys,
    overflowed: stats?.overflowed ?? 0,
  };
}
