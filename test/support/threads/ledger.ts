import type { Algorithm } from './limiters.ts';

/** One key's admitted calls over time, against what its policy allows. Time is in whole steps. */
interface Account {
  /** Takes `count` calls admitted at `step` and returns how many of them were too many. */
  charge(step: number, count: number): number;
  /** Starts over, as a key that has nothing to its account. */
  forget(): void;
}

/** Set in a count of which nothing is certain. */
const DOUBT = 0x8000;

/** Counted in parts of a permit, of which `window` are one permit, so that every number is whole. */
class BucketAccount implements Account {
  #level = 0;
  #step = 0;
  readonly #limit: number;
  readonly #window: number;

  constructor(limit: number, window: number) {
    this.#limit = limit;
    this.#window = window;
  }

  charge(step: number, count: number): number {
    const drained = (step - this.#step) * this.#limit;
    const full = this.#limit * this.#window;
    const level = Math.max(0, this.#level - drained) + count * this.#window;
    this.#step = step;
    this.#level = Math.min(level, full);
    return Math.ceil((level - this.#level) / this.#window);
  }

  forget(): void {
    this.#level = 0;
  }
}

class CounterAccount implements Account {
  #previous = 0;
  #current = 0;
  #index = 0;
  readonly #limit: number;
  readonly #window: number;

  constructor(limit: number, window: number) {
    this.#limit = limit;
    this.#window = window;
  }

  charge(step: number, count: number): number {
    const index = Math.floor(step / this.#window);
    if (index !== this.#index) {
      this.#previous = index === this.#index + 1 ? this.#current : 0;
      this.#current = 0;
      this.#index = index;
    }
    const left = this.#window - (step % this.#window);
    const weight = Math.ceil((this.#previous * left) / this.#window);
    const most = Math.max(this.#current, this.#limit - weight);
    const excess = Math.max(0, this.#current + count - most);
    this.#current += count - excess;
    return excess;
  }

  forget(): void {
    this.#previous = 0;
    this.#current = 0;
  }
}

/** Every key's account. Knows nothing of slots, overflow or threads: those may only ever admit less. */
export class Ledger {
  readonly #accounts: Account[];
  #excess = 0;
  #admitted = 0;

  constructor(algorithm: Algorithm, keys: number, limit: number, window: number) {
    const Kind = algorithm === 'token bucket' ? BucketAccount : CounterAccount;
    this.#accounts = Array.from({ length: keys }, () => new Kind(limit, window));
  }

  /** Calls that no policy would have admitted. */
  get excess(): number {
    return this.#excess;
  }

  get admitted(): number {
    return this.#admitted;
  }

  /** Takes in what was admitted in the steps from `from` on: a row of `width` counts for each, of which ours come first. */
  enter(from: number, counts: Uint16Array, width: number): void {
    for (let at = 0, step = from; at < counts.length; at += width, step++) {
      for (const [key, account] of this.#accounts.entries()) {
        const count = counts[at + key] ?? 0;
        if (count & DOUBT) {
          account.forget();
        } else if (count > 0) {
          this.#admitted += count;
          this.#excess += account.charge(step, count);
        }
      }
    }
  }
}
