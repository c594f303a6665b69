export type { ErrorCode } from './errors.ts';
export { LimiterClosedError, SluicegateRangeError, SluicegateTypeError } from './errors.ts';
export type {
  Clock,
  Decision,
  DecisionSource,
  Key,
  LimiterHandle,
  LimiterStats,
  LocalLimiter,
  LocalOptions,
  Policy,
  RateLimiter,
  RemoteLimiter,
} from './limiter.ts';
export { type AttachOptions, attach } from './local/attach.ts';
export {
  SlidingWindowCounterLimiter,
  type SlidingWindowCounterOptions,
} from './local/sliding-window-counter-limiter.ts';
export { TokenBucketLimiter, type TokenBucketOptions } from './local/token-bucket-limiter.ts';
