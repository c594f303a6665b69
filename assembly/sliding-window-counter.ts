// Sliding window counter over two fixed windows (Cloudflare, "How we built rate limiting capable of scaling to millions
// of domains", 2017), with the strict rule and in whole numbers: with P permits in the previous window, C in the
// current one and e elapsed of the window's length W,
//
//   allow iff C + cost + P*(W-e)/W <= limit, compared as P*(W-e) <= (limit-C-cost)*W
//
// It approximates: the previous window's permits are taken to be spread evenly. The worst trailing window holds
// 2*limit - 1, and under constant hammering limit - 1 pass.
//
// State word: the window's index in what two counts of c bits leave of 63, then the counts of the previous and of the
// current window, c being the bit length of the limit. Bit 63 marks a frozen slot, one that is changing hands: then the
// lower bits are the thread that froze it. Indexes are compared as wrapped differences.
//
// Balance: previous count in bits 30-59, current count in bits 0-29, and bit 60 if the state's window is ahead of `now`
// (another thread's clock reading is later): then time stands at that window's start.

import { MAX_SKEW, US_PER_MS, ceilDiv } from './arithmetic';

const COUNT_SHIFT: u64 = 30;
const COUNT_MASK: u64 = (1 << COUNT_SHIFT) - 1;
const AHEAD: u64 = 1 << 60;
const STATE_BITS: u64 = 63;
const FROZEN: u64 = 1 << 63;

@unmanaged
export class SlidingWindowCounter {
  limit: u64;
  /** W, microseconds. */
  window: u64;
  /** c, bits a count. */
  countBits: u64;
  indexMask: u64;
  /** Smallest wrapped difference that means "ahead of now" and not "long ago". */
  aheadFrom: u64;

  init(limit: u64, window: u64): void {
    this.limit = limit;
    this.window = window;
    this.countBits = 64 - clz(limit);
    this.indexMask = (1 << (STATE_BITS - 2 * this.countBits)) - 1;
    // Half of all indexes at most: the other half must stay "long ago".
    const skew = MAX_SKEW / window + 1;
    const half = (this.indexMask >> 1) + 1;
    this.aheadFrom = this.indexMask + 1 - (skew < half ? skew : half);
  }

  /** Whether these words belong together; false for a damaged header. */
  isSound(): bool {
    return (
      this.limit != 0 &&
      this.window != 0 &&
      this.countBits == 64 - clz(this.limit) &&
      this.countBits <= COUNT_SHIFT &&
      this.indexMask == ((<u64>1) << (STATE_BITS - 2 * this.countBits)) - 1 &&
      this.aheadFrom <= this.indexMask + 1
    );
  }

  /** The index of the window that `now` is in. */
  phase(now: u64): u64 {
    return now / this.window;
  }

  /** W - e: microseconds left of the window that `now` is in. */
  left(now: u64): u64 {
    return this.window - (now % this.window);
  }

  balance(state: u64, phase: u64): u64 {
    const behind = (phase - this.indexOf(state)) & this.indexMask;
    const current = state & this.mask();
    if (behind == 1) return current << COUNT_SHIFT;
    if (behind != 0 && behind < this.aheadFrom) return 0;
    const previous = (state >> this.countBits) & this.mask();
    return (previous << COUNT_SHIFT) | current | (behind == 0 ? 0 : AHEAD);
  }

  /** As new, and of an earlier window: a state of the present one may still be charged by somebody who has read it. */
  reusable(state: u64, phase: u64): bool {
    const behind = (phase - this.indexOf(state)) & this.indexMask;
    return behind > 1 ? behind < this.aheadFrom : behind == 1 && (state & this.mask()) == 0;
  }

  /** Needs cost <= limit. By subtraction: the sum of the two products could pass 2^63. */
  allows(balance: u64, left: u64, cost: u64): bool {
    const room = this.room(balance, cost);
    return room >= 0 && previousOf(balance) * this.leftAt(balance, left) <= <u64>room * this.window;
  }

