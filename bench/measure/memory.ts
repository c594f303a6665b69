import { freshStrings, inSequence, type KeyStream } from '../keys.ts';
import { type AnyName, loadAny, loadSubject } from '../subjects/index.ts';
import { type AnyContestant, ask } from '../subjects/subject.ts';
import { tickingClock } from '../ticking-clock.ts';
import { LONG_WINDOW_MS, TICK_MS } from '../workloads.ts';
import { settledMemory } from './collect.ts';

export interface MemoryJob {
  readonly measure: 'memory';
  readonly subject: AnyName;
  readonly keys: number;
}

/** What `keys` live keys take. */
export interface MemoryResult {
  /** As the limiter says itself; 0 where it has no such figure. */
  readonly tableBytes: number;
  /** Growth of the JavaScript heap, strings that are kept as keys included. */
  readonly heapBytes: number;
  /** Growth of JavaScript's array buffers, which lie beside its heap. */
  readonly bufferBytes: number;
  /** Growth of the process. Counts whole pages and what the engine holds in reserve, so it is rough for few keys. */
  readonly rssBytes: number;
  readonly liveKeys: number;
  readonly overflowed: number;
}

export async function memory({ subject, keys }: MemoryJob): Promise<MemoryResult> {
  const [base, create] = [await loadSubject('base'), await loadAny(subject)];
  const stream = freshStrings(inSequence(keys));
  const clock = tickingClock(TICK_MS);
  const policy = {
    capacity: 10,
    // So slow that every key stays live.
    refillIntervalMs: Math.ceil(16 * keys * TICK_MS),
    windowMs: LONG_WINDOW_MS,
  };
  const setup = { keys, ...policy, clock: clock.now };
  // Twice, since a bucket that has been used holds fractions, which take more room in JavaScript.
  const fill = async (limiter: AnyContestant, { length, at }: KeyStream) => {
    for (let i = 0; i < 2 * length; i++) {
      clock.tick();
      if (!(await ask(limiter, at(i % length)))) throw new Error('a key was denied');
    }
  };
  // What producing keys and compiling code make the process grow by has happened before it is measured.
  await fill(base(setup), stream);
  await fill(create(setup), { ...stream, length: Math.min(keys, 1_000) });
  const before = settledMemory();
  const limiter = create(setup);
  await fill(limiter, stream);
  const after = settledMemory();
  const stats = limiter.stats?.();
  return {
    tableBytes: stats?.memoryBytes ?? 0,
    heapBytes: after.heapUsed - before.heapUsed,
    bufferBytes: after.arrayBuffers - before.arrayBuffers,
    rssBytes: after.rss - before.rss,
    liveKeys: stats?.liveKeys ?? keys,
    overflowed: stats?.overflowed ?? 0,
  };
}
