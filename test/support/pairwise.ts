export type Factors = Record<string, readonly unknown[]>;
export type Row<F extends Factors> = { readonly [K in keyof F]: F[K][number] };

/**
 * Few rows in which every two values of two factors meet at least once. Greedy: each row begins with a pair that is
 * still missing and takes for every other factor the value that meets the most missing ones.
 */
export function pairwise<F extends Factors>(factors: F): Row<F>[] {
  const names = Object.keys(factors);
  const missing = new Map<string, readonly [string, number, string, number]>();
  for (const [i, one] of names.entries()) {
    for (const other of names.slice(i + 1)) {
      for (const a of keysOf(factors, one)) {
        for (const b of keysOf(factors, other))
          missing.set(pair(one, a, other, b), [one, a, other, b]);
      }
    }
  }
  const rows: Row<F>[] = [];
  for (let first = next(missing); first !== undefined; first = next(missing)) {
    const [one, a, other, b] = first;
    const row = new Map([
      [one, a],
      [other, b],
    ]);
    for (const name of names) {
      if (row.has(name)) continue;
      const gain = (value: number) =>
        [...row].filter(([met, at]) => missing.has(ordered(names, name, value, met, at))).length;
      const best = keysOf(factors, name).reduce((top, value) =>
        gain(value) > gain(top) ? value : top,
      );
      row.set(name, best);
    }
    for (const [name, value] of row) {
      for (const [met, at] of row)
        if (name !== met) missing.delete(ordered(names, name, value, met, at));
    }
    const values = names.map((name) => [name, factors[name]?.[row.get(name) as number]]);
    rows.push(Object.fromEntries(values) as Row<F>);
  }
  return rows;
}

function keysOf(factors: Factors, name: string): number[] {
  return [...(factors[name] ?? []).keys()];
}

function next<T>(missing: Map<string, T>): T | undefined {
  for (const value of missing.values()) return value;
  return undefined;
}

function pair(one: string, a: number, other: string, b: number): string {
  return `${one}=${a}&${other}=${b}`;
}

function ordered(names: string[], one: string, a: number, other: string, b: number): string {
  return names.indexOf(one) < names.indexOf(other)
    ? pair(one, a, other, b)
    : pair(other, b, one, a);
}
