import type { Decision, LocalLimiter, RateLimiter } from '../../../src/limiter.ts';

class Unavailable extends Error {
  readonly code = 'ERR_UNAVAILABLE';
}

/**
 * A limiter across machines as the filter sees it: it answers from another limiter, later; or it fails at once, hangs
 * until its deadline and then fails, or answers by its own failure policy.
 */
export class FakeRemote implements RateLimiter {
  readonly policy;
  calls = 0;
  readonly #does: LocalLimiter | 'rejects' | 'hangs' | 'closed';
  readonly #waiting: (() => void)[] = [];

  constructor(does: LocalLimiter | 'rejects' | 'hangs' | 'closed') {
    this.#does = does;
    this.policy =
      typeof does === 'object' ? does.policy : { name: 'remote', limit: 5, windowMs: 60_000 };
  }

  /** Fails what hangs. */
  reachDeadline(): void {
    for (const fail of this.#waiting.splice(0)) fail();
  }

  async tryAcquire(key: string, cost?: number): Promise<Decision> {
    this.calls += 1;
    const does = this.#does;
    if (typeof does === 'object') return does.tryAcquire(key, cost);
    if (does === 'closed') return CLOSED;
    if (does === 'hangs') await new Promise<void>((resolve) => this.#waiting.push(resolve));
    throw new Unavailable('no answer in time');
  }

  async peek(): Promise<Decision> {
    return CLOSED;
  }

  async refund(key: string, cost?: number): Promise<void> {
    if (typeof this.#does === 'object') this.#does.refund(key, cost);
  }

  async reset(): Promise<void> {}

  async close(): Promise<void> {}
}

const CLOSED: Decision = {
  allowed: false,
  limit: 5,
  remaining: 0,
  retryAfterMs: 1000,
  retryAfterSeconds: 1,
  resetAfterMs: 0,
  source: 'closed',
};
