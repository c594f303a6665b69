import { SlidingWindowCounterLimiter, TokenBucketLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { describeLimiter } from '../contract/limiter-contract.ts';
import { describeLocalLimiter } from '../contract/local-limiter-contract.ts';

// In the middle of things, where no window begins.
const START_MS = 1_234_567.891;

describeLimiter('token bucket', ({ name, limit, windowMs }) => {
  const clock = new ManualClock(START_MS);
  const refill = { refillTokens: limit, refillIntervalMs: windowMs };
  const limiter = new TokenBucketLimiter({ name, capacity: limit, ...refill, clock: clock.now });
  return { limiter, advance: (ms) => clock.advance(ms) };
});

describeLimiter('sliding window counter', (policy) => {
  const clock = new ManualClock(START_MS);
  const limiter = new SlidingWindowCounterLimiter({ ...policy, clock: clock.now });
  return { limiter, advance: (ms) => clock.advance(ms) };
});

describeLocalLimiter('token bucket', (limit, options) => {
  const refill = { refillTokens: limit, refillIntervalMs: 60_000 };
  return new TokenBucketLimiter({ capacity: limit, ...refill, ...options });
});

describeLocalLimiter('sliding window counter', (limit, options) => {
  return new SlidingWindowCounterLimiter({ limit, windowMs: 60_000, ...options });
});
