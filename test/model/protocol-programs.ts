// The programs that are explored.

import type { Call } from './protocol-oracle.ts';
import { type ModelPolicy, modelBucket, modelCounter } from './protocol-policies.ts';
import type { ModelKey, Protection, ProtocolSettings } from './protocol-table.ts';
import type { Program } from './protocol-threads.ts';

export const A = 1;
export const B = 2;
export const C = 3;

/** A and B want the same slot first, A and C insert under the same lock, B and C share a cell. */
export const KEYS: readonly ModelKey[] = [
  { tag: A, sets: [0, 1], lock: 0, cell: 0 },
  { tag: B, sets: [0, 1], lock: 1, cell: 1 },
  { tag: C, sets: [1, 0], lock: 0, cell: 1 },
];

/** Early, and when a permit taken early has come back. */
export const EARLY = 0;

export interface Family {
  readonly policy: ModelPolicy;
  /** When a key charged early is as new. */
  readonly late: number;
}

export const BUCKET: Family = { policy: modelBucket(1, 1), late: 1 };
export const COUNTER: Family = { policy: modelCounter(1, 1), late: 2 };

/** Two sets of one slot. */
export function smallest(
  policy: ModelPolicy,
  without: readonly Protection[] = [],
): ProtocolSettings {
  return { policy, keys: KEYS, ways: 1, fill: 1, without };
}

export function call(name: Call['call'], tag: number, now: number, cost = 1): Call {
  return { call: name, tag, now, cost };
}

function alphabet(late: number): Call[] {
  return [
    call('acquire', A, EARLY),
    call('acquire', A, late),
    call('acquire', B, EARLY),
    call('acquire', B, late),
    call('refund', A, late),
    call('reset', B, late),
    call('peek', A, late),
    call('impatient', A, late),
  ];
}

/** An empty table; one with a key that is as new late; and one with a single free slot, early. */
const BEFORE: readonly (readonly Call[])[] = [
  [],
  [call('acquire', A, EARLY)],
  [call('acquire', C, EARLY)],
];

/** Every program of two threads with two calls each. */
export function* twoByTwo(late: number): Generator<Program> {
  const calls = alphabet(late);
  const pairs = calls.flatMap((first) => calls.map((second) => [first, second]));
  for (const before of BEFORE) {
    for (const [i, one] of pairs.entries()) {
      for (const other of pairs.slice(i)) yield { before, threads: [one, other] };
    }
  }
}

/** Every program of three threads with one call each; here a third key takes part. */
export function* threeByOne(late: number): Generator<Program> {
  const calls = [...alphabet(late), call('acquire', C, late)].map((call) => [call]);
  for (const before of BEFORE) {
    for (const [i, one] of calls.entries()) {
      for (const [j, other] of calls.entries()) {
        if (j < i) continue;
        for (const third of calls.slice(j)) yield { before, threads: [one, other, third] };
      }
    }
  }
}

/** Numbers from 0 to below `count`, the same for the same seed (mulberry32). */
export function dice(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * count);
  };
}

export interface Sample {
  readonly settings: ProtocolSettings;
  readonly program: Program;
}

/** A program of three threads with two calls each over a policy, a table and a past that are all drawn. */
export function threeByTwo(seed: number, bucket: boolean): Sample {
  const below = dice(seed);
  const one = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const limit = 1 + below(2);
  const policy = bucket ? modelBucket(limit, 1 + below(2)) : modelCounter(limit, 1 + below(2));
  const ways = one([1, 1, 1, 2]);
  const keys = [A, B, C].map((tag): ModelKey => {
    return {
      tag,
      sets: one([
        [0, 1],
        [0, 1],
        [1, 0],
      ] as const),
      lock: below(2),
      cell: below(2),
    };
  });
  const times = bucket ? [0, 1, 2] : [0, 1, 2, 3];
  const draw = () =>
    call(
      one([
        'acquire',
        'acquire',
        'acquire',
        'acquire',
        'impatient',
        'peek',
        'refund',
        'reset',
      ] as const),
      one([A, A, B, B, C]),
      one(times),
      1 + below(limit),
    );
  const before = Array.from({ length: below(3) }, () => call('acquire', one([A, B, C]), 0));
  const threads = Array.from({ length: 3 }, () => [draw(), draw()]);
  const settings = { policy, keys, ways, fill: 1 + below(ways) };
  return { settings, program: { before, threads } };
}
