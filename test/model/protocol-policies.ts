// The arithmetic of the two algorithms as assembly/token-bucket.ts and assembly/sliding-window-counter.ts have it, in
// numbers small enough for a model: words are plain integers below 2^31 and nothing wraps. What wraps in the real words
// is tested with the algorithms; here it would only add states.

/** What the protocol asks of an algorithm. */
export interface ModelPolicy {
  readonly name: string;
  readonly limit: number;
  phase(now: number): number;
  left(now: number): number;
  balance(state: number, phase: number): number;
  reusable(state: number, phase: number): boolean;
  allows(balance: number, left: number, cost: number): boolean;
  charged(state: number, balance: number, phase: number, cost: number): number;
  refunded(state: number, balance: number, phase: number, cost: number): number;
  renewed(state: number, phase: number): number;
  handedOver(state: number, replaced: number): number;
  frozen(replaced: number, owner: number): number;
  isFrozen(state: number): boolean;
  ownerOf(frozen: number): number;
  takenOver(frozen: number, owner: number): number;
  thawed(frozen: number, phase: number): number;
}

/** What can be left out of the algorithms' states. */
export interface PolicyFlaws {
  /** Bucket: a slot does not count its keys. */
  readonly keyCount?: boolean;
  /** Counter: an empty slot may change hands within its own window. */
  readonly windowIndex?: boolean;
}

/** A bucket of `capacity` tokens, one of which comes back every `refill` microseconds. */
export function modelBucket(capacity: number, refill: number, without: PolicyFlaws = {}) {
  const FROZEN = 3;
  const full = capacity * refill;
  const pack = (tat: number, keys: number) => (tat << 2) | keys;
  const policy: ModelPolicy = {
    name: `bucket of ${capacity}, a token in ${refill} us`,
    limit: capacity,
    phase: (now) => now,
    left: () => 0,
    balance: (state, phase) => Math.max(0, (state >> 2) - phase),
    reusable: (state, phase) => policy.balance(state, phase) === 0,
    allows: (balance, _left, cost) => cost * refill <= full - balance,
    charged: (state, balance, phase, cost) => pack(phase + balance + cost * refill, state & 3),
    refunded: (state, balance, phase, cost) =>
      pack(phase + Math.max(0, balance - cost * refill), state & 3),
    renewed: (state, phase) => pack(phase, state & 3),
    handedOver(state, replaced) {
      if (without.keyCount) return state;
      const keys = replaced & 3;
      return (state & ~3) | (keys >= 2 ? 0 : keys + 1);
    },
    frozen: (replaced, owner) => (((owner << 2) | (replaced & 3)) << 2) | FROZEN,
    isFrozen: (state) => (state & 3) === FROZEN,
    ownerOf: (frozen) => frozen >> 4,
    takenOver: (frozen, owner) => policy.frozen(frozen >> 2, owner),
    thawed: (frozen, phase) => policy.handedOver(pack(phase, 0), frozen >> 2),
  };
  return policy;
}

const COUNT_SHIFT = 8;
const COUNT_MASK = 255;
const AHEAD = 1 << 16;

/** A counter of `limit` permits a window of `window` microseconds. */
export function modelCounter(limit: number, window: number, without: PolicyFlaws = {}) {
  const FROZEN = 1 << 20;
  const bits = 32 - Math.clz32(limit);
  const mask = (1 << bits) - 1;
  const indexOf = (state: number) => state >> (2 * bits);
  const previousOf = (balance: number) => (balance >> COUNT_SHIFT) & COUNT_MASK;
  const currentOf = (balance: number) => balance & COUNT_MASK;
  function pack(state: number, balance: number, phase: number, previous: number, current: number) {
    const index = balance & AHEAD ? indexOf(state) : phase;
    return (((index << bits) | previous) << bits) | current;
  }
  const policy: ModelPolicy = {
    name: `counter of ${limit} in ${window} us`,
    limit,
    phase: (now) => Math.floor(now / window),
    left: (now) => window - (now % window),
    balance(state, phase) {
      const behind = phase - indexOf(state);
      const current = state & mask;
      if (behind === 1) return current << COUNT_SHIFT;
      if (behind > 0) return 0;
      const previous = (state >> bits) & mask;
      return (previous << COUNT_SHIFT) | current | (behind === 0 ? 0 : AHEAD);
    },
    reusable(state, phase) {
      if (without.windowIndex) return policy.balance(state, phase) === 0;
      const behind = phase - indexOf(state);
      return behind > 1 || (behind === 1 && (state & mask) === 0);
    },
    allows(balance, left, cost) {
      const room = limit - currentOf(balance) - cost;
      const leftAt = balance & AHEAD ? window : left;
      return room >= 0 && previousOf(balance) * leftAt <= room * window;
    },
    charged: (state, balance, phase, cost) =>
      pack(state, balance, phase, previousOf(balance), currentOf(balance) + cost),
    refunded(state, balance, phase, cost) {
      const current = currentOf(balance);
      const previous = previousOf(balance);
      if (cost <= current) return pack(state, balance, phase, previous, current - cost);
      return pack(state, balance, phase, Math.max(0, previous - (cost - current)), 0);
    },
    renewed: (state, phase) => pack(state, policy.balance(state, phase), phase, 0, 0),
    handedOver: (state) => state,
    frozen: (_replaced, owner) => FROZEN | owner,
    isFrozen: (state) => (state & FROZEN) !== 0,
    ownerOf: (frozen) => frozen & ~FROZEN,
    takenOver: (_frozen, owner) => policy.frozen(0, owner),
    thawed: (_frozen, phase) => pack(0, 0, phase, 0, 0),
  };
  return policy;
}
