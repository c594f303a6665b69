import { describe, expect, it } from 'vitest';
import { verdictOf } from '../../bench/compare/section.ts';
import { ratiosOf } from '../../bench/spread.ts';

const REF = [10, 11, 12, 13, 14];

describe('the verdict on this tree', () => {
  it.each([
    ['every process beats every other', [5, 6, 7, 8, 9], 'faster'],
    ['one of 25 pairings is lost', [5, 6, 7, 8, 10.5], 'faster'],
    ['one of 25 pairings is won', [13.5, 15, 16, 17, 18], 'slower'],
    ['two of 25 are lost', [5, 6, 7, 8, 11.5], ''],
    ['one process was far out', [5, 6, 7, 8, 100], ''],
    ['both are the same', REF, ''],
    ['every process is slower than every other', [15, 16, 17, 18, 19], 'slower'],
  ])('where %s', (_, here, verdict) => {
    expect(verdictOf(here, REF)).toBe(verdict);
  });

  it('does not turn on the order of the processes', () => {
    expect(verdictOf([9, 5, 8, 6, 7], [14, 10, 13, 11, 12])).toBe('faster');
  });

  it('needs as clear a lead of more processes', () => {
    const ref = [10, 11, 12, 13, 14, 15, 16, 17];
    expect(verdictOf([2, 3, 4, 5, 6, 7, 8, 12.5], ref)).toBe('faster');
    expect(verdictOf([2, 3, 4, 5, 6, 7, 8, 13.5], ref)).toBe('');
  });
});

it('a ratio is of what was measured side by side, so that drift drops out', () => {
  const { median, lowerQuartile, upperQuartile } = ratiosOf([10, 20, 40], [5, 10, 20]);
  expect([median, lowerQuartile, upperQuartile]).toEqual([2, 2, 2]);
});
