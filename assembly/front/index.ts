// The front module: one instance a thread, which serves all of the thread's limiters. It turns a key into a tag and a
// clock's reading into `now`, calls the limiter's table, and spells a decision out in numbers. Its memory is private, so
// no thread ever sees another's half-written key or result.
//
// One instance for all, so that JavaScript always calls the same functions: V8 inlines the call's wrapper only where
// the callee is known, which is worth 20 ns a call as soon as a process has two limiters.
//
// The caller's checks have run before: `cost` is a whole number from 0 to 2^53-1, `ms` is finite and within the range
// whose microseconds a double holds exactly.

import { POLICY_WORDS } from '../layout';
import { counted, describe, isAllowedTag, isBehind, look, setNow, tryAcquireTag } from './decide';
import { tagOf } from './key';
import { Seat, seatAt } from './layout';
import * as table from './table';

export { MAX_KEYS } from '../layout';
export { isAllowedMany, tryAcquireMany } from './batch';
export { absorb, begin, keep, seal } from './key';
export { ANSWERS, BATCH, RESULTS, SCRATCH, SCRATCH_SIZE } from './layout';
export { GROUP } from './table';

/**
 * Seats a limiter whose functions stand in the function table's group of that number, and takes over its table's
 * policy, hash key and epoch. Its time begins at `ms`. Null when there are no more seats.
 */
export function connect(group: u32, ms: f64): Seat | null {
  const seat = seatAt(group);
  if (seat === null) return null;
  seat.functions = group * table.GROUP;
  for (let i: u32 = 0; i < POLICY_WORDS; i++) seat.setPolicyWord(i, table.policyWord(seat, i));
  seat.algorithm = table.algorithm(seat);
  seat.key0 = table.key0(seat);
  seat.key1 = table.key1(seat);
  seat.epoch = table.epoch(seat);
  seat.latest = 0;
  setNow(seat, ms);
  seat.allowed = 0;
  seat.denied = 0;
  return seat;
}

export function isAllowed(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): i32 {
  return isAllowedTag(seat, tagOf(seat, length, number), ms, cost);
}

export function tryAcquire(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): i32 {
  return tryAcquireTag(seat, tagOf(seat, length, number), ms, cost);
}

/** The same for a call that has waited long enough: it charges the overflow cell without the lock. */
export function force(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): i32 {
  setNow(seat, ms);
  const tag = tagOf(seat, length, number);
  let decision: u64;
  do {
    decision = table.force(seat, tag, seat.latest, <u64>cost);
  } while (isBehind(seat, decision));
  return describe(seat, counted(seat, decision), <u64>cost, 0);
}

/** What tryAcquire would answer. */
export function peek(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): i32 {
  setNow(seat, ms);
  return describe(seat, look(seat, tagOf(seat, length, number), <u64>cost), <u64>cost, 0);
}

export function refund(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): void {
  const permits = <u64>cost < seat.limit ? <u64>cost : seat.limit;
  setNow(seat, ms);
  table.refund(seat, tagOf(seat, length, number), seat.latest, permits);
}

export function reset(seat: Seat, length: i32, number: f64, ms: f64): void {
  setNow(seat, ms);
  table.reset(seat, tagOf(seat, length, number), seat.latest);
}

export function liveKeys(seat: Seat, ms: f64): u32 {
  setNow(seat, ms);
  return table.live(seat, seat.latest);
}
export function allowedCalls(seat: Seat): f64 {
  return <f64>seat.allowed;
}
export function deniedCalls(seat: Seat): f64 {
  return <f64>seat.denied;
}
