import { type Batch, roomFor } from './batch.ts';
import type { LocalJudge } from './judges.ts';
import type { Limit } from './limit.ts';

const FIRST_CLIENTS = 1_024;

/**
 * Where windows begin: at multiples of their length since 1970, the same for all clients, or, as in Redis, with a
 * client's first permit after its last window.
 */
export type WindowStart = 'since 1970' | 'first permit';

/** At most `limit` permits in each window, as a plain model: one count a client. */
export class FixedWindow implements LocalJudge {
  readonly #limit: number;
  readonly #windowUs: number;
  readonly #windowStart: WindowStart;
  #starts = new Float64Array(FIRST_CLIENTS);
  #counts = new Float64Array(FIRST_CLIENTS);

  constructor({ limit, windowMs }: Limit, windowStart: WindowStart = 'since 1970') {
    this.#limit = limit;
    this.#windowUs = Math.round(windowMs * 1000);
    this.#windowStart = windowStart;
  }

  decide({ length, times, clients, costs }: Batch, waits: Float64Array): void {
    for (let i = 0; i < length; i++) {
      waits[i] = this.#decide(clients[i] as number, times[i] as number, costs[i] as number);
    }
  }

  #decide(client: number, now: number, cost: number): number {
    if (cost > this.#limit) return Infinity;
    if (cost === 0) return 0;
    this.#starts = roomFor(this.#starts, client);
    this.#counts = roomFor(this.#counts, client);
    let start = this.#starts[client] as number;
    let used = this.#counts[client] as number;
    // Of a client that is new here the count is 0, wherever its window began.
    if (used === 0 || now - start >= this.#windowUs) {
      start = this.#startOf(now);
      used = 0;
    }
    if (used + cost > this.#limit) return Math.ceil((start + this.#windowUs - now) / 1000);
    this.#starts[client] = start;
    this.#counts[client] = used + cost;
    return 0;
  }

  #startOf(now: number): number {
    if (this.#windowStart === 'first permit') return now;
    return Math.floor(now / this.#windowUs) * this.#windowUs;
  }

  overflowed(): number {
    return 0;
  }

  memoryBytes(): number {
    return this.#starts.byteLength + this.#counts.byteLength;
  }

  close(): void {}
}
