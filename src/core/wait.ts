import type { Key } from '../limiter.ts';
import { force, tryAcquire, WAIT } from './front.ts';
import { numberOf, takeKey } from './key.ts';
import { nap } from './threads.ts';

/** How long a call waits for a thread that holds the lock and is not running. */
const PATIENCE_MS = 20;
/** How often it asks at least: it may have been this thread that did not run. */
const LEAST_TRIES = 10;

/** The answer of a call that found another thread in the way: asks again, and after PATIENCE_MS does without the lock. */
export function insist(seat: number, key: Key, ms: number, cost: number): number {
  // Real time, whatever the limiter's clock: it is a real thread that we wait for.
  const until = performance.now() + PATIENCE_MS;
  for (let tries = 0; tries < LEAST_TRIES || performance.now() < until; tries++) {
    nap();
    const answer = tryAcquire(seat, takeKey(seat, key), numberOf(key), ms, cost);
    if (answer < WAIT) return answer;
  }
  return force(seat, takeKey(seat, key), numberOf(key), ms, cost);
}
