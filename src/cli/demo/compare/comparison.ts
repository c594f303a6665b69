import { setTimeout as sleep } from 'node:timers/promises';
import { Batch } from '../../../replay/batch.ts';
import { ALGORITHMS, type Algorithm, judgeFor, type LocalJudge } from '../../../replay/judges.ts';
import { limitOf } from '../../../replay/limit.ts';

export const LIMIT = 10;
export const WINDOW_MS = 5_000;
export const MOST_CALLS = 50;

const MOST_VISITORS = 1_000;
/** How long before a window's edge the first of the two bursts comes; a timer that is later than that tries again. */
const EDGE_MARGIN_MS = 250;

/** A burst sent to all four at one moment. */
export interface Burst {
  /** On the comparison's clock, whose multiples of the window are where fixed windows begin. */
  readonly atMs: number;
  readonly answers: readonly {
    readonly algorithm: Algorithm;
    readonly admitted: number;
    readonly denied: number;
    /** What the last denied call was told; 0 if none was denied. */
    readonly retryAfterMs: number;
  }[];
}

/** The four algorithms side by side, each visitor with budgets of its own. */
export class Comparison {
  readonly #limit = limitOf(LIMIT, WINDOW_MS);
  readonly #visitors = new Map<string, number>();
  #judges = this.#newJudges();

  nowMs(): number {
    return Math.floor(performance.now() * 1000) / 1000;
  }

  burst(visitor: string, calls: number): Burst {
    const client = this.#numberOf(visitor);
    const atMs = this.nowMs();
    const batch = new Batch(MOST_CALLS);
    for (let i = 0; i < calls; i++) batch.add(Math.round(atMs * 1000), client, 1);
    const waits = new Float64Array(calls);
    const answers = this.#judges.map(({ algorithm, judge }) => {
      judge.decide(batch, waits);
      const admitted = waits.filter((wait) => wait === 0).length;
      return { algorithm, admitted, denied: calls - admitted, retryAfterMs: waits.at(-1) ?? 0 };
    });
    return { atMs, answers };
  }

  /** The whole limit at the end of a fixed window, and again at the start of the next. */
  async boundary(visitor: string): Promise<Burst[]> {
    let edge: number;
    do {
      edge = (Math.floor((this.nowMs() + EDGE_MARGIN_MS) / WINDOW_MS) + 1) * WINDOW_MS;
      await this.#until(edge - EDGE_MARGIN_MS);
    } while (this.nowMs() >= edge);
    const before = this.burst(visitor, LIMIT);
    await this.#until(edge);
    return [before, this.burst(visitor, LIMIT)];
  }

  close(): void {
    for (const { judge } of this.#judges) judge.close();
  }

  /** Timers may be early by a little. */
  async #until(ms: number): Promise<void> {
    for (let left = ms - this.nowMs(); left > 0; left = ms - this.nowMs()) {
      await sleep(Math.ceil(left), undefined, { ref: false });
    }
  }

  #newJudges(): { algorithm: Algorithm; judge: LocalJudge }[] {
    return ALGORITHMS.map((algorithm) => {
      return { algorithm, judge: judgeFor(algorithm, this.#limit, MOST_VISITORS) };
    });
  }

  /** With too many visitors all start anew. */
  #numberOf(visitor: string): number {
    const known = this.#visitors.get(visitor);
    if (known !== undefined) return known;
    if (this.#visitors.size === MOST_VISITORS) {
      this.close();
      this.#judges = this.#newJudges();
      this.#visitors.clear();
    }
    const number = this.#visitors.size;
    this.#visitors.set(visitor, number);
    return number;
  }
}
