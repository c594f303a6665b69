/** How far apart two threads' readings of the one clock may be, in microseconds: 36 minutes. */
export const MAX_SKEW: u64 = 1 << 31;

/** Rounded up without the sum a + b - 1, which could wrap. */
export function ceilDiv(a: u64, b: u64): u64 {
  return a > 0 ? (a - 1) / b + 1 : 0;
}

export const US_PER_MS: u64 = 1000;
