import type { Decision } from '../limiter.ts';

/** Keys it knows at most: about 2 MB, since a key's text is at most 130 characters. */
const MAX_KEYS = 10_000;

interface Denial {
  /** Every cost from this one on is denied. */
  readonly cost: number;
  readonly remaining: number;
  /** On our clock, milliseconds: the call passes from then on, the key is as new, and the denial is forgotten. */
  readonly passesAt: number;
  readonly newAt: number;
  readonly until: number;
}

/**
 * What the remote has denied, for as long as it said that it would go on denying: a wait that it named holds for every
 * cost at least as large, whatever else happens, since other calls can only make it longer. Only refunds and resets
 * shorten it; those of other processes are noticed when the denial has reached its greatest age.
 *
 * Of a key only the last denial is known. Where there are too many keys, the one denied longest ago is forgotten: that
 * costs a round trip and nothing else.
 */
export class DenialCache {
  readonly #maxAgeMs: number;
  readonly #denials = new Map<string, Denial>();

  constructor(maxAgeMs: number) {
    this.#maxAgeMs = maxAgeMs;
  }

  /** Keeps a denial of a call that was sent at `sentAt`. Earlier than that the remote has not looked. */
  add(key: string, cost: number, decision: Decision, sentAt: number): void {
    const { retryAfterMs, resetAfterMs, remaining } = decision;
    // "Never" is no wait, and needs no memory.
    if (retryAfterMs === Infinity) return;
    this.#denials.delete(key);
    if (this.#denials.size >= MAX_KEYS) this.#forgetOldest();
    this.#denials.set(key, {
      cost,
      remaining,
      passesAt: sentAt + retryAfterMs,
      newAt: sentAt + resetAfterMs,
      until: sentAt + Math.min(retryAfterMs, this.#maxAgeMs),
    });
  }

  /** The remote's answer to this cost as far as it is known, or undefined. */
  find(key: string, cost: number, limit: number, now: number): Decision | undefined {
    const denial = this.#denials.get(key);
    if (denial === undefined) return undefined;
    if (now >= denial.until) {
      this.#denials.delete(key);
      return undefined;
    }
    if (cost < denial.cost) return undefined;
    const retryAfterMs = cost > limit ? Infinity : Math.ceil(denial.passesAt - now);
    return {
      allowed: false,
      limit,
      remaining: denial.remaining,
      retryAfterMs,
      retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
      resetAfterMs: Math.max(0, Math.ceil(denial.newAt - now)),
      source: 'denial-cache',
    };
  }

  delete(key: string): void {
    this.#denials.delete(key);
  }

  clear(): void {
    this.#denials.clear();
  }

  #forgetOldest(): void {
    for (const key of this.#denials.keys()) {
      this.#denials.delete(key);
      return;
    }
  }
}
