/** How many permits were asked for in the last period, as a sliding window counter sees it. */
export class Demand {
  readonly #periodMs: number;
  #start = -Infinity;
  #previous = 0;
  #current = 0;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  add(permits: number, now: number): void {
    this.#roll(now);
    this.#current += permits;
  }

  /** Permits that the next period will ask for if it is like the last one; whole, rounded up. */
  expected(now: number): number {
    this.#roll(now);
    const share = 1 - (now - this.#start) / this.#periodMs;
    return Math.ceil(this.#previous * share + this.#current);
  }

  #roll(now: number): void {
    const age = now - this.#start;
    if (age < this.#periodMs) return;
    const isNext = age < 2 * this.#periodMs;
    this.#previous = isNext ? this.#current : 0;
    this.#start = isNext ? this.#start + this.#periodMs : now;
    this.#current = 0;
  }
}
