import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { leaveSeat, takeSeat } from '../../src/core/front.ts';
import { SlidingWindowCounterLimiter, TokenBucketLimiter } from '../../src/index.ts';
import { tagRecorder } from '../support/tags.ts';

const collectGarbage =
  (globalThis as { gc?: () => void }).gc ?? expect.fail('run with --expose-gc');

const KINDS = [
  ['token bucket', () => new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1, shared: true })],
  [
    'sliding window counter',
    () => new SlidingWindowCounterLimiter({ limit: 1, windowMs: 1_000, shared: true }),
  ],
] as const;

describe.each(KINDS)('a closed %s that somebody keeps', (_, make) => {
  it('has given its seat to the next', async () => {
    const { functions } = await tagRecorder();
    const probe = () => {
      const owner = {};
      const seat = takeSeat(owner, functions, 0);
      leaveSeat(owner, seat);
      return seat.address;
    };
    const free = probe();
    const limiter = make();
    expect(probe()).not.toBe(free);
    limiter.close();
    expect(probe()).toBe(free);
    expect(() => limiter.stats()).toThrow('closed');
  });

  it('has let go of its memory', async () => {
    const limiter = make();
    const memory = new WeakRef(limiter.handle.memory);
    limiter.close();
    await vi.waitFor(
      async () => {
        await setImmediate();
        collectGarbage();
        expect(memory.deref()).toBeUndefined();
      },
      { timeout: 10_000, interval: 10 },
    );
    expect(() => limiter.handle).toThrow('closed');
  });
});
