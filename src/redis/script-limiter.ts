import { randomBytes } from 'node:crypto';
import { Deadlines } from '../deadlines.ts';
import { LimiterClosedError, LimiterUnavailableError } from '../errors.ts';
import { keyText } from '../key-text.ts';
import { type Grant, LEASE, type LeaseTrip, type LeaseWish, type Lessor } from '../lease.ts';
import type { Decision, Key, Policy, RemoteLimiter } from '../limiter.ts';
import { checkCost, limiterName, redisPrefix, wholeNumber } from '../options.ts';
import { SEAM, type Seam, systemTimers, type Timers } from '../timers.ts';
import { type Answer, Call, type Caller, type Failure, type Lane, type Question } from './call.ts';
import type { Algorithm, Argument, Operation, RedisClient } from './commands.ts';
import { nameText, slotOf } from './key.ts';
import { type Link, linkOf } from './link.ts';

/** Changes with the meaning of what lies under a key: releases that share a Redis find only what they understand. */
const LAYOUT = 1;
const MAX_DEADLINE_MS = 3_600_000;
const US_PER_MS = 1000;
/** Tells requests of this process from those of others. */
const PROCESS = randomBytes(9).toString('base64url');
let requests = 0;

/** Options of every limiter in Redis. */
export interface RedisOptions {
  /** Your own ioredis client, `Redis` or `Cluster`. The limiter sends through it and never closes it. */
  readonly redis: RedisClient;
  /**
   * The same in all processes that share the limit, another for every other limit: it is part of the keys in Redis.
   * Printable ASCII without `"` and `\`, 1 to 128 characters.
   */
  readonly name: string;
  /** What all keys in Redis begin with. Printable ASCII without spaces and braces. Default `'sluicegate'`. */
  readonly prefix?: string;
  /**
   * Milliseconds, whole, 1 to an hour, in which every call is answered or rejected with a `LimiterUnavailableError`,
   * whatever state the connection is in. What reaches Redis later than that changes nothing there. Default 50.
   */
  readonly deadlineMs?: number;
}

export const REDIS_OPTIONS = ['redis', 'name', 'prefix', 'deadlineMs'];

/** What makes one algorithm: the start of its keys and the policy as its script takes it. */
export interface ScriptPolicy {
  readonly algorithm: Algorithm;
  /** What counts cannot be shared across, within one name: the window, or the rate. Never the limit. */
  readonly unit: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly args: readonly number[];
}

/** A limiter whose state is one key in Redis and whose every operation is one step of one script. */
export class ScriptLimiter implements RemoteLimiter, Lessor {
  readonly policy: Policy;
  readonly #lane: Lane;
  /** Everything of a Redis key before the user's. */
  readonly #stem: string;
  /** Milliseconds in which every call is answered or rejected. */
  readonly deadlineMs: number;
  readonly #link: Link;
  readonly #timers: Timers;
  readonly #deadlines: Deadlines;
  readonly #scriptTime: (() => number) | undefined;
  #closed = false;

  constructor(
    { algorithm, unit, limit, windowMs, args }: ScriptPolicy,
    options: RedisOptions & { readonly [SEAM]?: Seam },
  ) {
    const { redis, name, prefix = 'sluicegate', deadlineMs = 50, [SEAM]: seam = {} } = options;
    this.policy = Object.freeze({ name: limiterName(name), limit, windowMs });
    this.#stem = `${redisPrefix(prefix)}:${algorithm}:${LAYOUT}:${nameText(name)}:${unit}:`;
    this.deadlineMs = wholeNumber('deadlineMs', deadlineMs, 1, MAX_DEADLINE_MS);
    this.#lane = { algorithm, policy: args, deadlineMs: this.deadlineMs, waiting: [] };
    this.#timers = seam.timers ?? systemTimers;
    this.#scriptTime = seam.scriptTime;
    this.#deadlines = new Deadlines(this.#timers);
    this.#link = linkOf(redis, this.#timers);
  }

  tryAcquire(key: Key, cost = 1): Promise<Decision> {
    return this.#call('acquire', key, cost, this.#decision);
  }

  peek(key: Key, cost = 1): Promise<Decision> {
    return this.#call('peek', key, cost, this.#decision);
  }

  refund(key: Key, cost = 1): Promise<void> {
    return this.#call('refund', key, cost, () => {});
  }

  reset(key: Key): Promise<void> {
    return this.#call('reset', key, 0, () => {});
  }

  readonly [LEASE] = {
    take: (key: Key, wish: LeaseWish): LeaseTrip => this.#take(key, wish),
    release: (key: Key, permits: number, stamp: number): Promise<void> =>
      this.#call('release', key, permits, () => {}, [stamp]),
  };

  /** Calls in flight are still answered. The client stays open: it is yours. */
  async close(): Promise<void> {
    this.#closed = true;
  }

  readonly #decision = (answer: Answer, cost: number): Decision => {
    const { limit } = this.policy;
    const retryAfterMs = cost > limit ? Infinity : Math.ceil(answer.retryAfterUs / US_PER_MS);
    return {
      allowed: answer.granted === 1,
      limit,
      remaining: answer.remaining,
      retryAfterMs,
      retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
      resetAfterMs: Math.ceil(answer.resetAfterUs / US_PER_MS),
      source: 'redis',
    };
  };

  /** Bad arguments reject like everything else: a promise is all that a caller has to look at. */
  #call<T>(
    operation: Operation,
    key: Key,
    cost: number,
    resultOf: (answer: Answer, cost: number) => T,
    leaseArgs?: readonly Argument[],
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#send(this.#question(operation, key, cost, leaseArgs), {
        onAnswer: (answer) => resolve(resultOf(answer, cost)),
        onFailure: (failure) => reject(this.#unavailable(failure)),
      });
    });
  }

  #take(key: Key, { least, need, most, node, nodeMs }: LeaseWish): LeaseTrip {
    let onFate = (_: Grant | undefined): void => {};
    const taken = new Promise<Grant | undefined>((resolve) => {
      onFate = resolve;
    });
    const answer = new Promise<Grant>((resolve, reject) => {
      this.#send(this.#question('lease', key, least, [need, most, node, nodeMs]), {
        onAnswer: (grant) => {
          resolve(grant);
          onFate(grant);
        },
        onFailure: (failure) => reject(this.#unavailable(failure)),
        onFate: (grant) => onFate(grant),
      });
    });
    return { answer, taken };
  }

  #send(question: Question, caller: Caller): void {
    this.#link.send(new Call(this.#lane, question, this.#deadlines, caller));
  }

  #unavailable({ reason, cause }: Failure): LimiterUnavailableError {
    const state = cause === undefined ? ` (the client is "${this.#link.status}")` : '';
    return new LimiterUnavailableError(this.policy.name, reason + state, cause);
  }

  #question(
    operation: Operation,
    key: Key,
    cost: number,
    leaseArgs?: readonly Argument[],
  ): Question {
    if (this.#closed) throw new LimiterClosedError(this.policy.name);
    checkCost(cost);
    const tag = keyText(key);
    const redisKey = `${this.#stem}{${tag}}`;
    const time = this.#scriptTime;
    return {
      operation,
      key: redisKey,
      slot: this.#link.isCluster ? slotOf(tag) : 0,
      cost,
      expiresAt: this.#timers.now() + this.deadlineMs,
      now: time === undefined ? '' : Math.round(time() * US_PER_MS),
      lease: leaseArgs && {
        keys: [`${redisKey}:nodes`, `${redisKey}:request:${PROCESS}:${requests++}`],
        args: leaseArgs,
      },
    };
  }
}
