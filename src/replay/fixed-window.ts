import { type Batch, roomFor } from './batch.ts';
import type { Judge } from './judges.ts';
import type { Limit } from './limit.ts';

const FIRST_CLIENTS = 1_024;

/**
 * At most `limit` permits in each window of the clock, as a plain model: one count a client. Windows are multiples of
 * their length since 1970.
 */
export class FixedWindow implements Judge {
  readonly #limit: number;
  readonly #windowUs: number;
  #windows = new Float64Array(FIRST_CLIENTS).fill(Number.NEGATIVE_INFINITY);
  #counts = new Float64Array(FIRST_CLIENTS);

  constructor({ limit, windowMs }: Limit) {
    this.#limit = limit;
    this.#windowUs = Math.round(windowMs * 1000);
  }

  decide({ length, times, clients, costs }: Batch, waits: Float64Array): void {
    for (let i = 0; i < length; i++) {
      waits[i] = this.#decide(clients[i] as number, times[i] as number, costs[i] as number);
    }
  }

  #decide(client: number, now: number, cost: number): number {
    if (cost > this.#limit) return Infinity;
    if (cost === 0) return 0;
    this.#windows = roomFor(this.#windows, client);
    this.#counts = roomFor(this.#counts, client);
    const window = Math.floor(now / this.#windowUs);
    const used = this.#windows[client] === window ? (this.#counts[client] as number) : 0;
    if (used + cost > this.#limit) {
      return Math.ceil(((window + 1) * this.#windowUs - now) / 1000);
    }
    this.#windows[client] = window;
    this.#counts[client] = used + cost;
    return 0;
  }

  overflowed(): number {
    return 0;
  }

  memoryBytes(): number {
    return this.#windows.byteLength + this.#counts.byteLength;
  }

  close(): void {}
}
