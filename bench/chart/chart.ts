import type { Spread } from '../spread.ts';

/** Dots on a logarithmic axis: rows below each other, a dot for each series in each row. */
export interface Chart {
  readonly title: string;
  readonly note: string;
  readonly unit: string;
  /** Names of the subjects, in the order of each row's dots. */
  readonly series: readonly string[];
  readonly rows: readonly ChartRow[];
}

export interface ChartRow {
  readonly label: string;
  readonly dots: readonly Spread[];
}
