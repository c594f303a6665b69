import { BATCH_LENGTH, type Batch, roomFor } from './batch.ts';
import type { Algorithm, Judge } from './judges.ts';
import type { Limit } from './limit.ts';
import { Trails } from './trails.ts';

/** What one algorithm under one limit did to the traffic. */
export interface Outcome {
  readonly limit: Limit;
  readonly algorithm: Algorithm;
  readonly requests: number;
  readonly clients: number;
  readonly admitted: number;
  readonly denied: number;
  readonly clientsEverDenied: number;
  /** The longest wait that a denied request was told, milliseconds. */
  readonly longestWaitMs: number;
  /** Requests that ask for more than the limit and so could never pass; the longest wait leaves them out. */
  readonly neverPass: number;
  /** Most permits that one client took in any trailing window. */
  readonly worstWindow: number;
  /** Undefined if nobody knows. */
  readonly memoryBytes: number | undefined;
  readonly decisionsPerSecond: number;
  readonly overflowed: number;
}

/** Replays batches under one limit and one algorithm, and keeps the score. */
export class Run {
  readonly limit: Limit;
  readonly algorithm: Algorithm;
  /** Of the last batch fed: the milliseconds to wait, 0 for a request that passed. */
  readonly waits = new Float64Array(BATCH_LENGTH);
  readonly #judge: Judge;
  readonly #admittedTrails: Trails;
  #deniedByClient = new Uint32Array(1_024);
  #requests = 0;
  #denied = 0;
  #clients = 0;
  #clientsEverDenied = 0;
  #longestWaitMs = 0;
  #neverPass = 0;
  #worstWindow = 0;
  #nanoseconds = 0n;

  constructor(algorithm: Algorithm, limit: Limit, judge: Judge) {
    this.algorithm = algorithm;
    this.limit = limit;
    this.#judge = judge;
    this.#admittedTrails = new Trails(Math.round(limit.windowMs * 1000));
  }

  async feed(batch: Batch): Promise<void> {
    const started = process.hrtime.bigint();
    await this.#judge.decide(batch, this.waits);
    this.#nanoseconds += process.hrtime.bigint() - started;
    this.#requests += batch.length;
    for (let i = 0; i < batch.length; i++) {
      const client = batch.clients[i] as number;
      if (client >= this.#clients) this.#clients = client + 1;
      if (this.waits[i] === 0)
        this.#admit(client, batch.times[i] as number, batch.costs[i] as number);
      else this.#deny(client, this.waits[i] as number);
    }
  }

  /** Requests denied, by client. */
  deniedOf(client: number): number {
    return this.#deniedByClient[client] ?? 0;
  }

  outcome(): Outcome {
    return {
      limit: this.limit,
      algorithm: this.algorithm,
      requests: this.#requests,
      clients: this.#clients,
      admitted: this.#requests - this.#denied,
      denied: this.#denied,
      clientsEverDenied: this.#clientsEverDenied,
      longestWaitMs: this.#longestWaitMs,
      neverPass: this.#neverPass,
      worstWindow: this.#worstWindow,
      memoryBytes: this.#judge.memoryBytes(this.#clients),
      decisionsPerSecond: Math.round((this.#requests * 1e9) / Number(this.#nanoseconds || 1n)),
      overflowed: this.#judge.overflowed(),
    };
  }

  close(): void {
    this.#judge.close();
  }

  #admit(client: number, timeUs: number, cost: number): void {
    if (cost === 0) return;
    const used = this.#admittedTrails.add(client, timeUs, cost);
    if (used > this.#worstWindow) this.#worstWindow = used;
  }

  #deny(client: number, waitMs: number): void {
    this.#denied += 1;
    if (waitMs === Infinity) this.#neverPass += 1;
    else if (waitMs > this.#longestWaitMs) this.#longestWaitMs = waitMs;
    this.#deniedByClient = roomFor(this.#deniedByClient, client);
    const before = this.#deniedByClient[client] as number;
    if (before === 0) this.#clientsEverDenied += 1;
    this.#deniedByClient[client] = before + 1;
  }
}
