import { expect, it } from 'vitest';
import type { RateLimiter } from '../../src/index.ts';
import type { Subjects } from './subject.ts';

const NO_KEYS: [string, unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['an empty string', ''],
  ['NaN', Number.NaN],
  ['a negative number', -1],
  ['a fraction', 0.5],
  ['infinity', Infinity],
  ['a number past the safe ones', 2 ** 53],
  ['an object', {}],
  ['an array', ['ann']],
  ['a boolean', true],
  ['a symbol', Symbol('ann')],
  ['a function', () => 'ann'],
  ['a String object', Object('ann')],
  ['no bytes', new Uint8Array(0)],
  ['wider numbers', new Uint16Array([1])],
  ['a buffer', new ArrayBuffer(1)],
];

const NO_COSTS: [string, unknown, typeof RangeError | typeof TypeError][] = [
  ['NaN', Number.NaN, RangeError],
  ['a negative number', -1, RangeError],
  ['-100', -100, RangeError],
  ['a fraction', 0.5, RangeError],
  ['more than one, and a fraction', 1.5, RangeError],
  ['infinity', Infinity, RangeError],
  ['2^53', 2 ** 53, RangeError],
  ['a string', '1', TypeError],
  ['null', null, TypeError],
  ['a bigint', 1n, TypeError],
  ['a boolean', true, TypeError],
  ['an object of options', { windowMs: 1_000 }, TypeError],
];

type Call = (limiter: RateLimiter, argument: never) => unknown;

const WITH_KEY: Record<string, Call> = {
  tryAcquire: (limiter, key) => limiter.tryAcquire(key),
  peek: (limiter, key) => limiter.peek(key),
  refund: (limiter, key) => limiter.refund(key),
  reset: (limiter, key) => limiter.reset(key),
};
const WITH_COST: Record<string, Call> = {
  tryAcquire: (limiter, cost) => limiter.tryAcquire('ann', cost),
  peek: (limiter, cost) => limiter.peek('ann', cost),
  refund: (limiter, cost) => limiter.refund('ann', cost),
};

/** What was thrown or what the promise was rejected with. */
async function faultOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** What misuse gets: an error, and nothing is spent. */
export function describeFaults(subjects: Subjects): void {
  it.each(NO_KEYS)('refuses %s as a key', async (_, key) => {
    const limiter = await subjects.limiter(1);
    for (const call of Object.values(WITH_KEY)) {
      const fault = await faultOf(() => call(limiter, key as never));
      expect(fault).toBeInstanceOf(TypeError);
      expect(fault).toMatchObject({ code: 'ERR_INVALID_KEY' });
    }
  });

  it('names the cure for a bigint as a key', async () => {
    const limiter = await subjects.limiter(1);
    const fault = await faultOf(() => limiter.tryAcquire(42n as never));
    expect(fault).toBeInstanceOf(TypeError);
    expect(`${fault}`).toMatch(/42n.*String\(/);
  });

  it.each(NO_COSTS)('refuses %s as a cost and spends nothing', async (_, cost, kind) => {
    const limiter = await subjects.limiter(4);
    await limiter.tryAcquire('ann', 3);
    for (const call of Object.values(WITH_COST)) {
      const fault = await faultOf(() => call(limiter, cost as never));
      expect(fault).toBeInstanceOf(kind);
      expect(fault).toMatchObject({ code: 'ERR_INVALID_COST' });
    }
    expect(await limiter.tryAcquire('ann', 1)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.tryAcquire('ann', 1)).toMatchObject({ allowed: false });
  });

  it('can be closed twice, and refuses calls afterwards by its name', async () => {
    const { limiter } = await subjects.subject(1, 'logins');
    await limiter.close();
    await limiter.close();
    for (const call of Object.values(WITH_KEY)) {
      const fault = await faultOf(() => call(limiter, 'ann' as never));
      expect(fault).toBeInstanceOf(Error);
      expect(fault).toMatchObject({ code: 'ERR_CLOSED' });
      expect(`${fault}`).toContain('"logins"');
    }
    expect(limiter.policy.name).toBe('logins');
  });
}
