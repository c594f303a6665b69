// What a limiter decides about a tag, and how a decision is spelled out.

import { US_PER_MS } from '../arithmetic';
import { ALLOWED, BEHIND, OVERFLOW, balanceOf } from '../decision';
import { TOKEN_BUCKET } from '../layout';
import { SlidingWindowCounter } from '../sliding-window-counter';
import { TokenBucket } from '../token-bucket';
import { Seat, setResult } from './layout';
import * as table from './table';

/** Another thread is in the way: call again, or `force`. */
export const WAIT: i32 = 4;
/** Attempts at a lock before the caller is asked to wait; a lock is held for some 20 ns if its thread is running. */
const SPINS: i32 = 100;

/** 1 if `cost` permits were free and are now taken, 0 if not, WAIT if another thread held the lock for too long. */
export function isAllowedTag(seat: Seat, tag: u64, ms: f64, cost: f64): i32 {
  setNow(seat, ms);
  const decision = acquire(seat, tag, <u64>cost);
  return decision < BEHIND ? <i32>(decision & ALLOWED) : WAIT;
}

/** The same, described: bit 0 allowed, bit 1 overflow, and the numbers in memory; or WAIT. */
export function tryAcquireTag(seat: Seat, tag: u64, ms: f64, cost: f64): i32 {
  setNow(seat, ms);
  return describe(seat, acquire(seat, tag, <u64>cost), <u64>cost, 0);
}

export function acquire(seat: Seat, tag: u64, cost: u64): u64 {
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
export function look(seat: Seat, tag: u64, cost: u64): u64 {
  const wanted = cost > seat.limit ? 0 : cost;
  let decision: u64;
  do {
    decision = table.peek(seat, tag, seat.latest, wanted);
  } while (isBehind(seat, decision));
  if (cost > seat.limit) return decision & ~ALLOWED;
  return decision | (cost == 0 ? ALLOWED : 0);
}

/** Another thread's reading is later: this limiter's time is that, too. */
export function isBehind(seat: Seat, decision: u64): bool {
  if (decision != BEHIND) return false;
  seat.latest = table.horizon(seat);
  return true;
}

export function counted(seat: Seat, decision: u64): u64 {
  if (decision & ALLOWED) seat.allowed++;
  else seat.denied++;
  return decision;
}

/** Whole microseconds since the epoch. Time that runs backwards stands still. */
export function setNow(seat: Seat, ms: f64): void {
  const now = <i64>nearest(ms * <f64>US_PER_MS) - seat.epoch;
  if (now > <i64>seat.latest) seat.latest = now;
}

export function describe(seat: Seat, decision: u64, cost: u64, place: u32): i32 {
  if (decision >= BEHIND) return WAIT;
  if (seat.algorithm == TOKEN_BUCKET) spell<TokenBucket>(seat, decision, cost, place);
  else spell<SlidingWindowCounter>(seat, decision, cost, place);
  return <i32>(decision & (ALLOWED | OVERFLOW));
}

function spell<T>(seat: Seat, decision: u64, cost: u64, place: u32): void {
  const policy = changetype<T>(seat);
  const now = seat.latest;
  const before = balanceOf(decision);
  const after = decision & ALLOWED ? policy.spent(before, cost) : before;
  let retryAfterMs: f64 = 0;
  if (!(decision & ALLOWED)) {
    retryAfterMs = cost > seat.limit ? Infinity : <f64>policy.retryAfterMs(before, now, cost);
  }
  setResult(
    place,
    <f64>policy.remaining(after, now),
    retryAfterMs,
    <f64>policy.resetAfterMs(after, now),
  );
}
