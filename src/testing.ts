import { checkReading } from './options.ts';

/**
 * A clock that stands until it is moved: give `clock.now` to a limiter, in as many threads as you like.
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
  readonly #bits: BigInt64Array;

  /** Starts at so many milliseconds, 0 by default, or continues another thread's clock. */
  constructor(start: number | SharedArrayBuffer = 0) {
    this.shared = typeof start === 'number' ? new SharedArrayBuffer(8) : start;
    this.#bits = new BigInt64Array(this.shared);
    this.now = () => fromBits(Atomics.load(this.#bits, 0));
    if (typeof start === 'number') this.set(start);
  }

  /** Moves the clock on by so many milliseconds. */
  advance(ms: number): void {
    this.set(this.now() + ms);
  }

  /** Puts the clock to so many milliseconds. Backwards is allowed: limiters take it for standing still. */
  set(ms: number): void {
    checkReading(ms);
    Atomics.store(this.#bits, 0, toBits(ms));
  }
}

// Atomics know no doubles, so the double's bits are stored.
const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

function toBits(value: number): bigint {
  double[0] = value;
  return bits[0] as bigint;
}

function fromBits(value: bigint): number {
  bits[0] = value;
  return double[0] as number;
}
