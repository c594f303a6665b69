import { SluicegateTypeError } from '../errors.ts';
import { shown } from '../options.ts';
import type { Timers } from '../timers.ts';
import type { Call, Lane } from './call.ts';
import {
  type Argument,
  defineCommands,
  type RedisClient,
  type ScriptCall,
  sendAlone,
  sendCommand,
} from './commands.ts';
import { ServerClock } from './server-clock.ts';

/** Numbers of a reply for each key, after the time. */
const ANSWER_SIZE = 4;
const LEASE_SIZE = 7;
const FAULT = -1;
/**
 * Calls of one tick go in so many parts, that Redis works on one while the next is on its way and the last is read; but in
 * none of fewer keys than pay for a script of their own, and of no more than Redis may do nothing else for, which is about
 * 4 microseconds a key.
 */
const PARTS = 4;
const MIN_PART = 4;
const MAX_PART = 32;
/** A slot has moved: said by a server, or by the client of a pipeline whose slots are no longer at one node. Nothing ran. */
const MOVED = /^(MOVED|ASK) |same slots allocation group/;
/** Until a client that was told of a server it did not know may have learned of it from the others. */
const MOVED_PAUSE_MS = 5;

/**
 * What all limiters on one client share: its scripts, what is known of the servers' clocks, and the calls that wait for
 * the connection. Nothing is ever left to the client's offline queue, which would send it after everybody has gone.
 */
export class Link {
  readonly isCluster: boolean;
  readonly #client: RedisClient;
  readonly #timers: Timers;
  readonly #clock: ServerClock;
  readonly #unconnected = new Set<Call>();
  /** Whether the client will tell of its next connection. */
  #listens = false;
  readonly #unsynced = new Set<Call>();
  /** When the server was last asked for its time, while the answer is out. */
  #askedAt = -Infinity;

  constructor(client: RedisClient, timers: Timers) {
    this.#client = client;
    this.#timers = timers;
    this.isCluster = client.isCluster;
    this.#clock = new ServerClock(client.isCluster);
    defineCommands(client);
  }

  /** The client's word for the state of its connection. */
  get status(): string {
    return this.#client.status;
  }

  /** Sends the call, with others of its tick and limiter, or keeps it until it can be sent. */
  send(call: Call): void {
    const { status } = this.#client;
    if (status === 'end') call.fail('the client was closed');
    else if (status !== 'ready') this.#awaitConnection(call);
    else if (!this.#clock.known) this.#awaitTime(call);
    else if (this.isCluster || call.question.lease) this.#sendNow(call.lane, [call]);
    else this.#batch(call);
  }

  /** Calls of one tick share calls of their script: that saves both sides most of the work. */
  #batch(call: Call): void {
    const { lane } = call;
    const [first] = lane.waiting;
    if (first !== undefined && first.question.now !== call.question.now) this.#flush(lane);
    lane.waiting.push(call);
    if (lane.waiting.length === 1) process.nextTick(this.#flush, lane);
  }

  readonly #flush = (lane: Lane): void => {
    const calls = lane.waiting.filter((call) => !call.done);
    lane.waiting = [];
    // Closed or reset within the tick: they wait like any other.
    if (this.#client.status !== 'ready') for (const call of calls) this.send(call);
    else for (const part of partsOf(calls)) this.#sendNow(lane, part);
  };

  #sendNow(lane: Lane, calls: Call[]): void {
    const client = this.#client;
    const [first] = calls as [Call];
    const { slot, now, lease } = first.question;
    const keys: string[] = [];
    const each: Argument[] = [];
    let expiresAt = Infinity;
    for (const call of calls) {
      const { key, operation, cost } = call.question;
      keys.push(key);
      each.push(operation, cost);
      if (call.expiresAt < expiresAt) expiresAt = call.expiresAt;
      call.sent = true;
    }
    if (lease !== undefined) {
      keys.push(...lease.keys);
      each.push(...lease.args);
    }
    const sentUs = this.#timers.now() * 1000;
    const notAfter = this.#clock.serverTime(slot, expiresAt * 1000);
    const script: ScriptCall = {
      algorithm: lane.algorithm,
      form: lease !== undefined ? 'lease' : keys.length === 1 ? 'one' : 'many',
      keys,
      args: [notAfter, now, ...lane.policy, ...each],
    };
    try {
      const reply = first.moved ? sendAlone(client, script) : sendCommand(client, script);
      reply.then(
        (numbers) => this.#onReply(calls, numbers, sentUs),
        (error) => this.#onError(calls, error),
      );
    } catch (error) {
      // A cluster client throws where no node serves the slot.
      this.#onError(calls, error);
    }
  }

