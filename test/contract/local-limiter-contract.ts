import { afterEach, describe, expect, it } from 'vitest';
import { attach, type LocalLimiter, type LocalOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { describeBatches } from './batches.ts';

/** Makes a limiter of at most `limit` permits a minute. */
export type MakeLocal = (limit: number, options: LocalOptions) => LocalLimiter;

/** What a limiter in process owes beside the limiter contract. */
export function describeLocalLimiter(kind: string, make: MakeLocal): void {
  describe(`${kind} in process`, () => {
    const made: LocalLimiter[] = [];
    const limiterOf = (limit: number, options: LocalOptions = {}) => {
      const limiter = make(limit, { clock: new ManualClock().now, ...options });
      made.push(limiter);
      return limiter;
    };

    afterEach(() => {
      for (const limiter of made.splice(0)) limiter.close();
    });

    describeBatches((limit, options) => limiterOf(limit, options));

    it('answers isAllowed like tryAcquire', () => {
      const [plain, described] = [limiterOf(10), limiterOf(10)];
      for (const cost of [3, 0, 11, 8, 7, 1, 0]) {
        expect(plain.isAllowed('ann', cost)).toBe(described.tryAcquire('ann', cost).allowed);
        expect(plain.peek('ann', 0)).toEqual(described.peek('ann', 0));
      }
      expect(plain.isAllowed('bob')).toBe(true);
      expect(plain.peek('bob', 0).remaining).toBe(9);
    });

    it('peeks exactly what tryAcquire answers, to the last field', () => {
      const clock = new ManualClock();
      const limiter = limiterOf(7, { clock: clock.now });
      for (const cost of [1, 0, 3, 8, 4, 3, 2, 7, 1, 1]) {
        clock.advance(7_003.217);
        const peek = limiter.peek('ann', cost);
        expect(limiter.tryAcquire('ann', cost)).toEqual(peek);
      }
    });

    it('reads its clock once per call', () => {
      let readings = 0;
      const limiter = limiterOf(10, { clock: () => ++readings });
      const readingsOf = (call: () => unknown) => {
        const before = readings;
        call();
        return readings - before;
      };
      expect([
        readingsOf(() => limiter.tryAcquire('ann')),
        readingsOf(() => limiter.isAllowed('ann')),
        readingsOf(() => limiter.peek('ann')),
        readingsOf(() => limiter.refund('ann')),
        readingsOf(() => limiter.reset('ann')),
        readingsOf(() => limiter.stats()),
      ]).toEqual([1, 1, 1, 1, 1, 1]);
    });

    it.each([
      ['was made', false],
      ['was attached', true],
    ])('takes a clock that is set back to before it %s for one that stands', (_, attached) => {
      const START_MS = 1_234_567.891; // no window begins there
      const decisionsAt = (ms: number) => {
        const clock = new ManualClock(START_MS);
        const made = limiterOf(7, { clock: clock.now, shared: attached });
        const limiter = attached ? attach(made.handle, { clock: clock.now }) : made;
        clock.set(ms);
        return [3, 1, 4, 3].map((cost) => limiter.tryAcquire('ann', cost));
      };
      const due = decisionsAt(START_MS);
      for (const back of [0.001, 20_000, 1_000_000]) {
        expect(decisionsAt(START_MS - back)).toEqual(due);
      }
    });

    it('counts calls, keys and memory', () => {
      const limiter = limiterOf(2, { maxKeys: 1_000 });
      limiter.isAllowed('ann');
      limiter.tryAcquire('ann');
      limiter.tryAcquire('ann');
      limiter.isAllowed('bob', 3);
      limiter.tryAcquire('bob', 0);
      limiter.isAllowed('bob');
      limiter.peek('cid');
      limiter.refund('cid');
      expect(limiter.stats()).toEqual({
        allowed: 4,
        denied: 2,
        liveKeys: 2,
        maxKeys: 1_000,
        memoryBytes: expect.any(Number),
        evictedIdle: 0,
        evictedLive: 0,
        overflowed: 0,
        lockTimeouts: 0,
      });
    });

    it('counts keys that are as new no longer', () => {
      const clock = new ManualClock();
      const limiter = limiterOf(2, { clock: clock.now });
      for (let key = 0; key < 100; key++) limiter.isAllowed(key);
      expect(limiter.stats().liveKeys).toBe(100);
      for (let key = 0; key < 10; key++) limiter.reset(key);
      for (let key = 10; key < 20; key++) limiter.refund(key);
      expect(limiter.stats().liveKeys).toBe(80);
      clock.advance(120_000);
      expect(limiter.stats().liveKeys).toBe(0);
    });

    it('takes about 24 bytes a key, at construction, and no more ever', () => {
      const limiter = limiterOf(2, { maxKeys: 100_000 });
      const { memoryBytes } = limiter.stats();
      expect(memoryBytes).toBeGreaterThan(100_000 * 16);
      expect(memoryBytes).toBeLessThanOrEqual(100_000 * 24);
      for (let key = 0; key < 300_000; key++) limiter.isAllowed(key);
      expect(limiter.stats().memoryBytes).toBe(memoryBytes);
    });

    it('says that its decisions are local', () => {
      expect(limiterOf(1).tryAcquire('ann').source).toBe('local');
      expect(limiterOf(1).peek('ann').source).toBe('local');
    });

    it('has a policy that nobody can change', () => {
      const { policy } = limiterOf(1);
      expect(Object.isFrozen(policy)).toBe(true);
    });

    it('goes on where another limiter was closed', () => {
      const [first, second] = [limiterOf(1), limiterOf(1)];
      first.isAllowed('ann');
      first.close();
      const third = limiterOf(1);
      expect(third.isAllowed('ann')).toBe(true);
      expect(second.isAllowed('ann')).toBe(true);
      expect(third.isAllowed('ann')).toBe(false);
      expect(() => first.stats()).toThrow('closed');
      expect(() => first.isAllowed('ann')).toThrow('closed');
    });
  });
}
