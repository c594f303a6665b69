import {
  bucketPolicy,
  counterPolicy,
  doubleBucketPolicy,
  logPolicy,
  microseconds,
  wholeNumber,
  windowPolicy,
} from '../options.ts';
import type { Algorithm } from './judges.ts';

/** One limit to try: `limit` permits a window. */
export interface Limit {
  /** As the user wrote it, `100/60s`. */
  readonly text: string;
  readonly limit: number;
  readonly windowMs: number;
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Reads `100/60s`: a limit, and a window in ms, s, m or min, h, or d; a window without a number is one unit, `5/m`.
 *
 * @throws RangeError in words for a person, with the value seen.
 */
export function parseLimit(text: string): Limit {
  const [, permits, count, unit = ''] = /^(\d+)\/(\d*(?:\.\d+)?)([a-z]+)$/.exec(text) ?? [];
  const unitMs = UNITS[unit];
  if (permits === undefined || unitMs === undefined) {
    throw new RangeError(
      `a limit is written like 100/60s, 20/500ms, 5/m, 1000/h or 10000/d; got '${text}'`,
    );
  }
  // Rounded to whole microseconds, so that 0.3s is 300 ms and not a double beside it.
  const windowMs = Math.round((count === '' ? 1 : Number(count)) * unitMs * 1000) / 1000;
  try {
    wholeNumber('the limit', Number(permits), 1, Number.MAX_SAFE_INTEGER);
    microseconds('the window', windowMs);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(`'${text}' is no limit: ${error.message}`);
  }
  return { text, limit: Number(permits), windowMs };
}

/** A limit that is not written by a person. */
export function limitOf(limit: number, windowMs: number): Limit {
  return { text: textOf(limit, windowMs), limit, windowMs };
}

/**
 * Throws unless the algorithm can take the limit, in this process or in Redis.
 *
 * @throws RangeError with the value seen and the legal range.
 */
export function checkLimit(limit: Limit, algorithm: Algorithm, inRedis = false): void {
  try {
    if (inRedis) checkInRedis(limit, algorithm);
    else if (algorithm === 'sliding-window-counter') counterPolicy(limit);
    else bucketPolicy(bucketOf(limit));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const where = inRedis ? ' in Redis' : '';
    throw new RangeError(`'${limit.text}' is no limit for ${algorithm}${where}: ${error.message}`);
  }
}

function checkInRedis(limit: Limit, algorithm: Algorithm): void {
  switch (algorithm) {
    case 'token-bucket':
      doubleBucketPolicy(bucketOf(limit));
      break;
    case 'sliding-window-counter':
      counterPolicy(limit);
      break;
    case 'sliding-window-log':
      logPolicy(limit);
      break;
    case 'fixed-window':
      windowPolicy(limit);
  }
}

/** The bucket that a limit means: as large, and refilled in a window. */
export function bucketOf({ limit, windowMs }: Limit) {
  return { capacity: limit, refillTokens: limit, refillIntervalMs: windowMs };
}

/** The options of a limiter with windows. */
export function windowOf({ limit, windowMs }: Limit) {
  return { limit, windowMs };
}

function textOf(limit: number, windowMs: number): string {
  const whole = (['d', 'h', 's'] as const).find((unit) => windowMs % (UNITS[unit] as number) === 0);
  // A minute reads better as 60s, the way limits are usually written.
  const unit = whole ?? 'ms';
  return `${limit}/${windowMs / (UNITS[unit] as number)}${unit}`;
}
