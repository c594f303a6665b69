/** When the breaker opens, and how often it then looks whether the remote is back. */
export interface BreakerOptions {
  /** Failures in a row after which no call waits any more. Whole, at least 1. Default 5. */
  readonly failures?: number;
  /** Milliseconds from one try to the next, whole, at least 1. Default 1,000. */
  readonly cooldownMs?: number;
}

/**
 * Keeps calls from waiting for a remote that has failed so often in a row. While it is open one call a cooldown is told
 * to try; any success closes it. It has no timer: it is asked with the time.
 */
export class Breaker {
  readonly #failures: number;
  readonly #cooldownMs: number;
  #inARow = 0;
  #nextTryAt = Infinity;

  constructor(failures: number, cooldownMs: number) {
    this.#failures = failures;
    this.#cooldownMs = cooldownMs;
  }

  get open(): boolean {
    return this.#inARow >= this.#failures;
  }

  /** True once a cooldown, for the one that is to try. */
  takeTry(now: number): boolean {
    if (now < this.#nextTryAt) return false;
    this.#nextTryAt = now + this.#cooldownMs;
    return true;
  }

  /** Milliseconds until somebody tries. */
  untilTry(now: number): number {
    return this.open ? Math.max(1, Math.ceil(this.#nextTryAt - now)) : this.#cooldownMs;
  }

  onSuccess(): void {
    this.#inARow = 0;
  }

  onFailure(now: number): void {
    this.#inARow++;
    if (this.open) this.#nextTryAt = now + this.#cooldownMs;
  }
}
