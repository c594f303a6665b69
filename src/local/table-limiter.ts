import { monotonicClock } from '../clock.ts';
import {
  ALLOWED,
  allowedCalls,
  deniedCalls,
  described,
  isAllowed,
  leaveSeat,
  liveKeys,
  MAX_KEYS,
  OVERFLOW,
  peek,
  refund,
  reset,
  type Seat,
  takeSeat,
  tryAcquire,
  WAIT,
} from '../core/front.ts';
import { numberOf, takeKey } from '../core/key.ts';
import { createTable, HANDLE_KIND, type Table, type TablePolicy } from '../core/table.ts';
import { insist } from '../core/wait.ts';
import { LimiterClosedError, SluicegateTypeError } from '../errors.ts';
import type {
  Clock,
  Decision,
  Key,
  LimiterHandle,
  LimiterStats,
  LocalLimiter,
  LocalOptions,
  Policy,
} from '../limiter.ts';
import {
  boolean,
  checkCost,
  checkReading,
  fillMs,
  limiterName,
  optionalFunction,
  wholeNumber,
} from '../options.ts';

export const LOCAL_OPTIONS = ['name', 'maxKeys', 'shared', 'clock'];

/** A new table for a limiter with these options. */
export function newTable(
  policy: TablePolicy,
  { name = 'default', maxKeys = 100_000, shared = false, clock }: LocalOptions,
): Table {
  limiterName(name);
  wholeNumber('maxKeys', maxKeys, 1, MAX_KEYS);
  boolean('shared', shared);
  optionalFunction('clock', clock);
  const epochUs = BigInt(Math.round(read(clock ?? monotonicClock) * 1000));
  return createTable({ policy, name, maxKeys, shared, ownClock: clock !== undefined, epochUs });
}

/** A limiter over a table, whatever the algorithm. */
export class TableLimiter implements LocalLimiter {
  readonly policy: Policy;
  readonly #table: Table;
  readonly #seat: Seat;
  /** The seat's address, at hand for the fast path. */
  readonly #at: number;
  /** Throws once the limiter is closed, so that open ones need no check. */
  #clock: Clock;
  #closed = false;

  constructor(table: Table, clock: Clock = monotonicClock) {
    this.policy = Object.freeze({ name: table.name, ...limitOf(table.policy) });
    this.#clock = clock;
    this.#table = table;
    this.#seat = takeSeat(this, table.functions);
    this.#at = this.#seat.address;
  }

  get handle(): LimiterHandle {
    if (this.#closed) throw new LimiterClosedError(this.policy.name);
    if (!this.#table.shared) {
      throw new SluicegateTypeError(
        'ERR_NOT_SHARED',
        `the limiter "${this.policy.name}" is private to its thread; make it with shared: true`,
      );
    }
    return { kind: HANDLE_KIND, memory: this.#table.memory };
  }

  tryAcquire(key: Key, cost = 1): Decision {
    if (cost !== 1) checkCost(cost);
    const ms = read(this.#clock);
    const at = this.#at;
    const answer = tryAcquire(at, takeKey(at, key), numberOf(key), ms, cost);
    return this.#decision(answer < WAIT ? answer : insist(at, key, ms, cost));
  }

  isAllowed(key: Key, cost = 1): boolean {
    if (cost !== 1) checkCost(cost);
    const ms = read(this.#clock);
    const at = this.#at;
    const answer = isAllowed(at, takeKey(at, key), numberOf(key), ms, cost);
    return ((answer < WAIT ? answer : insist(at, key, ms, cost)) & ALLOWED) !== 0;
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
      maxKeys: this.#table.maxKeys,
      memoryBytes: this.#table.memoryBytes,
      evictedIdle: this.#table.evictedIdle(),
      evictedLive: 0,
      overflowed: this.#table.overflowed(),
      lockTimeouts: this.#table.lockTimeouts(),
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

function limitOf(policy: TablePolicy): { limit: number; windowMs: number } {
  if (policy.algorithm === 'slidingWindowCounter') {
    return { limit: policy.limit, windowMs: Math.ceil(policy.windowUs / 1000) };
  }
  return { limit: policy.capacity, windowMs: fillMs(policy) };
}
