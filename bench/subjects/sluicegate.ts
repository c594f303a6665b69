import { TokenBucketLimiter } from '../../src/index.ts';
import type { Create } from './subject.ts';

export const create: Create = ({ keys, capacity, refillIntervalMs, clock }) =>
  new TokenBucketLimiter({ capacity, refillTokens: 1, refillIntervalMs, maxKeys: keys, clock });
