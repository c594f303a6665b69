import { describe, expect, it } from 'vitest';
import { allowedOf, bucket, counter, type Timed } from '../support/schedule.ts';

/** The smallest table has two sets of 8 slots, and both are open to every key. */
const SMALLEST = { maxKeys: 1 };
const SLOTS = 16;

/** 1,024 slots. */
const SMALL = { maxKeys: 712 };

const MINUTE = 60_000;
const HOUR = 3_600_000;

type Make = (limit: number, windowMs: number, options: { maxKeys: number }) => Timed;

const makeBucket: Make = (limit, windowMs, options) => bucket(limit, limit, windowMs, options);
const kinds: [string, Make, number][] = [
  ['token bucket', makeBucket, 5],
  ['sliding window counter', counter, 0],
];

describe.each(kinds)('in the table of a %s', (_, make, halfWay) => {
  it('keys that share every slot do not share a budget', () => {
    const { limiter } = make(1, HOUR, SMALLEST);
    for (const calls of [1, 0, 0]) {
      for (let key = 0; key < SLOTS; key++) expect(allowedOf(limiter, 1, key)).toBe(calls);
    }
    expect(limiter.stats()).toMatchObject({ liveKeys: SLOTS, overflowed: 0 });
  });

  it('two keys that take turns are limited, each by itself', () => {
    const { limiter } = make(1, 1_000, SMALLEST);
    let allowed = 0;
    for (let call = 0; call < 100; call++) allowed += allowedOf(limiter, 1, call % 2);
    expect(allowed).toBe(2);
  });

  it('an absent key is looked for in two sets and no further, however full they are', () => {
    const { limiter, clock } = make(1, 1_000, SMALLEST);
    for (let round = 0; round < 3; round++) {
      for (let key = 0; key < SLOTS; key++) {
        expect(limiter.tryAcquire(round * SLOTS + key)).toMatchObject({
          allowed: true,
          source: 'local',
        });
      }
      expect(limiter.stats()).toMatchObject({ liveKeys: SLOTS, evictedIdle: round * SLOTS });
      clock.advance(2_000);
      expect(limiter.stats().liveKeys).toBe(0);
      expect(limiter.peek('absent')).toMatchObject({ allowed: true, source: 'local' });
    }
    expect(limiter.stats()).toMatchObject({ evictedLive: 0, overflowed: 0 });
  });

  it('a key has one budget, wherever the slots before it became free', () => {
    const { limiter } = make(5, HOUR, SMALLEST);
    for (let key = 0; key < SLOTS - 1; key++) limiter.isAllowed(key);
    expect(allowedOf(limiter, 3, 'late')).toBe(3);
    for (let key = 0; key < SLOTS - 1; key++) limiter.reset(key);
    expect(limiter.tryAcquire('late')).toMatchObject({ allowed: true, remaining: 1 });
    expect(allowedOf(limiter, 5, 'late')).toBe(1);
    expect(limiter.stats().liveKeys).toBe(1);
  });

  it('a flood of new keys does not buy an exhausted key a fresh budget', () => {
    const { limiter, clock } = make(10, 10 * MINUTE, SMALL);
    expect(allowedOf(limiter, 11, 'x')).toBe(10);
    const memory = limiter.stats().memoryBytes;
    for (let key = 0; key < 100_000; key++) {
      limiter.isAllowed(key);
      if (key % 1_000 === 0 && limiter.isAllowed('x')) expect.fail(`allowed after ${key} keys`);
    }
    clock.set(5 * MINUTE);
    expect(allowedOf(limiter, 20, 'x')).toBe(halfWay);
    expect(limiter.stats()).toMatchObject({ evictedLive: 0, memoryBytes: memory });
  });

  it('a key is as little disturbed by a limiter of shorter windows', () => {
    const long = make(5, HOUR, SMALL);
    const short = make(5, 1_000, SMALL);
    expect(allowedOf(long.limiter, 6, 'k')).toBe(5);
    for (const second of [0, 1, 2, 3]) {
      long.clock.set(second * 1_000);
      short.clock.set(second * 1_000);
      for (let key = 0; key < 1_000; key++) short.limiter.isAllowed(key);
      short.limiter.isAllowed('k');
    }
    expect(long.limiter.isAllowed('k')).toBe(false);
  });

  it('calls that only look leave nothing behind', () => {
    const { limiter } = make(5, HOUR, SMALL);
    for (let key = 0; key < 1_000; key++) {
      limiter.peek(key);
      limiter.tryAcquire(key, 0);
      limiter.isAllowed(key, 6);
      limiter.refund(key);
      limiter.reset(key);
    }
    expect(limiter.stats()).toMatchObject({ liveKeys: 0, evictedIdle: 0, overflowed: 0 });
  });
});

it('a key keeps its state while the slots around it change hands', () => {
  const { limiter, clock } = makeBucket(5, HOUR, SMALLEST);
  expect(allowedOf(limiter, 3, 'b')).toBe(3);
  const { resetAfterMs } = limiter.peek('b', 0);
  for (let round = 0; round < 100; round++) {
    for (let key = 0; key < SLOTS - 1; key++) limiter.isAllowed(`${round} ${key}`);
    for (let key = 0; key < SLOTS - 1; key++) limiter.reset(`${round} ${key}`);
    clock.advance(1);
  }
  expect(limiter.stats()).toMatchObject({ evictedIdle: 99 * (SLOTS - 1), overflowed: 0 });
  expect(limiter.peek('b', 0).resetAfterMs).toBe(resetAfterMs - 100);
  expect(limiter.tryAcquire('b')).toMatchObject({ allowed: true, remaining: 1 });
});
