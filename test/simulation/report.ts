import type { Setting } from './settings.ts';
import type { Outcome } from './simulation.ts';

/** Schedules of one kind under a load that is more than the limit. */
export class Load {
  schedules = 0;
  admitted = 0;
  ideal = 0;
  worst = Infinity;
  /** Schedules in which less than 95 % of what one limiter in process would have admitted was. */
  low = 0;

  add(admitted: number, ideal: number): void {
    this.schedules++;
    this.admitted += admitted;
    this.ideal += ideal;
    this.worst = Math.min(this.worst, admitted / ideal);
    if (admitted / ideal < 0.95) this.low++;
  }

  get utilisation(): number {
    return this.admitted / this.ideal;
  }
}

/** What all schedules have come to. */
export class Report {
  #schedules = 0;
  #calls = 0;
  #admitted = 0;
  #spentAhead = 0;
  #leases = 0;
  #excess = 0;
  #excessOfBound = 0;
  /** By algorithm, with leases or without. */
  readonly loads = new Map<string, Load>();

  add({ algorithm, lease }: Setting, outcome: Outcome): void {
    this.#schedules++;
    this.#calls += outcome.calls;
    this.#leases += outcome.leases;
    this.#spentAhead += outcome.spentAhead;
    if (lease) this.#admitted += outcome.admitted;
    this.#excess = Math.max(this.#excess, outcome.excess);
    this.#excessOfBound = Math.max(this.#excessOfBound, outcome.excessOfBound);
    if (outcome.ideal === undefined) return;
    const name = `${algorithm}, ${lease ? 'leases' : 'no leases'}`;
    const load = this.loads.get(name) ?? new Load();
    this.loads.set(name, load);
    load.add(outcome.admitted, outcome.ideal);
  }

  toString(): string {
    const ahead = percent(this.#spentAhead / this.#admitted);
    const loads = [...this.loads].map(([name, { schedules, utilisation, worst, low }]) => {
      const rest = `worst ${percent(worst)}, ${low} of ${schedules} schedules below 95 %`;
      return `  ${name}: ${percent(utilisation)} of the ideal, ${rest}`;
    });
    return [
      `${this.#schedules} schedules, ${this.#calls} calls; ${ahead} of what was admitted with leases needed no trip, ${this.#leases} leases`,
      `  most beyond the limit: ${this.#excess} permits; ${percent(this.#excessOfBound)} of nodes x permits`,
      ...loads.sort(),
    ].join('\n');
  }
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}
