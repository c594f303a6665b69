// The front for engines that have the JavaScript string builtins: the same, and functions that take a string and hash it
// straight from its characters, where the other has to be given a copy in memory. The string is not empty, and its
// characters fit in the scratch area with two bytes each.

import { isAllowedTag, tryAcquireTag } from './decide';
import { LATIN1, LENGTH_SHIFT, UTF16, nonZero, tagOfBytes } from './key';
import { SCRATCH, Seat, setSealedTag } from './layout';
import { finish } from './siphash';
import { charCodeAt, length } from './string';

export * from './index';

/** Bits of a unit that Latin-1 does not have, in each of four. */
const BEYOND_LATIN1: u32 = 0xffffff00;

export function isAllowedText(seat: Seat, text: externref, ms: f64, cost: f64): i32 {
  return isAllowedTag(seat, tagOfText(seat, text), ms, cost);
}

export function tryAcquireText(seat: Seat, text: externref, ms: f64, cost: f64): i32 {
  return tryAcquireTag(seat, tagOfText(seat, text), ms, cost);
}

/** Keeps the string's tag in a place. */
export function sealText(seat: Seat, text: externref, place: u32): void {
  setSealedTag(place, tagOfText(seat, text));
}

function tagOfText(seat: Seat, text: externref): u64 {
  const size = length(text);
  let v0 = seat.key0 ^ 0x736f6d6570736575;
  let v1 = seat.key1 ^ 0x646f72616e646f6d;
  let v2 = seat.key0 ^ 0x6c7967656e657261;
  let v3 = seat.key1 ^ 0x7465646279746573;
  let seen: u32 = 0;
  let at = 0;
  for (; at + 8 <= size; at += 8) {
    const a = charCodeAt(text, at);
    const b = charCodeAt(text, at + 1);
    const c = charCodeAt(text, at + 2);
    const d = charCodeAt(text, at + 3);
    const e = charCodeAt(text, at + 4);
    const f = charCodeAt(text, at + 5);
    const g = charCodeAt(text, at + 6);
    const h = charCodeAt(text, at + 7);
    seen |= a | b | c | d | e | f | g | h;
    const low = a | (b << 8) | (c << 16) | (d << 24);
    const high = e | (f << 8) | (g << 16) | (h << 24);
    const word = <u64>low | ((<u64>high) << 32);
    v3 ^= word;
    v0 += v1;
    v2 += v3;
    v1 = rotl(v1, 13) ^ v0;
    v3 = rotl(v3, 16) ^ v2;
    v0 = rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = rotl(v1, 17) ^ v2;
    v3 = rotl(v3, 21) ^ v0;
    v2 = rotl(v2, 32);
    v0 ^= word;
  }
  let rest: u64 = 0;
  let shift: u64 = 0;
  for (; at < size; at++) {
    const unit = charCodeAt(text, at);
    seen |= unit;
    rest |= (<u64>unit) << shift;
    shift += 8;
  }
  if (seen & BEYOND_LATIN1) return tagOfWide(seat, text, size);
  // The kind stands behind the last character. Where that fills the block, the length gets one of its own.
  const total = (<u64>size + 1) << LENGTH_SHIFT;
  rest |= LATIN1 << shift;
  if (shift < LENGTH_SHIFT) return nonZero(finish(v0, v1, v2, v3, 0, 0, rest | total));
  store<u64>(SCRATCH, rest);
  return nonZero(finish(v0, v1, v2, v3, SCRATCH, 1, total));
}

/** The same for a string that has other characters than Latin-1's. */
function tagOfWide(seat: Seat, text: externref, size: u32): u64 {
  for (let at: u32 = 0; at < size; at++) {
    store<u16>(SCRATCH + ((<usize>at) << 1), charCodeAt(text, at));
  }
  return tagOfBytes(seat, size << 1, UTF16);
}
