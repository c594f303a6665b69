// FRONT memory, one per thread, never shared
//   +0       SipState         of a key taken in by parts
//   +32      u64 absorbed     bytes of that key so far
//   +64      key bytes: SCRATCH_SIZE, and 64 for the last block's padding
//   TAGS     u64 a place      of a key that comes sealed
//   RESULTS  24 bytes a place: f64 remaining, f64 retryAfter ms, f64 resetAfter ms of a described decision
//   ANSWERS  1 byte a place   flags of a decision
//   SEATS    SEAT_SIZE each, one per limiter object
//
// A place belongs to one key of a batch, 1 up to BATCH; place 0 is for the key of a single call.

export const SIP: usize = 0;
const ABSORBED: usize = 32;
export const SCRATCH: usize = 64;
/** Bytes of key that can be handed over at once. A multiple of 8. */
export const SCRATCH_SIZE: usize = 32768;

/** Keys decided by one call at most. So few that their sets, once read, are still in the cache when they are decided. */
export const BATCH: u32 = 128;
/** Tags that batch.ts gives the table at once. The places of the last ones may lie behind the batch. */
export const TAGS_AT_ONCE: u32 = 8;
const PLACES: usize = BATCH + 1;
const RESULT_SIZE: usize = 24;
const TAGS: usize = SCRATCH + SCRATCH_SIZE + 64;
export const RESULTS: usize = TAGS + (PLACES + TAGS_AT_ONCE) * 8;
export const ANSWERS: usize = RESULTS + PLACES * RESULT_SIZE;
const SEATS: usize = (ANSWERS + PLACES + 127) & ~127;
const SEAT_SIZE: usize = 128;

/** What a front knows of one limiter. The policy comes first, so that a seat's address is its policy's. */
@unmanaged
export class Seat {
  /** The first word of either algorithm's policy. */
  limit: u64;
  policy1: u64;
  policy2: u64;
  policy3: u64;
  policy4: u64;
  policy5: u64;
  policy6: u64;
  policy7: u64;
  key0: u64;
  key1: u64;
  epoch: i64;
  /** Greatest `now` seen. */
  latest: u64;
  /** Calls counted. */
  allowed: u64;
  denied: u64;
  algorithm: u32;
  /** Index of the first of this limiter's functions. */
  functions: u32;

  setPolicyWord(index: u32, word: u64): void {
    store<u64>(changetype<usize>(this) + ((<usize>index) << 3), word);
  }
}

/** The seat of that number, or null where the memory ends. */
export function seatAt(index: u32): Seat | null {
  const end = SEATS + (<usize>index + 1) * SEAT_SIZE;
  return end <= (<usize>memory.size()) << 16 ? changetype<Seat>(end - SEAT_SIZE) : null;
}

export function absorbed(): u64 {
  return load<u64>(ABSORBED);
}
export function setAbsorbed(bytes: u64): void {
  store<u64>(ABSORBED, bytes);
}

export function sealedTag(place: u32): u64 {
  return load<u64>(((<usize>place) << 3) + TAGS);
}
export function setSealedTag(place: u32, tag: u64): void {
  store<u64>(((<usize>place) << 3) + TAGS, tag);
}
export function setAnswer(place: u32, flags: u32): void {
  store<u8>(<usize>place + ANSWERS, flags);
}
export function setResult(place: u32, remaining: f64, retryAfter: f64, resetAfter: f64): void {
  const at = <usize>place * RESULT_SIZE + RESULTS;
  store<f64>(at, remaining);
  store<f64>(at, retryAfter, 8);
  store<f64>(at, resetAfter, 16);
}
