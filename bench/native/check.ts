import { isDeepStrictEqual } from 'node:util';
import { TokenBucketLimiter } from '../../src/index.ts';
import { arrivalOrder } from '../arrivals.ts';
import { tickingClock } from '../ticking-clock.ts';
import { TICK_MS } from '../workloads.ts';
import { type Counts, type FloorJob, floorCounts, HASH_KEY } from './floor.ts';

const KEYS = 4_000;

/** Few keys come often, and are denied; many come now and then, and are as new again or find no slot. */
const JOB: FloorJob = {
  maxKeys: 400,
  arrivals: arrivalOrder({ arrivals: 'uniform', live: KEYS, limiters: 1 })
    .subarray(0, 300_000)
    .map((key) => key ** 3 / KEYS ** 2),
  capacity: 5,
  refillIntervalMs: 0.775,
  stepMs: TICK_MS,
};

/**
 * Has the C program and our limiter answer the same calls, with the same hash key. They must agree in every answer and
 * in what became of the table, or they do not do the same work: an error says what each has counted.
 */
export function checkFloor(): Counts {
  const ours = ourCounts(JOB);
  const theirs = floorCounts(JOB);
  const unseen = Object.entries(ours).filter(([, count]) => count === 0);
  if (unseen.length > 0) throw new Error(`the check must see all: ${JSON.stringify(ours)}`);
  if (!isDeepStrictEqual(ours, theirs)) {
    throw new Error(
      `unequal work: C ${JSON.stringify(theirs)}, Sluicegate ${JSON.stringify(ours)}`,
    );
  }
  return ours;
}

function ourCounts(job: FloorJob): Counts {
  const clock = tickingClock(job.stepMs);
  const limiter = withHashKey(() => {
    const { capacity, refillIntervalMs, maxKeys } = job;
    const rate = { capacity, refillTokens: 1, refillIntervalMs };
    return new TokenBucketLimiter({ ...rate, maxKeys, clock: clock.now });
  });
  let digest = 0;
  for (const key of job.arrivals) {
    clock.tick();
    digest = (Math.imul(digest, 31) + (limiter.isAllowed(key) ? 1 : 0)) >>> 0;
  }
  const { allowed, denied, evictedIdle, overflowed, liveKeys } = limiter.stats();
  limiter.close();
  return { allowed, denied, digest, evictedIdle, overflowed, liveKeys };
}

/** The hash key is the one thing that a limiter draws at random, and it tells nobody. */
function withHashKey<Made>(make: () => Made): Made {
  const drawn = <A extends ArrayBufferView | null>(array: A): A => {
    (array as unknown as BigUint64Array).set(HASH_KEY);
    return array;
  };
  Object.defineProperty(crypto, 'getRandomValues', { value: drawn, configurable: true });
  try {
    return make();
  } finally {
    Reflect.deleteProperty(crypto, 'getRandomValues');
  }
}
