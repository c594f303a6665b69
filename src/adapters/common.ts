// What every adapter hands on.
export { RateLimitExceededError } from '../http/exceeded.ts';
export type { RequestFacts } from '../http/facts.ts';
export { exposeHeaders, type HeaderFormat } from '../http/headers.ts';
export { byHeader, byIp, byUser, joinKey, type KeyOf } from '../http/keys.ts';
export type { FailurePolicy, HttpOptions, Limited, LimiterChoice } from '../http/options.ts';
export type { Verdict } from '../http/verdict.ts';
export type { RateLimitOptions, RouteOptions, Shorthand } from '../shorthand.ts';
export type { TrustProxy } from './proxies.ts';
