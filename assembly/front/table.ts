// A limiter's table is another module over another memory. Its functions stand in the function table that this module
// imports, one group a limiter, and are called from here directly: a detour through JavaScript would cost more than
// everything else together.

import { Seat } from './layout';

/** In the order of the group. */
const ACQUIRE: u32 = 0;
const FORCE: u32 = 1;
const PEEK: u32 = 2;
const REFUND: u32 = 3;
const RESET: u32 = 4;
const LIVE: u32 = 5;
const TOUCH: u32 = 6;
const HORIZON: u32 = 7;
const ALGORITHM: u32 = 8;
const KEY0: u32 = 9;
const KEY1: u32 = 10;
const EPOCH: u32 = 11;
const POLICY_WORD: u32 = 12;
/** Functions a limiter. */
export const GROUP: u32 = 13;

export function acquire(seat: Seat, tag: u64, now: u64, cost: u64): u64 {
  return call_indirect<u64>(seat.functions + ACQUIRE, tag, now, cost);
}
export function force(seat: Seat, tag: u64, now: u64, cost: u64): u64 {
  return call_indirect<u64>(seat.functions + FORCE, tag, now, cost);
}
export function peek(seat: Seat, tag: u64, now: u64, cost: u64): u64 {
  return call_indirect<u64>(seat.functions + PEEK, tag, now, cost);
}
export function refund(seat: Seat, tag: u64, now: u64, cost: u64): void {
  call_indirect<void>(seat.functions + REFUND, tag, now, cost);
}
export function reset(seat: Seat, tag: u64, now: u64): void {
  call_indirect<void>(seat.functions + RESET, tag, now);
}
export function live(seat: Seat, now: u64): u32 {
  return call_indirect<u32>(seat.functions + LIVE, now);
}
/** Has the sets of eight tags brought near. */
export function touch(
  seat: Seat,
  tag0: u64,
  tag1: u64,
  tag2: u64,
  tag3: u64,
  tag4: u64,
  tag5: u64,
  tag6: u64,
  tag7: u64,
): u64 {
  return call_indirect<u64>(seat.functions + TOUCH, tag0, tag1, tag2, tag3, tag4, tag5, tag6, tag7);
}
export function horizon(seat: Seat): u64 {
  return call_indirect<u64>(seat.functions + HORIZON);
}
export function algorithm(seat: Seat): u32 {
  return call_indirect<u32>(seat.functions + ALGORITHM);
}
export function key0(seat: Seat): u64 {
  return call_indirect<u64>(seat.functions + KEY0);
}
export function key1(seat: Seat): u64 {
  return call_indirect<u64>(seat.functions + KEY1);
}
export function epoch(seat: Seat): i64 {
  return call_indirect<i64>(seat.functions + EPOCH);
}
export function policyWord(seat: Seat, index: u32): u64 {
  return call_indirect<u64>(seat.functions + POLICY_WORD, index);
}
