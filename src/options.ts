import { MAX_CLOCK_MS } from './clock.ts';
import { SluicegateRangeError, SluicegateTypeError } from './errors.ts';
import type { Key } from './limiter.ts';
import { decimalPerSecond, type Rate, reducedRate, simplestPerSecond } from './rate.ts';

/** 365 days. */
export const MAX_PERIOD_US = 31_536_000_000_000;
/** Largest numerator of a reduced refill rate: the state stays right for 30 days of a key's silence. */
export const MAX_RATE_TOKENS = 1_779_199;
/** Largest product of capacity and microseconds a token (over the reduced numerator). */
export const MAX_BUCKET_UNITS = 2n ** 60n;

const COUNTER_STATE_BITS = 63;
/** For so long a silent key's state stays right. */
const TEN_YEARS_US = 315_360_000_000_000;
/** How far ahead of `now` a state may be, being another thread's; see assembly/arithmetic.ts. */
const MAX_SKEW_US = 2 ** 31;

/** Capacity and refill of a bucket, in one of two spellings. */
export type TokenBucketRate =
  | {
      /** Most tokens a bucket holds; it starts full. Whole, at least 1. */
      readonly capacity: number;
      /**
       * Tokens a second, above 0. Taken as the exact decimal where that fits, else as the simplest fraction that rounds
       * to the same double, so that `100 / 60` means five every three seconds.
       */
      readonly refillPerSecond: number;
      readonly refillTokens?: never;
      readonly refillIntervalMs?: never;
    }
  | {
      readonly capacity: number;
      /** Tokens an interval; they flow evenly. Whole, at least 1. */
      readonly refillTokens: number;
      /** Milliseconds in whole microseconds, 0.001 to 365 days. */
      readonly refillIntervalMs: number;
      readonly refillPerSecond?: never;
    };

/** Limit and length of a window. */
export interface WindowRate {
  /** Most permits a window, whole, at least 1. */
  readonly limit: number;
  /** Milliseconds in whole microseconds, 0.001 to 365 days. */
  readonly windowMs: number;
}

/** How a value looks in a message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}

/** An options object with no name that we do not know: a typo must not switch a limit off. */
export function knownOptions(options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      `options must be an object; got ${shown(options)}`,
    );
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw new SluicegateTypeError(
        'ERR_UNKNOWN_OPTION',
        `unknown option ${JSON.stringify(name)}; the options are ${known.join(', ')}`,
      );
    }
  }
}

/** A whole number from `least` to `most`. */
export function wholeNumber(name: string, value: unknown, least: number, most: number): number {
  if (typeof value !== 'number') throw notANumber(name, value);
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    throw outOfRange(name, `a whole number from ${least} to ${most}`, value);
  }
  return value;
}

/** Milliseconds as whole microseconds, from 1 to 365 days. */
export function microseconds(name: string, ms: unknown): number {
  if (typeof ms !== 'number') throw notANumber(name, ms);
  const us = Math.round(ms * 1000);
  // us / 1000 is the double nearest to that many microseconds: another double means something finer.
  if (!(us >= 1 && us <= MAX_PERIOD_US) || us / 1000 !== ms) {
    const most = MAX_PERIOD_US / 1000;
    throw outOfRange(name, `whole microseconds in milliseconds, from 0.001 to ${most}`, ms);
  }
  return us;
}

/** Fit for an HTTP structured field and for a Redis key. */
export function limiterName(name: unknown): string {
  if (typeof name !== 'string') {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      `name must be a string; got ${shown(name)}`,
    );
  }
  if (!/^[ !#-[\]-~]{1,128}$/.test(name)) {
    throw outOfRange('name', '1 to 128 printable ASCII characters without " and \\', name);
  }
  return name;
}

/** True or false. */
export function boolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      `${name} must be true or false; got ${shown(value)}`,
    );
  }
}

/** A function, or undefined. */
export function optionalFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      `${name} must be a function; got ${shown(value)}`,
    );
  }
}

/** Capacity and reduced refill rate, or an error that names the largest legal value. */
export function bucketPolicy(options: TokenBucketRate): { capacity: number; rate: Rate } {
  const capacity = wholeNumber('capacity', options.capacity, 1, Number.MAX_SAFE_INTEGER);
  return { capacity, rate: refillRate(options, BigInt(capacity)) };
}

