// The operations on one key in a table that only one thread uses, for any algorithm T. `now` is microseconds since the
// table's epoch and `cost` is at most the limit: the front has checked both.
//
// An absent key equals one that is as new. A key that finds no slot is charged to the overflow cell of its tag, and a
// key that later finds one starts from that cell if it is live: no debt is ever forgiven.

import { ALLOWED, OVERFLOW, decision } from '../decision';
import {
  POLICY,
  countEvictedIdle,
  countOverflowed,
  loadWord,
  overflowCell,
  populate,
  setState,
  setTag,
  stateAt,
  storeWord,
  tagAt,
} from '../layout';
import { find, place } from './slots';

export function acquire<T>(tag: u64, now: u64, cost: u64): u64 {
  const policy = changetype<T>(POLICY);
  const slot = find(tag);
  if (slot == 0) return acquireAbsent<T>(policy, tag, now, cost);
  const phase = policy.phase(now);
  const state = stateAt(slot);
  const balance = policy.balance(state, phase);
  if (!policy.allows(balance, policy.left(now), cost)) return decision(balance, 0);
  setState(slot, policy.charged(state, balance, phase, cost));
  return decision(balance, ALLOWED);
}

function acquireAbsent<T>(policy: T, tag: u64, now: u64, cost: u64): u64 {
  const phase = policy.phase(now);
  const cell = overflowCell(tag);
  const state = loadWord(cell);
  const balance = cellBalance<T>(policy, state, phase);
  const slot = place<T>(policy, tag, phase);
  const source = slot == 0 ? OVERFLOW : 0;
  if (slot == 0) countOverflowed();
  if (!policy.allows(balance, policy.left(now), cost)) return decision(balance, source);
  const charged = policy.charged(state, balance, phase, cost);
  if (slot == 0) {
    storeWord(cell, policy.handedOver(charged, 0));
  } else {
    if (tagAt(slot) != 0) countEvictedIdle();
    else populate(slot);
    setState(slot, policy.handedOver(charged, stateAt(slot)));
    setTag(slot, tag);
  }
  return decision(balance, source | ALLOWED);
}

/** A cell never used is all zero, which as a state can look live once time has wrapped; a used one never is. */
export function cellBalance<T>(policy: T, state: u64, phase: u64): u64 {
  return state == 0 ? 0 : policy.balance(state, phase);
}

/** What `acquire` would answer. */
export function peek<T>(tag: u64, now: u64, cost: u64): u64 {
  const policy = changetype<T>(POLICY);
  const phase = policy.phase(now);
  const slot = find(tag);
  const balance =
    slot != 0
      ? policy.balance(stateAt(slot), phase)
      : cellBalance<T>(policy, loadWord(overflowCell(tag)), phase);
  const source = slot == 0 && place<T>(policy, tag, phase) == 0 ? OVERFLOW : 0;
  return decision(
    balance,
    policy.allows(balance, policy.left(now), cost) ? source | ALLOWED : source,
  );
}

/** Gives permits back. A key without a slot of its own has nothing that is surely its own to give back to. */
export function refund<T>(tag: u64, now: u64, cost: u64): void {
  const policy = changetype<T>(POLICY);
  const slot = find(tag);
  if (slot == 0) return;
  const phase = policy.phase(now);
  const state = stateAt(slot);
  setState(slot, policy.refunded(state, policy.balance(state, phase), phase, cost));
}

/** Makes the key as new. */
export function reset<T>(tag: u64, now: u64): void {
  const policy = changetype<T>(POLICY);
  const slot = find(tag);
  if (slot == 0) return;
  setState(slot, policy.renewed(stateAt(slot), policy.phase(now)));
}
