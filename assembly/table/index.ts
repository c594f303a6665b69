// The table module: numbers in, numbers out, over one imported memory. It has no data segments and no state of its own,
// so that every instance over the same memory is the same table.

import {
  PAGE_SIZE,
  POLICY,
  SLIDING_WINDOW_COUNTER,
  TOKEN_BUCKET,
  pagesFor,
  writeHeader,
} from '../layout';
import { SlidingWindowCounter } from '../sliding-window-counter';
import { TokenBucket } from '../token-bucket';
import { acquire, peek, refund, reset } from './acquire';
import { countLive } from './slots';

export {
  evictedIdle,
  headerAlgorithm,
  headerEpoch,
  headerKey0,
  headerKey1,
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

export function tokenBucketAcquire(tag: u64, now: u64, cost: u64): u64 {
  return acquire<TokenBucket>(tag, now, cost);
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

export function slidingWindowCounterAcquire(tag: u64, now: u64, cost: u64): u64 {
  return acquire<SlidingWindowCounter>(tag, now, cost);
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

/** All of the memory, in bytes. */
export function memoryBytes(): f64 {
  return <f64>memory.size() * <f64>PAGE_SIZE;
}

function live<T>(now: u64): u32 {
  const policy = changetype<T>(POLICY);
  return countLive<T>(policy, policy.phase(now));
}
