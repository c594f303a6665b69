import { describe, expect, it } from 'vitest';
import { attach, type Decision, type Key, type LocalLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { useFixedHashKey } from '../support/fixed-hash-key.ts';
import { Random } from '../support/random.ts';
import type { MakeLocal } from './local-limiter-contract.ts';

/** A batch is decided by parts of 128 keys. */
const SIZES = [0, 1, 2, 7, 8, 9, 127, 128, 129, 256, 257, 600];
const LIMIT = 3;

const WAYS: [string, (make: MakeLocal, clock: ManualClock, maxKeys: number) => LocalLimiter][] = [
  ['private', (make, { now }, maxKeys) => make(LIMIT, { clock: now, maxKeys })],
  ['shared', (make, { now }, maxKeys) => make(LIMIT, { clock: now, maxKeys, shared: true })],
  [
    'attached',
    (make, { now }, maxKeys) =>
      attach(make(LIMIT, { clock: now, maxKeys, shared: true }).handle, { clock: now }),
  ],
];

/** Any kind of key, from so few that most come again. */
function anyKey(random: Random): Key {
  const number = random.below(40);
  return random.pick<Key>([
    number,
    2 ** 53 - 1 - number,
    `user:${number}`,
    `\u00fcn\u00efc\u00f6de ${number}`,
    `\u0436${number}`,
    `${'long'.repeat(60)}${number}`,
    new Uint8Array([number, 1]),
  ]);
}

/** Batches of keys, and clocks that jump on or back before each. */
function* batches(seed: number, clocks: readonly ManualClock[]): Generator<readonly Key[]> {
  const random = new Random(seed);
  for (const size of [...SIZES, ...SIZES]) {
    const ms = random.pick([0, 0.001, 1, 5_000, 45_000, 200_000, -3_000]);
    for (const clock of clocks) clock.set(clock.now() + ms);
    yield Array.from({ length: size }, () => anyKey(random));
  }
}

function oneByOne(limiter: LocalLimiter, keys: readonly Key[]): Decision[] {
  return keys.map((key) => limiter.tryAcquire(key));
}

/** What `isAllowedMany` and `tryAcquireMany` owe. */
export function describeBatches(make: MakeLocal): void {
  describe.each(WAYS)('in batches, %s', (_, start) => {
    useFixedHashKey();
    const [batchClock, clock] = [new ManualClock(1_000_000), new ManualClock(1_000_000)];
    const pair = (maxKeys = 10_000) => {
      for (const each of [batchClock, clock]) each.set(1_000_000);
      return [start(make, batchClock, maxKeys), start(make, clock, maxKeys)] as const;
    };

    it.each([
      ['', 10_000],
      [', with a full table', 1],
    ])('decides like one call after the other%s', (_, maxKeys) => {
      const [batch, single] = pair(maxKeys);
      for (const keys of batches(maxKeys, [batchClock, clock])) {
        expect(batch.tryAcquireMany(keys)).toEqual(oneByOne(single, keys));
        expect(batch.stats()).toEqual(single.stats());
      }
      const { allowed, denied, overflowed } = batch.stats();
      expect(Math.min(allowed, denied)).toBeGreaterThan(100);
      expect(overflowed > 0).toBe(maxKeys === 1);
    });

    it.each([
      ['', 10_000],
      [', with a full table', 1],
    ])('allows like one call after the other%s', (_, maxKeys) => {
      const [batch, single] = pair(maxKeys);
      for (const keys of batches(maxKeys + 1, [batchClock, clock])) {
        const out = new Uint8Array(keys.length);
        const due = keys.map((key) => (single.isAllowed(key) ? 1 : 0));
        expect(batch.isAllowedMany(keys, out)).toBe(due.filter(Boolean).length);
        expect([...out]).toEqual(due);
        expect(batch.stats()).toEqual(single.stats());
      }
    });

    it('goes on from what single calls have left, and they from it', () => {
      const [limiter] = pair();
      limiter.tryAcquire('ann', 2);
      const batch = limiter.tryAcquireMany(['ann', 'ann', 'bob']);
      expect(batch.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
        [true, 0],
        [false, 0],
        [true, 2],
      ]);
      expect(limiter.tryAcquire('bob').remaining).toBe(1);
      expect(limiter.isAllowed('ann')).toBe(false);
    });

    it('writes an answer a key and no more', () => {
      const [limiter] = pair();
      const out = new Uint8Array(8).fill(7);
      expect(limiter.isAllowedMany(['ann', 'ann', 'ann', 'ann', 'bob'], out)).toBe(4);
      expect([...out]).toEqual([1, 1, 1, 0, 1, 7, 7, 7]);
      expect(limiter.isAllowedMany([], out.subarray(0, 0))).toBe(0);
      expect(limiter.tryAcquireMany([])).toEqual([]);
      expect(limiter.stats()).toMatchObject({ allowed: 4, denied: 1 });
    });

    it.each([0, 1, 5, 128, 300])('takes nothing where key number %d is none', (place) => {
      const [limiter] = pair();
      const keys: Key[] = Array.from({ length: 301 }, (_, i) => i);
      const out = new Uint8Array(keys.length).fill(7);
      const noKeys = [undefined, '', -1, 0.5, 42n, null, new Uint8Array(0), ['ann']];
      for (const noKey of noKeys) {
        const bad = keys.with(place, noKey as never);
        const fault = expect.objectContaining({ code: 'ERR_INVALID_KEY' });
        expect(() => limiter.tryAcquireMany(bad)).toThrow(fault);
        expect(() => limiter.isAllowedMany(bad, out)).toThrow(fault);
      }
      expect(() => limiter.tryAcquireMany(Object.assign([...keys], { length: 302 }))).toThrow(
        TypeError,
      );
      expect(out.every((answer) => answer === 7)).toBe(true);
      expect(limiter.stats()).toMatchObject({ allowed: 0, denied: 0, liveKeys: 0 });
    });

    it.each([undefined, null, 'ann', 42, new Set(['ann']), new Uint32Array(2)])(
      'refuses %s for its keys',
      (keys) => {
        const [limiter] = pair();
        for (const call of [
          () => limiter.tryAcquireMany(keys as never),
          () => limiter.isAllowedMany(keys as never, new Uint8Array(9)),
        ]) {
          expect(call).toThrow(TypeError);
          expect(call).toThrow(expect.objectContaining({ code: 'ERR_INVALID_KEY' }));
        }
      },
    );

    it('refuses an `out` that is too short, or none, and takes nothing', () => {
      const [limiter] = pair();
      const keys = ['ann', 'bob', 'cid'];
      const call = (out: unknown) => () => limiter.isAllowedMany(keys, out as never);
      const code = expect.objectContaining({ code: 'ERR_INVALID_OUT' });
      for (const short of [new Uint8Array(0), new Uint8Array(2)]) {
        expect(call(short)).toThrow(RangeError);
        expect(call(short)).toThrow(code);
      }
      for (const none of [undefined, null, [0, 0, 0], new Int8Array(3), new ArrayBuffer(3)]) {
        expect(call(none)).toThrow(TypeError);
        expect(call(none)).toThrow(code);
      }
      expect(limiter.stats()).toMatchObject({ allowed: 0, denied: 0, liveKeys: 0 });
    });

    it('refuses batches when closed, empty ones too', () => {
      const [limiter] = pair();
      limiter.close();
      for (const keys of [[], ['ann']]) {
        const code = expect.objectContaining({ code: 'ERR_CLOSED' });
        expect(() => limiter.tryAcquireMany(keys)).toThrow(code);
        expect(() => limiter.isAllowedMany(keys, new Uint8Array(1))).toThrow(code);
      }
    });
  });

  it('reads its clock once a batch', () => {
    let readings = 0;
    const limiter = make(1, { clock: () => ++readings });
    const keys = Array.from({ length: 1_000 }, (_, i) => i);
    readings = 0;
    limiter.tryAcquireMany(keys);
    expect(readings).toBe(1);
    limiter.isAllowedMany(keys, new Uint8Array(1_000));
    expect(readings).toBe(2);
    limiter.close();
  });
}
