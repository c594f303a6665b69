import type { LatencyResult } from '../measure/latency.ts';
import { medianOf } from '../spread.ts';
import { SUBJECTS, type SubjectName, titleOf } from '../subjects/index.ts';
import { alternating, count, fixed, type Measure } from './section.ts';

type Figure = keyof LatencyResult;

export interface LatencyRow extends LatencyResult {
  readonly subject: SubjectName;
  readonly keys: number;
  /** One entry a process; the row's own figures are their medians. */
  readonly rounds: readonly LatencyResult[];
}

const FIGURES: readonly Figure[] = ['p50', 'p99', 'p999', 'p9999', 'max', 'longestGap'];
/** The base's row tells what the machine does on its own. */
const CASES: readonly SubjectName[] = ['base', ...SUBJECTS];

export const measureLatency: Measure<LatencyRow> = (run, effort, progress) => {
  const keys = effort.latencyKeys;
  const rounds = new Map<SubjectName, LatencyResult[]>(CASES.map((subject) => [subject, []]));
  for (let turn = 0; turn < effort.latencyRounds; turn++) {
    for (const subject of alternating(CASES, turn)) {
      progress(`round ${turn + 1} of ${effort.latencyRounds}: ${titleOf(subject)}`);
      rounds.get(subject)?.push(run({ measure: 'latency', subject, keys }));
    }
  }
  const rows = CASES.map((subject) => latencyRow(subject, keys, rounds.get(subject) ?? []));
  const ours = (rows.find(({ subject }) => subject === 'sluicegate') as LatencyRow).max;
  return {
    rows,
    section: { ...heading(keys), rows: rows.map((row) => cells(row, ours)) },
  };
};

function latencyRow(subject: SubjectName, keys: number, rounds: LatencyResult[]): LatencyRow {
  const medians = FIGURES.map((figure) => [figure, medianOf(rounds.map((round) => round[figure]))]);
  return { subject, keys, ...(Object.fromEntries(medians) as LatencyResult), rounds };
}

function heading(keys: number) {
  return {
    title: `Single calls while ${count(keys)} new keys arrive`,
    note:
      'Microseconds a call of isAllowed at full speed, one reading of the timer included; the median over the processes. ' +
      '`gap` is the longest time from one answer to the next, garbage collections in between included.',
    head: ['subject', 'p50', 'p99', 'p99.9', 'p99.99', 'longest', '/ ours', 'gap'],
  };
}

function cells(row: LatencyRow, ours: number): string[] {
  const { subject, p50, p99, p999, p9999, max, longestGap } = row;
  return [
    titleOf(subject),
    ...[p50, p99, p999, p9999].map((us) => fixed(us, 2)),
    fixed(max, 0),
    fixed(max / ours, 2),
    fixed(longestGap, 0),
  ];
}
