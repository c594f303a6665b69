import { expect, it } from 'vitest';
import { SlidingWindowCounterLimiter } from '../../src/index.ts';
import { largestCounterLimit } from '../../src/options.ts';
import { ManualClock } from '../../src/testing.ts';

const TEN_YEARS_MS = 315_360_000_000;

// The first one's windows in ten years are just short of a power of two.
it.each([2_349.616, 1, 1_000, 60_000, 3_600_000])(
  'a key that has been silent for ten years is as new, with the largest limit: %d ms',
  (windowMs) => {
    const limit = largestCounterLimit(windowMs * 1000);
    const clock = new ManualClock();
    const limiter = new SlidingWindowCounterLimiter({ limit, windowMs, clock: clock.now });
    expect(limiter.isAllowed('ann', limit)).toBe(true);
    clock.set(TEN_YEARS_MS);
    expect(limiter.peek('ann', 0)).toMatchObject({ remaining: limit, resetAfterMs: 0 });
    limiter.close();
  },
);
