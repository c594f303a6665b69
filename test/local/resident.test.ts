import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { TokenBucketLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { Random } from '../support/random.ts';

const MIB = 2 ** 20;
const TABLE = new WebAssembly.Module(
  readFileSync(new URL('../../build/table.wasm', import.meta.url)),
);

function make(maxKeys: number): TokenBucketLimiter {
  const { now: clock } = new ManualClock();
  return new TokenBucketLimiter({ capacity: 1, refillPerSecond: 1, maxKeys, clock });
}

/** By how much this process has grown, as the system sees it. */
function grownBy(work: () => void): number {
  (globalThis as { gc?: () => void }).gc?.();
  const before = process.memoryUsage.rss();
  work();
  return process.memoryUsage.rss() - before;
}

describe('the memory of a table', () => {
  it('is taken from the system by pieces where it is large', () => {
    const limiter = make(1_000_000);
    for (let key = 0; key < 1_000; key++) limiter.peek(key); // warms up, and changes nothing
    const grown = grownBy(() => {
      for (let key = 0; key < 1_000; key++) limiter.isAllowed(key);
    });
    // Page by page it would be 4 MiB.
    expect(grown).toBeGreaterThan(12 * MIB);
    expect(grown).toBeLessThan(40 * MIB);
  });

  it('is taken page by page where it is one of many that hold few keys', () => {
    const limiters = Array.from({ length: 50 }, () => make(100_000));
    const grown = grownBy(() => {
      for (const limiter of limiters) for (let key = 0; key < 5; key++) limiter.isAllowed(key);
    });
    // By pieces it would be 15 MiB.
    expect(grown).toBeLessThan(8 * MIB);
  });

  it.each([100_000, 100_001, 300_000])('keeps every key of half as many as %i', (maxKeys) => {
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
    const maxKeys = 300_000;
    const memory = new WebAssembly.Memory({ initial: 1 });
    const { exports } = new WebAssembly.Instance(TABLE, { env: { memory } });
    const table = exports as Record<string, (...args: unknown[]) => bigint>;
    table.reserve?.(maxKeys);
    table.createTokenBucket?.(maxKeys, 1n, 2n, 0n, 1n, 1n, 1n);
    const header = new DataView(memory.buffer);
    const [cells, cellsAt] = [header.getUint32(44, true), header.getUint32(48, true)];
    const cellsEnd = cellsAt + 8 * cells;
    expect(cellsEnd).toBeGreaterThan(2 * 65_536);
    // No lock is used here, and a cell of 1 is one that owes nothing at time 0.
    new Uint8Array(memory.buffer).fill(0xff, 512, cellsAt);
    new BigUint64Array(memory.buffer, cellsAt, cells).fill(1n);
    const before = memory.buffer.slice(0, cellsEnd);
    const random = new Random(1);
    for (let i = 0; i < 10_000; i++) {
      const tag = (BigInt(random.word()) << 32n) | BigInt(random.word() | 1);
      expect(table.tokenBucketAcquire?.(BigInt.asIntN(64, tag), 0n, 1n)).toBe(1n);
    }
    expect(Buffer.from(memory.buffer, 0, cellsEnd).equals(Buffer.from(before))).toBe(true);
    const pieces = new Uint8Array(memory.buffer, cellsEnd, memory.buffer.byteLength >> 16);
    // Those that the sets lie in, all of them.
    expect(pieces.indexOf(1)).toBe(cellsEnd >> 16);
    expect(pieces.lastIndexOf(1)).toBe(pieces.length - 1);
    expect(pieces.subarray(cellsEnd >> 16).every((piece) => piece === 1)).toBe(true);
  });
});
