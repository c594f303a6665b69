import { FastRateLimit } from 'fast-ratelimit';
import type { Create, Package } from './subject.ts';

/** Reads no clock: every key has a timer that forgets it. Asked through its synchronous method. */
export const create: Create<Package> = ({ capacity, windowMs }) => {
  const limiter = new FastRateLimit({ threshold: capacity, ttl: windowMs / 1000 });
  return { isAllowed: (key) => limiter.consumeSync(key as string) };
};
