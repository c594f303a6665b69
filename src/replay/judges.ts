import { SlidingWindowCounterLimiter, TokenBucketLimiter } from '../index.ts';
import type { LocalLimiter } from '../limiter.ts';
import type { Batch } from './batch.ts';
import { FixedWindow, type WindowStart } from './fixed-window.ts';
import { bucketOf, type Limit, windowOf } from './limit.ts';
import { SlidingWindowLog } from './sliding-window-log.ts';

export const ALGORITHMS = [
  'token-bucket',
  'sliding-window-counter',
  'sliding-window-log',
  'fixed-window',
] as const;

export type Algorithm = (typeof ALGORITHMS)[number];

/** One algorithm under one limit, deciding over requests one after the other. */
export interface Judge {
  /**
   * Writes for each request of the batch the milliseconds that its client is told to wait: 0 if it passes, `Infinity`
   * if it never can.
   */
  decide(batch: Batch, waits: Float64Array): void | Promise<void>;
  /** Decisions charged to a state that several clients share: above 0 the answers are stricter than they should be. */
  overflowed(): number;
  /** Bytes that the algorithm's state takes for that many clients; undefined if nobody knows. */
  memoryBytes(clients: number): number | undefined;
  close(): void;
}

/** A judge in this process. */
export interface LocalJudge extends Judge {
  decide(batch: Batch, waits: Float64Array): void;
  memoryBytes(clients: number): number;
}

export function judgeFor(
  algorithm: Algorithm,
  limit: Limit,
  maxKeys: number,
  windowStart?: WindowStart,
): LocalJudge {
  switch (algorithm) {
    case 'sliding-window-log':
      return new SlidingWindowLog(limit);
    case 'fixed-window':
      return new FixedWindow(limit, windowStart);
    default:
      return new LimiterJudge(algorithm, limit, maxKeys);
  }
}

/** A limiter as it is shipped, with the log's time as its clock. */
class LimiterJudge implements LocalJudge {
  readonly #make: (maxKeys: number) => LocalLimiter;
  readonly #maxKeys: number;
  /** Made at the first request's time: that is where its clock begins, and windows are counted from there. */
  #limiter: LocalLimiter | undefined;
  #nowMs = 0;

  constructor(algorithm: Algorithm, limit: Limit, maxKeys: number) {
    const clock = () => this.#nowMs;
    this.#make =
      algorithm === 'token-bucket'
        ? (keys) => new TokenBucketLimiter({ ...bucketOf(limit), maxKeys: keys, clock })
        : (keys) => new SlidingWindowCounterLimiter({ ...windowOf(limit), maxKeys: keys, clock });
    this.#maxKeys = maxKeys;
  }

  decide({ length, times, clients, costs }: Batch, waits: Float64Array): void {
    if (length === 0) return;
    this.#nowMs = (times[0] as number) / 1000;
    this.#limiter ??= this.#make(this.#maxKeys);
    for (let i = 0; i < length; i++) {
      this.#nowMs = (times[i] as number) / 1000;
      const { retryAfterMs } = this.#limiter.tryAcquire(clients[i] as number, costs[i] as number);
      waits[i] = retryAfterMs;
    }
  }

  overflowed(): number {
    return this.#limiter?.stats().overflowed ?? 0;
  }

  /** Of a table made for these clients: the one here was made before their number was known. */
  memoryBytes(clients: number): number {
    const limiter = this.#make(Math.max(1, clients));
    const { memoryBytes } = limiter.stats();
    limiter.close();
    return memoryBytes;
  }

  close(): void {
    this.#limiter?.close();
  }
}
