import { type ClientRateLimitInfo, MemoryStore, type Options } from 'express-rate-limit';
import type { Create, PromisedPackage } from './subject.ts';

/** Its memory store alone, without the middleware around it, which compares the hits with the limit. */
export const create: Create<PromisedPackage> = ({ capacity, windowMs }) => {
  const store = new MemoryStore();
  store.init({ windowMs } as Options);
  return {
    ask: (key) => store.increment(key),
    allows: (answer) => (answer as ClientRateLimitInfo).totalHits <= capacity,
  };
};
