import { TokenBucketLimiter } from '../../src/index.ts';
import type { Create } from './subject.ts';

/** As people make it who say nothing of clocks. */
export const create: Create = ({ keys, capacity, windowMs }) =>
  new TokenBucketLimiter({
    capacity,
    refillTokens: capacity,
    refillIntervalMs: windowMs,
    maxKeys: keys,
  });
