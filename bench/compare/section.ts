import { setImmediate as turn } from 'node:timers/promises';
import type { TimingJob } from '../measure/timing.ts';
import type { Effort } from '../options.ts';
import { DIST, jobRunner, type RunJob } from '../processes.ts';
import { withRange, withSpread } from '../render.ts';
import { alternating, count, type Measured } from '../sections/section.ts';
import { medianOf, ratiosOf, type Spread, spreadOf } from '../spread.ts';
import { type Method, WORKLOADS, type Workload } from '../workloads.ts';

export type Verdict = 'faster' | 'slower' | '';

export interface CompareRow extends Omit<Workload, 'methods'> {
  readonly method: Method;
  /** Nanoseconds a call, net. */
  readonly here: Spread;
  readonly there: Spread;
  /** This tree's time over the ref's. */
  readonly ratio: Spread;
  /** Of this tree, where it is outside the noise. */
  readonly verdict: Verdict;
}

type Side = 'here' | 'there';

interface Case {
  readonly workload: Workload;
  readonly method: Method;
  /** What each process has measured: its middle sample. */
  readonly ns: Record<Side, number[]>;
}

/** Of all pairs, those won less those lost: 19 of 20 won. */
const LEAST_LEAD = 0.9;

/** Measures two built `dist` folders by turns. */
export async function measureBoth(
  node: string,
  dists: Readonly<Record<Side, string>>,
  effort: Effort,
  progress: (step: string) => void,
): Promise<Measured<CompareRow>> {
  const run = (side: Side) => jobRunner(node, { [DIST]: dists[side] });
  const runs = { here: run('here'), there: run('there') };
  const cases = casesOf(effort);
  for (let round = 0; round < effort.rounds; round++) {
    for (const [i, { workload, method, ns }] of cases.entries()) {
      for (const side of alternating<Side>(['here', 'there'], round + i)) {
        progress(`round ${round + 1} of ${effort.rounds}: ${nameOf(workload)}, ${method}, ${side}`);
        ns[side].push(timeOf(runs[side], { subject: 'dist', workload, method }, effort));
        await turn(); // for signals
      }
    }
  }
  // Once will do: it is taken off both sides alike.
  const bases = new Map<Workload, number>();
  for (const workload of WORKLOADS) {
    progress(`no limiter: ${nameOf(workload)}`);
    const job = { subject: 'base', workload, method: 'isAllowed' } as const;
    bases.set(workload, timeOf(runs.here, job, effort));
    await turn();
  }
  const rows = cases.map((each) => rowOf(each, bases.get(each.workload) ?? Number.NaN));
  return { rows, section: { ...HEADING, rows: rows.map(cells) } };
}

/** What the local suite times; a quick run leaves `tryAcquire` out. */
function casesOf({ quick }: Effort): Case[] {
  return WORKLOADS.flatMap((workload) =>
    workload.methods
      .filter((method) => !quick || method === 'isAllowed')
      .map((method) => ({ workload, method, ns: { here: [], there: [] } })),
  );
}

function timeOf(
  run: RunJob,
  job: Pick<TimingJob, 'subject' | 'workload' | 'method'>,
  { minSamples, minSampleSeconds }: Effort,
): number {
  return medianOf(run({ measure: 'timing', ...job, minSamples, minSampleSeconds }).samples);
}

function rowOf({ workload, method, ns }: Case, base: number): CompareRow {
  const { kind, keys, limiters } = workload;
  const here = ns.here.map((gross) => gross - base);
  const there = ns.there.map((gross) => gross - base);
  const ratio = ratiosOf(here, there);
  const verdict = verdictOf(here, there);
  const spreads = { here: spreadOf(here), there: spreadOf(there), ratio };
  return { kind, keys, limiters, method, ...spreads, verdict };
}

/**
 * Compares every process of one with every process of the other, the Mann-Whitney test: two that are the same come out
 * as two that differ once in 63 times with 5 processes each, once in a thousand times with 8.
 */
export function verdictOf(here: readonly number[], there: readonly number[]): Verdict {
  const pairs = here.flatMap((ours) => there.map((theirs) => Math.sign(theirs - ours)));
  const lead = pairs.reduce((sum, sign) => sum + sign, 0) / pairs.length;
  if (Math.abs(lead) < LEAST_LEAD) return '';
  return lead > 0 ? 'faster' : 'slower';
}

function nameOf({ kind, keys, limiters }: Workload): string {
  return `${kind}, ${count(keys)} keys, ${limiters} limiters`;
}

const HEADING = {
  title: 'This tree and the ref',
  note:
    'Nanoseconds a call, every call allowed, without producing the key and moving the clock on. Median of the processes, and ' +
    'half the distance between the quartiles. The ratio, below 1 where this tree is faster, is that of processes that ran one ' +
    'after the other; in brackets its quartiles. Faster or slower is said where a process of this tree was so than one of the ' +
    'ref in 19 of 20 pairings of all with all; the rest is within the noise.',
  head: ['keys', 'live', 'limiters', 'call', 'here ns', 'ref ns', 'here / ref', 'here is'],
};

function cells({ kind, keys, limiters, method, here, there, ratio, verdict }: CompareRow) {
  const what = [kind, count(keys), count(limiters), method];
  return [...what, withSpread(here), withSpread(there), withRange(ratio), verdict];
}
