// Looks into a shared table from outside, and plays a thread that stops in the middle of an insert. Compiled by the
// tests that need it, over the same layout as the table itself; not part of the package.

import { sipHash } from '../../assembly/front/siphash';
import {
  LOCK_SIZE,
  POLICY,
  SLOT_SIZE,
  SET_SIZE,
  TOKEN_BUCKET,
  firstSet,
  headerAlgorithm,
  headerKey0,
  headerKey1,
  loadWord,
  locksEnd,
  locksStart,
  overflowCell,
  secondSet,
  setState,
  setTag,
  setsEnd,
  setsStart,
  stateAt,
  storeWord,
  tagAt,
} from '../../assembly/layout';
import { SlidingWindowCounter } from '../../assembly/sliding-window-counter';
import { cellBalance } from '../../assembly/table/private';
import { place } from '../../assembly/table/slots';
import { TokenBucket } from '../../assembly/token-bucket';

export { lockOf, overflowCell, setState, setTag, stateAt, tagAt } from '../../assembly/layout';

const OWNER_SHIFT: u64 = 32;
const SEQUENCE_MASK: u64 = 0xffffffff;

/** The tag of a key that is a number below 2^53; see assembly/front/key.ts. */
export function tagOfNumber(key: f64): u64 {
  return sipHash(headerKey0(), headerKey1(), 0, 0, ((<u64>7) << 56) | <u64>key);
}

// ---- the whole table -----------------------------------------------------------------------------

export function slots(): u32 {
  return <u32>((setsEnd() - setsStart()) / SLOT_SIZE);
}

/** Slots that were ever used. */
export function usedSlots(): u32 {
  let used: u32 = 0;
  for (let slot = setsStart(); slot < setsEnd(); slot += SLOT_SIZE) {
    if (tagAt(slot) != 0) used++;
  }
  return used;
}

export function heldLocks(): u32 {
  let held: u32 = 0;
  for (let lock = locksStart(); lock < locksEnd(); lock += LOCK_SIZE) {
    if (ownerIn(lock) != 0) held++;
  }
  return held;
}

export function frozenSlots(): u32 {
  let frozen: u32 = 0;
  for (let slot = setsStart(); slot < setsEnd(); slot += SLOT_SIZE) {
    if (isFrozen(slot)) frozen++;
  }
  return frozen;
}

/** Slots whose tag is not allowed in their set. */
export function misplacedSlots(): u32 {
  let misplaced: u32 = 0;
  for (let set = setsStart(); set < setsEnd(); set += SET_SIZE) {
    for (let slot = set; slot < set + SET_SIZE; slot += SLOT_SIZE) {
      const tag = tagAt(slot);
      if (tag == 0) continue;
      const first = firstSet(tag);
      if (first != set && secondSet(tag, first) != set) misplaced++;
    }
  }
  return misplaced;
}

/** Slots whose tag stands in another slot, too. Needs every slot to be where its tag allows. */
export function duplicateSlots(): u32 {
  let duplicates: u32 = 0;
  for (let slot = setsStart(); slot < setsEnd(); slot += SLOT_SIZE) {
    const tag = tagAt(slot);
    if (tag == 0) continue;
    const first = firstSet(tag);
    if (countIn(first, tag) + countIn(secondSet(tag, first), tag) > 1) duplicates++;
  }
  return duplicates;
}

function countIn(set: usize, tag: u64): u32 {
  let count: u32 = 0;
  for (let slot = set; slot < set + SET_SIZE; slot += SLOT_SIZE) {
    if (tagAt(slot) == tag) count++;
  }
  return count;
}

/** Where the tag stands, or 0. */
export function slotWith(tag: u64): usize {
  for (let slot = setsStart(); slot < setsEnd(); slot += SLOT_SIZE) {
    if (tagAt(slot) == tag) return slot;
  }
  return 0;
}

export function isFrozen(slot: usize): bool {
  return headerAlgorithm() == TOKEN_BUCKET
    ? changetype<TokenBucket>(POLICY).isFrozen(stateAt(slot))
    : changetype<SlidingWindowCounter>(POLICY).isFrozen(stateAt(slot));
}

export function ownerIn(lock: usize): u32 {
  return <u32>(loadWord(lock) >> OWNER_SHIFT);
}
export function sequenceIn(lock: usize): u32 {
  return <u32>loadWord(lock);
}

// ---- an insert, step by step ---------------------------------------------------------------------

/** The slot that an insert of the tag would take over at `now`, or 0. */
export function victim(tag: u64, now: u64): usize {
  if (headerAlgorithm() == TOKEN_BUCKET) {
    const bucket = changetype<TokenBucket>(POLICY);
    return place<TokenBucket>(bucket, tag, bucket.phase(now));
  }
  const counter = changetype<SlidingWindowCounter>(POLICY);
  return place<SlidingWindowCounter>(counter, tag, counter.phase(now));
}

export function take(lock: usize, owner: u32): void {
  storeWord(lock, (loadWord(lock) & SEQUENCE_MASK) | ((<u64>owner) << OWNER_SHIFT));
}

/** The state that the new key will have, from what the slot holds now and from the overflow cell. */
export function stateAfterInsert(slot: usize, tag: u64, now: u64): u64 {
  return headerAlgorithm() == TOKEN_BUCKET
    ? stateAfter<TokenBucket>(slot, tag, now)
    : stateAfter<SlidingWindowCounter>(slot, tag, now);
}

function stateAfter<T>(slot: usize, tag: u64, now: u64): u64 {
  const policy = changetype<T>(POLICY);
  const phase = policy.phase(now);
  const debt = loadWord(overflowCell(tag));
  const charged = policy.charged(debt, cellBalance<T>(policy, debt, phase), phase, 1);
  return policy.handedOver(charged, stateAt(slot));
}

export function freeze(slot: usize, owner: u32): void {
  const state = stateAt(slot);
  setState(
    slot,
    headerAlgorithm() == TOKEN_BUCKET
      ? changetype<TokenBucket>(POLICY).frozen(state, owner)
      : changetype<SlidingWindowCounter>(POLICY).frozen(state, owner),
  );
}

export function release(lock: usize): void {
  storeWord(lock, (loadWord(lock) + 1) & SEQUENCE_MASK);
}
