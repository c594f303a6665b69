// The only place that knows the table's sizes and offsets. Everyone else asks the helpers below.
//
// TABLE memory, one per table
//
//   HEADER     512 bytes   written once, then read by every thread; what changes is on cache lines of its own
//   LOCKS      8,192 bytes 1,024 words, one per stripe of tags: who may insert
//   OVERFLOW               8 bytes a cell, at least 1,024 cells: states of keys that found no slot
//   POPULATED              1 byte a piece, in large tables: whether the system has been made to give its memory
//   SETS                   128 bytes a set: 8 slots, two cache lines
//
// HEADER
//   +0    u32 magic        'SLGT'
//   +4    u32 version      of this layout and of the states in it
//   +8    u32 algorithm    1 token bucket, 2 sliding window counter
//   +12   u32 maxKeys      live keys the table was sized for
//   +16   u64 key0, key1   the 128-bit hash key
//   +32   i64 epoch        the clock's microsecond that is 0 inside
//   +40   u32 sets         how many
//   +44   u32 cells        how many
//   +48   u32 overflowAt   address
//   +52   u32 setsAt       address
//   +56   u32 ownClock     1 if the creator brought a clock of its own
//   +60   u32 nameSize     bytes
//   +64   POLICY           8 words; the algorithm's class (token-bucket, sliding-window-counter) draws them
//   +128  u64 horizon      greatest `now` of any call that missed
//   +192  u64 evictedIdle  slots taken over from keys that were as new
//   +200  u64 overflowed   calls charged to an overflow cell
//   +208  u64 lockTimeouts calls that could not have a lock in time
//   +256  name             ASCII
//
// SLOT, 16 bytes, all zero = never used
//   +0    u64 tag          keyed hash of the key, never 0
//   +8    u64 state        the algorithm's word
//
// LOCK word: sequence in the lower 32 bits, one more at each release; owner in the upper 32, 0 = free.
//
// The same source is built twice. With the threads feature the memory is shared and every access to a slot, cell, lock or
// count is an atomic one; without it they are plain loads and stores.

/** The largest table: its addresses stay below 2 GiB, so that none can be taken for a negative number. */
export const MAX_KEYS: u32 = 90_000_000;

export const MAGIC: u32 = 0x54474c53;
export const VERSION: u32 = 1;
export const FAULT_MAGIC: u32 = 1;
export const FAULT_VERSION: u32 = 2;
export const FAULT_SIZES: u32 = 3;

export const TOKEN_BUCKET: u32 = 1;
export const SLIDING_WINDOW_COUNTER: u32 = 2;

export const NAME: usize = 256;
export const NAME_SIZE: u32 = 128;
export const HEADER_SIZE: usize = 512;
export const LOCK_SIZE: usize = 8;
export const LOCKS: usize = 1024;
export const CELL_SIZE: usize = 8;
export const SLOT_SIZE: usize = 16;
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
/** Bytes of memory that are taken from the system at once, and how it hands them out on its own. */
const PIECE_SIZE: usize = 65536;
const SYSTEM_PAGE: usize = 4096;
/** A table for no more keys than this, the default, may be one of many that stay almost empty: it has no pieces. */
const SPARSE_KEYS: u64 = 100_000;

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

/** Pieces from address 0 to the end of the table, or one or two more. */
function piecesFor(maxKeys: u64): u64 {
  if (maxKeys <= SPARSE_KEYS) return 0;
  return (populatedAtFor(maxKeys) + setsFor(maxKeys) * SET_SIZE) / <u64>PIECE_SIZE + 2;
}

function populatedAtFor(maxKeys: u64): u64 {
  return OVERFLOW_AT + cellsFor(maxKeys) * CELL_SIZE;
}

