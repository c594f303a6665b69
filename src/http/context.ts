import { AsyncLocalStorage } from 'node:async_hooks';
import type { Key } from '../limiter.ts';
import type { Awaitable } from './facts.ts';

/** What methods marked `@RateLimit` can know of the request they run for. */
export interface RequestContext {
  key(): Awaitable<Key>;
}

/** Set by filters with `context: true` around all that follows them. */
export const requestContext = new AsyncLocalStorage<RequestContext>();
