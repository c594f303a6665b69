import { EventEmitter } from 'node:events';
import type { Algorithm, Argument, RedisClient, ScriptCall } from '../../src/redis/commands.ts';
import { RedisModel } from '../model/redis-scripts.ts';
import type { Random } from '../support/random.ts';
import type { Setting } from './settings.ts';
import type { VirtualTime } from './virtual-time.ts';

/** 2026, in microseconds. */
const EPOCH_US = 1_767_225_600_000_000;

/** Where the reply of a lease has its stamp. */
const STAMP = 6;

/** What a machine's process knows of its time, and what keeps it from running. */
export interface Process {
  /** Runs it then, or when a pause is over, or never if the process has died. */
  later(us: number, run: () => void): void;
}

/** One run of a script. */
export interface Execution {
  readonly call: ScriptCall;
  readonly reply: readonly number[];
  readonly us: number;
}

export interface Witness {
  onSent(call: ScriptCall): void;
  onExecuted(execution: Execution): void;
  onDelivered(execution: Execution): void;
}

/** The one server. */
export class Server {
  readonly #time: VirtualTime;
  readonly #model = new RedisModel();
  #stepUs = 0;
  #upAtUs = 0;
  #refusesUntilUs = 0;
  #cutsUntilUs = 0;
  /** The stamps of leases: each is given a name of its own, so that the books can tell which lease comes back. */
  readonly #stamps: number[] = [0];
  /** When it has lost everything. */
  readonly flushes: number[] = [];
  readonly clients = new Set<Client>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  get clock(): number {
    return EPOCH_US + this.#stepUs + this.#time.us;
  }

  get up(): boolean {
    return this.#time.us >= this.#upAtUs;
  }

  run(call: ScriptCall): number[] | Error {
    if (this.#time.us < this.#refusesUntilUs) {
      const error = new Error("OOM command not allowed when used memory > 'maxmemory'.");
      error.name = 'ReplyError';
      return error;
    }
    return this.#run(call);
  }

  #run(call: ScriptCall): number[] {
    const args = [...call.args];
    if (args.at(-3) === 'release') args.push(this.#stamps[Number(args.pop())] as number);
    const reply = this.#model.run({ ...call, args }, this.clock) as number[];
    if (args.at(-6) === 'lease' && reply.length > 1) {
      reply[STAMP] = this.#stamps.push(reply[STAMP] as number) - 1;
    }
    return reply;
  }

  restart(empty: boolean, ms: number): void {
    if (empty) {
      this.#model.flush();
      this.flushes.push(this.#time.us);
    }
    this.#upAtUs = this.#time.us + ms * 1000;
    for (const client of this.clients) client.disconnect(1);
  }

  refuse(ms: number): void {
    this.#refusesUntilUs = this.#time.us + ms * 1000;
  }

  cut(ms: number): void {
    this.#cutsUntilUs = this.#time.us + ms * 1000;
  }

  get cuts(): boolean {
    return this.#time.us < this.#cutsUntilUs;
  }

  step(ms: number): void {
    this.#stepUs += ms * 1000;
  }
}

/** A command that was given to the client and has no reply. */
interface Command {
  readonly script: ScriptCall | undefined;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Its way to the server, while it is on it. */
  way: { lost: boolean } | undefined;
}

/** An ioredis client as far as the limiters use it, and its connection, which keeps the order of what it carries. */
export class Client extends EventEmitter {
  readonly isCluster = false;
  status = 'connecting';
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #setting: Setting;
  readonly #server: Server;
  readonly #process: Process;
  readonly #witness: Witness;
  #pending: Command[] = [];
  /** Counts connections: what comes over an earlier one is not heard any more. */
  #connection = 0;
  #attempts = 0;
  #sendsUntilUs = 0;
  #repliesUntilUs = 0;
  #stalledUntilUs = 0;

  constructor(
    time: VirtualTime,
    random: Random,
    setting: Setting,
    server: Server,
    process: Process,
    witness: Witness,
  ) {
    super();
    this.#time = time;
    this.#random = random;
    this.#setting = setting;
    this.#server = server;
    this.#process = process;
    this.#witness = witness;
    server.clients.add(this);
    this.#connect(0);
  }

  get asRedis(): RedisClient {
    return this as unknown as RedisClient;
  }

