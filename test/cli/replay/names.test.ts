import { describe, expect, it } from 'vitest';
import { Names } from '../../../src/cli/replay/names.ts';
import { Random } from '../../support/random.ts';

/** Short, so that many meet; some not ASCII, some slices of a longer text. */
function someNames(count: number): string[] {
  const random = new Random(count);
  const letters = 'ab.:1é日';
  const text = Array.from({ length: 5_000 }, () => random.pick([...letters])).join('');
  return Array.from({ length: count }, () => {
    const from = random.below(text.length - 20);
    return text.slice(from, from + random.between(1, 12));
  });
}

describe('the numbers of names', () => {
  it('are those of a map', () => {
    const names = new Names();
    const map = new Map<string, number>();
    for (const name of someNames(60_000)) {
      if (!/[^\0-\x7f]/.test(name)) expect(names.find(name)).toBe(map.get(name) ?? -1);
      if (!map.has(name)) map.set(name, map.size);
      if (names.add(name) !== map.get(name)) throw new Error(`${name}: ${map.get(name)}`);
    }
    expect(names.length).toBe(map.size);
    expect(map.size).toBeGreaterThan(20_000);
    for (const [name, number] of map) if (names.get(number) !== name) throw new Error(name);
  });

  it('start again once cleared', () => {
    const names = new Names();
    for (const name of ['a', 'é', 'b']) names.add(name);
    names.clear();
    expect([names.find('a'), names.add('é'), names.add('b'), names.length]).toEqual([-1, 0, 1, 2]);
    expect([names.get(0), names.get(1)]).toEqual(['é', 'b']);
  });
});
