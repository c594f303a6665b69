import type { Chart } from '../chart/chart.ts';
import { withRange, withSpread } from '../render.ts';
import { describePackage, PACKAGES, type PackageName, titleOf } from '../subjects/index.ts';
import { PACKAGE_WORKLOADS } from '../workloads.ts';
import { count, fixed, type Measure, nameOf, wantedWorkloads } from './section.ts';
import { type TimedRow, timedOf, timedRows } from './timed.ts';

export const measurePackages: Measure<TimedRow> = (run, effort, progress) => {
  const rows = timedRows(run, effort, progress, {
    workloads: wantedWorkloads(effort, 'packages', PACKAGE_WORKLOADS),
    subjects: PACKAGES,
    ours: 'ours',
  });
  const lines = rows.flatMap((row) => PACKAGES.map((name) => cells(row, name)));
  return { rows, section: { ...HEADING, rows: lines }, charts: [chart(rows)] };
};

const HEADING = {
  title: 'Time of a decision, against other packages',
  note:
    'Nanoseconds a decision, without producing the key (`key`, taken off the others), a fresh string of 16 to 24 ' +
    'characters; the reading of the package’s own clock is included, ours too. Where a package answers with a promise, the ' +
    'promise and its await are included, one call after the other. In brackets is how it counts: most count less than a ' +
    'token bucket does. Every call is allowed, no window ends. Ratios as above.',
  head: ['package', 'workload', 'live', 'key ns', 'decision ns', '/ ours'],
};

function cells(row: TimedRow, name: PackageName): string[] {
  const { net, overOurs } = timedOf(row, name);
  return [
    describePackage(name),
    row.name,
    count(row.live),
    fixed(row.base.median),
    withSpread(net),
    name === 'ours' ? '' : withRange(overOurs),
  ];
}

function chart(rows: readonly TimedRow[]): Chart {
  return {
    title: HEADING.title,
    note: 'Without the key; with each package’s own clock, and with its promise if it has one.',
    unit: 'ns a decision',
    series: PACKAGES.map(titleOf),
    rows: rows.map((row) => ({
      label: nameOf(row),
      dots: PACKAGES.map((name) => timedOf(row, name).net),
    })),
  };
}
