import { AsyncResource } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { Deadlines, type Expiring } from '../deadlines.ts';
import { LimiterUnavailableError } from '../errors.ts';
import { type Grant, LEASE, type Lessor } from '../lease.ts';
import type { Decision, DecisionSource, Key, Policy, RemoteLimiter } from '../limiter.ts';
import type { Timers } from '../timers.ts';
import { Demand } from './demand.ts';
import { Holding, type Prepaid } from './holding.ts';

/** Keys it knows at most: about 3 MB. Calls for others are asked one by one. */
const MAX_KEYS = 10_000;
/** How many keys are looked at to find one that can be forgotten. */
const LOOKS = 8;
/** A sum of milliseconds is no whole number of microseconds: a lease ends one early, so that it never ends late. */
const ROUNDING_MS = 0.001;
/** Looks a lease's life for permits to give back. */
const SWEEPS = 4;

/** A call that waits for permits. */
interface Waiter extends Expiring {
  readonly cost: number;
  readonly resolve: (decision: Decision) => void;
  readonly reject: (error: unknown) => void;
}

/** What a trip to Redis has brought. */
interface Trip extends Omit<Grant, 'nodes' | 'lifeUs'> {
  /** Permits without which the first waiter had nothing. */
  readonly least: number;
  readonly sentAt: number;
  /** On our clock: from then on the permits are not kept for anybody. */
  readonly expiresAt: number;
}

/** All that is known of a key. */
interface Entry {
  readonly key: Key;
  readonly text: string;
  readonly holding: Holding;
  readonly demand: Demand;
  /** In the order in which they came. */
  readonly waiters: Set<Waiter>;
  /** Whether somebody is on the way to Redis for them. */
  asking: boolean;
  /** Permits that may be taken without our knowing: of requests without an answer, and on their way back. */
  unknown: number;
  /** On our clock: from then on the unknown ones have come back by themselves. */
  unknownUntil: number;
  /** What Redis had left when it was last asked, and a node's fair share of that. */
  remaining: number;
  share: number;
  nodes: number;
  /** On our clock, milliseconds. */
  newAt: number;
  usedAt: number;
}

export interface LeasePoolOptions {
  readonly remote: RemoteLimiter & Lessor;
  readonly permits: number;
  readonly maxAgeMs: number;
  readonly timers: Timers;
  /** Told of every denial by Redis: so many permits, sent for at that time. */
  readonly onDenied: (text: string, cost: number, decision: Decision, sentAt: number) => void;
}

/**
 * Permits that this process has taken from Redis ahead of its calls, by key. A trip takes what the waiting calls need
 * and, where this node's share of what is left allows it, as many as the key was asked for in the last `maxAgeMs`, at
 * most `permits`. Those are spent without a trip until they are `maxAgeMs` old, counted from before Redis took them, or
 * their window ends. What is not spent then, or when the key has been quiet for half that time, or at `close()`, is given
 * back.
 *
 * What a node holds of a key and what it may have lost of it, in requests that nobody answered, are together never more
 * than `permits`.
 */
export class LeasePool {
  readonly #remote: RemoteLimiter & Lessor;
  readonly #policy: Policy;
  readonly #permits: number;
  readonly #maxAgeMs: number;
  readonly #timers: Timers;
  readonly #onDenied: LeasePoolOptions['onDenied'];
  readonly #node = randomBytes(9).toString('base64url');
  readonly #deadlines: Deadlines;
  readonly #entries = new Map<string, Entry>();
  /** Those that hold permits. While there are any, a timer is set; it belongs to no request. */
  readonly #holders = new Set<Entry>();
  readonly #scope = new AsyncResource('SLUICEGATE_LEASES');
  #armed = false;
  #closed = false;

  constructor({ remote, permits, maxAgeMs, timers, onDenied }: LeasePoolOptions) {
    this.#remote = remote;
    this.#policy = remote.policy;
    this.#permits = permits;
    this.#maxAgeMs = maxAgeMs;
    this.#timers = timers;
    this.#onDenied = onDenied;
    this.#deadlines = new Deadlines(timers);
  }

