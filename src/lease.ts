import type { Key } from './limiter.ts';

/** For limiters within the package: not among the methods, since it has no name. */
export const LEASE: unique symbol = Symbol('sluicegate.lease');

/** A limiter that permits can be leased from. */
export interface Lessor {
  /** Milliseconds in which it answers. */
  readonly deadlineMs: number;
  readonly [LEASE]: Leases;
}

export interface Leases {
  take(key: Key, wish: LeaseWish): LeaseTrip;
  /** Gives back what is left of a grant, as far as it still counts. Rejects like every other call. */
  release(key: Key, permits: number, stamp: number): Promise<void>;
}

/** What a lease is for. All in whole permits. */
export interface LeaseWish {
  /** Without these none are of use. At least 1. */
  readonly least: number;
  /** What callers wait for: taken as far as it is there. At least `least`. */
  readonly need: number;
  /** Taken in all where more than `need` is a fair share: half of what remains, divided by the nodes seen. */
  readonly most: number;
  /** Who asks, and the milliseconds for which it counts among the nodes of this key. */
  readonly node: string;
  readonly nodeMs: number;
}

/** What was taken, and what the key looks like after that. */
export interface Grant {
  readonly granted: number;
  readonly remaining: number;
  /** Until `least` more would pass; 0 where they would. Microseconds. */
  readonly retryAfterUs: number;
  readonly resetAfterUs: number;
  /** How many lease this key, the one that asked among them. */
  readonly nodes: number;
  /** What the permits are given back with. */
  readonly stamp: number;
  /** Microseconds after which the window that counts them is over; 0 where no window ends. */
  readonly lifeUs: number;
}

export interface LeaseTrip {
  /** Within the deadline; else rejects with a `LimiterUnavailableError`. */
  readonly answer: Promise<Grant>;
  /** What was taken in the end, however late that is known: undefined if nothing was. Never settles if nobody knows. */
  readonly taken: Promise<Grant | undefined>;
}

/** Whether permits can be leased from it. */
export function isLessor(limiter: object): limiter is Lessor {
  return LEASE in limiter;
}
