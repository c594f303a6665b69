import { monotonicClock } from './clock.ts';
import type { Clock } from './limiter.ts';

/** Time as the tier across machines sees it. Tests give their own. */
export interface Timers {
  /** Monotonic, milliseconds. */
  readonly now: Clock;
  /** Calls back once, not before so many milliseconds have passed. */
  readonly wake: (callback: () => void, ms: number) => void;
}

export const systemTimers: Timers = {
  now: monotonicClock,
  // Nobody's process is kept alive by a deadline: where a call is in flight, its socket does that.
  wake: (callback, ms) => void setTimeout(callback, ms).unref(),
};

/** For tests, and for the replay of a log in Redis: not among the options, since it has no name. */
export const SEAM: unique symbol = Symbol('sluicegate.seam');

/** What is put in place of the clocks. */
export interface Seam {
  readonly timers?: Timers;
  /** Milliseconds that the scripts take for the server's. */
  readonly scriptTime?: () => number;
}
