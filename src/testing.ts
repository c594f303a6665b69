import { checkReading } from './options.ts';

/**
 * A clock that stands until it is moved: give `clock.now` to a limiter, in as many threads as you like.
 * It counts whole microseconds, to which what it is given is rounded; so it never drifts, however small its steps.
 *
 * @example
 * const clock = new ManualClock();
 * const limiter = new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1, clock: clock.now });
 * limiter.isAllowed('a'); // true, then false
 * clock.advance(1_000);   // and true again
 */
export class ManualClock {
  /** The time. Goes to another thread through `workerData` or `postMessage`; `new ManualClock(shared)` continues it. */
  readonly shared: SharedArrayBuffer;
  /** The present time in milliseconds. Bound, so that it can be handed on as it is. */
  readonly now: () => number;
  /** Microseconds. */
  readonly #us: BigInt64Array;

  /** Starts at so many milliseconds, 0 by default, or continues another thread's clock. */
  constructor(start: number | SharedArrayBuffer = 0) {
    this.shared = typeof start === 'number' ? new SharedArrayBuffer(8) : start;
    this.#us = new BigInt64Array(this.shared);
    this.now = () => Number(Atomics.load(this.#us, 0)) / 1000;
    if (typeof start === 'number') this.set(start);
  }

  /** Moves the clock on by so many milliseconds. */
  advance(ms: number): void {
    const step = microseconds(ms);
    checkReading(Number(Atomics.load(this.#us, 0) + step) / 1000);
    Atomics.add(this.#us, 0, step);
  }

  /** Puts the clock to so many milliseconds. Backwards is allowed: limiters take it for standing still. */
  set(ms: number): void {
    Atomics.store(this.#us, 0, microseconds(ms));
  }
}

function microseconds(ms: number): bigint {
  checkReading(ms);
  return BigInt(Math.round(ms * 1000));
}
