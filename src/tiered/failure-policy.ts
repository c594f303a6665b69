import type { Decision, Key, LocalLimiter } from '../limiter.ts';
import type { TieredOptions } from './options.ts';

/** Answers in place of a remote that does not. */
export class FailurePolicy {
  readonly #kind: 'open' | 'closed';
  readonly #fallback: LocalLimiter | undefined;
  readonly #limit: number;

  constructor(options: TieredOptions) {
    this.#fallback = options.onFailure === 'fallback' ? options.fallback : undefined;
    this.#kind = options.onFailure === 'open' ? 'open' : 'closed';
    this.#limit = options.remote.policy.limit;
  }

  tryAcquire(key: Key, cost: number, waitMs: number): Decision {
    const answer = this.#fallback?.tryAcquire(key, cost);
    return answer ? { ...answer, source: 'fallback' } : this.#flat(cost, waitMs);
  }

  peek(key: Key, cost: number, waitMs: number): Decision {
    const answer = this.#fallback?.peek(key, cost);
    return answer ? { ...answer, source: 'fallback' } : this.#flat(cost, waitMs);
  }

  refund(key: Key, cost: number): void {
    this.#fallback?.refund(key, cost);
  }

  reset(key: Key): void {
    this.#fallback?.reset(key);
  }

  /** The same for all keys, since nothing is known of any: open as if the key were as new, closed as if it were spent. */
  #flat(cost: number, waitMs: number): Decision {
    const open = this.#kind === 'open';
    const limit = this.#limit;
    const allowed = cost === 0 || (open && cost <= limit);
    const retryAfterMs = allowed ? 0 : cost > limit ? Infinity : waitMs;
    return {
      allowed,
      limit,
      remaining: open ? limit - (allowed ? cost : 0) : 0,
      retryAfterMs,
      retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
      resetAfterMs: open ? 0 : waitMs,
      source: this.#kind,
    };
  }
}
