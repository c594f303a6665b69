import type { Effort } from '../options.ts';
import type { RunJob } from '../processes.ts';
import { withRange, withSpread } from '../render.ts';
import { alternating, count, type Measured } from '../sections/section.ts';
import { medianOf, ratiosOf, type Spread, spreadOf } from '../spread.ts';
import { arrivalOrder, TICK_MS, timedPolicy, WORKLOADS, type Workload } from '../workloads.ts';
import { floorTimes } from './floor.ts';

export interface FloorRow {
  /** Live keys. */
  readonly keys: number;
  /** Nanoseconds a call, net, of the C program and of us. */
  readonly floor: Spread;
  readonly ours: Spread;
  /** Our time over the program's. */
  readonly ratio: Spread;
}

type Side = 'floor' | 'ours';

/** What each process has measured: its middle sample, net. */
type Measurements = Record<Side, number[]>;

const INTEGERS = WORKLOADS.filter(({ kind, limiters }) => kind === 'integer' && limiters === 1);
/** Any key does as well: nobody chooses the calls' keys by it. */
const HASH_KEY = [0x0706050403020100n, 0x0f0e0d0c0b0a0908n] as const;

/** Measures the C program and us on the local suite's integers. */
export function measureFloor(
  run: RunJob,
  effort: Effort,
  progress: (step: string) => void,
): Measured<FloorRow> {
  const measured = INTEGERS.map((workload) => ({
    workload,
    ns: { floor: [], ours: [] } as Measurements,
  }));
  for (let turn = 0; turn < effort.rounds; turn++) {
    for (const { workload, ns } of measured) {
      for (const side of alternating<Side>(['floor', 'ours'], turn)) {
        progress(`round ${turn + 1} of ${effort.rounds}: ${count(workload.keys)} keys, ${side}`);
        ns[side].push(side === 'floor' ? floorNs(workload, effort) : ourNs(run, workload, effort));
      }
    }
  }
  const rows = measured.map(({ workload: { keys }, ns: { floor, ours } }): FloorRow => {
    return { keys, floor: spreadOf(floor), ours: spreadOf(ours), ratio: ratiosOf(ours, floor) };
  });
  return { rows, section: { ...HEADING, rows: rows.map(cells) } };
}

function floorNs(workload: Workload, { minSamples }: Effort): number {
  const { base, limiter } = floorTimes(
    {
      ...timedPolicy(workload),
      maxKeys: workload.keys,
      arrivals: arrivalOrder(workload),
      stepMs: TICK_MS,
      hashKey: HASH_KEY,
    },
    minSamples,
  );
  return medianOf(limiter) - medianOf(base);
}

function ourNs(run: RunJob, workload: Workload, effort: Effort): number {
  const { minSamples, minSampleSeconds } = effort;
  const timing = { measure: 'timing', method: 'isAllowed', workload } as const;
  const job = { ...timing, minSamples, minSampleSeconds };
  const base = run({ ...job, subject: 'base' });
  const ours = run({ ...job, subject: 'sluicegate' });
  return medianOf(ours.samples) - medianOf(base.samples);
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

function cells({ keys, floor, ours, ratio }: FloorRow): string[] {
  return [count(keys), withSpread(floor), withSpread(ours), withRange(ratio)];
}