  charged(state: u64, balance: u64, phase: u64, cost: u64): u64 {
    return this.pack(state, balance, phase, previousOf(balance), currentOf(balance) + cost);
  }

  /** The newest window first. */
  refunded(state: u64, balance: u64, phase: u64, cost: u64): u64 {
    const current = currentOf(balance);
    const previous = previousOf(balance);
    if (cost <= current) return this.pack(state, balance, phase, previous, current - cost);
    const rest = cost - current;
    return this.pack(state, balance, phase, previous > rest ? previous - rest : 0, 0);
  }

  renewed(state: u64, phase: u64): u64 {
    return this.pack(state, this.balance(state, phase), phase, 0, 0);
  }

  /** Nothing to do: a state that is reused is of an earlier window, so no later one can equal it. */
  handedOver(state: u64, replaced: u64): u64 {
    return state;
  }

  frozen(replaced: u64, owner: u32): u64 {
    return FROZEN | owner;
  }

  isFrozen(state: u64): bool {
    return (state & FROZEN) != 0;
  }

  ownerOf(frozen: u64): u32 {
    return <u32>frozen;
  }

  takenOver(frozen: u64, owner: u32): u64 {
    return this.frozen(0, owner);
  }

  /** Empty, but of the present window: not to be reused before the next one. */
  thawed(frozen: u64, phase: u64): u64 {
    return this.pack(0, 0, phase, 0, 0);
  }

  private mask(): u64 {
    return (1 << this.countBits) - 1;
  }

  private indexOf(state: u64): u64 {
    return (state >> (2 * this.countBits)) & this.indexMask;
  }

  private pack(state: u64, balance: u64, phase: u64, previous: u64, current: u64): u64 {
    const index = balance & AHEAD ? this.indexOf(state) : phase & this.indexMask;
    return (((index << this.countBits) | previous) << this.countBits) | current;
  }

  /** Permits left in the current window alone after `cost`; negative when there are not enough. */
  private room(balance: u64, cost: u64): i64 {
    return <i64>(this.limit - currentOf(balance) - cost);
  }

  private leftAt(balance: u64, left: u64): u64 {
    return balance & AHEAD ? this.window : left;
  }

  // ---- what a decision says, for the front --------------------------------------------------

  remaining(balance: u64, now: u64): u64 {
    const used =
      currentOf(balance) +
      ceilDiv(previousOf(balance) * this.leftAt(balance, this.left(now)), this.window);
    return used >= this.limit ? 0 : this.limit - used;
  }

  retryAfterMs(balance: u64, now: u64, cost: u64): u64 {
    return ceilDiv(this.retryAfter(balance, now, cost), US_PER_MS);
  }

  resetAfterMs(balance: u64, now: u64): u64 {
    const left = this.leftAt(balance, this.left(now));
    const us = currentOf(balance) > 0 ? left + this.window : previousOf(balance) > 0 ? left : 0;
    return ceilDiv(us, US_PER_MS);
  }

  private retryAfter(balance: u64, now: u64, cost: u64): u64 {
    const room = this.room(balance, cost);
    const left = this.leftAt(balance, this.left(now));
    if (room >= 0) {
      // P > 0: with an empty previous window this call would have passed.
      return left - (<u64>room * this.window) / previousOf(balance);
    }
    // C > 0, since cost <= limit. In the next window C weighs on, as the previous count.
    const wait = ((this.limit - cost) * this.window) / currentOf(balance);
    return left + (wait < this.window ? this.window - wait : 0);
  }

  spent(balance: u64, cost: u64): u64 {
    return balance + cost;
  }
}

function previousOf(balance: u64): u64 {
  return (balance >> COUNT_SHIFT) & COUNT_MASK;
}

function currentOf(balance: u64): u64 {
  return balance & COUNT_MASK;
}
