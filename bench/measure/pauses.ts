import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Garbage collections, by their count and milliseconds. */
export interface Pauses {
  readonly count: number;
  readonly totalMs: number;
  readonly longestMs: number;
}

/** Counts garbage collections from now on, until told to stop. */
export function watchPauses(): { readonly stop: () => Promise<Pauses> } {
  let [count, totalMs, longestMs] = [0, 0, 0];
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      count++;
      totalMs += duration;
      longestMs = Math.max(longestMs, duration);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return {
    stop: async () => {
      // Collections are told of in a later turn of the event loop.
      await nextTurn();
      await nextTurn();
      observer.disconnect();
      return { count, totalMs, longestMs };
    },
  };
}
