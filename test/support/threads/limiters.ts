import type { LocalLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/testing.ts';
import { builtPackage, packageAt } from './compile.ts';

export type Algorithm = 'token bucket' | 'sliding window counter';

export const ALGORITHMS: readonly Algorithm[] = ['token bucket', 'sliding window counter'];

export interface Made {
  readonly limiter: LocalLimiter;
  readonly clock: ManualClock;
  /** Of the package that it comes from, for workers. */
  readonly folder: string;
}

export interface Making {
  readonly limit: number;
  /** In which as much as the limit comes back. Default a minute. */
  readonly windowMs?: number;
  readonly maxKeys?: number;
  /** A `mutatedPackage`, say. Default: the one that was built. */
  readonly folder?: string;
}

/** A shared limiter on a clock that stands until a test moves it. */
export async function make(algorithm: Algorithm, making: Making): Promise<Made> {
  const { limit, windowMs = 60_000, maxKeys = 100_000, folder = builtPackage } = making;
  const { TokenBucketLimiter, SlidingWindowCounterLimiter } = await packageAt(folder);
  const clock = new ManualClock(0);
  const options = { shared: true, maxKeys, clock: clock.now };
  const rate = { refillTokens: limit, refillIntervalMs: windowMs };
  const limiter =
    algorithm === 'token bucket'
      ? new TokenBucketLimiter({ capacity: limit, ...rate, ...options })
      : new SlidingWindowCounterLimiter({ limit, windowMs, ...options });
  return { limiter, clock, folder };
}

/** What a worker needs to join. */
export function joining({ limiter, clock, folder }: Made): object {
  return { handle: limiter.handle, clock: clock.shared, folder };
}
