import { describe, expect, it } from 'vitest';
import type { Key } from '../../src/index.ts';
import { bucket } from '../support/schedule.ts';

const HOUR = 3_600_000;
const MIB = 2 ** 20;

/** Milliseconds of the quickest of ten calls. */
function quickest(call: () => unknown): number {
  let best = Infinity;
  for (let i = 0; i < 10; i++) {
    const begin = performance.now();
    call();
    best = Math.min(best, performance.now() - begin);
  }
  return best;
}

describe('keys from strangers', () => {
  it.each<[string, Key, Key]>([
    ['of Latin-1 text', 'x'.repeat(MIB), `${'x'.repeat(MIB - 1)}y`],
    ['of any text', 'Ж'.repeat(MIB), `${'Ж'.repeat(MIB - 1)}З`],
    ['of bytes', new Uint8Array(MIB), new Uint8Array(MIB).fill(1, MIB - 1)],
  ])('of a megabyte %s take milliseconds and count to the last byte', (_, key, other) => {
    const { limiter } = bucket(100, 1, HOUR);
    expect(quickest(() => limiter.isAllowed(key))).toBeLessThan(20);
    expect(limiter.peek(key, 0).remaining).toBe(90);
    expect(limiter.peek(other, 0).remaining).toBe(100);
  });

  it('cannot be made to meet: no two limiters place the same keys alike', () => {
    const homeless = () => {
      const { limiter } = bucket(1, 1, HOUR, { maxKeys: 712 });
      const keys: number[] = [];
      for (let key = 0; key < 1_100; key++) {
        if (limiter.tryAcquire(key).source === 'overflow') keys.push(key);
      }
      return keys;
    };
    const [one, other] = [homeless(), homeless()];
    expect(one.length).toBeGreaterThan(0);
    expect(one).not.toEqual(other);
  });

  it('do not stay in the way of the next key: a long one, a short one, and refused ones between', () => {
    const { limiter } = bucket(1, 1, HOUR);
    const keys: Key[] = [
      'k'.repeat(40_000),
      'k',
      'Ж'.repeat(20_000),
      'kЖ',
      new Uint8Array(70_000).fill(107),
      'kk',
      7,
      'kkk',
    ];
    for (const key of keys) {
      expect(limiter.isAllowed(key)).toBe(true);
      expect(() => limiter.isAllowed('')).toThrow('empty');
      expect(() => limiter.isAllowed(undefined as never)).toThrow('undefined');
    }
    for (const key of keys) expect(limiter.isAllowed(key)).toBe(false);
  });

  it('that belong to nobody never share a budget: there is none', () => {
    const { limiter } = bucket(5, 5, HOUR);
    for (const nobody of [undefined, null, '', Number.NaN, {}]) {
      expect(() => limiter.tryAcquire(nobody as never)).toThrow(TypeError);
    }
    expect(limiter.stats()).toMatchObject({ allowed: 0, denied: 0, liveKeys: 0 });
    expect(limiter.peek('undefined', 0).remaining).toBe(5);
  });
});
