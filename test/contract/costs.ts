import { expect, it } from 'vitest';
import type { Decision } from '../../src/index.ts';
import { inTurn, type Subjects } from './subject.ts';

/** What calls that want more or less than one permit get, and those that only look. */
export function describeCosts(subjects: Subjects): void {
  it('takes all of a cost or nothing of it', async () => {
    const limiter = await subjects.limiter(10);
    const steps = [
      [8, true, 2],
      [5, false, 2],
      [3, false, 2],
      [2, true, 0],
      [1, false, 0],
    ] as const;
    for (const [cost, allowed, remaining] of steps) {
      expect(await limiter.tryAcquire('ann', cost)).toMatchObject({ allowed, remaining });
    }
  });

  it('charges nothing for a denial, however often', async () => {
    const { limiter, advance } = await subjects.subject(5);
    await limiter.tryAcquire('ann', 3);
    const before = await limiter.tryAcquire('ann', 5);
    for (let i = 0; i < 20; i++) await limiter.tryAcquire('ann', 5);
    const after = await limiter.tryAcquire('ann', 5);
    expect(after.remaining).toBe(2);
    expect(after.retryAfterMs).toBeLessThanOrEqual(before.retryAfterMs);
    await advance(after.retryAfterMs);
    expect(await limiter.tryAcquire('ann', 5)).toMatchObject({ allowed: true });
  });

  it('allows cost 0 always and changes nothing by it', async () => {
    const limiter = await subjects.limiter(2);
    expect(await limiter.tryAcquire('ann', 0)).toMatchObject({ allowed: true, remaining: 2 });
    await limiter.tryAcquire('ann', 2);
    for (let i = 0; i < 3; i++) {
      expect(await limiter.tryAcquire('ann', 0)).toMatchObject({
        allowed: true,
        remaining: 0,
        retryAfterMs: 0,
      });
    }
    expect(await limiter.tryAcquire('ann')).toMatchObject({ allowed: false });
  });

  it('never allows a cost above the limit, says so, and charges nothing', async () => {
    const limiter = await subjects.limiter(10);
    for (const cost of [11, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      expect(await limiter.tryAcquire('ann', cost)).toMatchObject({
        allowed: false,
        remaining: 10,
        retryAfterMs: Infinity,
        retryAfterSeconds: Infinity,
        resetAfterMs: 0,
      });
    }
    expect(await limiter.tryAcquire('ann', 10)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('peeks what tryAcquire would answer, and changes nothing by it', async () => {
    const limiter = await subjects.limiter(7);
    for (const cost of [0, 1, 3, 8, 3, 4, 0, 1, 7]) {
      const peeks = await inTurn(3, () => limiter.peek('ann', cost));
      const answer = await limiter.tryAcquire('ann', cost);
      for (const peek of peeks) expect(comparable(peek)).toEqual(comparable(answer));
    }
  });

  it('peeks at one permit by default', async () => {
    const limiter = await subjects.limiter(1);
    expect(await limiter.peek('ann')).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.tryAcquire('ann')).toMatchObject({ allowed: true });
    expect(await limiter.peek('ann')).toMatchObject({ allowed: false });
  });
}

/** Without what a real clock moves. */
function comparable({ allowed, limit, remaining, source }: Decision): Partial<Decision> {
  return { allowed, limit, remaining, source };
}
