import { floorDiv, type KeyModel, ModelLimiter, microsecondsOf } from './model-limiter.ts';
import type { WindowPolicy } from './sliding-window-log.ts';

/** At most `limit` permits in each window of the clock. */
class FixedWindowModel implements KeyModel {
  readonly #limit: bigint;
  readonly #window: bigint;
  #index: bigint | undefined;
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
    return this.#end(now) - now;
  }

  resetAfter(now: bigint): bigint {
    return this.#at(now) > 0n ? this.#end(now) - now : 0n;
  }

  take(cost: bigint, now: bigint): void {
    this.#used = this.#at(now) + cost;
    this.#index = floorDiv(now, this.#window);
  }

  giveBack(cost: bigint, now: bigint): void {
    const used = this.#at(now);
    this.take(-(cost < used ? cost : used), now);
  }

  #at(now: bigint): bigint {
    return floorDiv(now, this.#window) === this.#index ? this.#used : 0n;
  }

  #end(now: bigint): bigint {
    return (floorDiv(now, this.#window) + 1n) * this.#window;
  }
}

export function modelFixedWindow(policy: WindowPolicy, clock: () => number): ModelLimiter {
  return new ModelLimiter(policy.limit, () => new FixedWindowModel(policy), clock);
}
