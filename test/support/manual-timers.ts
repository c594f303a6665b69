import type { Timers } from '../../src/timers.ts';

interface Alarm {
  readonly at: number;
  readonly callback: () => void;
}

/** Time that stands until it is moved, with its timers. */
export class ManualTimers implements Timers {
  /** How often anybody asked to be woken. */
  wakes = 0;
  #now = 1_000;
  #alarms: Alarm[] = [];

  readonly now = (): number => this.#now;

  readonly wake = (callback: () => void, ms: number): void => {
    this.wakes++;
    this.#alarms.push({ at: this.#now + ms, callback });
  };

  get pending(): number {
    return this.#alarms.length;
  }

  /** Moves time on, calls back whoever is due on the way, and lets promises settle. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const due = this.#alarms.filter((alarm) => alarm.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#alarms = this.#alarms.filter((alarm) => alarm !== due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
      await settled();
    }
    this.#now = end;
    await settled();
  }
}

/** All promises that can settle without anybody's help have settled. */
export function settled(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
