// Programs of 3 threads with 2 calls have up to millions of states each, so `npm test` explores a few of the sample and
// `node scripts/explore.js` all of it.

import { expect, it } from 'vitest';
import { type Sample, threeByTwo } from './protocol-programs.ts';
import { exploreAll } from './protocol-run.ts';

const FIRST = Number(process.env.EXPLORE_FIRST ?? 3);
const PROGRAMS = Number(process.env.EXPLORE_PROGRAMS ?? 6);

it.each(['bucket', 'counter'])(
  'holds in every interleaving of a sample of programs of 3 threads with 2 calls: %s',
  (algorithm) => {
    let states = 0;
    for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
      const { settings, program }: Sample = threeByTwo(seed, algorithm === 'bucket');
      const title = `3 x 2, seed ${seed}, ${settings.policy.name}, ${settings.ways} slots a set`;
      states += exploreAll(title, settings, [program]).states;
    }
    console.log(`${algorithm}, 3 x 2: ${PROGRAMS} programs, ${states} states`);
    expect(states).toBeGreaterThan(0);
  },
  60_000 + 60_000 * PROGRAMS,
);
