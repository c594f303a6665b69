export type { ErrorCode } from './errors.ts';
export {
  LimiterClosedError,
  LimiterUnavailableError,
  SluicegateRangeError,
  SluicegateTypeError,
} from './errors.ts';
export type { Decision, DecisionSource, Key, Policy, RemoteLimiter } from './limiter.ts';
export {
  RedisFixedWindowLimiter,
  type RedisFixedWindowOptions,
} from './redis/redis-fixed-window-limiter.ts';
export {
  RedisSlidingWindowCounterLimiter,
  type RedisSlidingWindowCounterOptions,
} from './redis/redis-sliding-window-counter-limiter.ts';
export {
  RedisSlidingWindowLimiter,
  type RedisSlidingWindowOptions,
} from './redis/redis-sliding-window-limiter.ts';
export {
  RedisTokenBucketLimiter,
  type RedisTokenBucketOptions,
} from './redis/redis-token-bucket-limiter.ts';
export type { RedisOptions } from './redis/script-limiter.ts';
export type { AlarmHandlers, DegradedEvent, RecoveredEvent } from './tiered/alarm.ts';
export type { BreakerOptions } from './tiered/breaker.ts';
export type { DenialCacheOptions, LeaseOptions, TieredOptions } from './tiered/options.ts';
export { TieredLimiter } from './tiered/tiered-limiter.ts';
