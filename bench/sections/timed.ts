import type { TimingResult } from '../measure/timing.ts';
import type { Effort } from '../options.ts';
import type { RunJob } from '../processes.ts';
import { less, medianOf, ratioOf, type Spread, spreadOf } from '../spread.ts';
import type { AnyName } from '../subjects/index.ts';
import type { Method, Workload } from '../workloads.ts';
import { alternating, nameOf } from './section.ts';

/** One subject's nanoseconds a call. */
export interface Timed extends Spread {
  readonly subject: AnyName;
  /** Without the producing of the key. */
  readonly net: Spread;
  /** Its net time over ours. */
  readonly overOurs: Spread;
  /** As the `benchmark` package reports them, one entry a process. */
  readonly rounds: readonly TimingResult[];
}

export interface TimedRow
  extends Pick<Workload, 'name' | 'form' | 'arrivals' | 'live' | 'limiters'> {
  readonly method: Method;
  /** Producing the key and moving the clock on. */
  readonly base: Spread;
  readonly subjects: readonly Timed[];
}

interface Contest {
  readonly workloads: readonly Workload[];
  readonly subjects: readonly AnyName[];
  readonly ours: AnyName;
}

/** What one process times. */
export interface Case {
  readonly subject: AnyName;
  readonly workload: Workload;
  readonly method: Method;
}

/** Times all subjects with all workloads, each in processes of its own. */
export function timedRows(
  run: RunJob,
  effort: Effort,
  progress: (step: string) => void,
  { workloads, subjects, ours }: Contest,
): TimedRow[] {
  const results = new Map<string, TimingResult[]>();
  for (let turn = 0; turn < effort.rounds; turn++) {
    const cases = workloads.flatMap((workload, i) =>
      alternating(casesOf(workload, subjects), turn + i),
    );
    for (const each of cases) {
      const id = idOf(each);
      progress(`round ${turn + 1} of ${effort.rounds}: ${id}`);
      results.set(id, [...(results.get(id) ?? []), timingOf(run, each, effort)]);
    }
  }
  return workloads.flatMap((workload) =>
    workload.methods.map((method) => timedRow(results, workload, method, subjects, ours)),
  );
}

export function timingOf(
  run: RunJob,
  each: Case,
  { minSamples, minSampleSeconds }: Effort,
): TimingResult {
  return run({ measure: 'timing', ...each, minSamples, minSampleSeconds });
}

/** The base is measured once for all methods that ask for one key: it is about the key. */
function casesOf(workload: Workload, subjects: readonly AnyName[]): Case[] {
  const contest = workload.methods.flatMap((method) =>
    subjects.map((subject) => ({ subject, workload, method })),
  );
  return [baseOf(workload), ...contest];
}

export function baseOf(workload: Workload): Case {
  return { subject: 'base', workload, method: workload.methods[0] as Method };
}

function idOf({ subject, workload, method }: Case): string {
  return `${nameOf(workload)}, ${subject}.${method}`;
}

function timedRow(
  results: Map<string, TimingResult[]>,
  workload: Workload,
  method: Method,
  subjects: readonly AnyName[],
  ours: AnyName,
): TimedRow {
  const roundsOf = (each: Case) => results.get(idOf(each)) as TimingResult[];
  const of = (subject: AnyName) => roundsOf({ subject, workload, method });
  const base = pooled(roundsOf(baseOf(workload)));
  const netOf = (subject: AnyName) => less(pooled(of(subject)), base.median);
  const timed = subjects.map((subject): Timed => {
    const [rounds, net] = [of(subject), netOf(subject)];
    return { subject, ...pooled(rounds), net, overOurs: ratioOf(net, netOf(ours)), rounds };
  });
  const { name, form, arrivals, live, limiters } = workload;
  return { name, form, arrivals, live, limiters, method, base, subjects: timed };
}

/** Over the samples of all processes, each process weighing the same. */
function pooled(results: readonly TimingResult[]): Spread {
  const spread = spreadOf(results.flatMap(({ samples }) => samples));
  // A process that had longer samples had fewer; the middle one of the processes is the fairer middle.
  return { ...spread, median: medianOf(results.map(({ samples }) => medianOf(samples))) };
}

export function timedOf(row: TimedRow, subject: AnyName): Timed {
  return row.subjects.find((timed) => timed.subject === subject) as Timed;
}
