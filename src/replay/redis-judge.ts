import type { RemoteLimiter } from '../limiter.ts';
import {
  RedisFixedWindowLimiter,
  type RedisOptions,
  RedisSlidingWindowCounterLimiter,
  RedisSlidingWindowLimiter,
  RedisTokenBucketLimiter,
} from '../redis.ts';
import { SEAM } from '../timers.ts';
import type { Batch } from './batch.ts';
import type { Algorithm, Judge } from './judges.ts';
import { bucketOf, type Limit, windowOf } from './limit.ts';

/** Decisions on the wire at once: one connection keeps their order, and nothing else of the server's waits for long. */
const IN_FLIGHT = 1_024;

/** A limiter as it is shipped for Redis, whose scripts take the log's time for the server's. */
export class RedisJudge implements Judge {
  /** What its keys take in Redis; undefined until somebody has asked Redis, or if Redis does not say. */
  bytes: number | undefined;
  /** Settles when nothing of what was asked can reach Redis any more. */
  inFlight: Promise<unknown> = Promise.resolve();
  readonly #limiter: RemoteLimiter;
  readonly #windowUs: number;
  #shiftUs: number | undefined;
  #nowMs = 0;
  #isClosed = false;

  constructor(algorithm: Algorithm, limit: Limit, options: RedisOptions) {
    const seam = { [SEAM]: { scriptTime: () => this.#nowMs } };
    this.#limiter = limiterOf(algorithm, limit, { ...options, ...seam });
    this.#windowUs = Math.round(limit.windowMs * 1000);
  }

  /**
   * Once closed, nothing more is decided and nobody gets an answer.
   *
   * @throws LimiterUnavailableError if Redis does not decide.
   */
  async decide({ length, times, clients, costs }: Batch, waits: Float64Array): Promise<void> {
    // Scripts keep times without a sign. Moved by whole windows, a log from before 1970 is decided as it would be.
    this.#shiftUs ??= Math.max(0, Math.ceil(-(times[0] ?? 0) / this.#windowUs)) * this.#windowUs;
    for (let from = 0; from < length; from += IN_FLIGHT) {
      if (this.#isClosed) return new Promise(() => {});
      const asked: Promise<void>[] = [];
      for (let i = from; i < Math.min(length, from + IN_FLIGHT); i++) {
        this.#nowMs = ((times[i] as number) + this.#shiftUs) / 1000;
        const answer = this.#limiter.tryAcquire(clients[i] as number, costs[i] as number);
        asked.push(
          answer.then(({ retryAfterMs }) => {
            waits[i] = retryAfterMs;
          }),
        );
      }
      this.inFlight = Promise.allSettled(asked);
      await Promise.all(asked);
    }
  }

  overflowed(): number {
    return 0;
  }

  memoryBytes(): number | undefined {
    return this.bytes;
  }

  close(): void {
    this.#isClosed = true;
  }
}

function limiterOf(algorithm: Algorithm, limit: Limit, options: RedisOptions): RemoteLimiter {
  switch (algorithm) {
    case 'token-bucket':
      return new RedisTokenBucketLimiter({ ...options, ...bucketOf(limit) });
    case 'sliding-window-counter':
      return new RedisSlidingWindowCounterLimiter({ ...options, ...windowOf(limit) });
    case 'sliding-window-log':
      return new RedisSlidingWindowLimiter({ ...options, ...windowOf(limit) });
    case 'fixed-window':
      return new RedisFixedWindowLimiter({ ...options, ...windowOf(limit) });
  }
}
