// What the table answers the front: one word, since a WebAssembly call of ours returns one value.
//
//   bit 0      allowed
//   bit 1      overflow: the key has no slot of its own
//   bits 2-63  balance: the key's state brought up to `now`, before this call was charged
//              (the algorithm's class says how to read it)

export const ALLOWED: u64 = 1;
export const OVERFLOW: u64 = 2;
const BALANCE_SHIFT: u64 = 2;

export function decision(balance: u64, flags: u64): u64 {
  return (balance << BALANCE_SHIFT) | flags;
}
export function balanceOf(decision: u64): u64 {
  return decision >> BALANCE_SHIFT;
}
