import type { Chart } from '../chart/chart.ts';
import { withRange, withSpread } from '../render.ts';
import { RIVALS, SUBJECTS, titleOf } from '../subjects/index.ts';
import { WORKLOADS } from '../workloads.ts';
import { count, fixed, type Measure, nameOf, wantedWorkloads } from './section.ts';
import { type TimedRow, timedOf, timedRows } from './timed.ts';

export const measureTiming: Measure<TimedRow> = (run, effort, progress) => {
  const rows = timedRows(run, effort, progress, {
    workloads: wantedWorkloads(effort, 'timing', WORKLOADS),
    subjects: SUBJECTS,
    ours: 'sluicegate',
  });
  return { rows, section: { ...HEADING, rows: rows.map(cells) }, charts: [chart(rows)] };
};

const HEADING = {
  title: 'Time of a call, against pure JavaScript',
  note:
    'Nanoseconds a key, without producing the key and without reading a real clock (`key` is what producing the key and ' +
    'moving an injected clock on cost; it is taken off the others). Every call is allowed. Median, and half the distance ' +
    'between the quartiles; in brackets the ratio with our worse quartile and their better one, and the reverse: above 1 ' +
    'we are faster. `Map` holds an object a key. `typed arrays` is an open-addressed table with a hash that is no secret. ' +
    'Subjects without isAllowedMany are asked in a loop.',
  head: [
    'workload',
    'live',
    'call',
    'key ns',
    ...SUBJECTS.map((subject) => `${titleOf(subject)} ns`),
    ...RIVALS.map((rival) => `${titleOf(rival)} / ours`),
  ],
};

function cells(row: TimedRow): string[] {
  return [
    row.name,
    count(row.live),
    row.method,
    fixed(row.base.median),
    ...SUBJECTS.map((subject) => withSpread(timedOf(row, subject).net)),
    ...RIVALS.map((rival) => withRange(timedOf(row, rival).overOurs)),
  ];
}

function chart(rows: readonly TimedRow[]): Chart {
  return {
    title: HEADING.title,
    note: 'Without the key and the clock; the line reaches from quartile to quartile.',
    unit: 'ns a key',
    series: SUBJECTS.map(titleOf),
    rows: rows.map((row) => ({
      label: `${nameOf(row)}${row.method === 'tryAcquire' ? ', decision' : ''}`,
      dots: SUBJECTS.map((subject) => timedOf(row, subject).net),
    })),
  };
}
