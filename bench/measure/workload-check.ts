import type { Key } from '../../src/index.ts';
import { ARRIVALS, streamsOf } from '../arrivals.ts';
import type { Workload } from '../workloads.ts';

export interface WorkloadCheckJob {
  readonly measure: 'workload';
  readonly workload: Workload;
}

/** What really arrives, counted over the keys themselves. */
export interface WorkloadCheckResult {
  readonly arrivals: number;
  readonly distinct: number;
  /** Share of all arrivals that the busiest key has. */
  readonly busiest: number;
  /** The same of the busiest hundredth of the keys, one key at least. */
  readonly busiestHundredth: number;
  /** Fewest and most characters or bytes, 0 of integers. */
  readonly shortest: number;
  readonly longest: number;
}

/** Counts a workload's arrivals; an error says what is not as the workload's name says. */
export async function checkWorkload({ workload }: WorkloadCheckJob): Promise<WorkloadCheckResult> {
  const { at } = streamsOf(workload).arrivals;
  const counts = new Map<string | number, number>();
  let [shortest, longest] = [Number.POSITIVE_INFINITY, 0];
  for (let i = 0; i < ARRIVALS; i++) {
    const key = at(i);
    const id = typeof key === 'object' ? Buffer.from(key).toString('latin1') : key;
    counts.set(id, (counts.get(id) ?? 0) + 1);
    const length = typeof key === 'number' ? 0 : key.length;
    shortest = Math.min(shortest, length);
    longest = Math.max(longest, length);
    if (i < 1_000) expectForm(workload, key);
  }
  const sorted = Float64Array.from(counts.values()).sort().reverse();
  const hundredth = sorted.subarray(0, Math.max(1, Math.floor(workload.live / 100)));
  const result: WorkloadCheckResult = {
    arrivals: ARRIVALS,
    distinct: counts.size,
    busiest: (sorted[0] as number) / ARRIVALS,
    busiestHundredth: hundredth.reduce((sum, count) => sum + count, 0) / ARRIVALS,
    shortest,
    longest,
  };
  expectDistribution(workload, result);
  return result;
}

function expectForm({ name, form }: Workload, key: Key): void {
  const isRight =
    form.kind === 'integer'
      ? Number.isSafeInteger(key)
      : form.kind === 'bytes'
        ? key instanceof Uint8Array
        : typeof key === 'string' && charactersAre(form.wide, key);
  if (!isRight) throw new Error(`${name}: ${String(key)} is no such key`);
}

function charactersAre(wide: boolean, key: string): boolean {
  return [...key].every((character) => character.charCodeAt(0) > 255 === wide);
}

function expectDistribution(workload: Workload, result: WorkloadCheckResult): void {
  const { name, arrivals, live, form } = workload;
  const expect = (what: string, seen: number, least: number, most: number) => {
    if (seen < least || seen > most) {
      throw new Error(`${name}, ${live} keys: ${what} is ${seen}, not ${least} to ${most}`);
    }
  };
  if (form.kind !== 'integer') {
    expect('the shortest key', result.shortest, form.length[0], form.length[0]);
    // Few keys need not come in all lengths.
    expect(
      'the longest key',
      result.longest,
      live > 100 ? form.length[1] : form.length[0],
      form.length[1],
    );
  }
  if (arrivals === 'zipf') {
    // Of n keys the busiest k have harmonic(k) / harmonic(n) of all arrivals.
    const share = (keys: number) => harmonic(keys) / harmonic(live);
    const near = (value: number): [number, number] => [0.97 * value, 1.03 * value];
    expect('the busiest share', result.busiest, ...near(share(1)));
    expect('the hundredth', result.busiestHundredth, ...near(share(live / 100)));
  } else {
    const distinct = arrivals === 'new' ? ARRIVALS : live;
    expect('distinct', result.distinct, distinct, distinct);
  }
  if (arrivals === 'uniform') expect('the busiest share', result.busiest, 1 / live, 1 / live);
}

function harmonic(n: number): number {
  let sum = 0;
  for (let k = 1; k <= n; k++) sum += 1 / k;
  return sum;
}
