import type { LocalLimiter } from '../../src/index.ts';

/** Everything a limiter is made from: the same numbers for every subject. */
export interface Setup {
  /** Live keys the limiter will see. */
  readonly keys: number;
  readonly capacity: number;
  /** Milliseconds a token. */
  readonly refillIntervalMs: number;
  readonly clock: () => number;
}

/** What is measured. A subject that has it as it is hands it over unwrapped, so that no wrapper is measured. */
export type Contestant = Pick<LocalLimiter, 'isAllowed' | 'tryAcquire'> &
  Partial<Pick<LocalLimiter, 'stats'>>;

/** The one thing that a subject's file exports, as `create`. */
export type Create = (setup: Setup) => Contestant;
