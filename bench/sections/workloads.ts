import type { WorkloadCheckResult } from '../measure/workload-check.ts';
import { PACKAGE_WORKLOADS, WORKLOADS, type Workload } from '../workloads.ts';
import { count, fixed, type Measure, nameOf, wantedWorkloads } from './section.ts';

export interface WorkloadRow extends WorkloadCheckResult {
  readonly name: string;
  readonly live: number;
}

/** Throws where arrivals are not what their workload is called. */
export const checkWorkloads: Measure<WorkloadRow> = (run, effort, progress) => {
  const workloads = [
    ...wantedWorkloads(effort, 'timing', WORKLOADS),
    ...wantedWorkloads(effort, 'packages', PACKAGE_WORKLOADS),
  ];
  const rows = distinct(workloads).map((workload) => {
    const { name, live } = workload;
    progress(`checking ${nameOf(workload)}`);
    return { name, live, ...run({ measure: 'workload', workload }) };
  });
  return { rows, section: { ...HEADING, rows: rows.map(cells) } };
};

function distinct(workloads: readonly Workload[]): readonly Workload[] {
  return [...new Map(workloads.map((each) => [nameOf(each), each])).values()];
}

const HEADING = {
  title: 'What arrives',
  note:
    'Counted over the keys themselves before anything is timed; the run ends with an error where a count is not what the ' +
    'workload’s name says. Shares are of all arrivals. `live` keys are in the limiter before the timing begins, but of new ' +
    'keys. Timed runs go through the arrivals over and over; new keys have no end.',
  head: [
    'workload',
    'live',
    'arrivals',
    'distinct',
    'busiest key %',
    'busiest hundredth %',
    'characters',
  ],
};

function cells(row: WorkloadRow): string[] {
  const { name, live, arrivals, busiest, busiestHundredth, shortest, longest } = row;
  return [
    name,
    count(live),
    count(arrivals),
    count(row.distinct),
    fixed(100 * busiest, 4),
    fixed(100 * busiestHundredth, 2),
    longest === 0 ? '-' : shortest === longest ? `${longest}` : `${shortest}-${longest}`,
  ];
}
