import { describe, expect, it } from 'vitest';
import {
  SlidingWindowCounterLimiter,
  type SlidingWindowCounterOptions,
  SluicegateRangeError,
  SluicegateTypeError,
  TokenBucketLimiter,
  type TokenBucketOptions,
} from '../src/index.ts';
import { allowedOf } from './support/schedule.ts';

const BUCKET = { capacity: 1, refillPerSecond: 1, maxKeys: 1 };
const COUNTER = { limit: 1, windowMs: 1_000, maxKeys: 1 };

const bucket = (options: object) => new TokenBucketLimiter({ ...BUCKET, ...options });
const interval = (options: object) => {
  const rate = { capacity: 1, refillTokens: 1, refillIntervalMs: 1_000, maxKeys: 1 };
  return new TokenBucketLimiter({ ...rate, ...options } as TokenBucketOptions);
};
const counter = (options: object) => new SlidingWindowCounterLimiter({ ...COUNTER, ...options });

function faultOf(make: () => unknown): { code: string; message: string } {
  try {
    make();
  } catch (error) {
    if (error instanceof SluicegateRangeError || error instanceof SluicegateTypeError) return error;
    throw error;
  }
  return expect.fail('no error');
}

describe('a number option', () => {
  const options: [string, (options: object) => unknown][] = [
    ['capacity', bucket],
    ['refillPerSecond', bucket],
    ['refillTokens', interval],
    ['refillIntervalMs', interval],
    ['limit', counter],
    ['windowMs', counter],
    ['maxKeys', bucket],
    ['maxKeys', counter],
  ];
  const outOfRange = [0, -1, -0.5, Number.NaN, Infinity, -Infinity];
  const otherKinds: [unknown, string][] = [
    ['10', '"10"'],
    [null, 'null'],
    [10n, '10n'],
    [true, 'true'],
    [{}, 'an object'],
    [[10], 'an array'],
    [() => 10, 'a function'],
  ];

  it.each(options)(
    '%s outside its range is a RangeError with name, value and range',
    (name, make) => {
      for (const value of outOfRange) {
        const fault = faultOf(() => make({ [name]: value }));
        expect(fault).toBeInstanceOf(RangeError);
        expect(fault.code).toBe('ERR_INVALID_OPTION');
        expect(fault.message).toMatch(new RegExp(`^${name} must be .+; got ${value}$`));
      }
    },
  );

  it.each(options)('%s of another kind is a TypeError with name and value', (name, make) => {
    for (const [value, shown] of otherKinds) {
      const fault = faultOf(() => make({ [name]: value }));
      expect(fault).toBeInstanceOf(TypeError);
      expect(fault.code).toBe('ERR_INVALID_OPTION');
      expect(fault.message).toBe(`${name} must be a number; got ${shown}`);
    }
  });

  it.each(
    options.filter(([name]) => !['refillPerSecond', 'refillIntervalMs', 'windowMs'].includes(name)),
  )('%s must be whole', (name, make) => {
    for (const value of [0.5, 1.5, 2 ** 53]) {
      expect(faultOf(() => make({ [name]: value })).message).toContain('a whole number from 1 to ');
    }
  });

  it.each([
    ['windowMs', counter],
    ['refillIntervalMs', interval],
  ])('%s must be whole microseconds from 1 us to 365 days', (name, make) => {
    const range = 'whole microseconds in milliseconds, from 0.001 to 31536000000';
    for (const value of [0.0005, 0.0015, 1.0001, 1 / 3, 31_536_000_000.001, 31_536_000_001]) {
      expect(faultOf(() => make({ [name]: value })).message).toBe(
        `${name} must be ${range}; got ${value}`,
      );
    }
    for (const value of [0.001, 0.003, 1.001, 86_400_000.001, 31_536_000_000]) {
      make({ [name]: value });
    }
  });

  it.each([
    ['capacity', () => new TokenBucketLimiter({ refillPerSecond: 1 } as TokenBucketOptions)],
    ['refillTokens', () => new TokenBucketLimiter({ capacity: 1 } as TokenBucketOptions)],
    ['refillIntervalMs', () => interval({ refillIntervalMs: undefined })],
    [
      'limit',
      () => new SlidingWindowCounterLimiter({ windowMs: 1 } as SlidingWindowCounterOptions),
    ],
    [
      'windowMs',
      () => new SlidingWindowCounterLimiter({ limit: 1 } as SlidingWindowCounterOptions),
    ],
  ])('%s cannot be left out', (name, make) => {
    expect(faultOf(make).message).toBe(`${name} must be a number; got undefined`);
  });
});

