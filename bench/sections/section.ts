import type { Effort } from '../options.ts';
import type { RunJob } from '../processes.ts';

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
}

/** Measures one section. `progress` is told what comes next. */
export type Measure<Row> = (
  run: RunJob,
  effort: Effort,
  progress: (step: string) => void,
) => Measured<Row>;

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
