import { Random } from '../test/support/random.ts';
import { readTrace } from '../test/support/trace.ts';
import { endlessKeys, inSequence, type KeyStream, keyStreams } from './keys.ts';
import { root } from './root.ts';
import type { Workload } from './workloads.ts';

/**
 * - `uniform`: each key equally often, shuffled.
 * - `zipf`: the most frequent key comes twice as often as the second, three times as often as the third, and so on.
 * - `one`: one key.
 * - `new`: every key for the first time.
 * - `trace`: as in a day of edits of Wikimedia's wikis, test/traces/wikimedia-20150912, over and over.
 */
export type Arrivals = 'uniform' | 'zipf' | 'one' | 'new' | 'trace';

/** Arrivals that a timed run goes through over and over. A multiple of every number of keys and of the batch. */
export const ARRIVALS = 1_000_000;

const TRACE = 'wikimedia-20150912';
const TRACES = new URL('test/traces/', root);
const SEED = 12_345;

type Order = Pick<Workload, 'arrivals' | 'live' | 'limiters'>;

/** All keys once, in order of their numbers, and what arrives. */
export function streamsOf(workload: Pick<Workload, 'form'> & Order): {
  readonly all: KeyStream;
  readonly arrivals: KeyStream;
} {
  const { form, live } = workload;
  if (workload.arrivals !== 'new') return keyStreams(form, live, arrivalOrder(workload));
  const arrivals = endlessKeys(form);
  return { all: { length: 0, at: arrivals.at }, arrivals };
}

/** Numbers of the keys that arrive, those of an endless stream left out. */
export function arrivalOrder({ arrivals, live, limiters }: Order): Uint32Array {
  const random = new Random(SEED);
  switch (arrivals) {
    case 'uniform':
      return uniform(random, live, limiters);
    case 'zipf':
      return zipf(random, live);
    case 'trace': {
      const requests = readTrace(TRACE, TRACES);
      return inSequence(ARRIVALS).map((i) => requests[i % requests.length]?.client ?? 0);
    }
    default:
      return new Uint32Array(ARRIVALS);
  }
}

/**
 * With several limiters in turn, call number i goes to limiter i modulo `limiters`: a key's number has that same
 * remainder, so that it always meets the same limiter.
 */
function uniform(random: Random, live: number, limiters: number): Uint32Array {
  const order = inSequence(ARRIVALS).map((i) => i % live);
  for (let i = ARRIVALS / limiters - 1; i > 0; i--) {
    for (let turn = 0; turn < limiters; turn++) {
      swap(order, i * limiters + turn, (random.word() % (i + 1)) * limiters + turn);
    }
  }
  return order;
}

function zipf(random: Random, live: number): Uint32Array {
  const shares = new Float64Array(live);
  let sum = 0;
  for (let rank = 0; rank < live; rank++) {
    sum += 1 / (rank + 1);
    shares[rank] = sum;
  }
  // Frequent keys are not neighbours in a table that was filled in order of the keys' numbers.
  const keys = inSequence(live);
  for (let i = live - 1; i > 0; i--) swap(keys, i, random.below(i + 1));
  return new Uint32Array(ARRIVALS).map(
    () => keys[firstAbove(shares, random.fraction() * sum)] as number,
  );
}

function firstAbove(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

function swap(values: Uint32Array, a: number, b: number): void {
  const kept = values[a] as number;
  values[a] = values[b] as number;
  values[b] = kept;
}
