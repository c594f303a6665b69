import type { Chart } from '../chart/chart.ts';
import { type Effort, isWanted } from '../options.ts';
import type { RunJob } from '../processes.ts';
import type { Workload } from '../workloads.ts';

/** A part of the report, as a person reads it. */
export interface Section {
  readonly title: string;
  /** What the numbers include. */
  readonly note: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What a section measured, for programs and for people. */
export interface Measured<Row> {
  readonly rows: readonly Row[];
  readonly section: Section;
  readonly charts?: readonly Chart[];
}

/** Measures one section; no rows if the effort leaves it out. `progress` is told what comes next. */
export type Measure<Row> = (
  run: RunJob,
  effort: Effort,
  progress: (step: string) => void,
) => Measured<Row>;

/** Those of the section's workloads that the effort has in it. */
export function wantedWorkloads(
  effort: Effort,
  section: string,
  workloads: readonly Workload[],
): readonly Workload[] {
  return workloads.filter(
    ({ name, quick }) =>
      (quick || !effort.quick) && (isWanted(effort, section) || isWanted(effort, name)),
  );
}

export function nameOf({ name, live }: Pick<Workload, 'name' | 'live'>): string {
  return `${name}, ${count(live)} live`;
}

export function count(value: number): string {
  return value.toLocaleString('en-US');
}

export function fixed(value: number, digits = 1): string {
  return Number.isNaN(value) ? '-' : value.toFixed(digits);
}

/** One order, then the other: what drifts on the machine hits all alike. */
export function alternating<T>(values: readonly T[], turn: number): readonly T[] {
  return turn % 2 === 0 ? values : [...values].reverse();
}
