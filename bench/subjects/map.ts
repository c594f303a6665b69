import type { Decision, Key } from '../../src/index.ts';
import type { Decodable } from '../keys.ts';
import type { Contestant, Create, Setup } from './subject.ts';

/** One shape for all keys. V8 keeps both numbers as doubles and writes them in place. */
interface Bucket {
  tokens: number;
  last: number;
}

/**
 * The token bucket that people write by hand, as fast as plain JavaScript makes it: one object a key, one `get` a hit,
 * nothing allocated on a hit but the decision that `tryAcquire` returns. It checks no argument and forgets no key.
 */
class MapTokenBucket implements Contestant {
  readonly #buckets = new Map<string | number, Bucket>();
  /** A `Map` tells byte arrays apart by object and not by content, so they become texts, in a `Map` of their own. */
  readonly #bytesBuckets = new Map<string | number, Bucket>();
  readonly #capacity: number;
  readonly #tokensPerMs: number;
  readonly #clock: () => number;

  constructor({ capacity, refillIntervalMs, clock }: Setup) {
    this.#capacity = capacity;
    this.#tokensPerMs = 1 / refillIntervalMs;
    this.#clock = clock;
  }

  isAllowed(key: Key, cost = 1): boolean {
    const bucket = this.#refilled(key);
    if (bucket.tokens < cost) return false;
    bucket.tokens -= cost;
    return true;
  }

  tryAcquire(key: Key, cost = 1): Decision {
    const bucket = this.#refilled(key);
    const allowed = bucket.tokens >= cost;
    if (allowed) bucket.tokens -= cost;
    const { tokens } = bucket;
    const retryAfterMs = allowed ? 0 : Math.ceil((cost - tokens) / this.#tokensPerMs);
    return {
      allowed,
      limit: this.#capacity,
      remaining: Math.floor(tokens),
      retryAfterMs,
      retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
      resetAfterMs: Math.ceil((this.#capacity - tokens) / this.#tokensPerMs),
      source: 'local',
    };
  }

  #refilled(key: Key): Bucket {
    if (typeof key !== 'object') return this.#refilledIn(this.#buckets, key);
    return this.#refilledIn(this.#bytesBuckets, textOf(key));
  }

  #refilledIn(buckets: Map<string | number, Bucket>, key: string | number): Bucket {
    const now = this.#clock();
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: this.#capacity, last: now };
      buckets.set(key, bucket);
      return bucket;
    }
    const tokens = bucket.tokens + (now - bucket.last) * this.#tokensPerMs;
    bucket.tokens = Math.min(tokens, this.#capacity);
    bucket.last = now;
    return bucket;
  }
}

/** A character a byte. */
function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return (Buffer.from(buffer, byteOffset, byteLength) as Decodable).latin1Slice();
}

export const create: Create = (setup) => new MapTokenBucket(setup);