  /** Permits that a call could have without a trip. */
  held(text: string, now: number): number {
    const entry = this.#entries.get(text);
    return entry === undefined || entry.asking ? 0 : entry.holding.permits(now);
  }

  /** Spends permits that are held, if they are enough. */
  spend(text: string, key: Key, cost: number, now: number): Decision | undefined {
    const entry = this.#entries.get(text) ?? this.#add(text, key, now);
    if (entry === undefined) return undefined;
    entry.usedAt = now;
    entry.demand.add(cost, now);
    // Those who wait come first.
    if (entry.asking || entry.holding.permits(now) < cost) return undefined;
    entry.holding.spend(cost, now);
    return this.#allowed(entry, 'lease', now);
  }

  /** What `spend` would answer. */
  peek(text: string, cost: number, now: number): Decision | undefined {
    const entry = this.#entries.get(text);
    if (entry === undefined || this.held(text, now) < cost) return undefined;
    const decision = this.#allowed(entry, 'lease', now);
    return { ...decision, remaining: decision.remaining - cost };
  }

  /** Asks Redis, together with the others that wait for this key. Rejects as Redis does. */
  acquire(text: string, key: Key, cost: number): Promise<Decision> {
    const entry = this.#entries.get(text);
    if (entry === undefined) return this.#acquireAlone(text, key, cost);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        cost,
        resolve,
        reject,
        expiresAt: this.#timers.now() + this.#remote.deadlineMs,
        expire: () => {
          entry.waiters.delete(waiter);
          reject(new LimiterUnavailableError(this.#policy.name, 'no answer in time'));
        },
      };
      entry.waiters.add(waiter);
      this.#deadlines.add(waiter);
      if (!entry.asking) void this.#serve(entry);
    });
  }

  /** The key is as new: what was taken before that is nobody's. */
  forget(text: string): void {
    const entry = this.#entries.get(text);
    entry?.holding.takeAll();
    if (entry !== undefined) this.#holders.delete(entry);
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    this.#closed = true;
    const holders = [...this.#holders];
    this.#holders.clear();
    await Promise.all(holders.map((entry) => this.#release(entry, entry.holding.takeAll())));
  }

  async #acquireAlone(text: string, key: Key, cost: number): Promise<Decision> {
    const sentAt = this.#timers.now();
    const decision = await this.#remote.tryAcquire(key, cost);
    if (!decision.allowed) this.#onDenied(text, cost, decision, sentAt);
    return decision;
  }

  async #serve(entry: Entry): Promise<void> {
    entry.asking = true;
    while (entry.waiters.size > 0) {
      const asked = new Set(entry.waiters);
      try {
        this.#settle(entry, asked, await this.#trip(entry, asked));
      } catch (error) {
        // Those who came meanwhile would only be told the same, later.
        for (const waiter of entry.waiters) this.#dismiss(entry, waiter).reject(error);
      }
    }
    entry.asking = false;
  }

  /** Goes to Redis for all that are waiting. */
  async #trip(entry: Entry, asked: ReadonlySet<Waiter>): Promise<Trip> {
    const sentAt = this.#timers.now();
    const held = entry.holding.permits(sentAt);
    const costs = Array.from(asked, ({ cost }) => cost);
    const least = Math.max(1, (costs[0] as number) - held);
    const need = Math.max(
      least,
      costs.reduce((sum, cost) => sum + cost, -held),
    );
    if (sentAt >= entry.unknownUntil) entry.unknown = 0;
    // Those who came after the first cost no trip: what they need is not counted against the lease.
    const wanted = Math.min(this.#permits - entry.unknown, entry.demand.expected(sentAt));
    const ahead = Math.max(0, wanted - least);
    // Where nothing would be left over, the plain call costs Redis less, and shares a round trip with other keys.
    const plain = asked.size === 1 && (ahead === 0 || entry.share <= need);
    const grant = plain
      ? await this.#takePlain(entry, least)
      : await this.#takeLease(entry, least, need, ahead);
    entry.remaining = grant.remaining;
    entry.nodes = grant.nodes;
    entry.share = Math.floor(grant.remaining / (2 * grant.nodes));
    entry.newAt = sentAt + grant.resetAfterUs / 1000;
    const lifeMs = grant.lifeUs === 0 ? Infinity : grant.lifeUs / 1000;
    // What a plain call took is for that call: nothing says when its window ends, nor how to give it back.
    const ageMs = plain ? 0 : Math.min(this.#maxAgeMs, lifeMs);
    return { ...grant, least, sentAt, expiresAt: sentAt + ageMs - ROUNDING_MS };
  }

  async #takePlain(entry: Entry, cost: number): Promise<Grant> {
    const { allowed, remaining, ...waits } = await this.#remote.tryAcquire(entry.key, cost);
    return {
      granted: allowed ? cost : 0,
      remaining,
      retryAfterUs: waits.retryAfterMs * 1000,
      resetAfterUs: waits.resetAfterMs * 1000,
      nodes: entry.nodes,
      stamp: 0,
      lifeUs: 0,
    };
  }

  async #takeLease(entry: Entry, least: number, need: number, ahead: number): Promise<Grant> {
    const nodeMs = 2 * this.#maxAgeMs;
    const wish = { least, need, most: need + ahead, node: this.#node, nodeMs };
    const { answer, taken } = this.#remote[LEASE].take(entry.key, wish);
    try {
      return await answer;
    } catch (error) {
      // What the callers needed is lost or not as without a lease. What was taken ahead goes back, once it is known.
      this.#lose(entry, ahead);
      void taken.then((grant) => {
        entry.unknown = Math.max(0, entry.unknown - ahead);
        const { granted, stamp } = grant ?? { granted: 0, stamp: 0 };
        void this.#release(entry, [{ permits: Math.max(0, granted - need), stamp }]);
      });
      throw error;
    }
  }

  /** Gives the permits of a trip, and those that were held when it began, to those who wait, and keeps what is left. */
  #settle(entry: Entry, asked: ReadonlySet<Waiter>, trip: Trip): void {
    const now = this.#timers.now();
    let held = entry.holding.permits(now);
    let { granted } = trip;
    const fresh = now < trip.expiresAt;
    for (const waiter of entry.waiters) {
      const wasAsked = asked.has(waiter);
      if (waiter.cost > held + (wasAsked || fresh ? granted : 0)) continue;
      const fromHeld = Math.min(waiter.cost, held);
      entry.holding.spend(fromHeld, now);
      held -= fromHeld;
      granted -= waiter.cost - fromHeld;
      const source = wasAsked ? 'redis' : 'lease';
      this.#dismiss(entry, waiter).resolve(this.#allowed(entry, source, now, granted));
    }
    this.#keep(entry, granted, trip, now);
    // Redis has said how long `least` more would take. Those who want something else, also since permits that were held
    // are too old by now, ask again.
    if (trip.retryAfterUs === 0) return;
    const left = entry.holding.permits(now);
    for (const waiter of asked) {
      if (!entry.waiters.has(waiter) || waiter.cost - left !== trip.least) continue;
      this.#dismiss(entry, waiter).resolve(this.#denied(entry, trip, left));
    }
  }

  #keep(entry: Entry, granted: number, { stamp, expiresAt }: Trip, now: number): void {
    const room = this.#permits - entry.unknown - entry.holding.permits(now);
    const kept = this.#closed || now >= expiresAt ? 0 : Math.max(0, Math.min(granted, room));
    entry.holding.add({ permits: kept, stamp, expiresAt });
    void this.#release(entry, [{ permits: granted - kept, stamp }]);
    if (entry.holding.empty) return;
    this.#holders.add(entry);
    this.#arm();
  }

  #dismiss(entry: Entry, waiter: Waiter): Waiter {
    entry.waiters.delete(waiter);
    this.#deadlines.delete(waiter);
    return waiter;
  }

  #allowed(entry: Entry, source: DecisionSource, now: number, granted = 0): Decision {
    return {
      allowed: true,
      limit: this.#policy.limit,
      remaining: entry.remaining + entry.holding.permits(now) + granted,
      retryAfterMs: 0,
      retryAfterSeconds: 0,
      resetAfterMs: Math.max(0, Math.ceil(entry.newAt - now)),
      source,
    };
  }

  #denied(entry: Entry, trip: Trip, held: number): Decision {
    const retryAfterMs = Math.ceil(trip.retryAfterUs / 1000);
    const decision: Decision = {
      allowed: false,
      limit: this.#policy.limit,
      remaining: trip.remaining + held,
      retryAfterMs,
      retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
      resetAfterMs: Math.ceil(trip.resetAfterUs / 1000),
      source: 'redis',
    };
    this.#onDenied(entry.text, trip.least, decision, trip.sentAt);
    return decision;
  }

  /** Those of plain calls have no stamp, and come back by themselves like those of every call that gave up. */
  async #release(
    entry: Entry,
    prepaid: readonly Pick<Prepaid, 'permits' | 'stamp'>[],
  ): Promise<void> {
    const release = async ({ permits, stamp }: Pick<Prepaid, 'permits' | 'stamp'>) => {
      if (permits === 0 || stamp === 0) return;
      // On the way, and where nobody says that they have arrived, they are lost.
      this.#lose(entry, permits);
      try {
        await this.#remote[LEASE].release(entry.key, permits, stamp);
        entry.unknown = Math.max(0, entry.unknown - permits);
      } catch {}
    };
    await Promise.all(prepaid.map(release));
  }

  #lose(entry: Entry, permits: number): void {
    entry.unknown += permits;
    // A sliding window counter weighs a window's permits until the end of the next.
    entry.unknownUntil = this.#timers.now() + 2 * this.#policy.windowMs;
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    const ms = Math.max(1, Math.ceil(this.#maxAgeMs / SWEEPS));
    this.#scope.runInAsyncScope(this.#timers.wake, undefined, this.#sweep, ms);
  }

  readonly #sweep = (): void => {
    this.#armed = false;
    const now = this.#timers.now();
    for (const entry of this.#holders) {
      const quiet = !entry.asking && now - entry.usedAt >= this.#maxAgeMs / 2;
      const { holding } = entry;
      void this.#release(entry, quiet ? holding.takeAll() : holding.takeExpired(now));
      if (holding.empty) this.#holders.delete(entry);
    }
    if (this.#holders.size > 0) this.#arm();
  };

  #add(text: string, key: Key, now: number): Entry | undefined {
    for (let i = 0; this.#entries.size >= MAX_KEYS; i++) {
      if (i === LOOKS) return undefined;
      const [entry] = this.#entries.values();
      if (entry === undefined) break;
      this.#entries.delete(entry.text);
      if (this.#matters(entry, now)) this.#entries.set(entry.text, entry);
    }
    const entry: Entry = {
      key,
      text,
      holding: new Holding(),
      demand: new Demand(this.#maxAgeMs),
      waiters: new Set(),
      asking: false,
      unknown: 0,
      unknownUntil: -Infinity,
      remaining: 0,
      share: Infinity,
      nodes: 1,
      newAt: now,
      usedAt: now,
    };
    this.#entries.set(text, entry);
    return entry;
  }

  #matters(entry: Entry, now: number): boolean {
    const recent = now - entry.usedAt < this.#maxAgeMs;
    const lost = entry.unknown > 0 && now < entry.unknownUntil;
    return recent || lost || entry.asking || !entry.holding.empty;
  }
}
