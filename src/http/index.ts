// For authors of adapters: the filter, and what it takes and gives.

export { RateLimitExceededError } from './exceeded.ts';
export type { Awaitable, OfRequest, RequestFacts } from './facts.ts';
export { isPromise, pathOf } from './facts.ts';
export { HttpFilter } from './filter.ts';
export { exposeHeaders, type HeaderFormat, type Headers } from './headers.ts';
export { byHeader, byIp, byUser, joinKey, type KeyOf } from './keys.ts';
export type {
  FailurePolicy,
  FilterOptions,
  HttpOptions,
  Limited,
  LimiterChoice,
  Route,
} from './options.ts';
export { type Carrier, decisionOf } from './state.ts';
export { BROKEN_OFF, type Verdict } from './verdict.ts';
