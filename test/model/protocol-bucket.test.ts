import { expect, it } from 'vitest';
import { BUCKET, smallest, threeByOne, twoByTwo } from './protocol-programs.ts';
import { exploreAll } from './protocol-run.ts';

const settings = smallest(BUCKET.policy);

it('holds in every interleaving of every program of 2 threads with 2 calls', () => {
  const { programs } = exploreAll('bucket, 2 x 2', settings, twoByTwo(BUCKET.late));
  expect(programs).toBe(3 * ((64 * 65) / 2));
}, 120_000);

it('holds in every interleaving of every program of 3 threads with 1 call', () => {
  const { programs } = exploreAll('bucket, 3 x 1', settings, threeByOne(BUCKET.late));
  expect(programs).toBe(3 * ((9 * 10 * 11) / 6));
}, 120_000);
