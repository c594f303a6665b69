/** Requests that are decided in one go. */
export const BATCH_LENGTH = 8_192;

/**
 * Consecutive requests in columns, so that a replay of millions makes no object for any of them. Times are whole
 * microseconds and never run backwards; clients are numbered from 0 in the order of their first request.
 */
export class Batch {
  readonly times: Float64Array;
  readonly clients: Uint32Array;
  readonly costs: Float64Array;
  length = 0;

  constructor(capacity: number = BATCH_LENGTH) {
    this.times = new Float64Array(capacity);
    this.clients = new Uint32Array(capacity);
    this.costs = new Float64Array(capacity);
  }

  /** Adds a request; true once the batch is full. */
  add(time: number, client: number, cost: number): boolean {
    const at = this.length++;
    this.times[at] = time;
    this.clients[at] = client;
    this.costs[at] = cost;
    return this.length === this.times.length;
  }
}

/** The array, or a longer one with the same start, so that `index` is inside it. */
export function roomFor<T extends Float64Array | Uint32Array | Int32Array | Uint8Array>(
  array: T,
  index: number,
): T {
  if (index < array.length) return array;
  const Grown = array.constructor as new (length: number) => T;
  const grown = new Grown(2 ** Math.ceil(Math.log2(index + 1)));
  grown.set(array);
  return grown;
}
