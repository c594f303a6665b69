import { setImmediate as turn } from 'node:timers/promises';
import type { Effort } from '../options.ts';
import { DIST, jobRunner, type RunJob } from '../processes.ts';
import { withRange, withSpread } from '../render.ts';
import { alternating, count, type Measured, nameOf, wantedWorkloads } from '../sections/section.ts';
import { baseOf, type Case, timingOf } from '../sections/timed.ts';
import { medianOf, ratiosOf, type Spread, spreadOf } from '../spread.ts';
import { type Method, WORKLOADS, type Workload } from '../workloads.ts';

export type Verdict = 'faster' | 'slower' | '';

export interface CompareRow extends Omit<Workload, 'methods' | 'quick'> {
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

interface Contest {
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
  const workloads = wantedWorkloads(effort, 'compare', WORKLOADS);
  const contests = workloads.flatMap((workload) =>
    workload.methods.map((method): Contest => ({ workload, method, ns: { here: [], there: [] } })),
  );
  for (let round = 0; round < effort.rounds; round++) {
    for (const [i, { workload, method, ns }] of contests.entries()) {
      for (const side of alternating<Side>(['here', 'there'], round + i)) {
        progress(`round ${round + 1} of ${effort.rounds}: ${nameOf(workload)}, ${method}, ${side}`);
        ns[side].push(nsOf(runs[side], { subject: 'dist', workload, method }, effort));
        await turn(); // for signals
      }
    }
  }
  // Once will do: it is taken off both sides alike.
  const bases = new Map<Workload, number>();
  for (const workload of workloads) {
    progress(`no limiter: ${nameOf(workload)}`);
    bases.set(workload, nsOf(runs.here, baseOf(workload), effort));
    await turn();
  }
  const rows = contests.map((each) => rowOf(each, bases.get(each.workload) ?? Number.NaN));
  return { rows, section: { ...HEADING, rows: rows.map(cells) } };
}

function nsOf(run: RunJob, each: Case, effort: Effort): number {
  return medianOf(timingOf(run, each, effort).samples);
}

function rowOf({ workload, method, ns }: Contest, base: number): CompareRow {
  const { name, form, arrivals, live, limiters } = workload;
  const here = ns.here.map((gross) => gross - base);
  const there = ns.there.map((gross) => gross - base);
  const ratio = ratiosOf(here, there);
  const verdict = verdictOf(here, there);
  const spreads = { here: spreadOf(here), there: spreadOf(there), ratio };
  return { name, form, arrivals, live, limiters, method, ...spreads, verdict };
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

const HEADING = {
  title: 'This tree and the ref',
  note:
    'Nanoseconds a key, every call allowed, without producing the key and moving the clock on. Median of the processes, and ' +
    'half the distance between the quartiles. The ratio, below 1 where this tree is faster, is that of processes that ran one ' +
    'after the other; in brackets its quartiles. Faster or slower is said where a process of this tree was so than one of the ' +
    'ref in 19 of 20 pairings of all with all; the rest is within the noise.',
  head: ['workload', 'live', 'call', 'here ns', 'ref ns', 'here / ref', 'here is'],
};

function cells({ name, live, method, here, there, ratio, verdict }: CompareRow) {
  return [
    name,
    count(live),
    method,
    withSpread(here),
    withSpread(there),
    withRange(ratio),
    verdict,
  ];
}
