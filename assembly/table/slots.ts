// A set-associative hash table of fixed size: every tag has two candidate sets of eight slots and can be nowhere else.
// So a look-up reads at most four cache lines whatever the keys, there are no chains, and nothing is ever deleted:
// a slot whose key is as new is simply taken over by the next key that needs one.
//
// Placing rule: the first set until it holds 4 live keys, then the emptier one. At 1.4375 slots a key that leaves 8 keys
// in 10 million without a slot, and 4 of 5 keys in their first set.

import {
  SET_SIZE,
  SLOT_SIZE,
  firstSet,
  secondSet,
  setsEnd,
  setsStart,
  stateAt,
  tagAt,
} from '../layout';

/** Half a set. */
const LINE_SIZE: usize = 64;
/** Live keys up to which the first set is preferred. */
const FIRST_SET_FILL: u32 = 4;

/** Without branches: which slot it is cannot be predicted, and a wrong guess costs more than looking at all eight. */
function findIn(set: usize, tag: u64): usize {
  let slot: usize = 0;
  slot = select<usize>(set, slot, tagAt(set) == tag);
  slot = select<usize>(set + SLOT_SIZE, slot, tagAt(set + SLOT_SIZE) == tag);
  slot = select<usize>(set + 2 * SLOT_SIZE, slot, tagAt(set + 2 * SLOT_SIZE) == tag);
  slot = select<usize>(set + 3 * SLOT_SIZE, slot, tagAt(set + 3 * SLOT_SIZE) == tag);
  slot = select<usize>(set + 4 * SLOT_SIZE, slot, tagAt(set + 4 * SLOT_SIZE) == tag);
  slot = select<usize>(set + 5 * SLOT_SIZE, slot, tagAt(set + 5 * SLOT_SIZE) == tag);
  slot = select<usize>(set + 6 * SLOT_SIZE, slot, tagAt(set + 6 * SLOT_SIZE) == tag);
  return select<usize>(set + 7 * SLOT_SIZE, slot, tagAt(set + 7 * SLOT_SIZE) == tag);
}

/** The address of the tag's slot, or 0. */
export function find(tag: u64): usize {
  const first = firstSet(tag);
  const slot = findIn(first, tag);
  return slot != 0 ? slot : findIn(secondSet(tag, first), tag);
}

/**
 * The same, passing over frozen slots: the tag may still stand in one that its thread, now dead, had begun to hand to
 * it, and then in the slot where it was put afterwards.
 */
export function findUnfrozen<T>(policy: T, tag: u64): usize {
  const first = firstSet(tag);
  const slot = unfrozenIn<T>(policy, first, tag);
  return slot != 0 ? slot : unfrozenIn<T>(policy, secondSet(tag, first), tag);
}

function unfrozenIn<T>(policy: T, set: usize, tag: u64): usize {
  for (let slot = set; slot < set + SET_SIZE; slot += SLOT_SIZE) {
    if (tagAt(slot) == tag && !policy.isFrozen(stateAt(slot))) return slot;
  }
  return 0;
}

/**
 * Whether a key that needs a slot may have this one. A slot never used is told by being all zero: as a state alone, zero
 * can look live once time has wrapped.
 */
export function isFree<T>(policy: T, slot: usize, state: u64, phase: u64): bool {
  if (ASC_FEATURE_THREADS && policy.isFrozen(state)) return false;
  return policy.reusable(state, phase) || (state == 0 && tagAt(slot) == 0);
}

/**
 * Reads each cache line of eight tags' sets once, so that all of them come near together. By plain loads, also in shared
 * memory, since nobody may go by what they find; there is a result only so that no compiler drops them.
 */
export function touch(
  tag0: u64,
  tag1: u64,
  tag2: u64,
  tag3: u64,
  tag4: u64,
  tag5: u64,
  tag6: u64,
  tag7: u64,
): u64 {
  return (
    linesOf(tag0) |
    linesOf(tag1) |
    linesOf(tag2) |
    linesOf(tag3) |
    linesOf(tag4) |
    linesOf(tag5) |
    linesOf(tag6) |
    linesOf(tag7)
  );
}

function linesOf(tag: u64): u64 {
  const first = firstSet(tag);
  const second = secondSet(tag, first);
  return (
    load<u64>(first) |
    load<u64>(first, LINE_SIZE) |
    load<u64>(second) |
    load<u64>(second, LINE_SIZE)
  );
}

/** Live slots of a set in the upper half, the first free one (0 for none) in the lower. */
function survey<T>(policy: T, set: usize, phase: u64): u64 {
  let live: u32 = 0;
  let free: usize = 0;
  for (let slot = set; slot < set + SET_SIZE; slot += SLOT_SIZE) {
    if (!isFree<T>(policy, slot, stateAt(slot), phase)) live++;
    else if (free == 0) free = slot;
  }
  return ((<u64>live) << 32) | free;
}

/** A slot that the tag, which has none, may take over at `phase`; 0 when both of its sets hold only live keys. */
export function place<T>(policy: T, tag: u64, phase: u64): usize {
  const firstAt = firstSet(tag);
  const first = survey<T>(policy, firstAt, phase);
  const firstLive = <u32>(first >> 32);
  if (firstLive < FIRST_SET_FILL) return <usize>(first & 0xffffffff);
  const second = survey<T>(policy, secondSet(tag, firstAt), phase);
  return <usize>((<u32>(second >> 32) < firstLive ? second : first) & 0xffffffff);
}

/** How many keys are not as new. Reads the whole table. */
export function countLive<T>(policy: T, phase: u64): u32 {
  let live: u32 = 0;
  const end = setsEnd();
  for (let slot = setsStart(); slot < end; slot += SLOT_SIZE) {
    const state = stateAt(slot);
    if (tagAt(slot) == 0 || (ASC_FEATURE_THREADS && policy.isFrozen(state))) continue;
    if (policy.balance(state, phase) != 0) live++;
  }
  return live;
}
