// The front module: one instance a thread, which serves all of the thread's limiters. It turns a key into a tag and a
// clock's reading into `now`, calls the limiter's table, and spells a decision out in numbers. Its memory is private, so
// no thread ever sees another's half-written key or result.
//
// One instance for all, so that JavaScript always calls the same functions: V8 inlines the call's wrapper only where
// the callee is known, which is worth 20 ns a call as soon as a process has two limiters.
//
// The caller's checks have run before: `cost` is a whole number from 0 to 2^53-1, `ms` is finite and within the range
// whose microseconds a double holds exactly.

import { US_PER_MS } from '../arithmetic';
import { ALLOWED, BEHIND, OVERFLOW, balanceOf } from '../decision';
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

/** Another thread is in the way: call again, or `force`. */
const WAIT: i32 = 4;
/** Attempts at a lock before the caller is asked to wait; a lock is held for some 20 ns if its thread is running. */
const SPINS: i32 = 100;

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

/** 1 if `cost` permits were free and are now taken, 0 if not, WAIT if another thread held the lock for too long. */
export function isAllowed(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): i32 {
  setNow(seat, ms);
  const decision = acquire(seat, tagOf(seat, length, number), <u64>cost);
  return decision < BEHIND ? <i32>(decision & ALLOWED) : WAIT;
}

/** The same, described: bit 0 allowed, bit 1 overflow, and the numbers in memory; or WAIT. */
export function tryAcquire(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): i32 {
  setNow(seat, ms);
  return describe(seat, acquire(seat, tagOf(seat, length, number), <u64>cost), <u64>cost);
}

/** The same for a call that has waited long enough: it charges the overflow cell without the lock. */
export function force(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): i32 {
  setNow(seat, ms);
  const tag = tagOf(seat, length, number);
  let decision: u64;
  do {
    decision = table.force(seat, tag, seat.latest, <u64>cost);
  } while (isBehind(seat, decision));
  return describe(seat, counted(seat, decision), <u64>cost);
}

/** What tryAcquire would answer. */
export function peek(seat: Seat, length: i32, number: f64, ms: f64, cost: f64): i32 {
  setNow(seat, ms);
  return describe(seat, look(seat, tagOf(seat, length, number), <u64>cost), <u64>cost);
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

function acquire(seat: Seat, tag: u64, cost: u64): u64 {
  // One comparison for both ends: cost 0 wraps to the largest number.
  if (cost - 1 >= seat.limit) return counted(seat, look(seat, tag, cost));
  let decision = table.acquire(seat, tag, seat.latest, cost);
  for (let tries = 0; decision >= BEHIND; tries++) {
    if (!isBehind(seat, decision) && tries > SPINS) return decision;
    decision = table.acquire(seat, tag, seat.latest, cost);
  }
  return counted(seat, decision);
}

/** Nothing is free to be had and asks nothing of the state; more than the limit is never to be had. */
function look(seat: Seat, tag: u64, cost: u64): u64 {
  const wanted = cost > seat.limit ? 0 : cost;
  let decision: u64;
  do {
    decision = table.peek(seat, tag, seat.latest, wanted);
  } while (isBehind(seat, decision));
  if (cost > seat.limit) return decision & ~ALLOWED;
  return decision | (cost == 0 ? ALLOWED : 0);
}

/** Another thread's reading is later: this limiter's time is that, too. */
function isBehind(seat: Seat, decision: u64): bool {
  if (decision != BEHIND) return false;
  seat.latest = table.horizon(seat);
  return true;
}

function counted(seat: Seat, decision: u64): u64 {
  if (decision & ALLOWED) seat.allowed++;
  else seat.denied++;
  return decision;
}

/** Whole microseconds since the epoch. Time that runs backwards stands still. */
function setNow(seat: Seat, ms: f64): void {
  const now = <i64>nearest(ms * <f64>US_PER_MS) - seat.epoch;
  if (now > <i64>seat.latest) seat.latest = now;
}

function describe(seat: Seat, decision: u64, cost: u64): i32 {
  if (decision >= BEHIND) return WAIT;
  if (seat.algorithm == TOKEN_BUCKET) spell<TokenBucket>(seat, decision, cost);
  else spell<SlidingWindowCounter>(seat, decision, cost);
  return <i32>(decision & (ALLOWED | OVERFLOW));
}

function spell<T>(seat: Seat, decision: u64, cost: u64): void {
  const policy = changetype<T>(seat);
  const now = seat.latest;
  const before = balanceOf(decision);
  const after = decision & ALLOWED ? policy.spent(before, cost) : before;
  let retryAfterMs: f64 = 0;
  if (!(decision & ALLOWED)) {
    retryAfterMs = cost > seat.limit ? Infinity : <f64>policy.retryAfterMs(before, now, cost);
  }
  setResult(<f64>policy.remaining(after, now), retryAfterMs, <f64>policy.resetAfterMs(after, now));
}
