import type { Admission } from './account.ts';
import type { Setting } from './settings.ts';

/** A sum of permits at a time. */
interface Amount {
  readonly us: number;
  readonly permits: number;
}

/** The most permits in any span of that length, its end included and its start not. */
export function mostInSpan(amounts: readonly Amount[], spanUs: number): number {
  let most = 0;
  let sum = 0;
  let oldest = 0;
  for (const { us, permits } of amounts) {
    sum += permits;
    while ((amounts[oldest] as Amount).us <= us - spanUs) {
      sum -= (amounts[oldest] as Amount).permits;
      oldest++;
    }
    most = Math.max(most, sum);
  }
  return most;
}

/** The least capacity of a bucket, filled at that rate, that these could have come from. */
export function leastCapacity(amounts: readonly Amount[], permitsPerUs: number): number {
  let missing = 0;
  let most = 0;
  let last = amounts[0]?.us ?? 0;
  for (const { us, permits } of amounts) {
    missing = Math.max(0, missing - (us - last) * permitsPerUs) + permits;
    most = Math.max(most, missing);
    last = us;
  }
  return most;
}

/** The most that a sliding window counter would have made of them. */
export function mostWeighed(
  amounts: readonly Amount[],
  windowUs: number,
  offsetUs: number,
): number {
  const counts = new Map<number, number>();
  let most = 0;
  for (const { us, permits } of amounts) {
    const index = Math.floor((us + offsetUs) / windowUs);
    const current = (counts.get(index) ?? 0) + permits;
    counts.set(index, current);
    const share = (index + 1) * windowUs - (us + offsetUs);
    most = Math.max(most, current + Math.ceil(((counts.get(index - 1) ?? 0) * share) / windowUs));
  }
  return most;
}

/** The most in one window. */
function mostInWindow(admissions: readonly Admission[]): number {
  const windows = new Map<number, number>();
  for (const { windowUs, permits } of admissions) {
    windows.set(windowUs, (windows.get(windowUs) ?? 0) + permits);
  }
  return Math.max(0, ...windows.values());
}

/** How far the admissions of a key are above the limit, counted when they were taken and when they were spent. */
export interface Excess {
  readonly taken: number;
  readonly spent: number;
  /** What `spent` may be. */
  readonly bound: number;
}

/** `offsetUs`: of the server's clock, which counts windows. */
export function excessOf(
  admissions: readonly Admission[],
  { algorithm, limit, windowMs, nodes, lease }: Setting,
  offsetUs: number,
): Excess {
  const windowUs = windowMs * 1000;
  const prepaid = nodes * (lease?.permits ?? 0);
  const spent = sorted(admissions.map(({ us, permits }) => ({ us, permits })));
  const taken = sorted(admissions.map(({ takenUs, permits }) => ({ us: takenUs, permits })));
  if (algorithm === 'fixed-window') {
    // Nothing outlives its window, so that the window in which it was taken is the one in which it was spent.
    const late = admissions.some(({ us, windowUs: start }) => us + offsetUs >= start + windowUs);
    return { taken: mostInWindow(admissions) - limit, spent: late ? Infinity : 0, bound: 0 };
  }
  if (algorithm === 'sliding-window-counter') {
    const most = (amounts: readonly Amount[]) => mostWeighed(amounts, windowUs, offsetUs) - limit;
    return { taken: most(taken), spent: most(spent), bound: 0 };
  }
  if (algorithm === 'sliding-window-log') {
    const most = (amounts: readonly Amount[]) => mostInSpan(amounts, windowUs) - limit;
    return { taken: most(taken), spent: most(spent), bound: prepaid };
  }
  // Times are whole microseconds, and so is what they round.
  const most = (amounts: readonly Amount[]) =>
    Math.ceil(leastCapacity(amounts, limit / windowUs) - 1e-6) - limit;
  return { taken: most(taken), spent: most(spent), bound: prepaid };
}

function sorted(amounts: Amount[]): Amount[] {
  return amounts.sort((a, b) => a.us - b.us);
}
