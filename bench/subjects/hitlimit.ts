import { memoryStore } from '@joint-ops/hitlimit/stores/memory';
import type { StoreResult } from '@joint-ops/hitlimit-types';
import type { Create, Package } from './subject.ts';

/** Its memory store alone, without the middleware around it, which compares the count with the limit. */
export const create: Create<Package> = ({ capacity, windowMs }) => {
  const store = memoryStore();
  return {
    isAllowed: (key) =>
      // This store says of itself that it is synchronous.
      (store.hit(key as string, windowMs, capacity) as StoreResult).count <= capacity,
  };
};
