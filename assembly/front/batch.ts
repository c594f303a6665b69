// Many keys decided by one call, in turn, each at cost 1. All of their tags are known beforehand, so their sets are read
// first, all at once: the processor waits for many lines of memory at a time, where call by call it would wait for each
// alone. On a table larger than its caches that wait is most of a call's time.
//
// Reading all first and then deciding all is faster than reading a little ahead while deciding: a load that waits also
// stops the instructions behind it from retiring.

import { ALLOWED, BEHIND } from '../decision';
import { acquire, describe, setNow } from './decide';
import { Seat, TAGS_AT_ONCE, sealedTag, setAnswer, setSealedTag } from './layout';
import * as table from './table';

/**
 * Decides places `from` up to `to`, not included, and keeps the answers there: 1 or 0, as isAllowed. Tells where it
 * ended: before `to`, where another thread is in the way.
 */
export function isAllowedMany(seat: Seat, from: u32, to: u32, ms: f64): u32 {
  return decide(seat, from, to, ms, false);
}

/** The same, described as tryAcquire does. */
export function tryAcquireMany(seat: Seat, from: u32, to: u32, ms: f64): u32 {
  return decide(seat, from, to, ms, true);
}

function decide(seat: Seat, from: u32, to: u32, ms: f64, described: bool): u32 {
  setNow(seat, ms);
  touch(seat, from, to);
  for (let place = from; place < to; place++) {
    const decision = acquire(seat, sealedTag(place), 1);
    if (decision >= BEHIND) return place;
    setAnswer(place, described ? describe(seat, decision, 1, place) : <i32>(decision & ALLOWED));
  }
  return to;
}

/** Reads the sets of these places' tags. A hint: nothing is decided by what it finds. */
function touch(seat: Seat, from: u32, to: u32): void {
  // Behind the last tag stands the last again: the last group never ends in what an earlier batch has left.
  const last = sealedTag(to - 1);
  for (let place = to; place < to + TAGS_AT_ONCE; place++) setSealedTag(place, last);
  for (let place = from; place < to; place += TAGS_AT_ONCE) {
    table.touch(
      seat,
      sealedTag(place),
      sealedTag(place + 1),
      sealedTag(place + 2),
      sealedTag(place + 3),
      sealedTag(place + 4),
      sealedTag(place + 5),
      sealedTag(place + 6),
      sealedTag(place + 7),
    );
  }
}