function setsAtFor(maxKeys: u64): u64 {
  return (populatedAtFor(maxKeys) + piecesFor(maxKeys) + SET_SIZE - 1) & ~(SET_SIZE - 1);
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

/** Whether this is a finished header of this version whose table lies inside the memory. */
export function headerFault(): u32 {
  if (load<u32>(0) != MAGIC) return FAULT_MAGIC;
  if (load<u32>(4) != VERSION) return FAULT_VERSION;
  const maxKeys = headerMaxKeys();
  const sound =
    maxKeys >= 1 &&
    maxKeys <= MAX_KEYS &&
    load<u32>(40) == <u32>setsFor(maxKeys) &&
    load<u32>(44) == <u32>cellsFor(maxKeys) &&
    load<u32>(48) == <u32>OVERFLOW_AT &&
    load<u32>(52) == <u32>setsAtFor(maxKeys) &&
    headerNameSize() >= 1 &&
    headerNameSize() <= NAME_SIZE &&
    <u64>memory.size() >= pagesFor(maxKeys);
  return sound ? 0 : FAULT_SIZES;
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
export function headerOwnClock(): u32 {
  return load<u32>(56);
}
export function headerNameSize(): u32 {
  return load<u32>(60);
}
export function describeHeader(ownClock: u32, nameSize: u32): void {
  store<u32>(56, ownClock);
  store<u32>(60, nameSize);
}
export function policyWord(index: u32): u64 {
  return load<u64>(POLICY + ((<usize>index) << 3));
}

// ---- words that threads share ------------------------------------------------------------------

export function loadWord(at: usize): u64 {
  return ASC_FEATURE_THREADS ? atomic.load<u64>(at) : load<u64>(at);
}
export function storeWord(at: usize, word: u64): void {
  if (ASC_FEATURE_THREADS) atomic.store<u64>(at, word);
  else store<u64>(at, word);
}
function addWord(at: usize): void {
  if (ASC_FEATURE_THREADS) atomic.add<u64>(at, 1);
  else store<u64>(at, load<u64>(at) + 1);
}

const HORIZON: usize = 128;
const EVICTED_IDLE: usize = 192;
const OVERFLOWED: usize = 200;
const LOCK_TIMEOUTS: usize = 208;

export function horizon(): u64 {
  return loadWord(HORIZON);
}
export function raiseHorizon(now: u64): void {
  let seen = loadWord(HORIZON);
  while (seen < now) {
    const before = atomic.cmpxchg<u64>(HORIZON, seen, now);
    if (before == seen) return;
    seen = before;
  }
}
export function evictedIdle(): u64 {
  return loadWord(EVICTED_IDLE);
}
export function countEvictedIdle(): void {
  addWord(EVICTED_IDLE);
}
export function overflowed(): u64 {
  return loadWord(OVERFLOWED);
}
export function countOverflowed(): void {
  addWord(OVERFLOWED);
}
export function lockTimeouts(): u64 {
  return loadWord(LOCK_TIMEOUTS);
}
export function countLockTimeout(): void {
  addWord(LOCK_TIMEOUTS);
}

// ---- where a tag may live ----------------------------------------------------------------------

/** Multiply-shift instead of a remainder: any number of sets, no division. */
function pick(bits: u64, count: u64): usize {
  return <usize>((bits * count) >> 32);
}

function overflowAt(): usize {
  return load<u32>(48);
}
function cells(): u32 {
  return load<u32>(44);
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
  if (set != first) return set;
  return set != start ? set - SET_SIZE : set + SET_SIZE;
}

/** Middle bits, so that keys which share both sets are still spread over the cells. */
export function overflowCell(tag: u64): usize {
  return overflowAt() + pick((tag >> 16) & 0xffffffff, cells()) * CELL_SIZE;
}

/** The lock of the tag's stripe. */
export function lockOf(tag: u64): usize {
  return LOCKS_AT + (<usize>(tag >> 8) & (LOCKS - 1)) * LOCK_SIZE;
}
export function locksStart(): usize {
  return LOCKS_AT;
}
export function locksEnd(): usize {
  return OVERFLOW_AT;
}

// ---- memory that the system has not given yet ----------------------------------------------------

/**
 * Has the system give all of the piece around a slot that is to be used for the first time. It gives a page when that is
 * written to, and whoever writes waits: by pieces, of sixteen calls that would wait one does. For private tables only: in
 * a shared one another thread may have put a key there since.
 */
export function populate(slot: usize): void {
  if (<u64>headerMaxKeys() <= SPARSE_KEYS) return;
  const flag = overflowAt() + <usize>cells() * CELL_SIZE + slot / PIECE_SIZE;
  if (load<u8>(flag) != 0) return;
  store<u8>(flag, 1);
  const piece = slot & ~(PIECE_SIZE - 1);
  const start = setsStart();
  for (let page = piece; page < piece + PIECE_SIZE; page += SYSTEM_PAGE) {
    if (page >= start) store<u64>(page, 0); // what no key has been put in yet is zero already
  }
}

// ---- slots -----------------------------------------------------------------------------------------

export function tagAt(slot: usize): u64 {
  return loadWord(slot);
}
export function setTag(slot: usize, tag: u64): void {
  storeWord(slot, tag);
}
/** Address of a slot's state. */
export function stateOf(slot: usize): usize {
  return slot + 8;
}
export function stateAt(slot: usize): u64 {
  return loadWord(stateOf(slot));
}
export function setState(slot: usize, state: u64): void {
  storeWord(stateOf(slot), state);
}
