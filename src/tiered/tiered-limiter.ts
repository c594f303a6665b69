import { LimiterClosedError, LimiterUnavailableError } from '../errors.ts';
import { keyText } from '../key-text.ts';
import type { Clock, Decision, Key, LocalLimiter, Policy, RemoteLimiter } from '../limiter.ts';
import { checkCost } from '../options.ts';
import { SEAM, type Seam, systemTimers } from '../timers.ts';
import { Alarm } from './alarm.ts';
import { Breaker } from './breaker.ts';
import { DenialCache } from './denial-cache.ts';
import { FailurePolicy } from './failure-policy.ts';
import { LeasePool } from './lease-pool.ts';
import { checkTieredOptions, type TieredOptions } from './options.ts';

/**
 * A limit across machines that answers every call, whatever happens to Redis: first the limiter in process, if there
 * is one, then permits that are leased and denials that are known already, then Redis, and where Redis does not decide,
 * the failure policy. `decision.source` says which of them it was.
 *
 * - `local`: a gate in front. What it denies costs no round trip; what a later stage denies is given back to it.
 * - `denialCache`: what Redis denied it goes on denying for the wait that it named, at most `maxAgeMs`, so these calls
 *   cost no round trip either. A refund or reset by another process is noticed after `maxAgeMs` at the latest.
 * - `lease`: of a key that is asked for often, Redis gives many permits at a time, and the calls that spend them cost no
 *   round trip. The price is a bound that is a little wider; docs/leases.md states it.
 * - `breaker`: after `failures` in a row no call waits for Redis any more. Once a cooldown one call is tried there in
 *   the background, while its caller has the failure policy's answer; when it is answered, Redis decides again.
 * - `onFailure`: `'open'` lets calls pass, `'closed'` denies them, `'fallback'` asks another limiter in process, whose
 *   budget is its own: with n processes, an outage allows n times its limit. A cost above the limit never passes.
 * - `onDegraded`, `onRecovered`: called once when answers begin to come from the failure policy, and once when they come
 *   from Redis again; also published on the diagnostics channels `sluicegate:degraded` and `sluicegate:recovered`.
 *
 * A denial by Redis is final and never goes to the failure policy. How long a call waits for Redis is the remote
 * limiter's `deadlineMs`. The policy is the remote limiter's.
 *
 * @throws SluicegateRangeError, SluicegateTypeError for options that do not fit together.
 */
export class TieredLimiter implements RemoteLimiter {
  readonly policy: Policy;
  readonly #remote: RemoteLimiter;
  readonly #local: LocalLimiter | undefined;
  readonly #denials: DenialCache | undefined;
  readonly #leases: LeasePool | undefined;
  readonly #breaker: Breaker | undefined;
  readonly #failurePolicy: FailurePolicy;
  readonly #alarm: Alarm;
  readonly #now: Clock;
  #closed = false;

  constructor(options: TieredOptions & { readonly [SEAM]?: Seam }) {
    const { remote, local, denials, lease, breaker } = checkTieredOptions(options);
    const timers = options[SEAM]?.timers ?? systemTimers;
    this.policy = remote.policy;
    this.#remote = remote;
    this.#local = local;
    this.#denials = denials && new DenialCache(denials.maxAgeMs);
    this.#breaker = breaker && new Breaker(breaker.failures, breaker.cooldownMs);
    this.#failurePolicy = new FailurePolicy(options);
    this.#alarm = new Alarm(remote.policy, options);
    this.#now = timers.now;
    const onDenied = this.#onDenied;
    this.#leases = lease && new LeasePool({ ...lease, timers, onDenied });
  }

  async tryAcquire(key: Key, cost = 1): Promise<Decision> {
    const text = this.#check(key, cost);
    const gate = this.#local?.tryAcquire(key, cost);
    if (gate?.allowed === false) return gate;
    const own = lasting(key);
    const decision = await this.#acquire(text, own, cost);
    if (!decision.allowed) giveBack(this.#local, own, cost);
    return decision;
  }

  async peek(key: Key, cost = 1): Promise<Decision> {
    const text = this.#check(key, cost);
    const gate = this.#local?.peek(key, cost);
    if (gate?.allowed === false) return gate;
    const now = this.#now();
    const leased = this.#leases?.peek(text, cost, now);
    if (cost > 0 && leased !== undefined) return leased;
    const held = this.#held(text, cost, now);
    const known = this.#knownDenial(text, cost - held, now);
    if (known !== undefined) return known;
    const own = lasting(key);
    const answer = await this.#ask(() => this.#remote.peek(own, Math.max(0, cost - held)));
    if (answer === undefined) return this.#failurePolicy.peek(own, cost, this.#untilTry());
    return cost > 0 && answer.allowed ? answer : withHeld(answer, held);
  }

  /**
   * Gives back to the gate and to Redis; where Redis cannot be reached, to the fallback instead, if there is one. Never
   * rejects for an outage: then the permits stay taken until they come back by themselves.
   */
  async refund(key: Key, cost = 1): Promise<void> {
    const text = this.#check(key, cost);
    const own = lasting(key);
    giveBack(this.#local, own, cost);
    this.#denials?.delete(text);
    const done = await this.#ask(async () => {
      await this.#remote.refund(own, cost);
      return true;
    });
    if (!done) this.#failurePolicy.refund(own, cost);
    this.#denials?.delete(text);
  }

