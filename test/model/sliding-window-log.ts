import { type KeyModel, ModelLimiter, microsecondsOf } from './model-limiter.ts';

export interface WindowPolicy {
  readonly limit: number;
  readonly windowMs: number;
}

interface Entry {
  readonly at: bigint;
  permits: bigint;
}

/**
 * The exact sliding window: a list of all permits of the trailing window, oldest first. At most `limit` in any time
 * span of the window's length, its end included and its start not.
 */
class SlidingWindowLogModel implements KeyModel {
  readonly #limit: bigint;
  readonly #window: bigint;
  readonly #entries: Entry[] = [];
  #used = 0n;

  constructor({ limit, windowMs }: WindowPolicy) {
    this.#limit = BigInt(limit);
    this.#window = microsecondsOf(windowMs);
  }

  passes(cost: bigint, now: bigint): boolean {
    this.#forget(now);
    return this.#used + cost <= this.#limit;
  }

  remaining(now: bigint): bigint {
    this.#forget(now);
    return this.#limit - this.#used;
  }

  retryAfter(cost: bigint, now: bigint): bigint {
    this.#forget(now);
    let used = this.#used;
    for (const { at, permits } of this.#entries) {
      used -= permits;
      if (used + cost <= this.#limit) return at + this.#window - now;
    }
    return 0n;
  }

  resetAfter(now: bigint): bigint {
    this.#forget(now);
    const newest = this.#entries.at(-1);
    return newest === undefined ? 0n : newest.at + this.#window - now;
  }

  take(cost: bigint, now: bigint): void {
    this.#entries.push({ at: now, permits: cost });
    this.#used += cost;
  }

  /** The newest permits first. */
  giveBack(cost: bigint, now: bigint): void {
    this.#forget(now);
    for (let entry = this.#entries.at(-1); entry && cost > 0n; entry = this.#entries.at(-1)) {
      const back = cost < entry.permits ? cost : entry.permits;
      entry.permits -= back;
      this.#used -= back;
      cost -= back;
      if (entry.permits === 0n) this.#entries.pop();
    }
  }

  #forget(now: bigint): void {
    for (let entry = this.#entries[0]; entry; entry = this.#entries[0]) {
      if (entry.at > now - this.#window) return;
      this.#used -= entry.permits;
      this.#entries.shift();
    }
  }
}

export function modelSlidingWindowLog(policy: WindowPolicy, clock: () => number): ModelLimiter {
  return new ModelLimiter(policy.limit, () => new SlidingWindowLogModel(policy), clock);
}
