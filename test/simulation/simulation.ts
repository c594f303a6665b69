import { type Grant, LEASE, type LeaseTrip, type LeaseWish, type Lessor } from '../../src/lease.ts';
import { RedisFixedWindowLimiter } from '../../src/redis/redis-fixed-window-limiter.ts';
import { RedisSlidingWindowCounterLimiter } from '../../src/redis/redis-sliding-window-counter-limiter.ts';
import { RedisSlidingWindowLimiter } from '../../src/redis/redis-sliding-window-limiter.ts';
import { RedisTokenBucketLimiter } from '../../src/redis/redis-token-bucket-limiter.ts';
import { type Decision, type RemoteLimiter, TieredLimiter } from '../../src/redis.ts';
import { SEAM, type Timers } from '../../src/timers.ts';
import { Random } from '../support/random.ts';
import type { Admission } from './account.ts';
import { excessOf } from './bounds.ts';
import { idealOf, type Wish } from './ideal.ts';
import { Ledger } from './ledger.ts';
import { Client, type Process, Server } from './network.ts';
import { type Fault, type Setting, settingOf } from './settings.ts';
import { VirtualTime } from './virtual-time.ts';

/** How late a timer may be, in microseconds. */
const LATE_US = 1_000;

/** After all processes have closed nothing goes on for so long. */
const LONG_MS = 20_000;

export interface Outcome {
  readonly faults: readonly string[];
  readonly calls: number;
  readonly admitted: number;
  /** Round trips that brought a lease, and permits that were spent without one. */
  readonly leases: number;
  readonly spentAhead: number;
  /** Where more was asked for than there was: what one limiter in process would have admitted. */
  readonly ideal: number | undefined;
  /** The most permits that were spent beyond the limit, also as a part of what leases allow. */
  readonly excess: number;
  readonly excessOfBound: number;
  readonly trace: readonly string[];
}

/** Plays the schedule of a seed. The same seed does the same. */
export function simulate(seed: number, traced = false): Promise<Outcome> {
  return new Simulation(settingOf(seed), traced).run();
}

/** A process of the service: its limiter, client and clock. */
class Node implements Process {
  readonly name: string;
  readonly client: Client;
  readonly limiter: TieredLimiter;
  readonly #time: VirtualTime;
  readonly #zeroUs: number;
  #pausedUntilUs = 0;
  /** In all, microseconds. */
  pausedUs = 0;
  /** Calls that have not settled. */
  open = 0;
  dead = false;
  closed = false;

  constructor(name: string, { time, setting, server, ledger, random }: World) {
    this.name = name;
    this.#time = time;
    this.#zeroUs = random.below(1e12);
    const witness = ledger.witness(name);
    this.client = new Client(time, random, setting, server, this, witness);
    const timers: Timers = {
      now: () => (time.us + this.#zeroUs) / 1000,
      wake: (callback, ms) =>
        this.later(time.us + Math.ceil(ms * 1000) + random.below(LATE_US), callback),
    };
    const { denials, breaker, onFailure, lease } = setting;
    const remote = remoteOf(setting, this.client, timers);
    watchAnswers(remote, name, ledger);
    this.limiter = new TieredLimiter({
      remote,
      denialCache: denials && {},
      breaker: breaker && { failures: 3, cooldownMs: 20 },
      onFailure,
      ...(lease && { lease }),
      [SEAM]: { timers },
    });
  }

  later(us: number, run: () => void): void {
    this.#time.at(us, () => {
      if (this.dead) return;
      if (this.#time.us < this.#pausedUntilUs) this.later(this.#pausedUntilUs, run);
      else run();
    });
  }

