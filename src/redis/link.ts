import { SluicegateTypeError } from '../errors.ts';
import { shown } from '../options.ts';
import {
  type Algorithm,
  type Argument,
  defineCommands,
  type RedisClient,
  sendAlone,
  sendCommand,
} from './commands.ts';
import type { Expiring, Timers } from './deadlines.ts';
import { ServerClock } from './server-clock.ts';

/** The first number of a reply that did nothing, since it came too late. */
const TOO_LATE = -1;
/** A slot has moved: said by a server, or by the client of a pipeline whose slots are no longer at one node. Nothing ran. */
const MOVED = /^(MOVED|ASK) |same slots allocation group/;
/** A slot that moved, and a clock that was not what we took it for: neither call ran, and each can happen once. */
const RETRIES = 2;

/** Why a call has no answer. */
export interface Failure {
  readonly reason: string;
  readonly cause?: unknown;
}

/** One call in flight. Settled once; whatever comes after that is dropped. */
export class Call implements Expiring {
  readonly algorithm: Algorithm;
  readonly key: string;
  readonly slot: number;
  readonly args: (notAfter: number) => Argument[];
  readonly expiresAt: number;
  retries = RETRIES;
  alone = false;
  /** Where it waits to be sent. */
  queue: Set<Call> | undefined;
  #settle: { onReply(reply: number[]): void; onFailure(failure: Failure): void } | undefined;
  readonly #link: Link;

  constructor(
    link: Link,
    where: { algorithm: Algorithm; key: string; slot: number; expiresAt: number },
    args: (notAfter: number) => Argument[],
    onReply: (reply: number[]) => void,
    onFailure: (failure: Failure) => void,
  ) {
    this.#link = link;
    this.algorithm = where.algorithm;
    this.key = where.key;
    this.slot = where.slot;
    this.expiresAt = where.expiresAt;
    this.args = args;
    this.#settle = { onReply, onFailure };
  }

  get done(): boolean {
    return this.#settle === undefined;
  }

  reply(reply: number[]): void {
    this.#take()?.onReply(reply);
  }

  fail(reason: string, cause?: unknown): void {
    this.#take()?.onFailure({ reason, cause });
  }

  expire(): void {
    this.fail(`no answer in time (the client is "${this.#link.status}")`);
  }

  #take() {
    const settle = this.#settle;
    this.#settle = undefined;
    this.queue?.delete(this);
    this.queue = undefined;
    return settle;
  }
}

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

  get status(): string {
    return this.#client.status;
  }

  /** Sends the call, or keeps it until it can be sent. */
  send(call: Call): void {
    const { status } = this.#client;
    if (status === 'end') call.fail('the client was closed');
    else if (status !== 'ready') this.#awaitConnection(call);
    else if (!this.#clock.known) this.#awaitTime(call);
    else this.#sendNow(call);
  }

  #sendNow(call: Call): void {
    const sentUs = this.#timers.now() * 1000;
    const args = call.args(this.#clock.serverTime(call.slot, call.expiresAt * 1000));
    const send = call.alone ? sendAlone : sendCommand;
    try {
      send(this.#client, call.algorithm, call.key, args).then(
        (reply) => this.#onReply(call, reply, sentUs),
        (error) => this.#onError(call, error),
      );
    } catch (error) {
      // A cluster client throws where no node serves the slot.
      this.#onError(call, error);
    }
  }

  #onReply(call: Call, reply: unknown, sentUs: number): void {
    if (call.done) return;
    const numbers = numbersOf(reply);
    if (numbers === undefined) {
      call.fail(`Redis answered ${shown(reply)}`, reply);
      return;
    }
    const answeredUs = this.#timers.now() * 1000;
    this.#clock.learn(call.slot, numbers[1] as number, sentUs, answeredUs);
    if (numbers[0] !== TOO_LATE) call.reply(numbers);
    else if (answeredUs < call.expiresAt * 1000 && call.retries-- > 0) this.send(call);
    else call.fail('it reached the server too late');
  }

  #onError(call: Call, error: unknown): void {
    if (call.done) return;
    const message = error instanceof Error ? error.message : String(error);
    if (MOVED.test(message) && call.retries-- > 0) {
      call.alone = true;
      this.send(call);
    } else {
      call.fail(message, error);
    }
  }

  #awaitConnection(call: Call): void {
    const client = this.#client;
    if (client.status === 'wait') client.connect().catch(() => {});
    if (this.#unconnected.size === 0) {
      client.once('ready', this.#resume);
      client.once('end', this.#resume);
    }
    wait(call, this.#unconnected);
  }

  readonly #resume = (): void => {
    this.#client.off('ready', this.#resume);
    this.#client.off('end', this.#resume);
    this.#sendAll(this.#unconnected);
  };

  /** The one command that is not a script, once for each client. */
  #awaitTime(call: Call): void {
    wait(call, this.#unsynced);
    const askedAt = this.#timers.now();
    // An answer may never come, so ask again when the call that asked must have given up.
    if (askedAt - this.#askedAt < call.expiresAt - askedAt) return;
    this.#askedAt = askedAt;
    this.#client.time().then(
      ([seconds, micros]) => {
        // An answer later than anybody's deadline says too little.
        if (this.#timers.now() <= call.expiresAt && !this.#clock.known) {
          this.#clock.learnAny(Number(seconds) * 1e6 + Number(micros), askedAt * 1000);
        }
        this.#askedAt = -Infinity;
        this.#sendAll(this.#unsynced);
      },
      (error) => {
        this.#askedAt = -Infinity;
        for (const waiting of this.#unsynced) this.#onError(waiting, error);
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

function wait(call: Call, queue: Set<Call>): void {
  call.queue = queue;
  queue.add(call);
}

function numbersOf(reply: unknown): number[] | undefined {
  if (!Array.isArray(reply) || reply.length < 2) return undefined;
  const numbers = reply.map(Number);
  return numbers.every(Number.isFinite) ? numbers : undefined;
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