  #onReply(calls: Call[], reply: unknown, sentUs: number): void {
    const size = (calls[0] as Call).question.lease ? LEASE_SIZE : ANSWER_SIZE;
    if (!isReply(reply, calls.length * size)) {
      for (const call of calls) call.fail(`Redis answered ${shown(reply)}`, reply);
      return;
    }
    const answeredUs = this.#timers.now() * 1000;
    const { question, lane } = calls[0] as Call;
    const deadlineUs = lane.deadlineMs * 1000;
    this.#clock.learn(question.slot, Number(reply[0]), sentUs, answeredUs, deadlineUs);
    if (reply.length === 1) this.#onTooLate(calls, answeredUs);
    else
      for (const [i, call] of calls.entries())
        answer(call, reply.slice(1 + i * size, 1 + (i + 1) * size));
  }

  /** Nobody waits for them any more, or the server's clock was not what we took it for. */
  #onTooLate(calls: Call[], nowUs: number): void {
    for (const call of calls) {
      if (!call.done && nowUs < call.expiresAt * 1000 && call.takeRetry()) this.send(call);
      else call.fail('it reached the server too late', undefined, true);
    }
  }

  #onError(calls: Call[], error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    // A client of a single server follows nobody: somebody gave it a node of a cluster.
    const moved = this.isCluster && MOVED.test(message);
    // What Redis refuses has not run. Everything else may have, on the other side of a connection that broke.
    const nothingRan = moved || (error instanceof Error && error.name === 'ReplyError');
    for (const call of calls) {
      if (moved && !call.done) this.#follow(call, error as Error);
      else call.fail(message, error, nothingRan || !call.sent);
    }
  }

  /**
   * Sends the call to where its slot is now. A client that does not know that server yet runs out of redirections in a
   * millisecond or two, so from the second time on it is given some more, as long as the call has.
   */
  #follow(call: Call, moved: Error): void {
    const again = call.moved !== undefined;
    call.moved = moved;
    call.sent = false;
    if (!again) this.send(call);
    else this.#timers.wake(() => call.done || this.send(call), MOVED_PAUSE_MS);
  }

  #awaitConnection(call: Call): void {
    const client = this.#client;
    if (client.status === 'wait') client.connect().catch(() => {});
    if (!this.#listens) {
      this.#listens = true;
      client.once('ready', this.#resume);
      client.once('end', this.#resume);
    }
    wait(call, this.#unconnected);
  }

  readonly #resume = (): void => {
    this.#listens = false;
    this.#client.off('ready', this.#resume);
    this.#client.off('end', this.#resume);
    this.#sendAll(this.#unconnected);
  };

  /** The one command that is not a script, once for each client. */
  #awaitTime(call: Call): void {
    wait(call, this.#unsynced);
    const askedAt = this.#timers.now();
    const { deadlineMs } = call.lane;
    // An answer may never come, so ask again when nobody would wait for it any more.
    if (askedAt - this.#askedAt < deadlineMs) return;
    this.#askedAt = askedAt;
    this.#client.time().then(
      ([seconds, micros]) => {
        // An answer that took longer than a call may says too little. Whether the call that asked still waits does not
        // matter: it is the one that has waited longest.
        if (this.#timers.now() - askedAt <= deadlineMs && !this.#clock.known) {
          this.#clock.learnAny(Number(seconds) * 1e6 + Number(micros), askedAt * 1000);
        }
        if (this.#askedAt === askedAt) this.#askedAt = -Infinity;
        this.#sendAll(this.#unsynced);
      },
      (error) => {
        if (this.#askedAt === askedAt) this.#askedAt = -Infinity;
        this.#onError([...this.#unsynced], error);
      },
    );
  }

  #sendAll(waiting: Set<Call>): void {
    const calls = [...waiting];
    waiting.clear();
    for (const call of calls) {
      call.queue = undefined;
      this.send(call);
    }
  }
}

function partsOf(calls: readonly Call[]): Call[][] {
  const size = Math.min(Math.max(Math.ceil(calls.length / PARTS), MIN_PART), MAX_PART);
  return Array.from({ length: Math.ceil(calls.length / size) }, (_, part) =>
    calls.slice(part * size, (part + 1) * size),
  );
}

function wait(call: Call, queue: Set<Call>): void {
  call.queue = queue;
  queue.add(call);
}

/** The server's time, and then either nothing or an answer for each call. Clients with `stringNumbers` have strings. */
function isReply(reply: unknown, numbers: number): reply is (number | string)[] {
  if (!Array.isArray(reply) || !Number.isFinite(Number(reply[0]))) return false;
  return reply.length === 1 || reply.length === 1 + numbers;
}

function answer(call: Call, reply: readonly (number | string)[]): void {
  const [granted, remaining, retryAfterUs, resetAfterUs, nodes = 0, stamp = 0, lifeUs = 0] = reply;
  if (Number(granted) === FAULT) {
    const message = String(remaining);
    call.fail(message, new Error(message), true);
    return;
  }
  call.answer({
    granted: Number(granted),
    remaining: Number(remaining),
    retryAfterUs: Number(retryAfterUs),
    resetAfterUs: Number(resetAfterUs),
    nodes: Number(nodes),
    stamp: Number(stamp),
    lifeUs: Number(lifeUs),
  });
}

const links = new WeakMap<RedisClient, Link>();

/** The client's link, made when it is first asked for. */
export function linkOf(client: RedisClient, timers: Timers): Link {
  const known = links.get(client);
  if (known !== undefined) return known;
  const link = new Link(checkClient(client), timers);
  links.set(client, link);
  return link;
}

function checkClient(client: unknown): RedisClient {
  const methods = ['defineCommand', 'pipeline', 'time', 'connect', 'once', 'off'];
  const has = (name: string) => typeof (client as Record<string, unknown>)[name] === 'function';
  if (typeof client === 'object' && client !== null && methods.every(has)) {
    return client as RedisClient;
  }
  throw new SluicegateTypeError(
    'ERR_INVALID_OPTION',
    `redis must be an ioredis client: new Redis(...) or new Cluster(...); got ${shown(client)}`,
  );
}
