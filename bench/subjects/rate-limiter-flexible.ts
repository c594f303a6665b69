import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Create, PromisedPackage } from './subject.ts';

/** Without the prefix that it would put before every key. A denial rejects. */
export const create: Create<PromisedPackage> = ({ capacity, windowMs }) => {
  const limiter = new RateLimiterMemory({
    points: capacity,
    duration: windowMs / 1000,
    keyPrefix: '',
  });
  return { ask: (key) => limiter.consume(key), allows: () => true };
};
