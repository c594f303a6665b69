import { describe, expect, it } from 'vitest';
import { useFixedHashKey } from '../support/fixed-hash-key.ts';
import { allowedOf, bucket, counter, type Timed } from '../support/schedule.ts';

/** A table far too small: 16 slots, and 1,024 cells for the keys that find none. */
const SMALLEST = { maxKeys: 1 };
const SLOTS = 16;
const CELLS = 1_024;
const MINUTE = 60_000;

type Make = (limit: number) => Timed;

const kinds: [string, Make][] = [
  ['token bucket', (limit) => bucket(limit, limit, MINUTE, SMALLEST)],
  ['sliding window counter', (limit) => counter(limit, MINUTE, SMALLEST)],
];

/** Gives every slot to a live key: `slot 0` and so on. */
function fill({ limiter }: Timed, cost: number): void {
  for (let key = 0; key < SLOTS; key++) {
    expect(limiter.tryAcquire(`slot ${key}`, cost).source).toBe('local');
  }
}

describe.each(kinds)('a full table of a %s', (_, make) => {
  useFixedHashKey();

  it('charges a newcomer to an overflow state, and says so', () => {
    const timed = make(3);
    fill(timed, 1);
    const { limiter } = timed;
    expect(limiter.peek('new')).toMatchObject({ allowed: true, remaining: 2, source: 'overflow' });
    expect(limiter.stats().overflowed).toBe(0);
    expect(limiter.tryAcquire('new')).toMatchObject({ remaining: 2, source: 'overflow' });
    expect(limiter.tryAcquire('new', 2)).toMatchObject({ remaining: 0, source: 'overflow' });
    expect(limiter.tryAcquire('new')).toMatchObject({ allowed: false, source: 'overflow' });
    expect(limiter.peek('new')).toEqual(limiter.tryAcquire('new'));
    expect(limiter.stats()).toMatchObject({ liveKeys: SLOTS, overflowed: 4 });
  });

  it('does not touch the keys that have slots', () => {
    const timed = make(3);
    fill(timed, 2);
    for (let key = 0; key < 10_000; key++) timed.limiter.isAllowed(key, 3);
    for (let key = 0; key < SLOTS; key++) {
      expect(timed.limiter.tryAcquire(`slot ${key}`)).toMatchObject({
        allowed: true,
        remaining: 0,
        source: 'local',
      });
      expect(timed.limiter.isAllowed(`slot ${key}`)).toBe(false);
    }
  });

  it('lets any number of newcomers have as much as its cells hold, all together', () => {
    const timed = make(3);
    fill(timed, 3);
    let allowed = 0;
    for (let key = 0; key < 50_000; key++) allowed += allowedOf(timed.limiter, 4, key);
    // Nobody is served twice, and every cell is in use.
    expect(allowed).toBe(3 * CELLS);
    expect(timed.limiter.stats()).toMatchObject({ evictedLive: 0, overflowed: 200_000 });
  });

  it('forgives no debt: a key that finds a slot later begins with its overflow state', () => {
    const timed = make(4);
    const { limiter } = timed;
    fill(timed, 4);
    expect(allowedOf(limiter, 5, 'new')).toBe(4);
    limiter.reset('slot 3');
    limiter.reset('slot 5');
    // A counter's slot that is as new can be taken over from the next window on.
    if (limiter.peek('new').source === 'overflow') timed.clock.set(MINUTE);
    expect(limiter.tryAcquire('new')).toMatchObject({
      allowed: false,
      remaining: 0,
      source: 'local',
    });
  });

  it('gives nothing back by refund and reset to a key without a slot', () => {
    const timed = make(3);
    fill(timed, 1);
    expect(allowedOf(timed.limiter, 4, 'new')).toBe(3);
    timed.limiter.refund('new', 3);
    timed.limiter.reset('new');
    expect(timed.limiter.tryAcquire('new')).toMatchObject({ allowed: false, source: 'overflow' });
  });

  it('is forgotten with time like everything else', () => {
    const timed = make(3);
    fill(timed, 3);
    expect(allowedOf(timed.limiter, 4, 'new')).toBe(3);
    timed.clock.set(2 * MINUTE);
    expect(timed.limiter.stats().liveKeys).toBe(0);
    expect(timed.limiter.tryAcquire('new')).toMatchObject({ remaining: 2, source: 'local' });
    expect(timed.limiter.stats()).toMatchObject({ liveKeys: 1, evictedIdle: 1 });
  });
});

describe('a key that got a slot after its overflow state', () => {
  useFixedHashKey();

  it('goes on from exactly there in a token bucket', () => {
    const timed = bucket(10, 1, 1_000, SMALLEST);
    const { limiter, clock } = timed;
    fill(timed, 1);
    expect(allowedOf(limiter, 11, 'new')).toBe(10);
    clock.set(1_000);
    expect(limiter.tryAcquire('new')).toMatchObject({
      allowed: true,
      remaining: 0,
      resetAfterMs: 10_000,
      source: 'local',
    });
    expect(limiter.tryAcquire('new')).toMatchObject({ allowed: false, retryAfterMs: 1_000 });
    expect(limiter.stats()).toMatchObject({ liveKeys: 1, evictedIdle: 1, overflowed: 11 });
  });

  it('goes on from exactly there in a sliding window counter', () => {
    const timed = counter(10, MINUTE, SMALLEST);
    const { limiter, clock } = timed;
    fill(timed, 1);
    clock.set(MINUTE - 1);
    for (let key = 0; key < 8; key++) limiter.reset(`slot ${key}`);
    expect(allowedOf(limiter, 11, 'new')).toBe(10);
    clock.set(1.5 * MINUTE);
    expect(limiter.tryAcquire('new', 5)).toMatchObject({
      allowed: true,
      remaining: 0,
      resetAfterMs: 1.5 * MINUTE,
      source: 'local',
    });
    expect(limiter.stats()).toMatchObject({ overflowed: 11 });
  });
});
