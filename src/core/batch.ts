import type { Key } from '../limiter.ts';
import { answers, BATCH, described, type isAllowedMany, type tryAcquireMany } from './front.ts';
import { sealKey } from './key.ts';
import { insist } from './wait.ts';

/**
 * Decides up to BATCH of the keys, from index `from` on, each at cost 1, and tells how many. Their flags and, with
 * `decide` being tryAcquireMany, their descriptions are then in the front's places 1 and up.
 */
export function decideBatch(
  decide: typeof isAllowedMany | typeof tryAcquireMany,
  seat: number,
  keys: readonly Key[],
  from: number,
  ms: number,
): number {
  const count = Math.min(keys.length - from, BATCH);
  for (let i = 0; i < count; i++) sealKey(seat, keys[from + i] as Key, i + 1);
  let place = decide(seat, 1, count + 1, ms);
  while (place <= count) {
    answers[place] = insist(seat, keys[from + place - 1] as Key, ms, 1);
    described.copyWithin(3 * place, 0, 3);
    place = decide(seat, place + 1, count + 1, ms);
  }
  return count;
}
