/** Permits that were taken together. */
export interface Prepaid {
  permits: number;
  /** What they are given back with. */
  readonly stamp: number;
  /** On our clock, milliseconds: from then on they are not spent. */
  readonly expiresAt: number;
}

/** The permits of one key that are taken and not yet spent. */
export class Holding {
  /** In the order in which they expire. */
  #prepaid: Prepaid[] = [];

  get empty(): boolean {
    return this.#prepaid.length === 0;
  }

  /** Those that can still be spent at that time. */
  permits(at: number): number {
    let permits = 0;
    for (const one of this.#prepaid) if (at < one.expiresAt) permits += one.permits;
    return permits;
  }

  add(prepaid: Prepaid): void {
    if (prepaid.permits > 0) this.#prepaid.push(prepaid);
  }

  /** Spends them, the ones that expire first; needs `permits(at)` of at least `cost`. */
  spend(cost: number, at: number): void {
    let left = cost;
    for (const one of this.#prepaid) {
      if (at >= one.expiresAt) continue;
      const spent = Math.min(left, one.permits);
      one.permits -= spent;
      left -= spent;
      if (left === 0) break;
    }
    if (this.#prepaid[0]?.permits === 0) this.#keep((one) => one.permits > 0);
  }

  /** Takes out what cannot be spent any more. */
  takeExpired(at: number): Prepaid[] {
    return this.#keep((one) => at < one.expiresAt);
  }

  takeAll(): Prepaid[] {
    return this.#keep(() => false);
  }

  #keep(stays: (prepaid: Prepaid) => boolean): Prepaid[] {
    const gone = this.#prepaid.filter((one) => !stays(one));
    if (gone.length > 0) this.#prepaid = this.#prepaid.filter(stays);
    return gone;
  }
}
