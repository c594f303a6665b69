/** Permits that were spent: when they can be said to have been admitted, and when they were taken in Redis. */
export interface Admission {
  readonly us: number;
  readonly takenUs: number;
  /** Of a window that begins with its first permit: when that was, on the server's clock. */
  readonly windowUs: number;
  readonly permits: number;
}

/** Permits that a node was told of: it may spend them or, if they are leased, give them back. */
interface Credit {
  readonly kind: 'credit';
  readonly us: number;
  readonly permits: number;
  readonly leased: boolean;
  readonly stamp: number;
  readonly takenUs: number;
  readonly windowUs: number;
  /** For how long they may be spent ahead of a call, from when they were asked for. */
  readonly lifeUs: number;
}

interface Spend {
  readonly kind: 'spend';
  readonly us: number;
  readonly permits: number;
  readonly startUs: number;
  /** Without a trip of its own. */
  readonly ahead: boolean;
}

export interface Release {
  readonly kind: 'release';
  readonly us: number;
  readonly permits: number;
  readonly stamp: number;
}

interface Reset {
  readonly kind: 'reset';
  readonly us: number;
}

export type Entry = Credit | Spend | Release | Reset;

interface Open {
  readonly credit: Credit;
  readonly expiresUs: number;
  /** Still to be spent, and still to be given back. */
  free: number;
  reserved: number;
}

/**
 * What one process knows of one key. Settling it finds whether every admitted call can be paid with permits that the
 * process was given, had neither spent nor given back, and that were not too old. Those that expire first are spent
 * first, which pays for all if anything does.
 */
export class Account {
  readonly key: string;
  readonly #node: string;
  readonly #mostHeld: number;
  readonly #entries: Entry[] = [];
  /**
   * By the stamps of leases that may be spent, when they were asked for. Of others what nobody
   * needed is given back, and the rest is lost.
   */
  readonly #awaited = new Map<number, number>();
  #open: Open[] = [];

  constructor(node: string, key: string, mostHeld: number) {
    this.#node = node;
    this.key = key;
    this.#mostHeld = mostHeld;
  }

  /** The lease of that stamp, asked for at that time, came before the process had given it up. */
  await(stamp: number, askedUs: number): void {
    this.#awaited.set(stamp, askedUs);
  }

  /** A call was allowed this very moment. */
  awaitCall(cost: number, us: number): void {
    const credit = this.#entries.findLast((entry): entry is Credit => {
      if (entry.kind !== 'credit' || entry.leased || entry.us !== us) return false;
      return entry.permits === cost && !this.#awaited.has(entry.stamp);
    });
    if (credit !== undefined) this.#awaited.set(credit.stamp, us);
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
  }

  /** `complete`: nothing went wrong, so that nothing may be left over. */
  settle(
    admissions: Admission[],
    complete: boolean,
    onFault: (text: string, us: number) => void,
  ): void {
    const fault = (text: string, us: number) => onFault(`${this.#node} ${text} of ${this.key}`, us);
    const returns = this.#returns();
    let last = 0;
    for (const entry of this.#entries) {
      const { us } = entry;
      if (us > last) {
        const held = this.#held(us);
        if (held > this.#mostHeld) fault(`holds ${held}`, us);
        last = us;
      }
      if (entry.kind === 'credit') this.#onCredit(entry, returns.get(entry.stamp) ?? 0);
      else if (entry.kind === 'spend') {
        const due = this.#onSpend(entry, admissions);
        if (due > 0) fault(`admits ${entry.permits}, ${due} unpaid,`, us);
      } else if (entry.kind === 'release') {
        const due = this.#onRelease(entry);
        if (due > 0) fault(`gives back ${entry.permits}, ${due} of them spent or none,`, us);
      } else {
        // What is on its way back already stays so.
        for (const open of this.#open) open.free = 0;
        this.#forget();
      }
    }
    const left = this.#open.filter(
      ({ credit }) => credit.leased && this.#awaited.has(credit.stamp),
    );
    const permits = left.reduce((sum, { free }) => sum + free, 0);
    if (complete && permits > 0) fault(`neither spends nor gives back ${permits}`, last);
  }

  /** What is given back of each lease, by its stamp. */
  #returns(): Map<number, number> {
    const returns = new Map<number, number>();
    for (const entry of this.#entries) {
      if (entry.kind !== 'release') continue;
      returns.set(entry.stamp, (returns.get(entry.stamp) ?? 0) + entry.permits);
    }
    return returns;
  }

  #onCredit(credit: Credit, returned: number): void {
    const reserved = Math.min(returned, credit.permits);
    const expiresUs = (this.#awaited.get(credit.stamp) ?? -Infinity) + credit.lifeUs;
    this.#open.push({ credit, expiresUs, free: credit.permits - reserved, reserved });
    this.#open.sort((a, b) => a.expiresUs - b.expiresUs);
  }

  /** Returns what nothing pays for. */
  #onSpend({ us, permits, startUs, ahead }: Spend, admissions: Admission[]): number {
    let due = permits;
    for (const open of this.#open) {
      const { credit } = open;
      // Who waited may have what came this very moment, even if it may not be kept.
      const fresh = !ahead && credit.us === us;
      if (!fresh && us >= open.expiresUs) continue;
      if (!this.#awaited.has(credit.stamp)) continue;
      const paid = Math.min(due, open.free);
      if (paid === 0) continue;
      open.free -= paid;
      due -= paid;
      const { takenUs, windowUs } = credit;
      admissions.push({ us: Math.max(startUs, takenUs), takenUs, windowUs, permits: paid });
    }
    this.#forget();
    return due;
  }

  #onRelease({ permits, stamp }: Release): number {
    const open = this.#open.find(({ credit }) => credit.stamp === stamp);
    const back = Math.min(permits, open?.reserved ?? 0);
    if (open !== undefined) open.reserved -= back;
    this.#forget();
    return permits - back;
  }

  #forget(): void {
    this.#open = this.#open.filter(({ free, reserved }) => free + reserved > 0);
  }

  /** Permits that could be spent ahead. */
  #held(us: number): number {
    let held = 0;
    for (const { credit, expiresUs, free, reserved } of this.#open) {
      if (credit.leased && us < expiresUs) held += free + reserved;
    }
    return held;
  }
}
