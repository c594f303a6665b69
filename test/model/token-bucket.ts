import { ceilDiv, type KeyModel, least, ModelLimiter, microsecondsOf } from './model-limiter.ts';

interface BucketRate {
  readonly capacity: number;
  readonly refillTokens: number;
  readonly refillIntervalMs: number;
}

/**
 * A bucket that holds `#tokens` tokens since the moment `#since`: full at first, `refillTokens` more every interval,
 * evenly, never more than `capacity`. Tokens are fractions: numerators over the interval's microseconds.
 */
class TokenBucketModel implements KeyModel {
  readonly #capacity: bigint;
  readonly #perInterval: bigint;
  readonly #interval: bigint;
  #tokens: bigint;
  #since: bigint | undefined;

  constructor({ capacity, refillTokens, refillIntervalMs }: BucketRate) {
    this.#interval = microsecondsOf(refillIntervalMs);
    this.#capacity = BigInt(capacity) * this.#interval;
    this.#perInterval = BigInt(refillTokens);
    this.#tokens = this.#capacity;
  }

  passes(cost: bigint, now: bigint): boolean {
    return this.#at(now) >= cost * this.#interval;
  }

  remaining(now: bigint): bigint {
    return this.#at(now) / this.#interval;
  }

  retryAfter(cost: bigint, now: bigint): bigint {
    return ceilDiv(cost * this.#interval - this.#at(now), this.#perInterval);
  }

  resetAfter(now: bigint): bigint {
    return ceilDiv(this.#capacity - this.#at(now), this.#perInterval);
  }

  take(cost: bigint, now: bigint): void {
    this.#set(this.#at(now) - cost * this.#interval, now);
  }

  giveBack(cost: bigint, now: bigint): void {
    this.#set(this.#at(now) + cost * this.#interval, now);
  }

  #at(now: bigint): bigint {
    const elapsed = this.#since === undefined ? 0n : now - this.#since;
    return least(this.#capacity, this.#tokens + elapsed * this.#perInterval);
  }

  #set(tokens: bigint, now: bigint): void {
    this.#tokens = least(this.#capacity, tokens);
    this.#since = now;
  }
}

export function modelTokenBucket(rate: BucketRate, clock: () => number): ModelLimiter {
  return new ModelLimiter(rate.capacity, () => new TokenBucketModel(rate), clock);
}
