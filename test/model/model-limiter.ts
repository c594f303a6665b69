import type { Key } from '../../src/index.ts';

/** One key under one policy, by the definition of its algorithm. Times are whole microseconds that never run backwards. */
export interface KeyModel {
  passes(cost: bigint, now: bigint): boolean;
  /** Whole permits left. */
  remaining(now: bigint): bigint;
  /** Microseconds until a denied cost passes, if nothing else happens. */
  retryAfter(cost: bigint, now: bigint): bigint;
  /** Microseconds until the key is as new, if nothing else happens. */
  resetAfter(now: bigint): bigint;
  take(cost: bigint, now: bigint): void;
  giveBack(cost: bigint, now: bigint): void;
}

/** The part of a decision that an algorithm determines. */
export interface Answer {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetAfterMs: number;
}

export function sameAnswer(a: Answer, b: Answer): boolean {
  return (
    a.allowed === b.allowed &&
    a.remaining === b.remaining &&
    a.retryAfterMs === b.retryAfterMs &&
    a.resetAfterMs === b.resetAfterMs
  );
}

/**
 * A limiter as its documentation describes it, written to be checked by reading: exact integers of any size, a map of
 * keys that forgets nothing, no tricks. `newKey` makes a key's algorithm.
 */
export class ModelLimiter {
  readonly #limit: bigint;
  readonly #newKey: () => KeyModel;
  readonly #clock: () => number;
  readonly #keys = new Map<string, KeyModel>();
  #latest: bigint | undefined;

  constructor(limit: number, newKey: () => KeyModel, clock: () => number) {
    this.#limit = BigInt(limit);
    this.#newKey = newKey;
    this.#clock = clock;
  }

  tryAcquire(key: Key, cost = 1): Answer {
    const now = this.#now();
    const model = this.#of(key);
    const permits = BigInt(cost);
    if (permits > this.#limit) return answer(model, now, false, Infinity);
    if (permits > 0n && !model.passes(permits, now)) {
      return answer(model, now, false, wholeMs(model.retryAfter(permits, now)));
    }
    if (permits > 0n) model.take(permits, now);
    return answer(model, now, true, 0);
  }

  /** What `tryAcquire` would answer: what it took is the newest, and so the first to be given back. */
  peek(key: Key, cost = 1): Answer {
    const answer = this.tryAcquire(key, cost);
    if (answer.allowed) this.refund(key, cost);
    return answer;
  }

  isAllowed(key: Key, cost = 1): boolean {
    return this.tryAcquire(key, cost).allowed;
  }

  /** At most the limit at once. */
  refund(key: Key, cost = 1): void {
    this.#of(key).giveBack(least(BigInt(cost), this.#limit), this.#now());
  }

  reset(key: Key): void {
    this.#now();
    this.#keys.delete(nameOf(key));
  }

  #of(key: Key): KeyModel {
    const name = nameOf(key);
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const model = this.#newKey();
    this.#keys.set(name, model);
    return model;
  }

  /** The greatest of all readings so far, as whole microseconds. */
  #now(): bigint {
    const reading = BigInt(Math.round(this.#clock() * 1000));
    if (this.#latest === undefined || reading > this.#latest) this.#latest = reading;
    return this.#latest;
  }
}

function answer(model: KeyModel, now: bigint, allowed: boolean, retryAfterMs: number): Answer {
  const remaining = Number(model.remaining(now));
  return { allowed, remaining, retryAfterMs, resetAfterMs: wholeMs(model.resetAfter(now)) };
}

function nameOf(key: Key): string {
  return typeof key === 'object' ? `bytes:${key.join()}` : `${typeof key}:${key}`;
}

function wholeMs(us: bigint): number {
  return Number(ceilDiv(us, 1000n));
}

/** Rounded up, for a dividend of at least 0. */
export function ceilDiv(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b;
}

/** Rounded down, also below zero. */
export function floorDiv(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

export function microsecondsOf(ms: number): bigint {
  return BigInt(Math.round(ms * 1000));
}

export function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
