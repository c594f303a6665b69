import type { Clock } from './limiter.ts';

/**
 * The process-wide monotonic clock, in milliseconds with microseconds. Unlike `performance.now()` it has one zero for
 * all threads of a process, and unlike `Date.now()` nobody can set it.
 */
export const monotonicClock: Clock = () => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
};

/** Readings up to this many milliseconds are exact in whole microseconds. */
export const MAX_CLOCK_MS = 9_007_199_254_740;
