// Token bucket, as the generic cell rate algorithm (ITU-T I.371): the state is one point in time, the theoretical
// arrival time (TAT) at which the bucket would be full again.
//
// The rate is R tokens per P microseconds, reduced. Tokens are counted in units of 1/P and time flows R units a
// microsecond, so that every quantity is a whole number: nothing is rounded, nothing drifts.
//
//   level = max(0, TAT - now*R)      what is missing from a full bucket
//   full  = capacity*P               what is missing from an empty one
//
// State word: TAT modulo 2^62 in the upper bits, the slot's keys so far modulo 3 in the lower two: without that count a
// refund could bring back a state that another thread read from the slot's last key. 3 is a frozen slot, one that is
// changing hands: above it the count, and above that the thread that froze it.
// TAT is compared as a wrapped difference, so uptime has no end.

import { MAX_SKEW, US_PER_MS, ceilDiv } from './arithmetic';

const TAT_BITS: u64 = 62;
const TAT_MASK: u64 = (1 << TAT_BITS) - 1;
const KEYS_BITS: u64 = 2;
const KEYS_MASK: u64 = (1 << KEYS_BITS) - 1;
const FROZEN: u64 = 3;

/** The policy as it lies in memory, at POLICY. Each method is arithmetic on its arguments and these words. */
@unmanaged
export class TokenBucket {
  capacity: u64;
  /** R, tokens per P microseconds. */
  rate: u64;
  /** P, units a token. */
  token: u64;
  /** capacity * P */
  full: u64;
  /** The largest difference TAT - now*R that is taken for a debt and not for the distant past. */
  reach: u64;

  init(capacity: u64, rate: u64, token: u64): void {
    this.capacity = capacity;
    this.rate = rate;
    this.token = token;
    this.full = capacity * token;
    this.reach = this.reachOf();
  }

  /** In a private table no reading is later than `now`. */
  private reachOf(): u64 {
    return ASC_FEATURE_THREADS ? this.full + this.rate * MAX_SKEW : this.full;
  }

  /** Whether these words belong together; false for a damaged header. */
  isSound(): bool {
    if (this.capacity == 0 || this.rate == 0 || this.token == 0) return false;
    return (
      this.full / this.token == this.capacity &&
      this.full == this.capacity * this.token &&
      this.reach == this.reachOf()
    );
  }

  /** `now` in the algorithm's own unit. Wraps, like everything it is compared with. */
  phase(now: u64): u64 {
    return now * this.rate;
  }

  /** What else of the present `allows` needs: nothing. */
  left(now: u64): u64 {
    return 0;
  }

  /** Brings a state up to the present: the level, 0 for a full bucket. */
  balance(state: u64, phase: u64): u64 {
    const debt = ((state >> KEYS_BITS) - phase) & TAT_MASK;
    return debt <= this.reach ? debt : 0;
  }

  /** A slot in this state holds nothing that an absent key does not have. */
  reusable(state: u64, phase: u64): bool {
    return this.balance(state, phase) == 0;
  }

  /** Needs cost <= capacity. Compares by subtraction, since level + cost*P can pass the range of legal levels. */
  allows(balance: u64, left: u64, cost: u64): bool {
    return <i64>(cost * this.token) <= <i64>(this.full - balance);
  }

  /** The state after `cost` was taken; `state` is the one that `balance` came from. */
  charged(state: u64, balance: u64, phase: u64, cost: u64): u64 {
    return this.pack(phase + balance + cost * this.token, state & KEYS_MASK);
  }

  /** The state after `cost` <= capacity was given back. */
  refunded(state: u64, balance: u64, phase: u64, cost: u64): u64 {
    const back = cost * this.token;
    return this.pack(phase + (balance > back ? balance - back : 0), state & KEYS_MASK);
  }

  /** The state of a key that is as new at this moment. */
  renewed(state: u64, phase: u64): u64 {
    return this.pack(phase, state & KEYS_MASK);
  }

  /** `state` for a slot that changes hands: one more key than the state it replaces. */
  handedOver(state: u64, replaced: u64): u64 {
    const keys = replaced & KEYS_MASK;
    return (state & ~KEYS_MASK) | (keys >= 2 ? 0 : keys + 1);
  }

  /** The state of a slot that `owner` is handing over. */
  frozen(replaced: u64, owner: u32): u64 {
    return ((((<u64>owner) << KEYS_BITS) | (replaced & KEYS_MASK)) << KEYS_BITS) | FROZEN;
  }

  isFrozen(state: u64): bool {
    return (state & KEYS_MASK) == FROZEN;
  }

  /** Who froze it. */
  ownerOf(frozen: u64): u32 {
    return <u32>(frozen >> (2 * KEYS_BITS));
  }

  /** A frozen state, now in the hands of another thread. */
  takenOver(frozen: u64, owner: u32): u64 {
    return this.frozen(frozen >> KEYS_BITS, owner);
  }

  /** The state of a slot whose owner died while handing it over: as new, and no state that it had before. */
  thawed(frozen: u64, phase: u64): u64 {
    return this.handedOver(this.pack(phase, 0), frozen >> KEYS_BITS);
  }

  private pack(tat: u64, keys: u64): u64 {
    return (tat << KEYS_BITS) | keys;
  }

  // ---- what a decision says, for the front --------------------------------------------------

  /** Whole permits left. */
  remaining(balance: u64, now: u64): u64 {
    return balance >= this.full ? 0 : (this.full - balance) / this.token;
  }

  /** Milliseconds until a denied `cost` <= capacity would pass. */
  retryAfterMs(balance: u64, now: u64, cost: u64): u64 {
    return ceilDiv(balance + cost * this.token - this.full, this.rate * US_PER_MS);
  }

  /** Milliseconds until the bucket is full. */
  resetAfterMs(balance: u64, now: u64): u64 {
    return ceilDiv(balance, this.rate * US_PER_MS);
  }

  /** The balance after `cost` was taken. */
  spent(balance: u64, cost: u64): u64 {
    return balance + cost * this.token;
  }
}