  defineCommand(name: string): void {
    const [, algorithm, , form] = name.split(':') as [
      string,
      Algorithm,
      string,
      ScriptCall['form'],
    ];
    const command = (...given: Argument[]): Promise<unknown> => {
      const count = form === 'many' ? Number(given.shift()) : form === 'lease' ? 3 : 1;
      const keys = given.slice(0, count).map(String);
      const call = { algorithm, form, keys, args: given.slice(count) };
      this.#witness.onSent(call);
      return this.#send(call);
    };
    Object.assign(this, { [name]: command });
  }

  time(): Promise<unknown> {
    return this.#send(undefined);
  }

  pipeline(): never {
    throw new Error('only calls whose slot has moved go in a pipeline of their own');
  }

  async connect(): Promise<void> {}

  /** The connection breaks: of what is under way some arrives and the rest is lost, and so are all replies. */
  disconnect(afterMs: number): void {
    if (this.status !== 'ready') return;
    const ways = this.#pending.flatMap(({ way }) => way ?? []);
    for (const way of ways.slice(this.#random.between(0, ways.length))) way.lost = true;
    this.#connection++;
    this.status = 'reconnecting';
    if (!this.#setting.resends) this.#rejectAll('Connection is closed.');
    this.#connect(Math.max(afterMs, this.#setting.retryMs));
  }

  /** Nothing arrives for so long, in either direction. */
  stall(ms: number): void {
    this.#stalledUntilUs = this.#time.us + ms * 1000;
  }

  /** Its process has died. */
  drop(): void {
    this.#server.clients.delete(this);
    this.#connection++;
    this.status = 'end';
  }

  #connect(ms: number): void {
    this.#process.later(this.#time.us + ms * 1000 + this.#delay(), () => {
      if (!this.#server.up) {
        // Three failed attempts, where ioredis makes twenty.
        if (++this.#attempts === 3) this.#rejectAll('Reached the max retries per request limit.');
        this.#connect(Math.max(1, this.#setting.retryMs));
        return;
      }
      this.#attempts = 0;
      this.#sendsUntilUs = 0;
      this.#repliesUntilUs = 0;
      this.status = 'ready';
      for (const command of this.#pending) this.#transmit(command);
      this.emit('ready');
    });
  }

  #rejectAll(message: string): void {
    const commands = this.#pending;
    this.#pending = [];
    for (const { reject } of commands) reject(new Error(message));
  }

  #send(script: ScriptCall | undefined): Promise<unknown> {
    if (this.status !== 'ready') throw new Error(`sent to a client that is "${this.status}"`);
    return new Promise((resolve, reject) => {
      const command: Command = { script, resolve, reject, way: undefined };
      this.#pending.push(command);
      this.#transmit(command);
    });
  }

  #transmit(command: Command): void {
    const connection = this.#connection;
    // What went over an earlier connection is another message, which arrives or is lost there.
    const way = { lost: false };
    command.way = way;
    this.#sendsUntilUs = this.#arrival(this.#sendsUntilUs);
    this.#time.at(this.#sendsUntilUs, () => {
      if (command.way === way) command.way = undefined;
      if (!way.lost && this.#server.up) this.#arrive(command, connection);
    });
  }

  #arrive(command: Command, connection: number): void {
    const { script } = command;
    const us = this.#time.us;
    const { clock } = this.#server;
    const reply = script === undefined ? [clock] : this.#server.run(script);
    const execution = { call: script as ScriptCall, reply: reply as number[], us };
    const ran = script !== undefined && !(reply instanceof Error);
    if (ran) this.#witness.onExecuted(execution);
    if (script?.form === 'lease' && this.#server.cuts && this.#random.chance(30)) {
      this.disconnect(this.#random.pick([1, 1, 100]));
    }
    if (connection !== this.#connection) return;
    this.#repliesUntilUs = this.#arrival(this.#repliesUntilUs);
    this.#process.later(this.#repliesUntilUs, () => {
      if (connection !== this.#connection) return;
      this.#pending.splice(this.#pending.indexOf(command), 1);
      if (reply instanceof Error) command.reject(reply);
      else if (script === undefined) command.resolve([Math.floor(clock / 1e6), clock % 1e6]);
      else {
        this.#witness.onDelivered(execution);
        command.resolve(reply);
      }
    });
  }

  /** Never before the one that left before it. */
  #arrival(lastUs: number): number {
    return Math.max(lastUs, Math.max(this.#time.us, this.#stalledUntilUs) + this.#delay());
  }

  #delay(): number {
    const [least, most] = this.#setting.delayUs;
    return this.#random.between(least, most);
  }
}
