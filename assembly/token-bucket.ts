// Token bucket, as the generic cell rate algorithm (ITU-T I.371): the state is one point in time, the theoretical
// arrival time (TAT) at which the bucket would be full again.
//
// The rate is R tokens per P microseconds, reduced. Tokens are counted in units of 1/P and time flows R units a
// microsecond, so that every quantity is a whole number: nothing is rounded, nothing drifts.
//
//   level = max(0, TAT - now*R)      what is missing from a full bucket
//   full  = capacity*P               what is missing from an empty one
//
// State word: TAT modulo 2^62 in the upper bits, the slot's owners so far modulo 3 in the lower two (3 is reserved for
// a slot that is changing hands). TAT is compared as a wrapped difference, so uptime has no end.

import { MAX_SKEW, ceilDiv } from './arithmetic';

const TAT_BITS: u64 = 62;
const TAT_MASK: u64 = (1 << TAT_BITS) - 1;
const OWNER_BITS: u64 = 2;
const OWNER_MASK: u64 = (1 << OWNER_BITS) - 1;

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
    this.reach = this.full + rate * MAX_SKEW;
  }

  /** `now` in the algorithm's own unit. Wraps, like everything it is compared with. */
  phase(now: u64): u64 {
    return now * this.rate;
  }

  /** Brings a state up to the present: the level, 0 for a full bucket. */
  balance(state: u64, phase: u64): u64 {
    const debt = ((state >> OWNER_BITS) - phase) & TAT_MASK;
    return debt <= this.reach ? debt : 0;
  }

  /** A slot in this state holds nothing that an absent key does not have. */
  reusable(state: u64, phase: u64): bool {
    return this.balance(state, phase) == 0;
  }

  /** Needs cost <= capacity. Compares by subtraction, since level + cost*P can pass the range of legal levels. */
  allows(balance: u64, phase: u64, now: u64, cost: u64): bool {
    return <i64>(cost * this.token) <= <i64>(this.full - balance);
  }

  /** The state after `cost` was taken; `state` is the one that `balance` came from. */
  charged(state: u64, balance: u64, phase: u64, cost: u64): u64 {
    return this.pack(phase + balance + cost * this.token, state & OWNER_MASK);
  }

  /** The state after `cost` <= capacity was given back. */
  refunded(state: u64, balance: u64, phase: u64, cost: u64): u64 {
    const back = cost * this.token;
    return this.pack(phase + (balance > back ? balance - back : 0), state & OWNER_MASK);
  }

  /** The state of a key that is as new at this moment. */
  renewed(state: u64, phase: u64): u64 {
    return this.pack(phase, state & OWNER_MASK);
  }

  /** `state` for a slot that changes hands: one more owner than the state it replaces. */
  handedOver(state: u64, replaced: u64): u64 {
    const owners = replaced & OWNER_MASK;
    return (state & ~OWNER_MASK) | (owners >= 2 ? 0 : owners + 1);
  }

  private pack(tat: u64, owners: u64): u64 {
    return (tat << OWNER_BITS) | owners;
  }

  // ---- what a decision says, for the front --------------------------------------------------

  /** Whole permits left. */
  remaining(balance: u64, now: u64): u64 {
    return balance >= this.full ? 0 : (this.full - balance) / this.token;
  }

  /** Microseconds until a denied `cost` <= capacity would pass. */
  retryAfter(balance: u64, now: u64, cost: u64): u64 {
    return ceilDiv(balance + cost * this.token - this.full, this.rate);
  }

  /** Microseconds until the bucket is full. */
  resetAfter(balance: u64, now: u64): u64 {
    return ceilDiv(balance, this.rate);
  }

  /** The balance after `cost` was taken. */
  spent(balance: u64, cost: u64): u64 {
    return balance + cost * this.token;
  }
}
