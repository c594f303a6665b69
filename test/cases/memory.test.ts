import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { TokenBucketLimiter } from '../../src/index.ts';
import { allowedOf, bucket, counter } from '../support/schedule.ts';

const MIB = 2 ** 20;
const HOUR = 3_600_000;

const collectGarbage =
  (globalThis as { gc?: () => void }).gc ?? expect.fail('run with --expose-gc');

/** Makes so many objects, lets go of them, and tells how many have been collected so far. */
function countFreed(objects: number, make: (index: number) => object): () => number {
  let freed = 0;
  const registry = new FinalizationRegistry(() => freed++);
  for (let index = 0; index < objects; index++) registry.register(make(index), undefined);
  // The registry goes with its function: collected itself, it would tell nothing.
  return () => (registry instanceof FinalizationRegistry ? freed : 0);
}

/** Collects garbage until it is so, with turns of the event loop between, in which collections are told. */
async function eventually(done: () => boolean): Promise<void> {
  await vi.waitFor(
    async () => {
      collectGarbage();
      await setImmediate();
      expect(done()).toBe(true);
    },
    { timeout: 10_000, interval: 10 },
  );
}

function resident(): number {
  collectGarbage();
  return process.memoryUsage().rss;
}

function timeouts(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

describe('memory', () => {
  it('does not grow with a million different users, and no timer waits for them', () => {
    // 10,000 users a second, each live for two windows at most.
    const { limiter, clock } = counter(5, 1_000, { maxKeys: 25_000 });
    const visit = (from: number, to: number) => {
      for (let user = from; user < to; user++) {
        if (user % 1_000 === 0) clock.advance(100);
        limiter.isAllowed(`user:${user}`);
      }
    };
    const timersBefore = timeouts();
    // The engine's own spaces grow now and then, by steps; what the limiter kept would grow with every million.
    const growths = [0, 1, 2, 3].map((million) => {
      const before = resident();
      visit(million * 1_000_000, (million + 1) * 1_000_000);
      return resident() - before;
    });
    clock.advance(5_000);
    expect(Math.min(...growths)).toBeLessThan(5 * MIB);
    expect(timeouts()).toBe(timersBefore);
    expect(limiter.stats()).toMatchObject({ allowed: 4_000_000, liveKeys: 0, overflowed: 0 });
  });

  it('keeps nothing of the request that a call was made in', async () => {
    const { limiter } = bucket(1e6, 1, HOUR);
    const storage = new AsyncLocalStorage<object>();
    const requests = 1_000;
    const freed = countFreed(requests, (request) => {
      const big = { payload: new Array(100).fill(request) };
      storage.run(big, () => {
        for (let call = 0; call < 1_000; call++) limiter.isAllowed(call);
        limiter.tryAcquire('ann');
        limiter.peek('ann');
        limiter.refund('ann');
      });
      return big;
    });
    await eventually(() => freed() === requests);
    expect(limiter.stats().liveKeys).toBe(1_000);
  });

  it.each([
    ['dropped', () => {}],
    ['closed', (limiter: TokenBucketLimiter) => limiter.close()],
  ])('of a limiter that is %s is given back, its table with it', async (_, end) => {
    const use = async (limiters: number) => {
      for (let i = 0; i < limiters; i++) {
        const rate = { capacity: 1, refillTokens: 1, refillIntervalMs: HOUR };
        const limiter = new TokenBucketLimiter({ ...rate, maxKeys: 10_000 });
        for (let key = 0; key < 10_000; key++) limiter.isAllowed(key);
        end(limiter);
        if (i % 20 === 0) {
          collectGarbage();
          await setImmediate();
        }
      }
    };
    await use(50);
    const before = resident();
    await use(150);
    // All of the tables together are 34 MiB.
    expect(resident() - before).toBeLessThan(12 * MIB);
  });
});

describe('the time of a decision', () => {
  it('does not grow with the limit', () => {
    const timed = [10, 1_000_000].flatMap((limit) => [
      bucket(limit, limit, HOUR),
      counter(limit, HOUR),
    ]);
    const best = timed.map(() => Infinity);
    for (let round = 0; round < 10; round++) {
      timed.forEach(({ limiter }, which) => {
        const begin = performance.now();
        allowedOf(limiter, 10_000);
        best[which] = Math.min(best[which] ?? Infinity, performance.now() - begin);
      });
    }
    const [smallBucket = 0, smallCounter = 0, largeBucket = 0, largeCounter = 0] = best;
    expect(largeBucket).toBeLessThan(5 * smallBucket);
    expect(largeCounter).toBeLessThan(5 * smallCounter);
  });
});