  pause(ms: number): void {
    const until = this.#time.us + ms * 1000;
    this.pausedUs += Math.max(0, until - Math.max(this.#pausedUntilUs, this.#time.us));
    this.#pausedUntilUs = Math.max(this.#pausedUntilUs, until);
  }

  crash(): void {
    this.dead = true;
    this.client.drop();
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.limiter.close();
  }
}

/** Tells the books which permits came while somebody waited for them. */
function watchAnswers(remote: RemoteLimiter & Lessor, node: string, ledger: Ledger): void {
  const { take } = remote[LEASE];
  const tryAcquire = remote.tryAcquire.bind(remote);
  Object.assign(remote[LEASE], {
    take(key: string, wish: LeaseWish): LeaseTrip {
      const askedUs = ledger.us;
      const trip = take(key, wish);
      const onGrant = ({ stamp }: Grant) => ledger.onAwaited(node, key, stamp, askedUs);
      trip.answer.then(onGrant, () => {});
      return trip;
    },
  });
  Object.assign(remote, {
    async tryAcquire(key: string, cost: number): Promise<Decision> {
      const decision = await tryAcquire(key, cost);
      if (decision.allowed) ledger.onAwaitedCall(node, key, cost);
      return decision;
    },
  });
}

function remoteOf(setting: Setting, client: Client, timers: Timers): RemoteLimiter & Lessor {
  const { algorithm, limit, windowMs, deadlineMs } = setting;
  const options = { redis: client.asRedis, name: 'sim', deadlineMs, [SEAM]: { timers } };
  switch (algorithm) {
    case 'fixed-window':
      return new RedisFixedWindowLimiter({ ...options, limit, windowMs });
    case 'sliding-window-counter':
      return new RedisSlidingWindowCounterLimiter({ ...options, limit, windowMs });
    case 'sliding-window-log':
      return new RedisSlidingWindowLimiter({ ...options, limit, windowMs });
    case 'token-bucket': {
      const rate = { capacity: limit, refillTokens: limit, refillIntervalMs: windowMs };
      return new RedisTokenBucketLimiter({ ...options, ...rate });
    }
  }
}

interface World {
  readonly time: VirtualTime;
  readonly setting: Setting;
  readonly server: Server;
  readonly ledger: Ledger;
  readonly random: Random;
}

class Simulation implements World {
  readonly time = new VirtualTime();
  readonly setting: Setting;
  readonly random: Random;
  readonly server: Server;
  readonly ledger: Ledger;
  readonly #nodes: Node[];
  /** Those that have died among them. */
  readonly #everyNode: Node[] = [];
  /** All that was asked for. */
  readonly #wishes: Wish[] = [];
  #calls = 0;

  constructor(setting: Setting, traced: boolean) {
    this.setting = setting;
    this.random = new Random(~setting.seed);
    this.server = new Server(this.time);
    this.ledger = new Ledger(setting, () => this.time.us, traced);
    this.#nodes = Array.from({ length: setting.nodes }, () => this.#newNode());
  }

  async run(): Promise<Outcome> {
    const onRejection = (error: unknown) => this.ledger.fault(`unhandled rejection: ${error}`);
    process.on('unhandledRejection', onRejection);
    try {
      this.#arrive();
      for (const fault of this.setting.faults) {
        this.time.at(fault.at * 1000, () => this.#strike(fault));
      }
      this.time.at(this.setting.durationMs * 1000, () => this.#end());
      const { time, setting } = this;
      await time.run((setting.durationMs + LONG_MS) * 1000);
      if (time.us > setting.durationMs * 1000 + LONG_MS * 1000) this.ledger.fault('it never ends');
    } finally {
      process.off('unhandledRejection', onRejection);
    }
    for (const { name, open, dead } of this.#everyNode) {
      if (open > 0 && !dead) this.ledger.fault(`${open} calls of ${name} have never settled`);
    }
    return this.#outcome();
  }

  #newNode(): Node {
    const node = new Node(`node${this.#everyNode.length}`, this);
    this.#everyNode.push(node);
    return node;
  }

  #arrive(): void {
    const { random, setting } = this;
    const node = this.#nodes[ranked(random, setting.nodes, setting.skewOfNodes)] as Node;
    const calls = random.between(1, setting.burst);
    node.later(this.time.us, () => {
      for (let i = 0; i < calls; i++) this.#call(node);
    });
    const busy = this.time.us % (setting.waveMs * 1000) > setting.waveMs * 500;
    const everyUs = setting.everyMs * (busy ? 100 : 1000);
    const us = this.time.us - Math.log(1 - random.fraction()) * everyUs;
    if (us < setting.durationMs * 1000) this.time.at(Math.ceil(us), () => this.#arrive());
  }

  #call(node: Node): void {
    const { random, setting } = this;
    const key = `key${ranked(random, setting.keys, setting.skewOfKeys)}`;
    const cost = random.between(1, setting.maxCost);
    const dice = random.below(100);
    if (node.closed) return;
    if (dice < setting.percentResets) {
      // On its own: what was spent this very moment was spent before.
      node.later(this.time.us, () => this.#reset(node, key));
    } else if (dice < setting.percentPeeks) {
      void this.#watch(node, () => node.limiter.peek(key, cost));
    } else {
      this.#wishes.push({ us: this.time.us, key, cost });
      void this.#acquire(node, key, cost);
    }
  }

  #reset(node: Node, key: string): void {
    if (node.closed) return;
    this.ledger.note(`${node.name} resets ${key}`);
    this.ledger.onReset(node.name, key);
    // Rejects where Redis is not reached, as it should.
    this.#watch(node, () => node.limiter.reset(key)).catch(() => {});
  }

  async #acquire(node: Node, key: string, cost: number): Promise<void> {
    const startUs = this.time.us;
    const decision = await this.#watch(node, () => node.limiter.tryAcquire(key, cost));
    const { allowed, source } = decision;
    this.ledger.note(`${node.name} tells ${key} ${cost} ${allowed} ${source}, asked ${startUs}`);
    if (!allowed || source === 'open') return;
    this.ledger.onAllowed(node.name, { key, cost, source, startUs });
    if (this.random.chance(this.setting.percentRefunds) && !node.closed) {
      this.ledger.note(`${node.name} refunds ${cost} of ${key}`);
      void this.#watch(node, () => node.limiter.refund(key, cost));
    }
  }

  /** Every call settles within its deadline, as far as its process runs at all. */
  async #watch<T>(node: Node, call: () => Promise<T>): Promise<T> {
    const startUs = this.time.us;
    const pausedUs = node.pausedUs;
    this.#calls++;
    node.open++;
    try {
      return await call();
    } finally {
      node.open--;
      const us = this.time.us - startUs - (node.pausedUs - pausedUs);
      const most = this.setting.deadlineMs * 1000 + 3 * LATE_US;
      if (us > most) this.ledger.fault(`a call of ${node.name} took ${us / 1000} ms`);
    }
  }

