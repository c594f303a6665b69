import { crew, sharedWords } from './crew.ts';
import { joining, type Made } from './limiters.ts';

/** What test/threads/workers/rounds.js does. */
export interface Rounds {
  readonly workers: number;
  readonly rounds: number;
  readonly keysPerRound: number;
  readonly callsPerKey: number;
  /** Keys are strings of 1 to 200 characters, not numbers. */
  readonly text?: boolean;
  /** Every worker has keys of its own. */
  readonly own?: boolean;
  /** The keys of a round, so many times over, are one batch, which takes the place of a call. Numbers only. */
  readonly batch?: number;
}

/** How many calls were admitted for each key. */
export async function play(made: Made, rounds: Rounds): Promise<Int32Array> {
  const keys = rounds.rounds * rounds.keysPerRound * (rounds.own ? rounds.workers : 1);
  const counts = sharedWords(keys);
  const data = { ...joining(made), ...rounds, counts, meeting: sharedWords(2) };
  await crew('rounds.js', rounds.workers, data);
  return counts;
}

/** Calls admitted beyond the limit of their key. */
export function excessOver(limit: number, admitted: Int32Array): number {
  return admitted.reduce((sum, count) => sum + Math.max(0, count - limit), 0);
}
