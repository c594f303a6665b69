import { largestCounterLimit } from '../options.ts';
import { BATCH_LENGTH, type Batch, roomFor } from './batch.ts';
import type { LocalJudge } from './judges.ts';
import { type Limit, limitOf } from './limit.ts';

/** Limits above this are not tried. */
const LARGEST_CANDIDATE = 1_000_000;

/** What one limit would have denied. */
export interface Candidate {
  readonly limit: number;
  readonly denied: number;
  readonly clientsEverDenied: number;
}

/** The traffic, to be replayed any number of times. */
export interface Traffic {
  readonly requests: number;
  readonly clients: number;
  batches(): Iterable<Batch>;
}

/**
 * Tries limits of one algorithm and window on the same traffic. Each replay is remembered; a larger limit is taken to
 * deny no more, which holds but for a few requests that pass in place of others.
 */
export class Candidates {
  readonly #judgeOf: (limit: Limit) => LocalJudge;
  readonly #windowMs: number;
  readonly #traffic: Traffic;
  readonly #onReplay: (limit: number, done: number) => void;
  readonly #most: number;
  readonly #known = new Map<number, Candidate>();

  /** `onReplay` hears of every batch: under which limit, and how many requests are behind it. */
  constructor(
    judgeOf: (limit: Limit) => LocalJudge,
    windowMs: number,
    traffic: Traffic,
    onReplay: (limit: number, done: number) => void = () => {},
  ) {
    this.#judgeOf = judgeOf;
    this.#windowMs = windowMs;
    this.#traffic = traffic;
    this.#onReplay = onReplay;
    this.#most = Math.min(LARGEST_CANDIDATE, largestCounterLimit(Math.round(windowMs * 1000)));
  }

  /** All limits tried so far, in order. */
  get tried(): Candidate[] {
    return [...this.#known.values()].sort((a, b) => a.limit - b.limit);
  }

  /** Replays 1, 2, 5, 10, 20, 50 and so on, up to the first that denies nothing. */
  tryGrid(): void {
    for (let power = 1; ; power *= 10) {
      for (const step of [1, 2, 5]) {
        if (step * power > this.#most) return;
        if (this.#replay(step * power).denied === 0) return;
      }
    }
  }

  /** The smallest limit that denies at most that many; undefined if the largest one tried denies more. */
  smallest(measure: 'denied' | 'clientsEverDenied', atMost: number): Candidate | undefined {
    const grid = this.tried;
    const passing = grid.find((candidate) => candidate[measure] <= atMost);
    if (passing === undefined) return undefined;
    let best = passing;
    let tooSmall = grid.findLast(({ limit }) => limit < passing.limit)?.limit ?? 0;
    while (best.limit - tooSmall > 1) {
      const middle = this.#replay(Math.floor((tooSmall + best.limit) / 2));
      if (middle[measure] <= atMost) best = middle;
      else tooSmall = middle.limit;
    }
    return best;
  }

  #replay(limit: number): Candidate {
    const known = this.#known.get(limit);
    if (known !== undefined) return known;
    const judge = this.#judgeOf(limitOf(limit, this.#windowMs));
    const waits = new Float64Array(BATCH_LENGTH);
    let isDenied = new Uint8Array(1_024);
    let done = 0;
    let denied = 0;
    let clientsEverDenied = 0;
    for (const batch of this.#traffic.batches()) {
      this.#onReplay(limit, done);
      done += batch.length;
      judge.decide(batch, waits);
      for (let i = 0; i < batch.length; i++) {
        if (waits[i] === 0) continue;
        denied += 1;
        const client = batch.clients[i] as number;
        isDenied = roomFor(isDenied, client);
        clientsEverDenied += 1 - (isDenied[client] as number);
        isDenied[client] = 1;
      }
    }
    judge.close();
    const candidate = { limit, denied, clientsEverDenied };
    this.#known.set(limit, candidate);
    return candidate;
  }
}
