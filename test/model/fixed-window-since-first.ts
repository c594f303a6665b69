import { type KeyModel, ModelLimiter, microsecondsOf } from './model-limiter.ts';
import type { WindowPolicy } from './sliding-window-log.ts';

/** At most `limit` permits in each window, which begins with the first permit after the last window has ended. */
class FixedWindowSinceFirstModel implements KeyModel {
  readonly #limit: bigint;
  readonly #window: bigint;
  #start: bigint | undefined;
  #used = 0n;

  constructor({ limit, windowMs }: WindowPolicy) {
    this.#limit = BigInt(limit);
    this.#window = microsecondsOf(windowMs);
  }

  passes(cost: bigint, now: bigint): boolean {
    return this.#at(now) + cost <= this.#limit;
  }

  remaining(now: bigint): bigint {
    return this.#limit - this.#at(now);
  }

  retryAfter(_cost: bigint, now: bigint): bigint {
    return (this.#start ?? now) + this.#window - now;
  }

  resetAfter(now: bigint): bigint {
    return this.#at(now) > 0n ? (this.#start as bigint) + this.#window - now : 0n;
  }

  take(cost: bigint, now: bigint): void {
    const used = this.#at(now);
    if (used === 0n) this.#start = now;
    this.#used = used + cost;
  }

  giveBack(cost: bigint, now: bigint): void {
    const used = this.#at(now);
    this.#used = used > cost ? used - cost : 0n;
  }

  #at(now: bigint): bigint {
    return this.#start !== undefined && now < this.#start + this.#window ? this.#used : 0n;
  }
}

export function modelFixedWindowSinceFirst(
  policy: WindowPolicy,
  clock: () => number,
): ModelLimiter {
  return new ModelLimiter(policy.limit, () => new FixedWindowSinceFirstModel(policy), clock);
}
