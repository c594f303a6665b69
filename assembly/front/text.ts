// The front for engines that have the JavaScript string builtins: the same, and a function that hashes a string straight
// from its characters, where the other has to be given a copy in memory.

import { LATIN1, LENGTH_SHIFT, nonZero } from './key';
import { SCRATCH, Seat, setSealedTag } from './layout';
import { finish } from './siphash';
import { charCodeAt, length } from './string';

export * from './index';

const SEALED: i32 = -2;
/** Not Latin-1: to be spelled in two bytes a unit. */
const WIDE: i32 = -3;
/** Bits of a unit that Latin-1 does not have, in each of four. */
const BEYOND_LATIN1: u32 = 0xffffff00;

/** Hashes a non-empty Latin-1 string and keeps its tag, the same as that of its bytes in the scratch area, in a place. */
export function sealText(seat: Seat, text: externref, place: u32): i32 {
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
  if (seen & BEYOND_LATIN1) return WIDE;
  // The kind stands behind the last character. Where that fills the block, the length gets one of its own.
  const total = (<u64>size + 1) << LENGTH_SHIFT;
  rest |= LATIN1 << shift;
  if (shift < LENGTH_SHIFT) {
    setSealedTag(place, nonZero(finish(v0, v1, v2, v3, 0, 0, rest | total)));
  } else {
    store<u64>(SCRATCH, rest);
    setSealedTag(place, nonZero(finish(v0, v1, v2, v3, SCRATCH, 1, total)));
  }
  return SEALED;
}
