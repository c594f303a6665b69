// A key becomes a tag: the keyed hash of its bytes and, as the last byte, of its kind. The kinds are disjoint, and so are
// the two spellings of a string, since a string is Latin-1 exactly when all of its UTF-16 units are below 256:
//
//   number   7 bytes, little endian; the last is below 32, being the top of a whole number below 2^53
//   string   a byte a unit, then 129; or two bytes a unit, little endian, then 130
//   bytes    as they are, then 131

import {
  SCRATCH,
  SCRATCH_SIZE,
  SIP,
  Seat,
  absorbed,
  sealedTag,
  setAbsorbed,
  setSealedTag,
} from './layout';
import { BLOCK_BITS, SipState, sipHash } from './siphash';

export const LATIN1: u64 = 129;
export const UTF16: u64 = 130;
const NUMBER: i32 = -1;
const NUMBER_SIZE: u64 = 7;
export const LENGTH_SHIFT: u64 = 56;

/** The tag of so many Latin-1 bytes in the scratch area; of `number` where `length` is -1; else of the sealed key. */
export function tagOf(seat: Seat, length: i32, number: f64): u64 {
  if (length < NUMBER) return sealedTag(0);
  if (length == NUMBER) {
    return nonZero(
      sipHash(seat.key0, seat.key1, 0, 0, (NUMBER_SIZE << LENGTH_SHIFT) | <u64>number),
    );
  }
  return tagOfBytes(seat, length, LATIN1);
}

/** The tag of so many bytes in the scratch area. */
export function tagOfBytes(seat: Seat, length: u32, kind: u64): u64 {
  pad(length, kind);
  const size = <usize>length + 1;
  return nonZero(sipHash(seat.key0, seat.key1, SCRATCH, size >> BLOCK_BITS, lastBlock(size, size)));
}

/** Keeps the tag of a key that is not sealed yet in a place. */
export function keep(seat: Seat, length: i32, number: f64, place: u32): void {
  setSealedTag(place, tagOf(seat, length, number));
}

/** Begins a key that is taken in by parts. */
export function begin(seat: Seat): void {
  changetype<SipState>(SIP).start(seat.key0, seat.key1);
  setAbsorbed(0);
}

/** Takes in a full scratch area. */
export function absorb(): void {
  changetype<SipState>(SIP).absorb(SCRATCH, SCRATCH_SIZE >> BLOCK_BITS);
  setAbsorbed(absorbed() + SCRATCH_SIZE);
}

/** Takes in the last `length` bytes, at most a full scratch area, and keeps the tag in a place. */
export function seal(length: u32, kind: u32, place: u32): void {
  pad(length, kind);
  const size = <usize>length + 1;
  const last = lastBlock(size, absorbed() + size);
  const tag = changetype<SipState>(SIP).finish(SCRATCH, size >> BLOCK_BITS, last);
  setSealedTag(place, nonZero(tag));
}

/** The kind behind the key's bytes, then zeros to the end of its block and of the next. */
function pad(length: usize, kind: u64): void {
  store<u64>(SCRATCH + length, kind);
  store<u64>(SCRATCH + length, 0, 8);
}

function lastBlock(size: usize, total: u64): u64 {
  return load<u64>(SCRATCH + ((size >> BLOCK_BITS) << BLOCK_BITS)) | (total << LENGTH_SHIFT);
}

/** Tag 0 marks an empty slot. */
export function nonZero(tag: u64): u64 {
  return tag != 0 ? tag : 1;
}