  #strike(fault: Fault): void {
    const { server, time, setting } = this;
    this.ledger.note(`STRIKE ${JSON.stringify(fault)}`);
    if (fault.kind === 'restart') {
      server.restart(fault.empty, fault.ms);
      if (fault.empty) this.ledger.onFlush();
    } else if (fault.kind === 'refusal') server.refuse(fault.ms);
    else if (fault.kind === 'cuts') server.cut(fault.ms);
    else if (fault.kind === 'clock step') server.step(fault.ms);
    else {
      const node = this.#nodes[fault.node] as Node;
      if (fault.kind === 'reset') node.client.disconnect(fault.ms);
      else if (fault.kind === 'stall') node.client.stall(fault.ms);
      else if (fault.kind === 'pause') node.pause(fault.ms);
      else {
        if (fault.kind === 'crash') this.#crash(node);
        else node.later(time.us, () => this.#close(node));
        time.at(time.us + fault.ms * 1000, () => {
          if (time.us < setting.durationMs * 1000) this.#nodes[fault.node] = this.#newNode();
        });
      }
    }
  }

  #crash(node: Node): void {
    if (node.dead) return;
    node.crash();
  }

  #close(node: Node): void {
    if (node.closed) return;
    node.close().catch((error) => this.ledger.fault(`close rejected: ${error}`));
  }

  /** All processes close, and what they have begun comes to its end. */
  #end(): void {
    for (const node of this.#nodes) node.later(this.time.us, () => this.#close(node));
  }

  #outcome(): Outcome {
    const { setting, ledger } = this;
    const admissions = ledger.settle();
    const all = [...admissions.values()].flat();
    const admitted = all.reduce((sum, { permits }) => sum + permits, 0);
    const ideal = setting.saturated ? idealOf(setting, this.#wishes, this.#clockUs) : undefined;
    if (setting.saturated && !setting.lease && admitted !== ledger.taken) {
      ledger.fault(`${admitted} were admitted and ${ledger.taken} taken`);
    }
    return {
      ...this.#excess(admissions),
      faults: ledger.faults,
      calls: this.#calls,
      admitted,
      ideal,
      leases: ledger.leases,
      spentAhead: ledger.spentAhead,
      trace: ledger.trace ?? [],
    };
  }

  /** What the server's clock shows at our zero. */
  get #clockUs(): number {
    return this.server.clock - this.time.us;
  }

  #excess(all: Map<string, Admission[]>): Pick<Outcome, 'excess' | 'excessOfBound'> {
    const { setting, ledger, server } = this;
    const most = { excess: 0, excessOfBound: 0 };
    // Time that leaps has no windows, and what is refunded or reset counts no more.
    if (setting.faults.some(({ kind }) => kind === 'clock step')) return most;
    if (setting.percentRefunds + setting.percentResets > 0) return most;
    const prepaid = setting.nodes * (setting.lease?.permits ?? 0);
    for (const [key, admissions] of all) {
      // A server that has lost everything begins anew.
      const lives = [0, ...server.flushes, Infinity];
      for (const [i, start] of lives.slice(0, -1).entries()) {
        const end = lives[i + 1] as number;
        const some = admissions.filter(({ takenUs }) => takenUs >= start && takenUs < end);
        const { taken, spent, bound } = excessOf(some, setting, this.#clockUs);
        // What was lost with everything else is still given back.
        const lost = start > 0 ? prepaid : 0;
        if (taken > lost) ledger.fault(`of ${key} ${taken} more than the limit were taken`);
        if (spent > bound + lost) ledger.fault(`of ${key} ${spent} more than the limit were spent`);
        if (lost > 0) continue;
        most.excess = Math.max(most.excess, spent);
        if (bound > 0) most.excessOfBound = Math.max(most.excessOfBound, spent / bound);
      }
    }
    return most;
  }
}

/** Unequal by 1 / rank^skew. */
function ranked(random: Random, count: number, skew: number): number {
  let sum = 0;
  for (let rank = 1; rank <= count; rank++) sum += rank ** -skew;
  let left = random.fraction() * sum;
  for (let rank = 1; rank < count; rank++) {
    left -= rank ** -skew;
    if (left < 0) return rank - 1;
  }
  return count - 1;
}
