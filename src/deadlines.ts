import { AsyncResource } from 'node:async_hooks';
import type { Timers } from './timers.ts';

/** Something that is over at some time. */
export interface Expiring {
  /** On the timers' clock. */
  readonly expiresAt: number;
  expire(): void;
}

/**
 * The deadlines of all calls that wait and have the same time to wait. Each call's deadline is behind the ones before,
 * so that one timer, for the first of them, does for all, and what is answered leaves nothing behind.
 */
export class Deadlines {
  readonly #timers: Timers;
  /** The timer belongs to no request: it must not keep the async context of one alive. */
  readonly #scope = new AsyncResource('SLUICEGATE_DEADLINES');
  /** In order of their time, as they were added. */
  readonly #pending = new Set<Expiring>();
  #armed = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Takes one whose time is not before that of the one added last. */
  add(expiring: Expiring): void {
    this.#pending.add(expiring);
    if (!this.#armed) this.#arm(expiring);
  }

  delete(expiring: Expiring): void {
    this.#pending.delete(expiring);
  }

  #arm({ expiresAt }: Expiring): void {
    this.#armed = true;
    const ms = Math.max(0, Math.ceil(expiresAt - this.#timers.now()));
    this.#scope.runInAsyncScope(this.#timers.wake, undefined, this.#expire, ms);
  }

  /**
   * A process that was busy for long runs its timers before it reads its sockets. What has been answered meanwhile must
   * not be taken for unanswered, so they are read first.
   */
  readonly #expire = (): void => void setImmediate(this.#sweep);

  readonly #sweep = (): void => {
    this.#armed = false;
    const now = this.#timers.now();
    for (const next of this.#pending) {
      if (next.expiresAt > now) {
        // Expiring one may have added another, which armed the timer for itself.
        if (!this.#armed) this.#arm(next);
        return;
      }
      this.#pending.delete(next);
      next.expire();
    }
  };
}
