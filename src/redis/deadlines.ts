import { AsyncResource } from 'node:async_hooks';
import { monotonicClock } from '../clock.ts';
import type { Clock } from '../limiter.ts';

/** Time as the tier across machines sees it. Tests give their own. */
export interface Timers {
  /** Monotonic, milliseconds. */
  readonly now: Clock;
  /** Calls back once, not before so many milliseconds have passed. */
  readonly wake: (callback: () => void, ms: number) => void;
}

export const systemTimers: Timers = {
  now: monotonicClock,
  // Nobody's process is kept alive by a deadline: where a call is in flight, its socket does that.
  wake: (callback, ms) => void setTimeout(callback, ms).unref(),
};

/** Something that is over at some time. */
export interface Expiring {
  /** On the timers' clock. */
  readonly expiresAt: number;
  /** Over before its time: let go of. */
  readonly done: boolean;
  expire(): void;
}

/**
 * The deadlines of all calls in flight that have the same time to answer: a queue in which each call's deadline is
 * behind the ones before, so that one timer, for the first of them, does for all.
 */
export class Deadlines {
  readonly #timers: Timers;
  /** The timer belongs to no request: it must not keep the async context of one alive. */
  readonly #scope = new AsyncResource('SLUICEGATE_DEADLINES');
  #queue: Expiring[] = [];
  #first = 0;
  #armed = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Takes one whose time is not before that of the one added last. */
  add(expiring: Expiring): void {
    this.#queue.push(expiring);
    if (!this.#armed) this.#arm();
  }

  #arm(): void {
    const next = this.#queue[this.#first];
    if (next === undefined) return;
    this.#armed = true;
    const ms = Math.max(0, Math.ceil(next.expiresAt - this.#timers.now()));
    this.#scope.runInAsyncScope(this.#timers.wake, undefined, this.#expire, ms);
  }

  readonly #expire = (): void => {
    this.#armed = false;
    const now = this.#timers.now();
    const queue = this.#queue;
    let next = queue[this.#first];
    while (next !== undefined && (next.done || next.expiresAt <= now)) {
      this.#first++;
      if (!next.done) next.expire();
      next = queue[this.#first];
    }
    // Moves the rest to the front once the gone ones are the greater part: constant time a call.
    if (this.#first * 2 >= this.#queue.length) {
      this.#queue = this.#queue.slice(this.#first);
      this.#first = 0;
    }
    this.#arm();
  };
}
