import { floorDiv, type KeyModel, ModelLimiter, microsecondsOf } from './model-limiter.ts';
import type { WindowPolicy } from './sliding-window-log.ts';

/**
 * Permits counted in windows of the clock, and a guess of the trailing window: the current window's permits, and of the
 * previous one's the share that the trailing window still covers. A call passes if the guess with its cost is at most
 * the limit. Guesses are fractions: numerators over the window's microseconds.
 */
class SlidingWindowCounterModel implements KeyModel {
  readonly #limit: bigint;
  readonly #window: bigint;
  readonly #counts = new Map<bigint, bigint>();

  constructor({ limit, windowMs }: WindowPolicy) {
    this.#limit = BigInt(limit);
    this.#window = microsecondsOf(windowMs);
  }

  passes(cost: bigint, now: bigint): boolean {
    return this.#guess(now) + cost * this.#window <= this.#limit * this.#window;
  }

  remaining(now: bigint): bigint {
    const left = this.#limit * this.#window - this.#guess(now);
    return left > 0n ? left / this.#window : 0n;
  }

  /** Found by trying: with no other traffic a call that is denied now passes from some moment on. */
  retryAfter(cost: bigint, now: bigint): bigint {
    let denied = 0n;
    let passing = 2n * this.#window;
    while (passing - denied > 1n) {
      const middle = (denied + passing) / 2n;
      if (this.passes(cost, now + middle)) passing = middle;
      else denied = middle;
    }
    return passing;
  }

  /** A window's permits count until the next window has ended. */
  resetAfter(now: bigint): bigint {
    const index = this.#index(now);
    const newest = this.#count(index) > 0n ? index : index - 1n;
    return this.#count(newest) > 0n ? (newest + 2n) * this.#window - now : 0n;
  }

  take(cost: bigint, now: bigint): void {
    const index = this.#index(now);
    for (const old of this.#counts.keys()) if (old < index - 1n) this.#counts.delete(old);
    this.#counts.set(index, this.#count(index) + cost);
  }

  /** From the newest window first. */
  giveBack(cost: bigint, now: bigint): void {
    for (const index of [this.#index(now), this.#index(now) - 1n]) {
      const count = this.#count(index);
      const back = cost < count ? cost : count;
      this.#counts.set(index, count - back);
      cost -= back;
    }
  }

  #guess(now: bigint): bigint {
    const index = this.#index(now);
    const elapsed = now - index * this.#window;
    return this.#count(index) * this.#window + this.#count(index - 1n) * (this.#window - elapsed);
  }

  #index(now: bigint): bigint {
    return floorDiv(now, this.#window);
  }

  #count(index: bigint): bigint {
    return this.#counts.get(index) ?? 0n;
  }
}

export function modelSlidingWindowCounter(policy: WindowPolicy, clock: () => number): ModelLimiter {
  return new ModelLimiter(policy.limit, () => new SlidingWindowCounterModel(policy), clock);
}