function refillRate(options: TokenBucketRate, capacity: bigint): Rate {
  const { refillPerSecond, refillTokens, refillIntervalMs } = options;
  if (refillPerSecond === undefined) {
    const tokens = wholeNumber('refillTokens', refillTokens, 1, Number.MAX_SAFE_INTEGER);
    const rate = reducedRate(
      BigInt(tokens),
      BigInt(microseconds('refillIntervalMs', refillIntervalMs)),
    );
    return legalRate(
      rate,
      capacity,
      'refillTokens per refillIntervalMs',
      `${tokens} per ${refillIntervalMs} ms`,
    );
  }
  if (refillTokens !== undefined || refillIntervalMs !== undefined) {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      'give refillPerSecond, or refillTokens and refillIntervalMs, not both',
    );
  }
  if (typeof refillPerSecond !== 'number') throw notANumber('refillPerSecond', refillPerSecond);
  if (!(refillPerSecond > 0 && refillPerSecond < Infinity)) {
    throw outOfRange('refillPerSecond', 'a finite number above 0', refillPerSecond);
  }
  const decimal = decimalPerSecond(refillPerSecond);
  if (rateFault(decimal, capacity) === undefined) return decimal;
  return legalRate(
    simplestPerSecond(refillPerSecond),
    capacity,
    'refillPerSecond',
    `${refillPerSecond}`,
  );
}

function legalRate(rate: Rate, capacity: bigint, name: string, seen: string): Rate {
  const fault = rateFault(rate, capacity);
  if (fault === undefined) return rate;
  throw new SluicegateRangeError('ERR_INVALID_OPTION', `${fault(name, seen)}`);
}

/** What keeps the rate from being exact in the core, as a message, or undefined. */
function rateFault(
  { tokens, micros }: Rate,
  capacity: bigint,
): ((name: string, seen: string) => string) | undefined {
  const reduced = `${tokens} tokens per ${micros} microseconds in lowest terms`;
  if (tokens > MAX_RATE_TOKENS) {
    const interval = (micros * BigInt(MAX_RATE_TOKENS) + tokens - 1n) / tokens;
    return (name, seen) =>
      `${name} must reduce to at most ${MAX_RATE_TOKENS} tokens; got ${seen}, ${reduced}. ` +
      `The nearest legal rate below is refillTokens: ${MAX_RATE_TOKENS}, refillIntervalMs: ${Number(interval) / 1000}`;
  }
  if (micros > MAX_PERIOD_US) {
    return (name, seen) =>
      `${name} must reduce to at most 365 days (${MAX_PERIOD_US} microseconds); got ${seen}, ${reduced}`;
  }
  if (capacity * micros > MAX_BUCKET_UNITS) {
    return (name, seen) =>
      `capacity must be at most ${MAX_BUCKET_UNITS / micros} with ${name} of ${seen} (${reduced}); got ${capacity}`;
  }
  return undefined;
}

/** The largest limit of a sliding window counter whose window has that many microseconds. */
export function largestCounterLimit(windowUs: number): number {
  const windows = BigInt(Math.ceil((TEN_YEARS_US + MAX_SKEW_US) / windowUs) + 1);
  const indexBits = (windows - 1n).toString(2).length;
  const countBits = Math.floor((COUNTER_STATE_BITS - indexBits) / 2);
  const byProduct = (2n ** 63n - 1n) / BigInt(windowUs);
  return Math.min(2 ** countBits - 1, Number(byProduct));
}

/** Limit and window of a sliding window counter, in microseconds. */
export function counterPolicy({ limit, windowMs }: WindowRate): {
  limit: number;
  windowUs: number;
} {
  const windowUs = microseconds('windowMs', windowMs);
  return { limit: wholeNumber('limit', limit, 1, largestCounterLimit(windowUs)), windowUs };
}

/** Limit and length of a window, in microseconds, of an algorithm whose numbers are whole below 2^53. */
export function windowPolicy({ limit, windowMs }: WindowRate): { limit: number; windowUs: number } {
  const windowUs = microseconds('windowMs', windowMs);
  return { limit: wholeNumber('limit', limit, 1, Number.MAX_SAFE_INTEGER), windowUs };
}

/** Limit and window of a sliding window log, whose running total stays below 2^53 for ten years without a pause. */
export function logPolicy(options: WindowRate): { limit: number; windowUs: number } {
  const windowUs = microseconds('windowMs', options.windowMs);
  const most = Math.floor(Number.MAX_SAFE_INTEGER / Math.ceil(TEN_YEARS_US / windowUs));
  return { limit: wholeNumber('limit', options.limit, 1, most), windowUs };
}

/** `bucketPolicy` for arithmetic in doubles, as Redis scripts do it: capacity times microseconds stays below 2^53. */
export function doubleBucketPolicy(options: TokenBucketRate): { capacity: number; rate: Rate } {
  const policy = bucketPolicy(options);
  const { tokens, micros } = policy.rate;
  const most = BigInt(Number.MAX_SAFE_INTEGER) / micros;
  if (BigInt(policy.capacity) <= most) return policy;
  throw new SluicegateRangeError(
    'ERR_INVALID_OPTION',
    `capacity must be at most ${most} in Redis, whose numbers are doubles, with a refill of ${tokens} tokens per ` +
      `${micros} microseconds in lowest terms; got ${policy.capacity}. A rate of rounder numbers allows more`,
  );
}

