import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/index.ts';
import { useFixedHashKey } from '../support/fixed-hash-key.ts';
import { Random } from '../support/random.ts';
import { bucket, counter, type Timed } from '../support/schedule.ts';

const MAX_KEYS = 5_000;
const GENERATIONS = 10;
const MINUTE = 60_000;

/** Answers to 20,000 random calls on as many keys as the table is made for. */
function play({ limiter, clock }: Timed): Decision[] {
  const random = new Random(7);
  const answers: Decision[] = [];
  for (let call = 0; call < 20_000; call++) {
    clock.advance(random.below(3));
    answers.push(limiter.tryAcquire(`key ${random.below(MAX_KEYS)}`, random.between(1, 3)));
  }
  return answers;
}

/** Nanoseconds a call, the best of a few rounds, on keys that the table has not seen. */
function timeOfNewKeys({ limiter, clock }: Timed, from: number): number {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    clock.advance(10 * MINUTE);
    const begin = process.hrtime.bigint();
    for (let key = 0; key < MAX_KEYS; key++) limiter.isAllowed(from + round * MAX_KEYS + key);
    best = Math.min(best, Number(process.hrtime.bigint() - begin) / MAX_KEYS);
  }
  return best;
}

describe.each([
  ['token bucket', () => bucket(3, 3, MINUTE, { maxKeys: MAX_KEYS })],
  ['sliding window counter', () => counter(3, MINUTE, { maxKeys: MAX_KEYS })],
])('after ten times its size in keys that came and went, the table of a %s', (_, make) => {
  useFixedHashKey();

  /** Each generation is as new before the next one comes. */
  function churned(): Timed {
    const timed = make();
    for (let generation = 0; generation < GENERATIONS; generation++) {
      for (let key = 0; key < MAX_KEYS; key++) timed.limiter.isAllowed(`${generation} ${key}`);
      timed.clock.advance(2 * MINUTE);
    }
    expect(timed.limiter.stats().liveKeys).toBe(0);
    expect(timed.limiter.stats().evictedIdle).toBeGreaterThan((GENERATIONS - 3) * MAX_KEYS);
    return timed;
  }

  it('has room for as many new keys as before', () => {
    const { limiter } = churned();
    for (let key = 0; key < MAX_KEYS; key++) {
      const { allowed, remaining, source } = limiter.tryAcquire(`new ${key}`);
      expect([allowed, remaining, source]).toEqual([true, 2, 'local']);
    }
    expect(limiter.stats()).toMatchObject({ liveKeys: MAX_KEYS, evictedLive: 0, overflowed: 0 });
  });

  it('answers as a fresh one does', () => {
    const used = churned();
    const fresh = make();
    fresh.clock.set(used.clock.now());
    expect(play(used)).toEqual(play(fresh));
    expect(used.limiter.stats().liveKeys).toBe(fresh.limiter.stats().liveKeys);
  });

  it('is as quick as a fresh one', () => {
    const [used, fresh] = [churned(), make()];
    timeOfNewKeys(make(), 1e6);
    expect(timeOfNewKeys(used, 2e6)).toBeLessThan(5 * timeOfNewKeys(fresh, 2e6));
  });
});
