// The table module: numbers in, numbers out, over one imported memory. It has no data segments and no state of its own,
// so that every instance over the same memory is the same table. Built twice, for private and for shared memory.

import {
  FAULT_SIZES,
  PAGE_SIZE,
  POLICY,
  SLIDING_WINDOW_COUNTER,
  TOKEN_BUCKET,
  headerAlgorithm,
  headerFault,
  pagesFor,
  writeHeader,
} from '../layout';
import { SlidingWindowCounter } from '../sliding-window-counter';
import { TokenBucket } from '../token-bucket';
import * as single from './private';
import * as shared from './shared';
import { countLive } from './slots';

export { touch } from './slots';

export {
  NAME,
  NAME_SIZE,
  describeHeader,
  evictedIdle,
  headerAlgorithm,
  headerEpoch,
  headerKey0,
  headerKey1,
  headerMaxKeys,
  headerNameSize,
  headerOwnClock,
  headerVersion,
  horizon,
  lockTimeouts,
  overflowed,
  policyWord,
} from '../layout';

/** Grows the memory to what `maxKeys` needs; false when the system does not give it. */
export function reserve(maxKeys: u32): bool {
  const pages = <i32>pagesFor(maxKeys);
  return memory.size() >= pages || memory.grow(pages - memory.size()) != -1;
}

export function createTokenBucket(
  maxKeys: u32,
  key0: u64,
  key1: u64,
  epoch: i64,
  capacity: u64,
  rate: u64,
  token: u64,
): void {
  changetype<TokenBucket>(POLICY).init(capacity, rate, token);
  writeHeader(TOKEN_BUCKET, maxKeys, key0, key1, epoch);
}

export function createSlidingWindowCounter(
  maxKeys: u32,
  key0: u64,
  key1: u64,
  epoch: i64,
  limit: u64,
  window: u64,
): void {
  changetype<SlidingWindowCounter>(POLICY).init(limit, window);
  writeHeader(SLIDING_WINDOW_COUNTER, maxKeys, key0, key1, epoch);
}

/** What is wrong with the table in this memory: 0 nothing, else one of the layout's faults. */
export function fault(): u32 {
  const header = headerFault();
  if (header != 0) return header;
  const algorithm = headerAlgorithm();
  if (algorithm == TOKEN_BUCKET) return changetype<TokenBucket>(POLICY).isSound() ? 0 : FAULT_SIZES;
  if (algorithm != SLIDING_WINDOW_COUNTER) return FAULT_SIZES;
  return changetype<SlidingWindowCounter>(POLICY).isSound() ? 0 : FAULT_SIZES;
}

/** All of the memory, in bytes. */
export function memoryBytes(): f64 {
  return <f64>memory.size() * <f64>PAGE_SIZE;
}

export function tokenBucketAcquire(tag: u64, now: u64, cost: u64): u64 {
  return acquire<TokenBucket>(tag, now, cost);
}
export function tokenBucketForce(tag: u64, now: u64, cost: u64): u64 {
  return force<TokenBucket>(tag, now, cost);
}
export function tokenBucketPeek(tag: u64, now: u64, cost: u64): u64 {
  return peek<TokenBucket>(tag, now, cost);
}
export function tokenBucketRefund(tag: u64, now: u64, cost: u64): void {
  refund<TokenBucket>(tag, now, cost);
}
export function tokenBucketReset(tag: u64, now: u64): void {
  reset<TokenBucket>(tag, now);
}
export function tokenBucketLive(now: u64): u32 {
  return live<TokenBucket>(now);
}
export function tokenBucketBury(owner: u32): void {
  bury<TokenBucket>(owner);
}

export function slidingWindowCounterAcquire(tag: u64, now: u64, cost: u64): u64 {
  return acquire<SlidingWindowCounter>(tag, now, cost);
}
export function slidingWindowCounterForce(tag: u64, now: u64, cost: u64): u64 {
  return force<SlidingWindowCounter>(tag, now, cost);
}
export function slidingWindowCounterPeek(tag: u64, now: u64, cost: u64): u64 {
  return peek<SlidingWindowCounter>(tag, now, cost);
}
export function slidingWindowCounterRefund(tag: u64, now: u64, cost: u64): void {
  refund<SlidingWindowCounter>(tag, now, cost);
}
export function slidingWindowCounterReset(tag: u64, now: u64): void {
  reset<SlidingWindowCounter>(tag, now);
}
export function slidingWindowCounterLive(now: u64): u32 {
  return live<SlidingWindowCounter>(now);
}
export function slidingWindowCounterBury(owner: u32): void {
  bury<SlidingWindowCounter>(owner);
}

function acquire<T>(tag: u64, now: u64, cost: u64): u64 {
  return ASC_FEATURE_THREADS
    ? shared.acquire<T>(tag, now, cost)
    : single.acquire<T>(tag, now, cost);
}
function force<T>(tag: u64, now: u64, cost: u64): u64 {
  return ASC_FEATURE_THREADS ? shared.force<T>(tag, now, cost) : single.acquire<T>(tag, now, cost);
}
function peek<T>(tag: u64, now: u64, cost: u64): u64 {
  return ASC_FEATURE_THREADS ? shared.peek<T>(tag, now, cost) : single.peek<T>(tag, now, cost);
}
function refund<T>(tag: u64, now: u64, cost: u64): void {
  if (ASC_FEATURE_THREADS) shared.refund<T>(tag, now, cost);
  else single.refund<T>(tag, now, cost);
}
function reset<T>(tag: u64, now: u64): void {
  if (ASC_FEATURE_THREADS) shared.reset<T>(tag, now);
  else single.reset<T>(tag, now);
}
function bury<T>(owner: u32): void {
  if (ASC_FEATURE_THREADS) shared.bury<T>(owner);
}
function live<T>(now: u64): u32 {
  const policy = changetype<T>(POLICY);
  return countLive<T>(policy, policy.phase(now));
}