/** The time from empty to full in milliseconds, rounded up. */
export function fillMs({ capacity, rate }: { capacity: number; rate: Rate }): number {
  const ceilDiv = (a: bigint, b: bigint) => (a + b - 1n) / b;
  return Number(ceilDiv(ceilDiv(BigInt(capacity) * rate.micros, rate.tokens), 1000n));
}

/** What Redis keys begin with. Braces would move the hash tag. */
export function redisPrefix(prefix: unknown): string {
  if (typeof prefix !== 'string') {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      `prefix must be a string; got ${shown(prefix)}`,
    );
  }
  if (!/^[!-z|~]{1,128}$/.test(prefix)) {
    throw outOfRange(
      'prefix',
      '1 to 128 printable ASCII characters without spaces and { }',
      prefix,
    );
  }
  return prefix;
}

/** A clock's reading: finite, and exact in whole microseconds. */
export function checkReading(ms: unknown): void {
  if (typeof ms === 'number' && ms >= -MAX_CLOCK_MS && ms <= MAX_CLOCK_MS) return;
  throw new SluicegateRangeError(
    'ERR_INVALID_CLOCK',
    `clock must return milliseconds from ${-MAX_CLOCK_MS} to ${MAX_CLOCK_MS}; got ${shown(ms)}`,
  );
}

/** Permits wanted: a whole number from 0. */
export function checkCost(cost: unknown): void {
  if (typeof cost !== 'number') {
    throw new SluicegateTypeError('ERR_INVALID_COST', `cost must be a number; got ${shown(cost)}`);
  }
  if (!Number.isSafeInteger(cost) || cost < 0) {
    throw new SluicegateRangeError(
      'ERR_INVALID_COST',
      `cost must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}; got ${cost}`,
    );
  }
}

/** The error for a key that is none. */
export function invalidKey(key: unknown): SluicegateTypeError {
  const cure =
    typeof key === 'bigint'
      ? 'pass String(key)'
      : typeof key === 'number'
        ? 'numbers must be safe integers >= 0; pass String(key) for others'
        : key === '' || key instanceof Uint8Array
          ? 'an empty key would be shared by all who have none; skip them or give them a key'
          : 'keys are non-empty strings, safe integers >= 0 or Uint8Arrays';
  return new SluicegateTypeError('ERR_INVALID_KEY', `invalid key ${shown(key)}: ${cure}`);
}

/** Throws unless the key is one. */
export function checkKey(key: unknown): asserts key is Key {
  if (
    typeof key === 'string'
      ? key !== ''
      : typeof key === 'number'
        ? isIntegerKey(key)
        : isBytesKey(key)
  )
    return;
  throw invalidKey(key);
}

/** Throws unless all of the keys are such. */
export function checkKeys(keys: unknown): asserts keys is readonly Key[] {
  if (!Array.isArray(keys)) {
    throw new SluicegateTypeError(
      'ERR_INVALID_KEY',
      `keys must be an array of keys; got ${shown(keys)}`,
    );
  }
  for (let i = 0; i < keys.length; i++) checkKey(keys[i]);
}

/** Throws unless the answers about so many keys find room. */
export function checkOut(out: unknown, keys: number): void {
  if (!(out instanceof Uint8Array)) {
    throw new SluicegateTypeError(
      'ERR_INVALID_OUT',
      `out must be a Uint8Array, as long as keys at least; got ${shown(out)}`,
    );
  }
  if (out.length < keys) {
    throw new SluicegateRangeError(
      'ERR_INVALID_OUT',
      `out must be as long as keys, ${keys}, at least; its length is ${out.length}`,
    );
  }
}

export function isIntegerKey(key: number): boolean {
  return Number.isSafeInteger(key) && key >= 0;
}

function isBytesKey(key: unknown): boolean {
  return key instanceof Uint8Array && key.length > 0;
}

function notANumber(name: string, value: unknown): SluicegateTypeError {
  return new SluicegateTypeError(
    'ERR_INVALID_OPTION',
    `${name} must be a number; got ${shown(value)}`,
  );
}

function outOfRange(name: string, legal: string, value: unknown): SluicegateRangeError {
  return new SluicegateRangeError(
    'ERR_INVALID_OPTION',
    `${name} must be ${legal}; got ${shown(value)}`,
  );
}
