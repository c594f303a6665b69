import { KEY_KINDS, type KeyKind } from './keys.ts';

export type Method = 'isAllowed' | 'tryAcquire';
export const METHODS: readonly Method[] = ['isAllowed', 'tryAcquire'];

/** What arrives: `keys` live keys in all, each as often as any other, in random order. */
export interface Workload {
  readonly kind: KeyKind;
  readonly keys: number;
  /** Limiters used in turn, each with its share of the keys. */
  readonly limiters: number;
  readonly methods: readonly Method[];
}

const LIVE_KEYS = [1_000, 100_000, 1_000_000];

/** The timed ones, in the report's order. */
export const WORKLOADS: readonly Workload[] = [
  ...KEY_KINDS.flatMap((kind) =>
    LIVE_KEYS.map((keys): Workload => ({ kind, keys, limiters: 1, methods: METHODS })),
  ),
  // A service has a limiter for each route: does the speed survive that?
  ...[1_000, 100_000].map(
    (keys): Workload => ({ kind: 'fresh', keys, limiters: 8, methods: ['isAllowed'] }),
  ),
];

/** Arrivals that a timed run goes through over and over. A multiple of every number of keys and of the batch. */
export const ARRIVALS = 1_000_000;

/** About a million calls a second. A power of two, so that the clock's steps add up without rounding. */
export const TICK_MS = 2 ** -10;

/**
 * A bucket so large that every timed call is allowed, and a refill of a sixteenth of a token between two arrivals of a
 * key, so that keys stay live. Denials are left out of the timing: they write nothing in our table, which is cheaper.
 */
export function timedPolicy({ keys }: Workload): { capacity: number; refillIntervalMs: number } {
  return { capacity: 2 ** 20, refillIntervalMs: 16 * keys * TICK_MS };
}

/**
 * Every key equally often, shuffled. With several limiters in turn, call number i goes to limiter i modulo `limiters`:
 * a key's number has that same remainder, so that it always meets the same limiter.
 */
export function arrivalOrder({ keys, limiters }: Workload): Uint32Array {
  const order = Uint32Array.from({ length: ARRIVALS }, (_, i) => i % keys);
  const random = xorshift(12_345);
  for (let i = ARRIVALS / limiters - 1; i > 0; i--) {
    for (let turn = 0; turn < limiters; turn++) {
      const a = i * limiters + turn;
      const b = (random() % (i + 1)) * limiters + turn;
      const swapped = order[a] as number;
      order[a] = order[b] as number;
      order[b] = swapped;
    }
  }
  return order;
}

/** The same numbers in every process. */
function xorshift(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
