import { beforeAll, describe, expect, it } from 'vitest';
import {
  type LocalLimiter,
  SlidingWindowCounterLimiter,
  TokenBucketLimiter,
} from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { allowedOf } from '../support/schedule.ts';

const MAX_KEYS = 65_536;
const SLOTS = Math.ceil((MAX_KEYS * 23) / 128) * 8;
const CELLS = MAX_KEYS / 16;
const FLOOD = 10_000_000;
const LIMIT = 2;
const HOUR = 3_600_000;
const MIB = 2 ** 20;

const clock = new ManualClock();
const common = { maxKeys: MAX_KEYS, clock: clock.now };

function memory(): { heap: number; resident: number } {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
  return { heap: heapUsed + external + arrayBuffers, resident: rss };
}

describe.each([
  [
    'token bucket',
    () => {
      const rate = { refillTokens: LIMIT, refillIntervalMs: HOUR };
      return new TokenBucketLimiter({ capacity: LIMIT, ...rate, ...common });
    },
    FLOOD,
  ],
  [
    'sliding window counter',
    () => new SlidingWindowCounterLimiter({ limit: LIMIT, windowMs: HOUR, ...common }),
    FLOOD / 4,
  ],
])('a flood of invented keys on a %s', (_, make: () => LocalLimiter, flood) => {
  let limiter: LocalLimiter;
  let allowed = 0;
  let escapes = 0;
  let grown = { heap: 0, resident: 0 };
  let tableGrown = 0;

  beforeAll(() => {
    limiter = make();
    expect(allowedOf(limiter, 3, 'exhausted')).toBe(LIMIT);
    // The table's pages are all in use after the first of these, and warm is what warms up.
    for (let key = 0; key < 200_000; key++) if (limiter.isAllowed(`user:${key}`)) allowed++;
    const before = memory();
    const table = limiter.stats().memoryBytes;
    for (let key = 0; key < flood; key++) {
      if (limiter.isAllowed(key)) allowed++;
      if (key % 10_000 === 0 && limiter.isAllowed('exhausted')) escapes++;
    }
    const after = memory();
    grown = { heap: after.heap - before.heap, resident: after.resident - before.resident };
    tableGrown = limiter.stats().memoryBytes - table;
  }, 60_000);

  it('throws nothing and is counted to the last call', () => {
    const { allowed: counted, denied } = limiter.stats();
    expect(counted).toBe(allowed + LIMIT);
    expect(counted + denied).toBe(3 + 200_000 + flood + flood / 10_000);
  });

  it('takes no memory', () => {
    expect(tableGrown).toBe(0);
    expect(grown.heap).toBeLessThan(MIB);
    // The engine's own heap grows in steps of up to 16 MiB.
    expect(grown.resident).toBeLessThan(32 * MIB);
  });

  it('lets an exhausted key stay exhausted', () => {
    expect(escapes).toBe(0);
    expect(limiter.peek('exhausted')).toMatchObject({ allowed: false, source: 'local' });
  });

  it('passes once for each slot, and beyond that only what the overflow cells hold', () => {
    const { evictedIdle, evictedLive, liveKeys } = limiter.stats();
    expect([evictedIdle, evictedLive]).toEqual([0, 0]);
    expect(liveKeys).toBeGreaterThan(MAX_KEYS);
    expect(liveKeys).toBeLessThanOrEqual(SLOTS);
    expect(allowed).toBe(liveKeys - 1 + LIMIT * CELLS);
  });
});
