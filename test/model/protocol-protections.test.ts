// With a protection left out, the explorer finds how its program goes wrong; with it, every interleaving of it holds.

import { describe, expect, it } from 'vitest';
import { protocol } from './protocol.ts';
import { acquire, bucket, CASES, counter, EXCESS, reset, used } from './protocol-cases.ts';
import { Explorer } from './protocol-explorer.ts';
import { A, B, C, EARLY, KEYS, smallest } from './protocol-programs.ts';

describe.each(CASES)(
  '$without, $before.length before, $policy.name',
  ({ without, policy, before, threads, fault }) => {
    const isFlaw = without === 'keyCount' || without === 'windowIndex';
    const lacking = isFlaw ? smallest(policy({ [without]: true })) : smallest(policy(), [without]);

    it('is needed', () => {
      const explorer = new Explorer(protocol(lacking));
      const found = explorer.explore({ before, threads }, false);
      expect(explorer.explore({ before, threads }, true).fault).toMatch(fault);
      expect(found.fault).toMatch(fault);
      console.log(`without ${without}: ${found.fault} after ${found.steps.length} steps`);
    });

    it('is enough', () => {
      expect(new Explorer(protocol(smallest(policy()))).explore({ before, threads }).fault).toBe(
        '',
      );
    });
  },
);

it.each([bucket, counter])('needs only one of the two looks at the horizon', (policy) => {
  const late = policy === bucket ? 1 : 2;
  const program = {
    before: used,
    threads: [[acquire(A, EARLY)], [acquire(B, late), acquire(A, late)]],
  };
  for (const one of ['horizon check before the lock', 'horizon check under the lock'] as const) {
    expect(new Explorer(protocol(smallest(policy(), [one]))).explore(program).fault).toBe('');
  }
});

// A known limit: after three keys the count comes round, and if each is as new again at the very reading at which the slot
// was as new before, the state does too. A call that stood still between reading that state and swapping it meanwhile then
// charges a stranger, once, for a permit of its own.
it('is blind to three keys that follow one another in a slot at one reading, between two steps of one call', () => {
  const keys = KEYS.map((key) => ({ ...key, sets: [0, 1] as const }));
  const three = [
    acquire(B, 1),
    reset(B, 1),
    acquire(C, 1),
    reset(C, 1),
    acquire(B, 1),
    reset(B, 1),
  ];
  const explorer = new Explorer(protocol({ ...smallest(bucket()), keys }));
  const two = explorer.explore({
    before: used,
    threads: [[acquire(A, 1), acquire(A, 1)], three.slice(0, 4)],
  });
  expect(two.fault).toBe('');
  const found = explorer.explore({
    before: used,
    threads: [[acquire(A, 1), acquire(A, 1)], three],
  });
  expect(found.fault).toMatch(EXCESS);
});
