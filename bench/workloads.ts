import type { Arrivals } from './arrivals.ts';
import { type KeyForm, USUAL, USUAL_LENGTH } from './keys.ts';

export type Method = 'isAllowed' | 'tryAcquire' | 'isAllowedMany';
export const METHODS: readonly Method[] = ['isAllowed', 'tryAcquire', 'isAllowedMany'];

/** What arrives. */
export interface Workload {
  /** What the report calls it; with `live` it is unique. */
  readonly name: string;
  readonly form: KeyForm;
  readonly arrivals: Arrivals;
  /** Live keys in all. */
  readonly live: number;
  /** Limiters used in turn, each with its share of the keys. */
  readonly limiters: number;
  readonly methods: readonly Method[];
  /** Whether a quick run has the time for it. */
  readonly quick: boolean;
}

const SIZES = [1_000, 100_000, 1_000_000];
const TRACE_CLIENTS = 10_804;

const PLAIN: Omit<Workload, 'name' | 'live'> = {
  form: USUAL,
  arrivals: 'uniform',
  limiters: 1,
  methods: ['isAllowed'],
  quick: false,
};

function inAllSizes(row: Omit<Workload, 'live'>): Workload[] {
  return SIZES.map((live) => ({ ...row, live }));
}

function strings(length: number, wide: boolean): Workload {
  const name = wide ? `strings of ${length}, not Latin-1` : `strings of ${length}`;
  return { ...PLAIN, name, live: 100_000, form: { kind: 'fresh', length: [length, length], wide } };
}

const LENGTHS = [8, 16, 24, 40, 64, 200];
const BOTH: readonly Method[] = ['isAllowed', 'tryAcquire'];
const REPEATED: KeyForm = { ...USUAL, kind: 'repeated' };
const INTEGER: KeyForm = { ...USUAL, kind: 'integer' };
const BYTES: KeyForm = { kind: 'bytes', length: USUAL_LENGTH, wide: false };

/** The timed ones, in the report's order. Where a name says nothing else, keys are uniform. */
export const WORKLOADS: readonly Workload[] = [
  ...inAllSizes({ ...PLAIN, name: 'fresh strings', methods: BOTH, quick: true }),
  {
    ...PLAIN,
    name: 'fresh strings, batches of 1,000',
    live: 1_000_000,
    methods: ['isAllowedMany'],
    quick: true,
  },
  ...inAllSizes({ ...PLAIN, name: 'repeated strings', form: REPEATED, methods: BOTH }).map(
    (row) => ({ ...row, quick: row.live === 1_000 }),
  ),
  ...inAllSizes({ ...PLAIN, name: 'integers', form: INTEGER }).map((row) => ({
    ...row,
    quick: true,
  })),
  ...inAllSizes({ ...PLAIN, name: 'bytes', form: BYTES }),
  { ...PLAIN, name: 'one hot key', arrivals: 'one', live: 1 },
  ...inAllSizes({ ...PLAIN, name: 'Zipf', arrivals: 'zipf' }),
  { ...PLAIN, name: 'all new keys', arrivals: 'new', live: 100_000 },
  { ...PLAIN, name: 'trace of edits', arrivals: 'trace', live: TRACE_CLIENTS },
  ...LENGTHS.map((length) => strings(length, false)),
  ...LENGTHS.map((length) => strings(length, true)),
  // A service has a limiter for each route: does the speed survive that?
  ...[1_000, 100_000].map((live) => ({ ...PLAIN, name: '8 limiters in turn', live, limiters: 8 })),
];

/** What packages are timed on: they take strings only, and each reads a clock of its own. */
export const PACKAGE_WORKLOADS: readonly Workload[] = [
  ...inAllSizes({ ...PLAIN, name: 'fresh strings' }).map((row) => ({
    ...row,
    quick: row.live === 1_000_000,
  })),
  { ...PLAIN, name: 'Zipf', arrivals: 'zipf', live: 1_000_000 },
];

/** About a million calls a second. A power of two, so that the clock's steps add up without rounding. */
export const TICK_MS = 2 ** -10;

/** Longer than any measurement: no package's window ends while it is timed. */
export const LONG_WINDOW_MS = 3_600_000;

/**
 * A bucket so large that every timed call is allowed, and a refill of a sixteenth of a token between two arrivals of a
 * key, so that keys stay live; new keys, which come once, are as new after half as many calls as there is room for keys.
 * Denials are left out of the timing: they write nothing in our table, which is cheaper.
 */
export function timedPolicy({ live, arrivals }: Workload) {
  const calls = arrivals === 'new' ? live / 2 : 16 * live;
  return {
    capacity: 2 ** 30,
    refillIntervalMs: Math.ceil(calls * TICK_MS),
    windowMs: LONG_WINDOW_MS,
  };
}
