import type { Batch } from './batch.ts';
import type { LocalJudge } from './judges.ts';
import type { Limit } from './limit.ts';
import { Trails } from './trails.ts';

/**
 * The exact sliding window, as a plain model: every permit of the trailing window is remembered and dropped once it is
 * a window old. At most `limit` in any time span of the window's length.
 */
export class SlidingWindowLog implements LocalJudge {
  readonly #limit: number;
  readonly #trails: Trails;

  constructor({ limit, windowMs }: Limit) {
    this.#limit = limit;
    this.#trails = new Trails(Math.round(windowMs * 1000));
  }

  decide({ length, times, clients, costs }: Batch, waits: Float64Array): void {
    const limit = this.#limit;
    const trails = this.#trails;
    for (let i = 0; i < length; i++) {
      const client = clients[i] as number;
      const now = times[i] as number;
      const cost = costs[i] as number;
      if (cost > limit) {
        waits[i] = Infinity;
      } else if (cost > 0 && trails.used(client, now) + cost > limit) {
        waits[i] = Math.ceil(trails.waitFor(client, limit - cost, now) / 1000);
      } else {
        if (cost > 0) trails.add(client, now, cost);
        waits[i] = 0;
      }
    }
  }

  overflowed(): number {
    return 0;
  }

  memoryBytes(): number {
    return this.#trails.memoryBytes;
  }

  close(): void {}
}
