import { arrivalOrder } from '../arrivals.ts';
import type { Effort } from '../options.ts';
import type { RunJob } from '../processes.ts';
import { withRange, withSpread } from '../render.ts';
import { alternating, count, type Measured, nameOf, wantedWorkloads } from '../sections/section.ts';
import { baseOf, type Case, timingOf } from '../sections/timed.ts';
import { medianOf, ratiosOf, type Spread, spreadOf } from '../spread.ts';
import { TICK_MS, timedPolicy, WORKLOADS, type Workload } from '../workloads.ts';
import { floorTimes } from './floor.ts';

export interface FloorRow {
  /** Live keys. */
  readonly live: number;
  /** Nanoseconds a call, net, of the C program and of us. */
  readonly floor: Spread;
  readonly ours: Spread;
  /** Our time over the program's. */
  readonly ratio: Spread;
}

type Side = 'floor' | 'ours';

/** What each process has measured: its middle sample, net. */
type Measurements = Record<Side, number[]>;

/** The C program takes nothing else. */
const INTEGERS = WORKLOADS.filter(
  ({ form, limiters }) => form.kind === 'integer' && limiters === 1,
);

/** Measures the C program and us on the local suite's integers. */
export function measureFloor(
  run: RunJob,
  effort: Effort,
  progress: (step: string) => void,
): Measured<FloorRow> {
  const measured = wantedWorkloads(effort, 'native', INTEGERS).map((workload) => ({
    workload,
    ns: { floor: [], ours: [] } as Measurements,
  }));
  for (let turn = 0; turn < effort.rounds; turn++) {
    for (const { workload, ns } of measured) {
      for (const side of alternating<Side>(['floor', 'ours'], turn)) {
        progress(`round ${turn + 1} of ${effort.rounds}: ${nameOf(workload)}, ${side}`);
        ns[side].push(side === 'floor' ? floorNs(workload, effort) : ourNs(run, workload, effort));
      }
    }
  }
  const rows = measured.map(({ workload: { live }, ns: { floor, ours } }): FloorRow => {
    return { live, floor: spreadOf(floor), ours: spreadOf(ours), ratio: ratiosOf(ours, floor) };
  });
  return { rows, section: { ...HEADING, rows: rows.map(cells) } };
}

function floorNs(workload: Workload, { minSamples }: Effort): number {
  const { base, limiter } = floorTimes(
    {
      ...timedPolicy(workload),
      maxKeys: workload.live,
      arrivals: arrivalOrder(workload),
      stepMs: TICK_MS,
    },
    minSamples,
  );
  return medianOf(limiter) - medianOf(base);
}

function ourNs(run: RunJob, workload: Workload, effort: Effort): number {
  const nsOf = (each: Case) => medianOf(timingOf(run, each, effort).samples);
  const base = nsOf(baseOf(workload));
  return nsOf({ subject: 'sluicegate', workload, method: 'isAllowed' }) - base;
}

const HEADING = {
  title: 'The floor: a C program that does the same',
  note:
    'Nanoseconds of isAllowed with an integer as key, every call allowed, without producing the key and moving the clock on, ' +
    'which a loop of each that calls no limiter has measured. The program (bench/native) has our hash, our table and our ' +
    'arithmetic, and nothing between the loop and them. Median of the processes, and half the distance between the ' +
    'quartiles; the ratio is that of processes that ran one after the other, in brackets its quartiles. Calls follow each ' +
    "other at once: where the table is larger than the processor's caches, calls of fewer instructions overlap more of their " +
    'waiting for memory with that of the next.',
  head: ['live keys', 'C ns', 'Sluicegate ns', 'ours / C'],
};

function cells({ live, floor, ours, ratio }: FloorRow): string[] {
  return [count(live), withSpread(floor), withSpread(ours), withRange(ratio)];
}
