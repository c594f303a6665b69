import { expect, it } from 'vitest';
import { inTurn, type Subjects, WINDOW_MS } from './subject.ts';

/** What a decision says. */
export function describeDecisions(subjects: Subjects): void {
  it('advertises its policy', async () => {
    const { limiter } = await subjects.subject(5, 'login');
    expect(limiter.policy).toEqual({ name: 'login', limit: 5, windowMs: WINDOW_MS });
  });

  it('allows the limit and no more', async () => {
    const limiter = await subjects.limiter(5);
    const answers = await inTurn(8, () => limiter.tryAcquire('ann'));
    expect(answers.map((answer) => answer.allowed)).toEqual([
      ...[true, true, true, true, true],
      ...[false, false, false],
    ]);
    expect(answers.map((answer) => answer.remaining)).toEqual([4, 3, 2, 1, 0, 0, 0, 0]);
  });

  it('fills every field of an allowing decision', async () => {
    const limiter = await subjects.limiter(5);
    const answer = await limiter.tryAcquire('ann');
    expect(answer).toEqual({
      allowed: true,
      limit: 5,
      remaining: 4,
      retryAfterMs: 0,
      retryAfterSeconds: 0,
      resetAfterMs: expect.any(Number),
      source: expect.any(String),
    });
    expect(answer.resetAfterMs).toBeGreaterThan(0);
    expect(Number.isInteger(answer.resetAfterMs)).toBe(true);
  });

  it('names a wait in whole milliseconds and in seconds rounded up when it denies', async () => {
    const limiter = await subjects.limiter(1);
    await limiter.tryAcquire('ann');
    const answer = await limiter.tryAcquire('ann');
    expect(answer).toMatchObject({ allowed: false, limit: 1, remaining: 0 });
    expect(Number.isInteger(answer.retryAfterMs)).toBe(true);
    expect(answer.retryAfterMs).toBeGreaterThan(0);
    expect(answer.retryAfterSeconds).toBe(Math.ceil(answer.retryAfterMs / 1000));
    expect(answer.resetAfterMs).toBeGreaterThanOrEqual(answer.retryAfterMs);
  });

  it('allows a denied call after the wait that it named', async () => {
    const { limiter, advance } = await subjects.subject(2);
    await limiter.tryAcquire('ann', 2);
    const { retryAfterMs } = await limiter.tryAcquire('ann', 2);
    await advance(retryAfterMs);
    expect(await limiter.tryAcquire('ann', 2)).toMatchObject({ allowed: true });
  });

  it('has the key as new after the time that it named', async () => {
    const { limiter, advance } = await subjects.subject(4);
    const { resetAfterMs } = await limiter.tryAcquire('ann', 3);
    await advance(resetAfterMs);
    expect(await limiter.peek('ann', 0)).toMatchObject({ remaining: 4, resetAfterMs: 0 });
  });

  it('never hands out one decision twice, nor changes one', async () => {
    const limiter = await subjects.limiter(3);
    const calls = [0, 1, 2].map(() => limiter.tryAcquire('ann'));
    const answers = [...(await Promise.all(calls)), await limiter.peek('ann')];
    const copies = answers.map((answer) => ({ ...answer }));
    await inTurn(5, () => limiter.tryAcquire('bob'));
    await limiter.refund('ann', 3);
    expect(new Set(answers).size).toBe(4);
    expect(answers).toEqual(copies);
    expect(answers.map((answer) => answer.remaining).sort()).toEqual([0, 0, 1, 2]);
  });
}
