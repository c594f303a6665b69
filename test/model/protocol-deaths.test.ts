import { expect, it } from 'vitest';
import { protocol } from './protocol.ts';
import { Explorer } from './protocol-explorer.ts';
import type { Call } from './protocol-oracle.ts';
import { A, B, BUCKET, C, COUNTER, call, EARLY, smallest } from './protocol-programs.ts';
import { exploreAll } from './protocol-run.ts';
import type { Program } from './protocol-threads.ts';

/** One thread that may die, one that goes on, and one that buries the first at any time after its death. */
function* burials(late: number, evenLocked: boolean): Generator<Program> {
  const befores = [
    [],
    [call('acquire', A, EARLY)],
    [call('acquire', B, EARLY)],
    [call('acquire', C, EARLY)],
  ];
  const mortals = [
    [call('acquire', A, EARLY)],
    [call('acquire', A, late)],
    [call('acquire', A, EARLY), call('acquire', B, late)],
  ];
  const others: Call[][] = [
    [call('acquire', A, late)],
    [call('acquire', B, late)],
    [call('acquire', C, late)],
    [call('refund', A, late)],
    [call('reset', A, late)],
    [call('peek', A, late)],
    [call('impatient', A, EARLY), call('impatient', B, late)],
    [call('impatient', A, late), call('impatient', A, late)],
    [call('impatient', A, late), call('impatient', C, late)],
  ];
  const burial = [call('bury', 0, EARLY)];
  for (const before of befores) {
    for (const mine of mortals) {
      for (const other of others) {
        yield { before, threads: [mine, other, burial], mortal: [0], evenLocked };
      }
    }
  }
}

it.each([BUCKET, COUNTER])('holds whenever a thread dies and is buried: $policy.name', (family) => {
  const settings = smallest(family.policy);
  exploreAll(`${family.policy.name}, deaths`, settings, burials(family.late, false));
});

it.each([BUCKET, COUNTER])(
  'holds, and leaves nothing held, even if a thread could die under the lock: $policy.name',
  (family) => {
    const settings = smallest(family.policy);
    exploreAll(
      `${family.policy.name}, deaths under the lock`,
      settings,
      burials(family.late, true),
    );
  },
);

it.each([BUCKET, COUNTER])(
  'holds when two threads die and both are buried: $policy.name',
  ({ policy, late }) => {
    const threads = [
      [call('acquire', A, late)],
      [call('acquire', B, late)],
      [call('bury', 0, EARLY), call('bury', 1, EARLY)],
    ];
    const before = [call('acquire', A, EARLY)];
    const program = { before, threads, mortal: [0, 1], evenLocked: true };
    exploreAll(`${policy.name}, two deaths`, smallest(policy), [program]);
  },
);

it('finds what is left of a thread that dies under the lock and is never buried', () => {
  const threads = [[call('acquire', A, EARLY)], [call('acquire', B, EARLY)]];
  const explorer = new Explorer(protocol(smallest(BUCKET.policy)));
  const { fault } = explorer.explore({ before: [], threads, mortal: [0], evenLocked: true });
  expect(fault).toBe('lock 1 was left by thread 1');
});

it('finds a call that never ends: one that does not pass over a frozen slot with its tag', () => {
  const threads = [[call('acquire', A, EARLY)], [call('peek', A, EARLY)], [call('bury', 0, EARLY)]];
  const explorer = new Explorer(protocol(smallest(BUCKET.policy, ['frozen is passed over'])));
  const { fault } = explorer.explore({ before: [], threads, mortal: [0], evenLocked: true });
  expect(fault).toBe('thread 2 runs for ever, alone');
});