describe('options', () => {
  it.each<[string, (options: object) => unknown, string]>([
    ['windowsMs', counter, 'limit, windowMs, name, maxKeys, shared, clock'],
    ['capacity', counter, 'limit, windowMs, name, maxKeys, shared, clock'],
    [
      'refillPerSec',
      bucket,
      'capacity, refillPerSecond, refillTokens, refillIntervalMs, name, maxKeys, shared, clock',
    ],
  ])('with the unknown name %s are refused with the names that are known', (name, make, known) => {
    const fault = faultOf(() => make({ [name]: undefined }));
    expect(fault).toBeInstanceOf(TypeError);
    expect(fault.code).toBe('ERR_UNKNOWN_OPTION');
    expect(fault.message).toBe(`unknown option "${name}"; the options are ${known}`);
  });

  it.each([undefined, null, 10, 'limit', []])('%j are none', (options) => {
    for (const Limiter of [TokenBucketLimiter, SlidingWindowCounterLimiter]) {
      const fault = faultOf(() => new Limiter(options as never));
      expect(fault).toBeInstanceOf(TypeError);
      expect(fault.message).toMatch(/^options must be an object; got /);
    }
  });

  it('give a rate in one way or the other, not in both', () => {
    const fault = faultOf(() => bucket({ refillTokens: 1, refillIntervalMs: 1 }));
    expect(fault.message).toBe(
      'give refillPerSecond, or refillTokens and refillIntervalMs, not both',
    );
  });

  it('that are undefined are their defaults', () => {
    const options = { name: undefined, maxKeys: undefined, clock: undefined } as object;
    const limiter = new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1, ...options });
    expect(limiter.policy).toEqual({ name: 'default', limit: 1, windowMs: 1_000 });
    expect(limiter.stats().maxKeys).toBe(100_000);
    expect(limiter.isAllowed('ann')).toBe(true);
  });

  it.each(['a', 'login', 'per user, per minute', '~!#$%&()*+-./:;<=>?@[]^_`{|}', 'n'.repeat(128)])(
    'name a limiter with printable ASCII: %s',
    (name) => {
      expect(bucket({ name }).policy.name).toBe(name);
    },
  );

  it.each(['', 'n'.repeat(129), 'a"b', 'a\\b', 'ä', 'a\nb', '\0', '\x7f', '日本'])(
    'name no limiter %j',
    (name) => {
      const fault = faultOf(() => counter({ name }));
      expect(fault).toBeInstanceOf(RangeError);
      expect(fault.message).toBe(
        `name must be 1 to 128 printable ASCII characters without " and \\; got ${JSON.stringify(name)}`,
      );
    },
  );

  it.each([
    ['name', 7, 'name must be a string; got 7'],
    ['name', null, 'name must be a string; got null'],
    ['clock', 7, 'clock must be a function; got 7'],
    ['clock', null, 'clock must be a function; got null'],
  ])('refuse %s: %j', (name, value, message) => {
    const fault = faultOf(() => bucket({ [name]: value }));
    expect(fault).toBeInstanceOf(TypeError);
    expect(fault.message).toBe(message);
  });

  it('are read once: changing them later changes nothing', () => {
    const options = { limit: 2, windowMs: 60_000, clock: () => 0 };
    const limiter = new SlidingWindowCounterLimiter(options);
    options.limit = 1_000;
    expect(allowedOf(limiter, 10)).toBe(2);
    expect(limiter.policy.limit).toBe(2);
  });
});
