// The clock is read before the table is asked: a call may come late, with an early reading. A has spent its one permit
// early; late it is as new, and B, late, takes its slot. A call for A with the early reading finds nothing of A. Were it
// answered as of its reading, A would be as new late once more: three permits, where two were due.

import { expect, it } from 'vitest';
import { attach, TokenBucketLimiter } from '../../src/index.ts';
import { ALLOWED, protocol } from './protocol.ts';
import { Automaton } from './protocol-automaton.ts';
import { acquire, bucket, used } from './protocol-cases.ts';
import { A, B, EARLY, smallest } from './protocol-programs.ts';
import type { Protection } from './protocol-table.ts';
import { Threads } from './protocol-threads.ts';

/** What A's calls are answered in the model: the late call, then one with a late reading. */
function play(without: readonly Protection[]): boolean[] {
  const program = {
    before: used,
    threads: [[acquire(A, EARLY)], [acquire(B, 1), acquire(A, 1)]],
  };
  const threads = new Threads(protocol(smallest(bucket(), without)), new Automaton(), program);
  const row = threads.begin();
  const answeredBy = (t: number) => threads.progress(row)[t]?.answered ?? [];
  for (const t of [1, 0, 1]) {
    const before = answeredBy(t).length;
    while (answeredBy(t).length === before) threads.step(row, t, 0);
  }
  const calls = [...answeredBy(0), ...answeredBy(1)].filter(({ call }) => call.tag === A);
  return calls.map(({ answer }) => (answer & ALLOWED) !== 0);
}

it('gives a late call what is due at the latest reading, and the next call no more', () => {
  expect(play([])).toEqual([true, false]);
});

it('would mint a permit if the horizon were not raised, or not looked at', () => {
  expect(play(['horizon raise'])).toEqual([true, true]);
  expect(play(['horizon check'])).toEqual([true, true]);
});

it('does the same in the built table', () => {
  const early = new TokenBucketLimiter({
    capacity: 1,
    refillPerSecond: 1000,
    maxKeys: 1,
    shared: true,
    clock: () => 0,
  });
  const late = attach(early.handle, { clock: () => 1 });
  expect(early.isAllowed('A')).toBe(true);
  // The table has 16 slots, and every key may have any of them: these take all of them.
  for (let i = 0; i < 16; i++) expect(late.isAllowed(`B${i}`)).toBe(true);
  expect(late.stats()).toMatchObject({ evictedIdle: 1, overflowed: 0 });
  expect(early.isAllowed('A')).toBe(true);
  expect(late.isAllowed('A')).toBe(false);
});
