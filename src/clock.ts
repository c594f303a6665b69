import type { Clock } from './limiter.ts';

/**
 * The process-wide monotonic clock, in milliseconds with microseconds. Unlike `performance.now()` it has one zero for
 * all threads of a process, and unlike `Date.now()` nobody can set it.
 *
 * There is no coarser one to choose, since none would be cheaper: `Date.now()` and `performance.now()` take as long to
 * read, on Node.js 20 to 26, and a reading kept for some calls or until a timer renews it is as old as the event loop is
 * busy. Batches read the clock once for all of their keys.
 */
export const monotonicClock: Clock = () => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
};

/** Readings up to this many milliseconds are exact in whole microseconds. */
export const MAX_CLOCK_MS = 9_007_199_254_740;
