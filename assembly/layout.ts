// The only place that knows the table's sizes and offsets. Everyone else asks the helpers below.
//
// TABLE memory, one per limiter
//
//   HEADER     256 bytes  written once, then read by every thread; counters on lines of their own
//   LOCKS    8,192 bytes  1,024 words, one per stripe of tags: who may insert
//   OVERFLOW               8 bytes a cell, at least 1,024 cells: states of keys that found no slot
//   SETS                 128 bytes a set: 8 slots, two cache lines
//
// HEADER
//   +0    u32 magic        'SLGT'
//   +4    u32 version      of this layout
//   +8    u32 algorithm    1 token bucket, 2 sliding window counter
//   +12   u32 maxKeys      live keys the table was sized for
//   +16   u64 key0, key1   the 128-bit hash key
//   +32   i64 epoch        the clock's microsecond that is 0 inside
//   +40   u32 sets         how many
//   +44   u32 cells        how many
//   +48   u32 overflowAt   address
//   +52   u32 setsAt       address
//   +64   POLICY           8 words; the algorithm's class (token-bucket, sliding-window-counter) draws them
//   +128  u64 horizon      greatest `now` of any call that missed
//   +192  u64 evictedIdle  slots taken over from keys that were as new
//   +200  u64 overflowed   calls charged to an overflow cell
//   +208  u64 lockTimeouts calls that could not have a lock in time
//
// SLOT, 16 bytes, all zero = never used
//   +0    u64 tag          keyed hash of the key, never 0
//   +8    u64 state        the algorithm's word
//
// A LOCK word is { sequence u32, owner u32 }; all zero = free.

/** The largest table: its addresses stay below 2 GiB, so that none can be taken for a negative number. */
export const MAX_KEYS: u32 = 90_000_000;

export const MAGIC: u32 = 0x54474c53;
export const VERSION: u32 = 1;
export const TOKEN_BUCKET: u32 = 1;
export const SLIDING_WINDOW_COUNTER: u32 = 2;

export const HEADER_SIZE: usize = 256;
export const LOCK_SIZE: usize = 8;
export const LOCKS: usize = 1024;
export const CELL_SIZE: usize = 8;
export const SLOT_SIZE: usize = 16;
export const SET_SLOTS: u32 = 8;
export const SET_SIZE: usize = 128;
export const POLICY_WORDS: u32 = 8;
/** Address of the policy, in the table's header and in the front alike. */
export const POLICY: usize = 64;

export const PAGE_SIZE: u64 = 65536;
/** 1.4375 slots a key: at `maxKeys` live keys about one in a million finds both of its sets full. */
const SLOT_BYTES_PER_KEY: u64 = 23;
const MIN_SETS: u64 = 2;
const MIN_CELLS: u64 = 1024;
const KEYS_PER_CELL: u64 = 16;

const LOCKS_AT: usize = HEADER_SIZE;
const OVERFLOW_AT: usize = LOCKS_AT + LOCKS * LOCK_SIZE;

// ---- sizes -----------------------------------------------------------------------------------

export function setsFor(maxKeys: u64): u64 {
  const sets = (maxKeys * SLOT_BYTES_PER_KEY + SET_SIZE - 1) / SET_SIZE;
  return sets < MIN_SETS ? MIN_SETS : sets;
}

export function cellsFor(maxKeys: u64): u64 {
  const cells = maxKeys / KEYS_PER_CELL;
  return cells < MIN_CELLS ? MIN_CELLS : cells;
}

function setsAtFor(maxKeys: u64): u64 {
  return (OVERFLOW_AT + cellsFor(maxKeys) * CELL_SIZE + SET_SIZE - 1) & ~(SET_SIZE - 1);
}

/** Pages of memory that a table needs. */
export function pagesFor(maxKeys: u64): u64 {
  return (setsAtFor(maxKeys) + setsFor(maxKeys) * SET_SIZE + PAGE_SIZE - 1) / PAGE_SIZE;
}

// ---- header ----------------------------------------------------------------------------------

export function writeHeader(algorithm: u32, maxKeys: u32, key0: u64, key1: u64, epoch: i64): void {
  store<u32>(4, VERSION);
  store<u32>(8, algorithm);
  store<u32>(12, maxKeys);
  store<u64>(16, key0);
  store<u64>(24, key1);
  store<i64>(32, epoch);
  store<u32>(40, <u32>setsFor(maxKeys));
  store<u32>(44, <u32>cellsFor(maxKeys));
  store<u32>(48, <u32>OVERFLOW_AT);
  store<u32>(52, <u32>setsAtFor(maxKeys));
  store<u32>(0, MAGIC); // last: a header without it was never finished
}

export function headerMagic(): u32 {
  return load<u32>(0);
}
export function headerVersion(): u32 {
  return load<u32>(4);
}
export function headerAlgorithm(): u32 {
  return load<u32>(8);
}
export function headerMaxKeys(): u32 {
  return load<u32>(12);
}
export function headerKey0(): u64 {
  return load<u64>(16);
}
export function headerKey1(): u64 {
  return load<u64>(24);
}
export function headerEpoch(): i64 {
  return load<i64>(32);
}
export function policyWord(index: u32): u64 {
  return load<u64>(POLICY + ((<usize>index) << 3));
}
export function evictedIdle(): u64 {
  return load<u64>(192);
}
export function countEvictedIdle(): void {
  store<u64>(192, load<u64>(192) + 1);
}
export function overflowed(): u64 {
  return load<u64>(200);
}
export function countOverflowed(): void {
  store<u64>(200, load<u64>(200) + 1);
}

// ---- where a tag may live ----------------------------------------------------------------------

/** Multiply-shift instead of a remainder: any number of sets, no division. */
function pick(bits: u64, count: u64): usize {
  return <usize>((bits * count) >> 32);
}

function overflowAt(): usize {
  return load<u32>(48);
}

export function setsStart(): usize {
  return load<u32>(52);
}

export function setsEnd(): usize {
  return setsStart() + <usize>load<u32>(40) * SET_SIZE;
}

export function firstSet(tag: u64): usize {
  return setsStart() + pick(tag >> 32, load<u32>(40)) * SET_SIZE;
}

/** The other candidate. Never the first set again: there are always at least two. */
export function secondSet(tag: u64, first: usize): usize {
  const start = setsStart();
  const set = start + pick(tag & 0xffffffff, load<u32>(40)) * SET_SIZE;
  return select<usize>(
    set,
    select<usize>(set - SET_SIZE, set + SET_SIZE, set != start),
    set != first,
  );
}

/** Middle bits, so that keys which share both sets are still spread over the cells. */
export function overflowCell(tag: u64): usize {
  return overflowAt() + pick((tag >> 16) & 0xffffffff, load<u32>(44)) * CELL_SIZE;
}

export function tagAt(slot: usize): u64 {
  return load<u64>(slot);
}
export function setTag(slot: usize, tag: u64): void {
  store<u64>(slot, tag);
}
export function stateAt(slot: usize): u64 {
  return load<u64>(slot, 8);
}
export function setState(slot: usize, state: u64): void {
  store<u64>(slot, state, 8);
}
export function cellState(cell: usize): u64 {
  return load<u64>(cell);
}
export function setCellState(cell: usize, state: u64): void {
  store<u64>(cell, state);
}
