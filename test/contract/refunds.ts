import { expect, it } from 'vitest';
import { inTurn, type Subjects, WINDOW_MS } from './subject.ts';

/** What `refund` and `reset` give back, and to whom. */
export function describeRefunds(subjects: Subjects): void {
  it('gives permits back', async () => {
    const limiter = await subjects.limiter(5);
    await limiter.tryAcquire('ann', 5);
    await limiter.refund('ann', 2);
    expect(await limiter.peek('ann', 0)).toMatchObject({ remaining: 2 });
    await limiter.refund('ann');
    expect(await limiter.tryAcquire('ann', 3)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.tryAcquire('ann')).toMatchObject({ allowed: false });
  });

  it('never gives back above full', async () => {
    const limiter = await subjects.limiter(5);
    await limiter.tryAcquire('ann', 2);
    for (const cost of [3, 5, 6, 1_000_000, Number.MAX_SAFE_INTEGER]) {
      await limiter.refund('ann', cost);
      expect(await limiter.peek('ann', 0)).toMatchObject({ remaining: 5, resetAfterMs: 0 });
    }
    expect(await limiter.tryAcquire('ann', 6)).toMatchObject({ allowed: false });
  });

  it('gives nothing for a refund of 0', async () => {
    const limiter = await subjects.limiter(2);
    await limiter.tryAcquire('ann', 2);
    await limiter.refund('ann', 0);
    expect(await limiter.peek('ann', 0)).toMatchObject({ remaining: 0 });
  });

  it('gives nothing to a key that was never seen', async () => {
    const limiter = await subjects.limiter(2);
    await limiter.refund('ann', 2);
    await limiter.reset('bob');
    for (const key of ['ann', 'bob']) {
      expect(await limiter.peek(key, 0)).toMatchObject({ remaining: 2, resetAfterMs: 0 });
      const answers = await inTurn(3, () => limiter.tryAcquire(key));
      expect(answers.map((answer) => answer.allowed)).toEqual([true, true, false]);
    }
  });

  it('leaves a key full that is refunded after its time has passed', async () => {
    const { limiter, advance } = await subjects.subject(3);
    await limiter.tryAcquire('ann', 3);
    await advance(2 * WINDOW_MS);
    await limiter.refund('ann', 3);
    expect(await limiter.peek('ann', 0)).toMatchObject({ remaining: 3, resetAfterMs: 0 });
    expect(await limiter.tryAcquire('ann', 3)).toMatchObject({ allowed: true });
    expect(await limiter.tryAcquire('ann')).toMatchObject({ allowed: false });
  });

  it('makes a key as new by reset', async () => {
    const limiter = await subjects.limiter(3);
    await limiter.tryAcquire('ann', 3);
    await limiter.reset('ann');
    expect(await limiter.peek('ann', 0)).toMatchObject({ remaining: 3, resetAfterMs: 0 });
    const answers = await inTurn(4, () => limiter.tryAcquire('ann'));
    expect(answers.map((answer) => answer.allowed)).toEqual([true, true, true, false]);
  });

  it.each(['*', '?', 'user:*', '[a-z]*', '{ann}', '', '\\*'])(
    'touches one key only by reset(%j) and refund',
    async (pattern) => {
      const limiter = await subjects.limiter(1);
      const others = ['ann', 'user:1', 'a', 'b', '{ann}x'];
      const key = `${pattern}!`;
      for (const name of [key, ...others]) await limiter.tryAcquire(name);
      await limiter.reset(key);
      await limiter.refund(key);
      expect(await limiter.peek(key)).toMatchObject({ allowed: true });
      for (const name of others) expect(await limiter.peek(name)).toMatchObject({ allowed: false });
    },
  );

  it('answers refund and reset with nothing', async () => {
    const limiter = await subjects.limiter(1);
    expect(await limiter.refund('ann')).toBeUndefined();
    expect(await limiter.reset('ann')).toBeUndefined();
  });
}
