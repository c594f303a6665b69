import type { Key } from '../limiter.ts';
import { ALLOWED, isAllowed, isAllowedText, tryAcquire, tryAcquireText, WAIT } from './front.ts';
import { isShortText, numberOf, takeKey } from './key.ts';
import { insist } from './wait.ts';

/** Whether `cost` permits of the key were free at `ms` and are now taken. */
export function decide(seat: number, key: Key, ms: number, cost: number): boolean {
  const answer =
    isAllowedText !== undefined && isShortText(key)
      ? isAllowedText(seat, key, ms, cost)
      : isAllowed(seat, takeKey(seat, key), numberOf(key), ms, cost);
  return ((answer < WAIT ? answer : insist(seat, key, ms, cost)) & ALLOWED) !== 0;
}

/** The same as flags; the rest of what was decided is then in the front's place 0. */
export function decideAndDescribe(seat: number, key: Key, ms: number, cost: number): number {
  const answer =
    tryAcquireText !== undefined && isShortText(key)
      ? tryAcquireText(seat, key, ms, cost)
      : tryAcquire(seat, takeKey(seat, key), numberOf(key), ms, cost);
  return answer < WAIT ? answer : insist(seat, key, ms, cost);
}
