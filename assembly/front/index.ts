// The front module: one instance a thread, which serves all of the thread's limiters. It turns a key into a tag and a
// clock's reading into `now`, calls the limiter's table, and spells a decision out in numbers. Its memory is private, so
// no thread ever sees another's half-written key or result.
//
// One instance for all, so that JavaScript always calls the same functions: V8 inlines the call's wrapper only where
// the callee is known, which is worth 20 ns a call as soon as a process has two limiters.
//
// The caller's checks have run before: `cost` is a whole number from 0 to 2^53-1, `ms` is finite and within the range
// whose microseconds a double holds exactly.

import { ceilDiv } from '../arithmetic';
import { ALLOWED, OVERFLOW, balanceOf } from '../decision';
import { POLICY_WORDS, TOKEN_BUCKET } from '../layout';
import { SlidingWindowCounter } from '../sliding-window-counter';
import { TokenBucket } from '../token-bucket';
import { tagOf } from './key';
import { Seat, seatAt, setResult } from './layout';
import * as table from './table';

export { MAX_KEYS } from '../layout';
export { absorb, begin, seal } from './key';
export { SCRATCH, SCRATCH_SIZE } from './layout';
export { GROUP } from './table';

/**
 * Seats a limiter whose functions stand in the function table's group of that number, and takes over its table's
 * policy, hash key and epoch. Null when there are no more seats.
 */
export function connect(group: u32): Seat | null {
  const seat = seatAt(group);
  if (seat === null) return null;
  seat.functions = group * table.GROUP;
  for (let i: u32 = 0; i < POLICY_WORDS; i++) seat.setPolicyWord(i, table.policyWord(seat, i));
  seat.algorithm = table.algorithm(seat);
  seat.key0 = table.key0(seat);
  seat.key1 = table.key1(seat);
  seat.epoch = table.epoch(seat);
  seat.latest = 0;
  seat.allowed = 0;
  seat.denied = 0;
  return seat;
}

/** 1 if `cost` permits were free and are now taken, else 0. */
export function isAllowed(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): i32 {
  const decision = acquire(seat, tagOf(seat, length, number), nowAt(seat, ms), <u64>cost);
  return <i32>(decision & ALLOWED);
}

/** The same, described: bit 0 allowed, bit 1 overflow, and the numbers in memory. */
export function tryAcquire(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): i32 {
  const now = nowAt(seat, ms);
  return describe(seat, acquire(seat, tagOf(seat, length, number), now, <u64>cost), now, <u64>cost);
}

/** What tryAcquire would answer. */
export function peek(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): i32 {
  const now = nowAt(seat, ms);
  return describe(seat, look(seat, tagOf(seat, length, number), now, <u64>cost), now, <u64>cost);
}

export function refund(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): void {
  const permits = <u64>cost < seat.limit ? <u64>cost : seat.limit;
  table.refund(seat, tagOf(seat, length, number), nowAt(seat, ms), permits);
}

export function reset(seat: Seat, length: i32, number: f64, ms: f64): void {
  table.reset(seat, tagOf(seat, length, number), nowAt(seat, ms));
}

export function liveKeys(seat: Seat, ms: f64): u32 {
  return table.live(seat, nowAt(seat, ms));
}
export function allowedCalls(seat: Seat): f64 {
  return <f64>seat.allowed;
}
export function deniedCalls(seat: Seat): f64 {
  return <f64>seat.denied;
}

function acquire(seat: Seat, tag: u64, now: u64, cost: u64): u64 {
  // One comparison for both ends: cost 0 wraps to the largest number.
  const decision =
    cost - 1 < seat.limit ? table.acquire(seat, tag, now, cost) : look(seat, tag, now, cost);
  if (decision & ALLOWED) seat.allowed++;
  else seat.denied++;
  return decision;
}

/** Nothing is free to be had and asks nothing of the state; more than the limit is never to be had. */
function look(seat: Seat, tag: u64, now: u64, cost: u64): u64 {
  if (cost > seat.limit) return table.peek(seat, tag, now, 0) & ~ALLOWED;
  return table.peek(seat, tag, now, cost) | (cost == 0 ? ALLOWED : 0);
}

/** Whole microseconds since the epoch. Time that runs backwards stands still. */
function nowAt(seat: Seat, ms: f64): u64 {
  const now = <i64>nearest(ms * 1000) - seat.epoch;
  if (now > <i64>seat.latest) seat.latest = now;
  return seat.latest;
}

function describe(seat: Seat, decision: u64, now: u64, cost: u64): i32 {
  if (seat.algorithm == TOKEN_BUCKET) spell<TokenBucket>(seat, decision, now, cost);
  else spell<SlidingWindowCounter>(seat, decision, now, cost);
  return <i32>(decision & (ALLOWED | OVERFLOW));
}

function spell<T>(seat: Seat, decision: u64, now: u64, cost: u64): void {
  const policy = changetype<T>(seat);
  const before = balanceOf(decision);
  const after = decision & ALLOWED ? policy.spent(before, cost) : before;
  let retryAfter: f64 = 0;
  if (!(decision & ALLOWED)) {
    retryAfter = cost > seat.limit ? Infinity : milliseconds(policy.retryAfter(before, now, cost));
  }
  setResult(
    <f64>policy.remaining(after, now),
    retryAfter,
    milliseconds(policy.resetAfter(after, now)),
  );
}

function milliseconds(us: u64): f64 {
  return <f64>ceilDiv(us, 1000);
}
