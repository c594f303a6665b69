import { expect } from 'vitest';
import {
  type LocalLimiter,
  type LocalOptions,
  SlidingWindowCounterLimiter,
  TokenBucketLimiter,
} from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';

/** A limiter and the clock it reads. */
export interface Timed {
  readonly limiter: LocalLimiter;
  readonly clock: ManualClock;
}

type Options = Omit<LocalOptions, 'clock'>;

/** A token bucket on a clock of its own: `refillTokens` per `refillIntervalMs`. */
export function bucket(
  capacity: number,
  refillTokens: number,
  refillIntervalMs: number,
  options: Options = {},
): Timed {
  const clock = new ManualClock();
  const rate = { capacity, refillTokens, refillIntervalMs };
  return { clock, limiter: new TokenBucketLimiter({ ...rate, ...options, clock: clock.now }) };
}

/** A sliding window counter on a clock of its own. */
export function counter(limit: number, windowMs: number, options: Options = {}): Timed {
  const clock = new ManualClock();
  const policy = { limit, windowMs };
  return {
    clock,
    limiter: new SlidingWindowCounterLimiter({ ...policy, ...options, clock: clock.now }),
  };
}

/** At so many milliseconds a call that wants `cost` is allowed or not, and so much remains; the wait when denied. */
export type Step = readonly [
  at: number,
  cost: number,
  allowed: boolean,
  remaining: number,
  retryAfterMs?: number,
];

/** Makes the calls of a schedule on one key and expects exactly its answers. */
export function runSchedule({ limiter, clock }: Timed, steps: readonly Step[], key = 'ann'): void {
  const answers = steps.map(([at, cost, , , retryAfterMs]): Step => {
    clock.set(at);
    const answer = limiter.tryAcquire(key, cost);
    const { allowed, remaining } = answer;
    return retryAfterMs === undefined
      ? [at, cost, allowed, remaining]
      : [at, cost, allowed, remaining, answer.retryAfterMs];
  });
  expect(answers).toEqual(steps);
}

/** How many of so many calls at this moment are allowed. */
export function allowedOf(
  limiter: LocalLimiter,
  calls: number,
  key: string | number = 'ann',
): number {
  let allowed = 0;
  for (let call = 0; call < calls; call++) if (limiter.isAllowed(key)) allowed++;
  return allowed;
}
