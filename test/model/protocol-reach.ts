// Which shared words the threads of a program can still change. A word that no other thread will change again may be read
// at any time with the same result, so such a read is made at once, and the interleavings in which it is made later are
// left out: they lead to the same states (a persistent set of one read).

import type { Protocol } from './protocol.ts';
import type { Call } from './protocol-oracle.ts';
import type { Program } from './protocol-threads.ts';

export class Reach {
  /** By thread and number of calls answered: a bit for each word that the calls which are left may change. */
  readonly #left: readonly (readonly number[])[];
  readonly #horizon: number;
  readonly #latest: number;

  constructor({ table }: Protocol, program: Program) {
    if (table.slots.to > 31) throw new Error('more words than bits');
    const all = [...program.before, ...program.threads.flat()];
    this.#horizon = table.horizonAt;
    this.#latest = Math.max(...all.map(({ now }) => now));
    const bits = (from: number, to: number, step = 1) => {
      let mask = 0;
      for (let word = from; word < to; word += step) mask |= 1 << word;
      return mask;
    };
    const { slots, lockOf, cellOf } = table;
    const states = bits(table.stateOf(slots.from), slots.to, slots.size);
    const changed = ({ call, tag }: Call): number => {
      if (call === 'peek') return 0;
      if (call === 'refund' || call === 'reset') return states;
      if (call === 'bury') return bits(0, slots.to);
      const own = (1 << lockOf(tag)) | (1 << cellOf(tag)) | (1 << this.#horizon);
      return own | bits(slots.from, slots.to);
    };
    this.#left = program.threads.map((calls) => {
      return [...calls, undefined].map((_, done) => {
        return calls.slice(done).reduce((mask, call) => mask | changed(call), 0);
      });
    });
  }

  /** Whether the word can go no further: nobody raises the horizon above the latest reading there is. */
  isLast(word: number, value: number): boolean {
    return word === this.#horizon && value >= this.#latest;
  }

  /** Whether a thread may change the word after so many answers. */
  mayChange(t: number, answered: number, word: number): boolean {
    return ((((this.#left[t] as number[])[answered] as number) >> word) & 1) !== 0;
  }
}
