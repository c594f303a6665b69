// The same operations in a table that many threads use at once, any of which may be terminated at any moment.
//
// UPDATE, without a lock: load tag, state and tag again, then one compare-and-swap of that state. What the swap finds
// changed, it does not touch, and the call starts over. A denial re-reads the state before it answers.
//
// HORIZON: one word H in the header, the greatest `now` of any call that missed its key. A key that is absent may have
// been evicted as new at H by a thread whose reading was later; a call with an earlier `now` would take it for full at a
// time when it was not. So a call that misses raises H to its `now`, and after its probe must not be behind H.
//
// INSERT: the lock of the tag's stripe is read first and must be free, then both sets are probed and a victim chosen,
// then the lock is taken by compare-and-swap from the word as read. Its sequence number makes that a proof that no
// insert of this tag has happened since. Inside are only: read H and the overflow cell, decide, freeze the victim by
// compare-and-swap from the state that was probed, store the tag, store the state, release; or one compare-and-swap of
// the cell, and release.
//
// FROZEN slots are changing hands: never as new, and never anybody's. Freezing is the last decision; after it only the
// three stores are left.
//
// What is left: a bucket's state counts the slot's keys modulo 3 only. A thread that stalls between reading a state and
// swapping it, while three further keys come and go in that slot at one reading of the clock, all of them reset or
// refunded, charges a stranger: one permit, for one such coincidence. (The explorer of these steps finds it; two keys do
// not suffice, and without refunds and resets it cannot happen.)
//
// Nothing between taking and releasing can be interrupted. V8 stops a worker at loop heads, function entries, calls and
// returns, and an instruction that traps ends the call: none of these is on any path there (a test walks the control
// flow of the compiled module), so no thread can die in it. For one that is merely not scheduled, the others wait a
// while and then charge the overflow cell without the lock: at most one permit call too many for each, and counted.

import { AGAIN, ALLOWED, BEHIND, LOCKED, OVERFLOW, decision } from '../decision';
import {
  LOCK_SIZE,
  POLICY,
  SLOT_SIZE,
  countEvictedIdle,
  countLockTimeout,
  countOverflowed,
  horizon,
  loadWord,
  lockOf,
  locksEnd,
  locksStart,
  overflowCell,
  raiseHorizon,
  setState,
  setTag,
  setsEnd,
  setsStart,
  stateAt,
  stateOf,
  storeWord,
  tagAt,
} from '../layout';
import { owner } from './owner';
import { cellBalance } from './private';
import { find, findUnfrozen, isFree, place } from './slots';

const SEQUENCE_MASK: u64 = 0xffffffff;
const OWNER_SHIFT: u64 = 32;

function swap(at: usize, from: u64, to: u64): bool {
  return atomic.cmpxchg<u64>(at, from, to) == from;
}

/** The tag's slot; a frozen one is nobody's. */
function slotOf<T>(policy: T, tag: u64): usize {
  const slot = find(tag);
  return slot != 0 && policy.isFrozen(stateAt(slot)) ? findUnfrozen<T>(policy, tag) : slot;
}

export function acquire<T>(tag: u64, now: u64, cost: u64): u64 {
  const policy = changetype<T>(POLICY);
  while (true) {
    const slot = slotOf<T>(policy, tag);
    const answer =
      slot != 0 ? update<T>(policy, slot, tag, now, cost) : insert<T>(policy, tag, now, cost);
    if (answer != AGAIN) return answer;
  }
}

/** The same by a call that has waited for the lock for too long. */
export function force<T>(tag: u64, now: u64, cost: u64): u64 {
  const policy = changetype<T>(POLICY);
  while (true) {
    const slot = slotOf<T>(policy, tag);
    if (slot != 0) {
      const answer = update<T>(policy, slot, tag, now, cost);
      if (answer != AGAIN) return answer;
      continue;
    }
    raiseHorizon(now);
    if (horizon() > now) return BEHIND;
    const cell = overflowCell(tag);
    const phase = policy.phase(now);
    const state = loadWord(cell);
    const balance = cellBalance<T>(policy, state, phase);
    const allowed = policy.allows(balance, policy.left(now), cost);
    if (allowed) {
      const charged = policy.charged(state, balance, phase, cost);
      if (!swap(cell, state, policy.handedOver(charged, 0))) continue;
    } else if (loadWord(cell) != state) continue;
    countOverflowed();
    countLockTimeout();
    return decision(balance, allowed ? OVERFLOW | ALLOWED : OVERFLOW);
  }
}

function update<T>(policy: T, slot: usize, tag: u64, now: u64, cost: u64): u64 {
  const state = stateAt(slot);
  if (tagAt(slot) != tag || policy.isFrozen(state)) return AGAIN;
  const phase = policy.phase(now);
  const balance = policy.balance(state, phase);
  if (policy.allows(balance, policy.left(now), cost)) {
    const charged = policy.charged(state, balance, phase, cost);
    return swap(stateOf(slot), state, charged) ? decision(balance, ALLOWED) : AGAIN;
  }
  return stateAt(slot) == state ? decision(balance, 0) : AGAIN;
}

