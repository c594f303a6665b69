import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { TokenBucketLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { Random } from '../support/random.ts';

const PIECE = 65_536;
const PAGE = 4_096;
const MIB = 2 ** 20;
const TABLE = new WebAssembly.Module(
  readFileSync(new URL('../../build/table.wasm', import.meta.url)),
);

/** The largest that may be one of many that stay almost empty, the next, and one whose sets begin in another piece. */
const SIZES = [100_000, 100_001, 300_000];

function make(maxKeys: number): TokenBucketLimiter {
  const { now: clock } = new ManualClock();
  return new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1, maxKeys, clock });
}

/** A table on its own, with its memory open to view. */
function open(maxKeys: number) {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { exports } = new WebAssembly.Instance(TABLE, { env: { memory } });
  const table = exports as Record<string, (...args: unknown[]) => bigint>;
  table.reserve?.(maxKeys);
  table.createTokenBucket?.(maxKeys, 1n, 2n, 0n, 1n, 1n, 1n);
  const header = new DataView(memory.buffer);
  const [cells, cellsAt, setsAt] = [44, 48, 52].map((at) => header.getUint32(at, true)) as [
    number,
    number,
    number,
  ];
  return {
    words: new BigUint64Array(memory.buffer),
    cellsAt,
    cellsEnd: cellsAt + 8 * cells,
    setsAt,
    /** Takes the one permit of a key. */
    take: (tag: bigint) =>
      expect(table.tokenBucketAcquire?.(BigInt.asIntN(64, tag), 0n, 1n)).toBe(1n),
  };
}

const random = new Random(1);
const randomTag = () => (BigInt(random.word()) << 32n) | BigInt(random.word()) | 1n;

describe('the memory of a table', () => {
  it('is taken from the system by pieces where it is large', () => {
    const limiter = make(1_000_000);
    for (let key = 0; key < 1_000; key++) limiter.peek(key); // warms up, and changes nothing
    (globalThis as { gc?: () => void }).gc?.();
    const before = process.memoryUsage.rss();
    for (let key = 0; key < 1_000; key++) limiter.isAllowed(key);
    const grown = process.memoryUsage.rss() - before;
    // Page by page it would be 4 MiB.
    expect(grown).toBeGreaterThan(12 * MIB);
    expect(grown).toBeLessThan(40 * MIB);
  });

  it.each(SIZES)('is asked for around a new key, in a table for %i', (maxKeys) => {
    const { words, setsAt, take } = open(maxKeys);
    const first = Math.ceil(setsAt / PAGE) * PAGE;
    // What has been written to shows in words that are not as they would be.
    const pages = Array.from(
      { length: Math.floor((8 * words.length - first) / PAGE) },
      (_, i) => first + i * PAGE,
    );
    for (const page of pages) words[page / 8] = 1n;
    const written = () => pages.filter((page) => words[page / 8] !== 1n);
    const tag = randomTag();
    take(tag);
    const slot = 8 * words.indexOf(tag);
    expect(slot).toBeGreaterThan(first);
    expect(slot % PAGE).not.toBe(0);
    const start = slot - (slot % PIECE);
    const piece = pages.filter((page) => page >= start && page < start + PIECE);
    expect(piece.length).toBeGreaterThan(1);
    expect(written()).toEqual(maxKeys > 100_000 ? piece : []);
  });

  it.each(SIZES)('keeps every key, of half as many as %i', (maxKeys) => {
    const limiter = make(maxKeys);
    let allowed = 0;
    for (let pass = 0; pass < 2; pass++) {
      for (let key = 0; key < maxKeys / 2; key++) if (limiter.isAllowed(key)) allowed++;
    }
    const half = Math.ceil(maxKeys / 2);
    expect(allowed).toBe(half);
    expect(limiter.stats()).toMatchObject({ liveKeys: half, overflowed: 0 });
  });

  it('is cleared where keys will be, and nowhere else', () => {
    const { words, cellsAt, cellsEnd, take } = open(300_000);
    expect(cellsEnd).toBeGreaterThan(2 * PIECE);
    // No lock is used here, and a cell of 1 is one that owes nothing at time 0.
    words.fill(2n ** 64n - 1n, 512 / 8, cellsAt / 8);
    words.fill(1n, cellsAt / 8, cellsEnd / 8);
    const before = words.slice(0, cellsEnd / 8);
    for (let i = 0; i < 10_000; i++) take(randomTag());
    expect(words.subarray(0, cellsEnd / 8)).toEqual(before);
  });
});
