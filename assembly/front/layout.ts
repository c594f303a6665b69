// FRONT memory, one per thread, never shared
//   +0       f64 remaining, f64 retryAfter ms, f64 resetAfter ms   of the last decision described
//   +64      SipState                                              of a key taken in by parts
//   +96      u64 absorbed                                          bytes of that key so far
//   +104     u64 tag                                               of that key, once it is complete
//   +128     key bytes: SCRATCH_SIZE, and 64 for the last block's padding
//   +32,960  SEATS: SEAT_SIZE each, one per limiter object

export const SIP: usize = 64;
export const SCRATCH: usize = 128;
/** Bytes of key that can be handed over at once. A multiple of 8. */
export const SCRATCH_SIZE: usize = 32768;

const SEATS: usize = SCRATCH + SCRATCH_SIZE + 64;
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

export function setResult(remaining: f64, retryAfter: f64, resetAfter: f64): void {
  store<f64>(0, remaining);
  store<f64>(8, retryAfter);
  store<f64>(16, resetAfter);
}
export function absorbed(): u64 {
  return load<u64>(96);
}
export function setAbsorbed(bytes: u64): void {
  store<u64>(96, bytes);
}
export function sealedTag(): u64 {
  return load<u64>(104);
}
export function setSealedTag(tag: u64): void {
  store<u64>(104, tag);
}
