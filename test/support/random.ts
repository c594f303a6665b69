/** Numbers that look random and are the same in every run: xoshiro128** (Blackman and Vigna, 2018). */
export class Random {
  readonly #state = new Uint32Array(4);

  constructor(seed: number) {
    // A spread of the seed, so that neighbouring seeds start far apart.
    for (let i = 0; i < 4; i++) {
      seed = (seed + 0x9e3779b9) | 0;
      const mixed = Math.imul(seed ^ (seed >>> 16), 0x21f0aaad);
      this.#state[i] = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    }
  }

  /** A whole number from 0 to 2^32-1. */
  word(): number {
    const [a, b, c, d] = this.#state as unknown as [number, number, number, number];
    const mixed = rotate(Math.imul(b, 5), 7);
    this.#state[0] = a ^ d ^ b;
    this.#state[1] = b ^ c ^ a;
    this.#state[2] = c ^ a ^ (b << 9);
    this.#state[3] = rotate(d ^ b, 11);
    return Math.imul(mixed, 9) >>> 0;
  }

  /** From 0 to 1, without 1. */
  fraction(): number {
    return ((this.word() >>> 5) * 2 ** 26 + (this.word() >>> 6)) / 2 ** 53;
  }

  /** A whole number from 0, below `end`. */
  below(end: number): number {
    return Math.floor(this.fraction() * end);
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** True in `percent` of all cases. */
  chance(percent: number): boolean {
    return this.fraction() * 100 < percent;
  }

  /** UTF-16 units below `end`. */
  text(length: number, end: number): string {
    return Array.from({ length }, () => String.fromCharCode(this.below(end))).join('');
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
