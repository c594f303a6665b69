import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SlidingWindowCounterLimiter, TokenBucketLimiter } from '../../src/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(`${root}/docs/ranges.md`, 'utf8');

const UNITS: Record<string, number> = {
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const numberOf = (text = '') => Number(text.replaceAll(',', ''));
const msOf = (count = '', unit = '') => Number(count) * (UNITS[unit] ?? Number.NaN);

describe('docs/ranges.md', () => {
  it('is what the code says', () => {
    const args = ['scripts/docs.js', '--check'];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('names limits of windows that are accepted, and the next ones are not', () => {
    const rows = [...page.matchAll(/^\| (\d+) (\w+) \| ([\d,]+) \|$/gm)];
    expect(rows).toHaveLength(7);
    for (const [, count, unit, largest] of rows) {
      const windowMs = msOf(count, unit);
      const limit = numberOf(largest);
      new SlidingWindowCounterLimiter({ limit, windowMs, maxKeys: 1 }).close();
      const beyond = { limit: limit + 1, windowMs, maxKeys: 1 };
      expect(() => new SlidingWindowCounterLimiter(beyond)).toThrow(` to ${limit}; got`);
    }
  });

  it('names capacities that are accepted, and the next ones are not', () => {
    const rows = [...page.matchAll(/^\| ([\d,]+) per (\d+) (\w+) \| ([\d,]+) \|$/gm)];
    expect(rows).toHaveLength(12);
    for (const [, tokens, count, unit, largest] of rows) {
      const refill = { refillTokens: numberOf(tokens), refillIntervalMs: msOf(count, unit) };
      const capacity = numberOf(largest);
      new TokenBucketLimiter({ ...refill, capacity, maxKeys: 1 }).close();
      const beyond = { ...refill, capacity: capacity + 1, maxKeys: 1 };
      expect(() => new TokenBucketLimiter(beyond)).toThrow(`capacity must be at most ${capacity} `);
    }
  });
});
