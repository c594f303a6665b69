const SLOTS = 16_384;

/**
 * What is known of the clocks of the servers, so that a call can tell the server its deadline in the server's own time.
 *
 * A reply that carries server time `s`, to a call sent at `a` and answered at `b` on our clock, says that the server is
 * between s - b and s - a ahead. The estimate is the least upper bound seen, so that it is never too small by itself:
 * what runs in time is never refused. Where a clock was set, or another server took over, the bounds of the next reply
 * move it. Nodes of a cluster have clocks of their own, so there is an estimate for each slot; a slot without one takes
 * the least of all, which errs towards refusing, and a refusal names the time.
 *
 * All in microseconds; estimates are server time minus our time.
 */
export class ServerClock {
  readonly #slots: Float64Array;
  #least = Number.NaN;

  constructor(isCluster: boolean) {
    this.#slots = new Float64Array(isCluster ? SLOTS : 1).fill(Number.NaN);
  }

  get known(): boolean {
    return !Number.isNaN(this.#least);
  }

  /** Our time as the server's, rounded down. Needs `known`. */
  serverTime(slot: number, ourUs: number): number {
    const own = this.#slots[slot] as number;
    return Math.floor(ourUs + (Number.isNaN(own) ? this.#least : own));
  }

  /** `deadlineUs`: a first answer that took longer says too little, such as one that a client had to send for twice. */
  learn(
    slot: number,
    serverUs: number,
    sentUs: number,
    answeredUs: number,
    deadlineUs: number,
  ): void {
    const atLeast = serverUs - answeredUs;
    const atMost = serverUs - sentUs;
    const own = this.#slots[slot] as number;
    if (Number.isNaN(own) && answeredUs - sentUs > deadlineUs) return;
    const estimate = Number.isNaN(own) ? atMost : Math.min(Math.max(own, atLeast), atMost);
    this.#slots[slot] = estimate;
    if (this.#slots.length === 1 || !(this.#least <= estimate)) this.#least = estimate;
  }

  /** A time from any of the servers. */
  learnAny(serverUs: number, sentUs: number): void {
    this.#least = serverUs - sentUs;
    if (this.#slots.length === 1) this.#slots[0] = this.#least;
  }
}
