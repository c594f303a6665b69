import type { Decision } from '../../src/index.ts';
import type { Create } from './subject.ts';

const DECISION: Decision = Object.freeze({
  allowed: true,
  limit: 1,
  remaining: 0,
  retryAfterMs: 0,
  retryAfterSeconds: 0,
  resetAfterMs: 0,
  source: 'local',
});

/**
 * Touches the key, reads the clock and allows: what a call costs before a limiter has done anything. Taken off the
 * other subjects' times.
 */
export const create: Create = ({ clock }) => ({
  isAllowed(key) {
    const there = typeof key === 'number' ? key >= 0 : key.length > 0;
    return there && clock() > 0;
  },
  tryAcquire: () => DECISION,
});
