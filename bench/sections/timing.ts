import type { TimingJob, TimingResult } from '../measure/timing.ts';
import { less, medianOf, ratioOf, type Spread, spreadOf } from '../spread.ts';
import { RIVALS, SUBJECTS, type SubjectName, titleOf } from '../subjects/index.ts';
import { type Method, WORKLOADS, type Workload } from '../workloads.ts';
import { alternating, count, fixed, type Measure } from './section.ts';

/** One subject's nanoseconds a call. */
interface Timed extends Spread {
  readonly subject: SubjectName;
  /** Without the producing of the key. */
  readonly net: Spread;
  /** As the `benchmark` package reports them, one entry a process. */
  readonly rounds: readonly TimingResult[];
}

export interface TimingRow extends Omit<Workload, 'methods'> {
  readonly method: Method;
  /** Producing the key and moving the clock on. */
  readonly base: Spread;
  readonly subjects: readonly Timed[];
  /** Net time of each rival over ours. */
  readonly ratios: readonly (Spread & { readonly rival: SubjectName })[];
}

/** Results of all processes that did the same. */
type Rounds = Map<string, TimingResult[]>;

export const measureTiming: Measure<TimingRow> = (run, effort, progress) => {
  const rounds: Rounds = new Map();
  const jobs = (turn: number) =>
    WORKLOADS.flatMap((workload, i) => alternating(jobsOf(workload), turn + i));
  for (let turn = 0; turn < effort.rounds; turn++) {
    for (const job of jobs(turn)) {
      progress(`round ${turn + 1} of ${effort.rounds}: ${idOf(job)}`);
      const result = run({ measure: 'timing', ...job, ...effortOf(effort) });
      rounds.set(idOf(job), [...(rounds.get(idOf(job)) ?? []), result]);
    }
  }
  const rows = WORKLOADS.flatMap((workload) =>
    workload.methods.map((method) => timingRow(rounds, workload, method)),
  );
  return { rows, section: { ...HEADING, rows: rows.map(cells) } };
};

type TimingCase = Pick<TimingJob, 'subject' | 'workload' | 'method'>;

/** The base is measured once for both methods: it is about the key. */
function jobsOf(workload: Workload): TimingCase[] {
  const contest = workload.methods.flatMap((method) =>
    SUBJECTS.map((subject) => ({ subject, workload, method })),
  );
  return [{ subject: 'base', workload, method: 'isAllowed' }, ...contest];
}

function idOf({ subject, workload, method }: TimingCase): string {
  const { kind, keys, limiters } = workload;
  return `${kind} ${keys} x ${limiters}, ${subject}.${method}`;
}

function effortOf(effort: { minSamples: number; minSampleSeconds: number }) {
  const { minSamples, minSampleSeconds } = effort;
  return { minSamples, minSampleSeconds };
}

function timingRow(rounds: Rounds, workload: Workload, method: Method): TimingRow {
  const resultsOf = (timed: TimingCase) => rounds.get(idOf(timed)) as TimingResult[];
  const base = pooled(resultsOf({ subject: 'base', workload, method: 'isAllowed' }));
  const subjects = SUBJECTS.map((subject): Timed => {
    const results = resultsOf({ subject, workload, method });
    const gross = pooled(results);
    return { subject, ...gross, net: less(gross, base.median), rounds: results };
  });
  const netOf = (name: SubjectName) =>
    (subjects.find(({ subject }) => subject === name) as Timed).net;
  const ratios = RIVALS.map((rival) => ({ rival, ...ratioOf(netOf(rival), netOf('sluicegate')) }));
  const { kind, keys, limiters } = workload;
  return { kind, keys, limiters, method, base, subjects, ratios };
}

/** Over the samples of all processes, each process weighing the same. */
function pooled(results: readonly TimingResult[]): Spread {
  const spread = spreadOf(results.flatMap(({ samples }) => samples));
  // A process that had longer samples had fewer; the middle one of the processes is the fairer middle.
  return { ...spread, median: medianOf(results.map(({ samples }) => medianOf(samples))) };
}

const HEADING = {
  title: 'Time of a call',
  note:
    'Nanoseconds a call, without producing the key and without reading a real clock (the first column is what producing ' +
    'the key and moving an injected clock on cost; it is taken off the others). Every call is allowed. Median, and half ' +
    'the distance between the quartiles; in brackets the ratio with our worse quartile and their better one, and the reverse. 8 limiters are used in turn, ' +
    'each with an eighth of the keys.',
  head: [
    'keys',
    'live',
    'limiters',
    'call',
    'key ns',
    ...SUBJECTS.map((subject) => `${titleOf(subject)} ns`),
    ...RIVALS.map((rival) => `${titleOf(rival)} / ours`),
  ],
};

function cells({ kind, keys, limiters, method, base, subjects, ratios }: TimingRow): string[] {
  return [
    kind,
    count(keys),
    count(limiters),
    method,
    fixed(base.median),
    ...subjects.map(({ net }) => withSpread(net)),
    ...ratios.map(withRange),
  ];
}

function withRange({ median, lowerQuartile, upperQuartile }: Spread): string {
  return `${fixed(median, 2)} (${fixed(lowerQuartile, 2)}-${fixed(upperQuartile, 2)})`;
}

function withSpread({ median, lowerQuartile, upperQuartile }: Spread): string {
  return `${fixed(median)} ±${fixed((upperQuartile - lowerQuartile) / 2)}`;
}
