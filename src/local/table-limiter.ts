import { monotonicClock } from '../clock.ts';
import { decideBatch } from '../core/batch.ts';
import { decide, decideAndDescribe } from '../core/decide.ts';
import {
  ALLOWED,
  allowedCalls,
  answers,
  deniedCalls,
  described,
  isAllowedMany,
  leaveSeat,
  liveKeys,
  MAX_KEYS,
  OVERFLOW,
  peek,
  refund,
  reset,
  type Seat,
  takeSeat,
  tryAcquireMany,
} from '../core/front.ts';
import { numberOf, takeKey } from '../core/key.ts';
import { createTable, HANDLE_KIND, type Table, type TablePolicy } from '../core/table.ts';
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
  checkKeys,
  checkOut,
  checkReading,
  fillMs,
  limiterName,
  optionalFunction,
  wholeNumber,
} from '../options.ts';

export const LOCAL_OPTIONS = ['name', 'maxKeys', 'shared', 'clock'];

/** What a limiter begins with. */
export interface Beginning {
  readonly table: Table;
  readonly clock: Clock;
  /** A reading of that clock: the limiter's time never is an earlier one. */
  readonly ms: number;
}

/** A new table for a limiter with these options. */
export function newTable(
  policy: TablePolicy,
  { name = 'default', maxKeys = 100_000, shared = false, clock: ownClock }: LocalOptions,
): Beginning {
  limiterName(name);
  wholeNumber('maxKeys', maxKeys, 1, MAX_KEYS);
  boolean('shared', shared);
  optionalFunction('clock', ownClock);
  const clock = ownClock ?? monotonicClock;
  const ms = read(clock);
  const epochUs = BigInt(Math.round(ms * 1000));
  const settings = { policy, name, maxKeys, shared, ownClock: ownClock !== undefined, epochUs };
  return { table: createTable(settings), clock, ms };
}

/** A limiter's beginning on a table that is there already. */
export function joinTable(table: Table, clock: Clock = monotonicClock): Beginning {
  return { table, clock, ms: read(clock) };
}

/** A limiter over a table, whatever the algorithm. */
export class TableLimiter implements LocalLimiter {
  readonly policy: Policy;
  /** None once the limiter is closed: nobody who keeps the limiter keeps its memory. */
  #table: Table | undefined;
  readonly #seat: Seat;
  /** The seat's address, at hand for the fast path. */
  readonly #at: number;
  /** Throws once the limiter is closed, so that open ones need no check. */
  #clock: Clock;

  constructor({ table, clock, ms }: Beginning) {
    this.policy = Object.freeze({ name: table.name, ...limitOf(table.policy) });
    this.#clock = clock;
    this.#table = table;
    this.#seat = takeSeat(this, table.functions, ms);
    this.#at = this.#seat.address;
  }

  get handle(): LimiterHandle {
    if (this.#table === undefined) throw new LimiterClosedError(this.policy.name);
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
    return this.#decision(decideAndDescribe(this.#at, key, ms, cost));
  }

  isAllowed(key: Key, cost = 1): boolean {
    if (cost !== 1) checkCost(cost);
    const ms = read(this.#clock);
    return decide(this.#at, key, ms, cost);
  }

  isAllowedMany(keys: readonly Key[], out: Uint8Array): number {
    const ms = read(this.#clock);
    checkKeys(keys);
    checkOut(out, keys.length);
    let allowed = 0;
    for (let from = 0; from < keys.length; ) {
      const count = decideBatch(isAllowedMany, this.#at, keys, from, ms);
      for (let place = 1; place <= count; place++) {
        const one = (answers[place] as number) & ALLOWED;
        out[from++] = one;
        allowed += one;
      }
    }
    return allowed;
  }

  tryAcquireMany(keys: readonly Key[]): Decision[] {
    const ms = read(this.#clock);
    checkKeys(keys);
    const decisions: Decision[] = [];
    while (decisions.length < keys.length) {
      const count = decideBatch(tryAcquireMany, this.#at, keys, decisions.length, ms);
      for (let place = 1; place <= count; place++) {
        decisions.push(this.#decision(answers[place] as number, place));
      }
    }
    return decisions;
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
    const table = this.#table as Table;
    return {
      allowed: allowedCalls(this.#at),
      denied: deniedCalls(this.#at),
      liveKeys: liveKeys(this.#at, ms),
      maxKeys: table.maxKeys,
      memoryBytes: table.memoryBytes,
      evictedIdle: table.evictedIdle(),
      evictedLive: 0,
      overflowed: table.overflowed(),
      lockTimeouts: table.lockTimeouts(),
    };
  }

  close(): void {
    if (this.#table === undefined) return;
    this.#table = undefined;
    const { name } = this.policy;
    this.#clock = () => {
      throw new LimiterClosedError(name);
    };
    leaveSeat(this, this.#seat);
  }

  #decision(flags: number, place = 0): Decision {
    const at = 3 * place;
    const retryAfterMs = described[at + 1] as number;
    return {
      allowed: (flags & ALLOWED) !== 0,
      limit: this.policy.limit,
      remaining: described[at] as number,
      retryAfterMs,
      retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
      resetAfterMs: described[at + 2] as number,
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
