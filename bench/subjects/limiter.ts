import { TokenBucket } from 'limiter';
import type { Create, Package } from './subject.ts';

/** Its token bucket, one a key in a `Map`, since the package has nothing for keys. Its `RateLimiter` adds to that. */
export const create: Create<Package> = ({ capacity, windowMs }) => {
  const buckets = new Map<unknown, TokenBucket>();
  const policy = { bucketSize: capacity, tokensPerInterval: capacity, interval: windowMs };
  return {
    isAllowed: (key) => {
      let bucket = buckets.get(key);
      if (bucket === undefined) {
        bucket = new TokenBucket(policy);
        bucket.content = capacity; // it would begin empty
        buckets.set(key, bucket);
      }
      return bucket.tryRemoveTokens(1);
    },
  };
};
