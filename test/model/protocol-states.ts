/** A set of states, each a row of whole numbers, with numbers of their own from 0 on. Kept small: there are millions. */
export class StateSet {
  count = 0;
  #width = 0;
  #rows = new Int32Array(1 << 16);
  /** Open addressing: a state's number + 1, or 0. Only the first 2^bits places are in use. */
  #places = new Int32Array(1 << 12);
  #bits = 12;

  /** Empties the set. */
  clear(width: number): void {
    this.count = 0;
    this.#width = width;
    this.#bits = 12;
    this.#places.fill(0, 0, 1 << this.#bits);
  }

  /** Copies a state into `row`. */
  read(state: number, row: Int32Array): void {
    const from = state * this.#width;
    for (let i = 0; i < this.#width; i++) row[i] = this.#rows[from + i] as number;
  }

  /** The number of this state, which is new if it is what `count` was before. */
  add(row: Int32Array): number {
    const rows = this.#rows;
    const places = this.#places;
    const width = this.#width;
    const mask = (1 << this.#bits) - 1;
    let place = hashOf(row, 0, width) & mask;
    for (let found = places[place] as number; found !== 0; found = places[place] as number) {
      const from = (found - 1) * width;
      let i = 0;
      while (i < width && rows[from + i] === row[i]) i++;
      if (i === width) return found - 1;
      place = (place + 1) & mask;
    }
    const state = this.count++;
    places[place] = this.count;
    if (this.count * width > rows.length) this.#rows = grown(rows);
    this.#rows.set(row, state * width);
    if (this.count * 2 > 1 << this.#bits) this.#spread();
    return state;
  }

  /** Doubles the places. */
  #spread(): void {
    this.#bits++;
    const size = 1 << this.#bits;
    if (this.#places.length < size) this.#places = new Int32Array(size);
    else this.#places.fill(0, 0, size);
    for (let state = 0; state < this.count; state++) {
      let place = hashOf(this.#rows, state * this.#width, this.#width) & (size - 1);
      while (this.#places[place] !== 0) place = (place + 1) & (size - 1);
      this.#places[place] = state + 1;
    }
  }
}

/** Twice as long, with the same beginning. */
export function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** FNV-1a over whole numbers, with a finish that spreads the upper bits. */
function hashOf(rows: Int32Array, from: number, width: number): number {
  let hash = 0x811c9dc5;
  for (let i = from; i < from + width; i++) {
    hash = Math.imul(hash ^ (rows[i] as number), 0x01000193) ^ (hash >>> 15);
  }
  hash = Math.imul(hash ^ (hash >>> 13), 0x5bd1e995);
  return hash ^ (hash >>> 15);
}
