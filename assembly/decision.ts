// What the table answers the front: one word, since a WebAssembly call of ours returns one value.
//
//   bit 0      allowed
//   bit 1      overflow: the key has no slot of its own
//   bits 2-63  balance: the key's state brought up to `now`, before this call was charged
//              (the algorithm's class says how to read it)
//
// or, with bit 63 set, why there is no answer yet.

export const ALLOWED: u64 = 1;
export const OVERFLOW: u64 = 2;
/** Another thread has missed a key at a later `now`: ask again with the table's horizon. */
export const BEHIND: u64 = 1 << 63;
/** Another thread holds the lock that an insert needs: ask again. */
export const LOCKED: u64 = (1 << 63) | 4;
/** Something changed under the call, which starts over. Never leaves the table. */
export const AGAIN: u64 = (1 << 63) | 8;
const BALANCE_SHIFT: u64 = 2;

export function decision(balance: u64, flags: u64): u64 {
  return (balance << BALANCE_SHIFT) | flags;
}
export function balanceOf(decision: u64): u64 {
  return decision >> BALANCE_SHIFT;
}
