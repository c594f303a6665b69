const BUCKETS = 720;
const FIRST_WIDTH_US = 1_000_000;

/**
 * Counts of several series over time, in at most 720 buckets of equal width. The width starts at a second and doubles,
 * neighbours being added up, whenever the log turns out to be longer.
 */
export class Timeline {
  readonly #series: readonly Float64Array[];
  #startUs: number | undefined;
  #widthUs = FIRST_WIDTH_US;
  #used = 0;

  constructor(series: number) {
    this.#series = Array.from({ length: series }, () => new Float64Array(BUCKETS));
  }

  /** Adds one to a series. Times never run backwards, so that only the last bucket is ever out of reach. */
  count(series: number, timeUs: number): void {
    this.#startUs ??= Math.floor(timeUs / FIRST_WIDTH_US) * FIRST_WIDTH_US;
    let index = Math.floor((timeUs - this.#startUs) / this.#widthUs);
    while (index >= BUCKETS) {
      this.#fold();
      index = Math.floor((timeUs - this.#startUs) / this.#widthUs);
    }
    if (index >= this.#used) this.#used = index + 1;
    const counts = this.#series[series] as Float64Array;
    counts[index] = (counts[index] as number) + 1;
  }

  /** The start of the first bucket and the width of all, in milliseconds, and each series' counts. */
  get(): { startMs: number; widthMs: number; series: number[][] } {
    return {
      startMs: (this.#startUs ?? 0) / 1000,
      widthMs: this.#widthUs / 1000,
      series: this.#series.map((counts) => [...counts.subarray(0, this.#used)]),
    };
  }

  #fold(): void {
    this.#widthUs *= 2;
    this.#used = Math.ceil(this.#used / 2);
    for (const counts of this.#series) {
      for (let i = 0; i < BUCKETS / 2; i++) {
        counts[i] = (counts[2 * i] as number) + (counts[2 * i + 1] as number);
      }
      counts.fill(0, BUCKETS / 2);
    }
  }
}
