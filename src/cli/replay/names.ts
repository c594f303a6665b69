import { roomFor } from '../../replay/batch.ts';

const NONE = -1;
const FIRST_SLOTS = 4_096;

/**
 * Numbers names from 0 in the order they come. A log can have millions of clients, and a `Map` of strings takes a few
 * hundred bytes for each: here a name of ASCII takes its characters and about 20 bytes, in an open-addressed table. The
 * few other names do go into a `Map`.
 */
export class Names {
  length = 0;
  readonly #seed = Math.floor(Math.random() * 2 ** 32);
  #slots = new Int32Array(FIRST_SLOTS).fill(NONE);
  #hashes = new Uint32Array(FIRST_SLOTS);
  /** Where the characters of each name start; they end where the next name's start. */
  #starts = new Uint32Array(FIRST_SLOTS);
  #characters = new Uint8Array(16 * FIRST_SLOTS);
  #end = 0;
  readonly #others = new Map<string, number>();
  readonly #otherNames = new Map<number, string>();

  /** The number of a name of ASCII, -1 if it has none or is another. */
  find(name: string): number {
    const hash = this.#hash(name);
    if (hash === NONE) return NONE;
    return this.#slots[this.#slotOf(name, hash)] as number;
  }

  /** The number of a name, a new one if it had none. */
  add(name: string): number {
    const hash = this.#hash(name);
    if (hash === NONE) return this.#others.get(name) ?? this.#addOther(name);
    const slot = this.#slotOf(name, hash);
    const known = this.#slots[slot] as number;
    if (known !== NONE) return known;
    const number = this.#next();
    this.#slots[slot] = number;
    this.#hashes[number] = hash;
    this.#characters = roomFor(this.#characters, this.#end + name.length);
    for (let i = 0; i < name.length; i++) this.#characters[this.#end++] = name.charCodeAt(i);
    this.#starts[number + 1] = this.#end;
    if (2 * this.length > this.#slots.length) this.#grow();
    return number;
  }

  get(number: number): string {
    const other = this.#otherNames.get(number);
    if (other !== undefined) return other;
    const bytes = this.#characters.subarray(this.#starts[number], this.#starts[number + 1]);
    return Buffer.from(bytes).toString('latin1');
  }

  clear(): void {
    this.length = 0;
    this.#end = 0;
    this.#slots.fill(NONE);
    this.#others.clear();
    this.#otherNames.clear();
  }

  #next(): number {
    const number = this.length++;
    this.#hashes = roomFor(this.#hashes, number);
    this.#starts = roomFor(this.#starts, number + 1);
    return number;
  }

  #addOther(name: string): number {
    const number = this.#next();
    this.#starts[number + 1] = this.#end;
    // No slice of a block of the log, which would keep the block.
    const own = Buffer.from(name, 'utf16le').toString('utf16le');
    this.#others.set(own, number);
    this.#otherNames.set(number, own);
    return number;
  }

  /** FNV-1a from a random start, mixed at the end; -1 for a name that is not ASCII. */
  #hash(name: string): number {
    let hash = this.#seed;
    let all = 0;
    for (let i = 0; i < name.length; i++) {
      const code = name.charCodeAt(i);
      all |= code;
      hash = Math.imul(hash ^ code, 0x01000193);
    }
    if (all > 127) return NONE;
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    return (hash ^ (hash >>> 13)) >>> 0;
  }

  /** The slot that the name is in, or the free one that it would take. */
  #slotOf(name: string, hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const number = this.#slots[slot] as number;
      if (number === NONE || (this.#hashes[number] === hash && this.#is(number, name))) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #is(number: number, name: string): boolean {
    const start = this.#starts[number] as number;
    if ((this.#starts[number + 1] as number) - start !== name.length) return false;
    for (let i = 0; i < name.length; i++) {
      if (this.#characters[start + i] !== name.charCodeAt(i)) return false;
    }
    return true;
  }

  #grow(): void {
    const mask = 2 * this.#slots.length - 1;
    this.#slots = new Int32Array(mask + 1).fill(NONE);
    for (let number = 0; number < this.length; number++) {
      if (this.#otherNames.has(number)) continue;
      let slot = (this.#hashes[number] as number) & mask;
      while (this.#slots[slot] !== NONE) slot = (slot + 1) & mask;
      this.#slots[slot] = number;
    }
  }
}