  /** Makes the key as new everywhere. Rejects with a `LimiterUnavailableError` if Redis cannot be reached. */
  async reset(key: Key): Promise<void> {
    const text = this.#check(key, 0);
    this.#local?.reset(key);
    this.#failurePolicy.reset(key);
    this.#leases?.forget(text);
    this.#denials?.delete(text);
    let fault: unknown;
    const done = await this.#ask(
      async () => {
        await this.#remote.reset(key);
        return true;
      },
      (error) => {
        fault = error;
      },
    );
    this.#denials?.delete(text);
    if (!done) throw fault ?? this.#breakerIsOpen();
  }

  /**
   * Gives leased permits back and lets go of the known denials. The limiters and the client that it was given stay open:
   * they are yours.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#denials?.clear();
    await this.#leases?.close();
  }

  /** The key's text, when nothing is wrong with the call. */
  #check(key: Key, cost: number): string {
    if (this.#closed) throw new LimiterClosedError(this.policy.name);
    checkCost(cost);
    return keyText(key);
  }

  async #acquire(text: string, key: Key, cost: number): Promise<Decision> {
    const now = this.#now();
    const leases = cost > 0 && cost <= this.policy.limit ? this.#leases : undefined;
    const leased = leases?.spend(text, key, cost, now);
    if (leased !== undefined) return leased;
    const held = this.#held(text, cost, now);
    const known = this.#knownDenial(text, cost - held, now);
    if (known !== undefined) return known;
    const answer = await this.#ask(
      () => leases?.acquire(text, key, cost) ?? this.#askRemote(text, key, cost),
    );
    if (cost === 0 && answer !== undefined) return withHeld(answer, held);
    if (answer !== undefined) return answer;
    const decision = this.#failurePolicy.tryAcquire(key, cost, this.#untilTry());
    if (cost > 0 && this.#breaker?.open && this.#breaker.takeTry(this.#now())) {
      void this.#tryAgain(text, key, cost);
    }
    return decision;
  }

  async #askRemote(text: string, key: Key, cost: number): Promise<Decision> {
    const sentAt = this.#now();
    const decision = await this.#remote.tryAcquire(key, cost);
    if (!decision.allowed) this.#onDenied(text, cost, decision, sentAt);
    return decision;
  }

  readonly #onDenied = (text: string, cost: number, decision: Decision, sentAt: number): void =>
    this.#denials?.add(text, cost, decision, sentAt);

  /** Permits that a call of that cost would not need from Redis. */
  #held(text: string, cost: number, now: number): number {
    if (cost > this.policy.limit) return 0;
    return this.#leases?.held(text, now) ?? 0;
  }

  /**
   * Looks whether the remote is back, by a real call: one that only read would not notice a server that cannot write.
   * What it takes stays taken, also where its caller was told no: a refund could give back a stranger's, being the newest.
   */
  async #tryAgain(text: string, key: Key, cost: number): Promise<void> {
    try {
      await this.#askRemote(text, key, cost);
      this.#onSuccess();
    } catch (error) {
      this.#onFailure(error);
    }
  }

  /** The remote's answer, or undefined where the failure policy is due. */
  async #ask<T>(
    call: () => Promise<T>,
    onFault?: (error: unknown) => void,
  ): Promise<T | undefined> {
    if (this.#breaker?.open) return undefined;
    try {
      const answer = await call();
      this.#onSuccess();
      return answer;
    } catch (error) {
      onFault?.(error);
      this.#onFailure(error);
      return undefined;
    }
  }

  #knownDenial(text: string, cost: number, now: number): Decision | undefined {
    if (cost <= 0) return undefined;
    return this.#denials?.find(text, cost, this.policy.limit, now);
  }

  #onSuccess(): void {
    this.#breaker?.onSuccess();
    this.#alarm.onSuccess(this.#now());
  }

  #onFailure(error: unknown): void {
    const now = this.#now();
    this.#breaker?.onFailure(now);
    this.#alarm.onFailure(error, now);
  }

  /** Milliseconds after which it is worth coming back. */
  #untilTry(): number {
    return this.#breaker?.untilTry(this.#now()) ?? 1_000;
  }

  #breakerIsOpen(): LimiterUnavailableError {
    return new LimiterUnavailableError(
      this.policy.name,
      'it has failed so often in a row that it is only tried once a cooldown',
    );
  }
}

/** The key for as long as it is needed, whatever its owner writes over its bytes after the call. */
function lasting(key: Key): Key {
  return typeof key === 'object' ? new Uint8Array(key) : key;
}

/** What is left in Redis and here. */
function withHeld(decision: Decision, held: number): Decision {
  return held === 0 ? decision : { ...decision, remaining: decision.remaining + held };
}

/** To a limiter that its owner may have closed while the call was on its way. */
function giveBack(limiter: LocalLimiter | undefined, key: Key, cost: number): void {
  try {
    limiter?.refund(key, cost);
  } catch (error) {
    if (!(error instanceof LimiterClosedError)) throw error;
  }
}
