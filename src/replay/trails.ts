import { roomFor } from './batch.ts';

const NONE = -1;
const FIRST_CLIENTS = 1_024;
/** [time, permits] */
const ENTRY = 2;

/**
 * The permits each client took in a trailing window, its end included and its start not. A client's entries are a ring
 * of 2^order of them in one common pool, that of equal times being one entry, so that the memory follows what is inside
 * windows now and not how long the log is. When the pool is full, the rings of clients who have been silent for a window
 * are given back first; it grows if that was not enough.
 */
export class Trails {
  readonly #windowUs: number;
  #pool = new Float64Array(FIRST_CLIENTS * ENTRY);
  #poolEnd = 0;
  #free: number[][] = [];
  #clients = 0;
  #start = new Int32Array(FIRST_CLIENTS).fill(NONE);
  #order = new Uint8Array(FIRST_CLIENTS);
  #head = new Int32Array(FIRST_CLIENTS);
  #length = new Int32Array(FIRST_CLIENTS);
  #used = new Float64Array(FIRST_CLIENTS);

  constructor(windowUs: number) {
    this.#windowUs = windowUs;
  }

  get memoryBytes(): number {
    const columns = [this.#start, this.#order, this.#head, this.#length, this.#used];
    return columns.reduce((sum, { byteLength }) => sum + byteLength, this.#pool.byteLength);
  }

  /** The client's permits in the window that ends `now`. */
  used(client: number, now: number): number {
    if (client >= this.#clients) return 0;
    this.#forget(client, now);
    return this.#used[client] as number;
  }

  /** Microseconds after `now` when at most `permits` of the client's are left in the window. */
  waitFor(client: number, permits: number, now: number): number {
    const ring = this.#start[client] as number;
    const mask = (1 << (this.#order[client] as number)) - 1;
    let left = this.#used[client] as number;
    for (let i = 0; i < (this.#length[client] as number); i++) {
      const entry = (ring + (((this.#head[client] as number) + i) & mask)) * ENTRY;
      left -= this.#pool[entry + 1] as number;
      if (left <= permits) return (this.#pool[entry] as number) + this.#windowUs - now;
    }
    return 0;
  }

  /** Adds permits taken `now`, and returns how many are in the window with them. */
  add(client: number, now: number, permits: number): number {
    if (client >= this.#clients) this.#makeRoom(client);
    this.#forget(client, now);
    const used = (this.#used[client] as number) + permits;
    this.#used[client] = used;
    if (this.#joinsNewest(client, now, permits)) return used;
    this.#reserve(client, now);
    const length = this.#length[client] as number;
    const entry = this.#entry(client, length);
    this.#pool[entry] = now;
    this.#pool[entry + 1] = permits;
    this.#length[client] = length + 1;
    return used;
  }

  #joinsNewest(client: number, now: number, permits: number): boolean {
    const length = this.#length[client] as number;
    if (length === 0) return false;
    const newest = this.#entry(client, length - 1);
    if (this.#pool[newest] !== now) return false;
    this.#pool[newest + 1] = (this.#pool[newest + 1] as number) + permits;
    return true;
  }

  #forget(client: number, now: number): void {
    let length = this.#length[client] as number;
    const end = now - this.#windowUs;
    while (length > 0) {
      const entry = this.#entry(client, 0);
      if ((this.#pool[entry] as number) > end) break;
      this.#used[client] = (this.#used[client] as number) - (this.#pool[entry + 1] as number);
      this.#head[client] = (this.#head[client] as number) + 1;
      length -= 1;
    }
    this.#length[client] = length;
  }

  #entry(client: number, index: number): number {
    const mask = (1 << (this.#order[client] as number)) - 1;
    const inRing = ((this.#head[client] as number) + index) & mask;
    return ((this.#start[client] as number) + inRing) * ENTRY;
  }

  /** Makes sure that the client's ring takes one more entry. */
  #reserve(client: number, now: number): void {
    const start = this.#start[client] as number;
    if (start === NONE) {
      this.#start[client] = this.#take(0, now);
      this.#order[client] = 0;
      this.#head[client] = 0;
      return;
    }
    const length = this.#length[client] as number;
    const order = this.#order[client] as number;
    if (length < 1 << order) return;
    const ring = this.#take(order + 1, now);
    for (let i = 0; i < length; i++) {
      const entry = this.#entry(client, i);
      this.#pool.copyWithin((ring + i) * ENTRY, entry, entry + ENTRY);
    }
    this.#giveBack(order, start);
    this.#start[client] = ring;
    this.#order[client] = order + 1;
    this.#head[client] = 0;
  }

  /** A place for 2^order entries. */
  #take(order: number, now: number): number {
    const known = this.#free[order]?.pop();
    if (known !== undefined) return known;
    const size = 1 << order;
    if ((this.#poolEnd + size) * ENTRY > this.#pool.length) {
      // A sweep reads every client: one that frees little would be due again too soon.
      const freed = this.#sweep(now) * ENTRY;
      const place = this.#free[order]?.pop();
      const isWorthIt = freed > this.#pool.length / 4;
      if (!isWorthIt || place === undefined) {
        this.#pool = roomFor(
          this.#pool,
          Math.max(this.#pool.length, (this.#poolEnd + size) * ENTRY),
        );
      }
      if (place !== undefined) return place;
    }
    const place = this.#poolEnd;
    this.#poolEnd += size;
    return place;
  }

  #giveBack(order: number, place: number): void {
    this.#free[order] ??= [];
    this.#free[order].push(place);
  }

  /** Gives back the rings of silent clients; returns how many entries that were. */
  #sweep(now: number): number {
    let entries = 0;
    for (let client = 0; client < this.#clients; client++) {
      const start = this.#start[client] as number;
      if (start === NONE) continue;
      this.#forget(client, now);
      if ((this.#length[client] as number) > 0) continue;
      this.#giveBack(this.#order[client] as number, start);
      this.#start[client] = NONE;
      entries += 1 << (this.#order[client] as number);
    }
    return entries;
  }

  #makeRoom(client: number): void {
    const known = this.#start.length;
    this.#start = roomFor(this.#start, client);
    this.#start.fill(NONE, known);
    this.#order = roomFor(this.#order, client);
    this.#head = roomFor(this.#head, client);
    this.#length = roomFor(this.#length, client);
    this.#used = roomFor(this.#used, client);
    this.#clients = client + 1;
  }
}