function insert<T>(policy: T, tag: u64, now: u64, cost: u64): u64 {
  raiseHorizon(now);
  const lock = lockOf(tag);
  const free = loadWord(lock);
  if (free >> OWNER_SHIFT != 0) return LOCKED;
  if (findUnfrozen<T>(policy, tag) != 0) return AGAIN;
  const phase = policy.phase(now);
  const slot = place<T>(policy, tag, phase);
  const probed = slot != 0 ? stateAt(slot) : 0;
  if (slot != 0 && !isFree<T>(policy, slot, probed, phase)) return AGAIN;
  const evicts = slot != 0 && tagAt(slot) != 0;
  if (horizon() > now) return BEHIND;
  const cell = overflowCell(tag);
  const left = policy.left(now);
  const released = (free + 1) & SEQUENCE_MASK;
  const frozen = policy.frozen(probed, owner);
  const state = stateOf(slot);
  let answer = AGAIN;

  if (atomic.cmpxchg<u64>(lock, free, free | ((<u64>owner) << OWNER_SHIFT)) != free) return AGAIN;
  if (horizon() > now) {
    answer = BEHIND;
  } else {
    const debt = loadWord(cell);
    const balance = cellBalance<T>(policy, debt, phase);
    const charged = policy.charged(debt, balance, phase, cost);
    if (!policy.allows(balance, left, cost)) {
      answer = decision(balance, slot == 0 ? OVERFLOW : 0);
    } else if (slot == 0) {
      if (swap(cell, debt, policy.handedOver(charged, 0))) {
        answer = decision(balance, OVERFLOW | ALLOWED);
      }
    } else if (swap(state, probed, frozen)) {
      setTag(slot, tag);
      storeWord(state, policy.handedOver(charged, probed));
      answer = decision(balance, ALLOWED);
    }
  }
  storeWord(lock, released);

  if (answer < BEHIND) {
    if (answer & OVERFLOW) countOverflowed();
    else if (evicts && answer & ALLOWED) countEvictedIdle();
  }
  return answer;
}

/** What `acquire` would answer. Raises nothing, since it changes nothing. */
export function peek<T>(tag: u64, now: u64, cost: u64): u64 {
  const policy = changetype<T>(POLICY);
  const phase = policy.phase(now);
  const left = policy.left(now);
  while (true) {
    const slot = slotOf<T>(policy, tag);
    const at = slot != 0 ? stateOf(slot) : overflowCell(tag);
    const state = loadWord(at);
    if (slot != 0 && (tagAt(slot) != tag || policy.isFrozen(state))) continue;
    const balance = slot != 0 ? policy.balance(state, phase) : cellBalance<T>(policy, state, phase);
    const source = slot == 0 && place<T>(policy, tag, phase) == 0 ? OVERFLOW : 0;
    if (slot == 0 && horizon() > now) return BEHIND;
    if (loadWord(at) != state) continue;
    return decision(balance, policy.allows(balance, left, cost) ? source | ALLOWED : source);
  }
}

export function refund<T>(tag: u64, now: u64, cost: u64): void {
  const policy = changetype<T>(POLICY);
  const phase = policy.phase(now);
  while (true) {
    const slot = slotOf<T>(policy, tag);
    if (slot == 0) return;
    const state = stateAt(slot);
    if (tagAt(slot) != tag || policy.isFrozen(state)) continue;
    const refunded = policy.refunded(state, policy.balance(state, phase), phase, cost);
    if (swap(stateOf(slot), state, refunded)) return;
  }
}

export function reset<T>(tag: u64, now: u64): void {
  const policy = changetype<T>(POLICY);
  const phase = policy.phase(now);
  while (true) {
    const slot = slotOf<T>(policy, tag);
    if (slot == 0) return;
    const state = stateAt(slot);
    if (tagAt(slot) != tag || policy.isFrozen(state)) continue;
    if (swap(stateOf(slot), state, policy.renewed(state, phase))) return;
  }
}

/** Frees what a thread that has died still held. Reads the whole table. */
export function bury<T>(dead: u32): void {
  const policy = changetype<T>(POLICY);
  const phase = policy.phase(horizon());
  const end = setsEnd();
  for (let slot = setsStart(); slot < end; slot += SLOT_SIZE) {
    const state = stateAt(slot);
    if (!policy.isFrozen(state) || policy.ownerOf(state) != dead) continue;
    // First it becomes ours, so that two who bury at once do not both clear the tag.
    const mine = policy.takenOver(state, owner);
    if (!swap(stateOf(slot), state, mine)) continue;
    setTag(slot, 0);
    setState(slot, policy.thawed(mine, phase));
  }
  for (let lock = locksStart(); lock < locksEnd(); lock += LOCK_SIZE) {
    const word = loadWord(lock);
    if (<u32>(word >> OWNER_SHIFT) == dead) swap(lock, word, (word + 1) & SEQUENCE_MASK);
  }
}
