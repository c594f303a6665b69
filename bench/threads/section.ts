import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Effort, isWanted } from '../options.ts';
import { alternating, count, fixed, type Measured } from '../sections/section.ts';
import { type Spread, spreadOf } from '../spread.ts';
import type { Case, Subject, ThreadsJob, ThreadsResult } from './job.ts';

export interface ThreadsRow extends Case {
  /** Decisions a second, of all workers together. */
  readonly all: Spread;
  readonly perWorker: number;
  /** Over the same subject with one worker. */
  readonly scaling: number;
  /** The shared table's decisions over this one's, with as many workers. */
  readonly oursOver: number;
}

const CHILD = fileURLToPath(new URL('child.js', import.meta.url));
const KEYS = [1, 1_000, 1_000_000];
const WORKERS = [...new Set([1, 2, availableParallelism()])].sort((a, b) => a - b);

const TITLES: Record<Subject, string> = {
  base: 'nobody: the key and the clock',
  private: 'Sluicegate, private, main thread only',
  alone: 'Sluicegate, shared, main thread only',
  shared: 'Sluicegate, shared',
  postMessage: 'Sluicegate in the main thread, by postMessage',
  queued: 'the same, 32 questions at once',
  cluster: 'rate-limiter-flexible, cluster (processes, IPC), 32 at once',
};

/** In the report's order. */
const CASES: readonly Case[] = KEYS.flatMap((keys) => {
  const crews = (subject: Subject, own = false) =>
    WORKERS.map((workers) => ({ subject, workers, keys, own }));
  return [
    ...(['private', 'alone'] as const).map((subject) => ({
      subject,
      workers: 1,
      keys,
      own: false,
    })),
    ...crews('base'),
    ...crews('shared'),
    // With one worker it would be the same again.
    ...(keys > 1 ? crews('shared', true).filter(({ workers }) => workers > 1) : []),
    ...crews('postMessage'),
    ...crews('queued'),
    ...crews('cluster'),
  ];
});

/** Decisions a second of all threads, by case. */
type Totals = Map<string, number[]>;

/** Measures threads that share a table, and those that ask another thread or process. */
export function measureThreads(
  node: string,
  effort: Effort,
  progress: (step: string) => void,
): Measured<ThreadsRow> {
  const { quick, rounds } = effort;
  const cases = CASES.filter((each) => isWanted(effort, idOf(each)));
  const length = quick ? { samples: 5, sampleMs: 150 } : { samples: 10, sampleMs: 500 };
  const totals: Totals = new Map();
  for (let turn = 0; turn < rounds; turn++) {
    for (const each of alternating(cases, turn)) {
      progress(`round ${turn + 1} of ${rounds}: ${idOf(each)}`);
      const { samples } = run(node, { ...each, ...length });
      totals.set(idOf(each), [...(totals.get(idOf(each)) ?? []), ...samples.map(sum)]);
    }
  }
  const rows = cases.map((each) => rowOf(each, totals));
  return { rows, section: { ...HEADING, rows: rows.map(cells) } };
}

function run(node: string, job: ThreadsJob): ThreadsResult {
  const child = spawnSync(node, [CHILD, JSON.stringify(job)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.error !== undefined) throw child.error;
  if (child.status !== 0) throw new Error(`no result from ${JSON.stringify(job)}`);
  return JSON.parse(child.stdout);
}

function idOf({ subject, workers, keys, own }: Case): string {
  return `${subject}, ${workers} workers, ${keys} keys${own ? ', each its own' : ''}`;
}

function rowOf(row: Case, totals: Totals): ThreadsRow {
  const of = (change: Partial<Case>) => spreadOf(totals.get(idOf({ ...row, ...change })) ?? []);
  const all = of({});
  const ours = of({ subject: row.subject === 'private' ? 'alone' : 'shared', own: false });
  return {
    ...row,
    all,
    perWorker: all.median / row.workers,
    scaling: all.median / of({ workers: 1, own: false }).median,
    oursOver: ours.median / all.median,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

const HEADING = {
  title: 'Threads',
  note:
    'Thousands of decisions a second, every call allowed: of all workers together, median and half the distance between ' +
    'the quartiles, and of one worker. A call includes producing the key, a new string of 20 to 24 characters, and ' +
    'reading the clock; "nobody" does only that, and so shows what the machine has for threads that share nothing. In the ' +
    'rows "main thread only", which compare the two builds, the clock is a constant. All workers call the same keys, but ' +
    'in the rows "own keys" each its own part of them. Where another thread or process is asked, each worker asks ' +
    'one question after the other, or has 32 on their way at once. "/ 1" is against one worker; "ours /" how many times as many decisions the shared ' +
    'table makes with as many workers (for the private build: the shared build). Checked before: all admit exactly the limit.',
  head: ['who decides', 'keys', 'workers', 'all k/s', 'one k/s', '/ 1', 'ours /'],
};

function cells({
  subject,
  workers,
  keys,
  own,
  all,
  perWorker,
  scaling,
  oursOver,
}: ThreadsRow): string[] {
  const isOurs = subject === 'shared' || subject === 'alone' || subject === 'base';
  return [
    own ? `${TITLES[subject]}, own keys` : TITLES[subject],
    count(keys),
    count(workers),
    `${thousands(all.median)} ±${thousands((all.upperQuartile - all.lowerQuartile) / 2)}`,
    thousands(perWorker),
    workers === 1 ? '' : fixed(scaling, 2),
    isOurs ? '' : fixed(oursOver, oursOver < 10 ? 2 : 0),
  ];
}

function thousands(perSecond: number): string {
  const thousand = perSecond / 1_000;
  return thousand < 100 ? fixed(thousand) : count(Math.round(thousand));
}
