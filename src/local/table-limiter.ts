import { monotonicClock } from '../clock.ts';
import {
  allowedCalls,
  deniedCalls,
  described,
  isAllowed,
  leaveSeat,
  liveKeys,
  MAX_KEYS,
  peek,
  refund,
  reset,
  type Seat,
  takeSeat,
  tryAcquire,
} from '../core/front.ts';
import { numberOf, takeKey } from '../core/key.ts';
import { createTable, type Table, type TablePolicy } from '../core/table.ts';
import { LimiterClosedError } from '../errors.ts';
import type {
  Clock,
  Decision,
  Key,
  LimiterStats,
  LocalLimiter,
  LocalOptions,
  Policy,
} from '../limiter.ts';
import { checkCost, checkReading, limiterName, optionalFunction, wholeNumber } from '../options.ts';

export const LOCAL_OPTIONS = ['name', 'maxKeys', 'clock'];

const ALLOWED = 1;
const OVERFLOW = 2;

/** A limiter over a table of its own, whatever the algorithm. */
export class TableLimiter implements LocalLimiter {
  readonly policy: Policy;
  readonly #maxKeys: number;
  readonly #table: Table;
  readonly #seat: Seat;
  /** The seat's address, at hand for the fast path. */
  readonly #at: number;
  /** Throws once the limiter is closed, so that open ones need no check. */
  #clock: Clock;
  #closed = false;

  constructor(
    tablePolicy: TablePolicy,
    limit: number,
    windowMs: number,
    { name = 'default', maxKeys = 100_000, clock = monotonicClock }: LocalOptions,
  ) {
    this.policy = Object.freeze({ name: limiterName(name), limit, windowMs });
    this.#maxKeys = wholeNumber('maxKeys', maxKeys, 1, MAX_KEYS);
    optionalFunction('clock', clock);
    this.#clock = clock;
    const epochUs = BigInt(Math.round(read(clock) * 1000));
    this.#table = createTable(tablePolicy, maxKeys, epochUs);
    this.#seat = takeSeat(this, this.#table.functions);
    this.#at = this.#seat.address;
  }

  tryAcquire(key: Key, cost = 1): Decision {
    if (cost !== 1) checkCost(cost);
    const ms = read(this.#clock);
    const at = this.#at;
    return this.#decision(tryAcquire(at, takeKey(at, key), numberOf(key), ms, cost));
  }

  isAllowed(key: Key, cost = 1): boolean {
    if (cost !== 1) checkCost(cost);
    const ms = read(this.#clock);
    const at = this.#at;
    return isAllowed(at, takeKey(at, key), numberOf(key), ms, cost) !== 0;
  }

  peek(key: Key, cost = 1): Decision {
    if (cost !== 1) checkCost(cost);
    const ms = read(this.#clock);
    const at = this.#at;
    return this.#decision(peek(at, takeKey(at, key), numberOf(key), ms, cost));
  }

  refund(key: Key, cost = 1): void {
    if (cost !== 1) checkCost(cost);
    const ms = read(this.#clock);
    const at = this.#at;
    refund(at, takeKey(at, key), numberOf(key), ms, cost);
  }

  reset(key: Key): void {
    const ms = read(this.#clock);
    const at = this.#at;
    reset(at, takeKey(at, key), numberOf(key), ms);
  }

  stats(): LimiterStats {
    const ms = read(this.#clock);
    return {
      allowed: allowedCalls(this.#at),
      denied: deniedCalls(this.#at),
      liveKeys: liveKeys(this.#at, ms),
      maxKeys: this.#maxKeys,
      memoryBytes: this.#table.memoryBytes,
      evictedIdle: this.#table.evictedIdle(),
      evictedLive: 0,
      overflowed: this.#table.overflowed(),
      lockTimeouts: 0,
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { name } = this.policy;
    this.#clock = () => {
      throw new LimiterClosedError(name);
    };
    leaveSeat(this, this.#seat);
  }

  #decision(flags: number): Decision {
    const retryAfterMs = described[1] as number;
    return {
      allowed: (flags & ALLOWED) !== 0,
      limit: this.policy.limit,
      remaining: described[0] as number,
      retryAfterMs,
      retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
      resetAfterMs: described[2] as number,
      source: (flags & OVERFLOW) !== 0 ? 'overflow' : 'local',
    };
  }
}

function read(clock: Clock): number {
  const ms = clock();
  checkReading(ms);
  return ms;
}
