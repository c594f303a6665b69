import { afterEach, beforeEach, vi } from 'vitest';

/**
 * Has every limiter of a suite hash with the same key, so that the same keys meet in the same slots in every run.
 * For tests that count meetings which are rare but not impossible.
 */
export function useFixedHashKey(): void {
  beforeEach(() => {
    vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
      if (array instanceof BigUint64Array) array.set([0x0706050403020100n, 0x0f0e0d0c0b0a0908n]);
      return array;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
}
