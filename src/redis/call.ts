import type { Deadlines, Expiring } from '../deadlines.ts';
import type { Algorithm, Argument, Operation } from './commands.ts';

/**
 * A call that reached its server too late, by a clock that was not what we took it for, has not run. That can happen
 * where its slot was, and again where it is now.
 */
const RETRIES = 2;

/** What a script says about one key. */
export interface Answer {
  /** Permits of a lease; of everything else 1 if it was allowed or done, else 0. */
  readonly granted: number;
  readonly remaining: number;
  readonly retryAfterUs: number;
  readonly resetAfterUs: number;
  /** Of a lease; else 0. */
  readonly nodes: number;
  readonly stamp: number;
  readonly lifeUs: number;
}

/** Why a call has no answer. */
export interface Failure {
  readonly reason: string;
  readonly cause?: unknown;
}

/** What the calls of one limiter have in common, and those of them that leave with the next batch. */
export interface Lane {
  readonly algorithm: Algorithm;
  /** The policy, as the script takes it. */
  readonly policy: readonly Argument[];
  /** Milliseconds that each of them has. */
  readonly deadlineMs: number;
  waiting: Call[];
}

interface LeasePart {
  readonly keys: readonly string[];
  readonly args: readonly Argument[];
}

export interface Question {
  readonly operation: Operation;
  readonly key: string;
  readonly slot: number;
  readonly cost: number;
  readonly expiresAt: number;
  /** Microseconds in place of the server's, or empty. */
  readonly now: number | '';
  /** What a lease, or the end of one, has beside its key and cost. It shares no script with other calls. */
  readonly lease: LeasePart | undefined;
}

/** Who asked. */
export interface Caller {
  onAnswer(answer: Answer): void;
  onFailure(failure: Failure): void;
  /** What happened in the end with a call that has failed, if anybody gets to know: undefined if nothing did. */
  onFate?(answer: Answer | undefined): void;
}

/** One call in flight. Settled once. */
export class Call implements Expiring {
  readonly lane: Lane;
  readonly question: Question;
  readonly #deadlines: Deadlines;
  /** What was said when its slot had moved. It goes on its own then. */
  moved: Error | undefined;
  /** Whether a server may have got it. */
  sent = false;
  /** Where it waits to be sent. */
  queue: Set<Call> | undefined;
  #retries = RETRIES;
  #done = false;
  readonly #caller: Caller;

  constructor(lane: Lane, question: Question, deadlines: Deadlines, caller: Caller) {
    this.lane = lane;
    this.question = question;
    this.#deadlines = deadlines;
    this.#caller = caller;
    deadlines.add(this);
  }

  get expiresAt(): number {
    return this.question.expiresAt;
  }

  get done(): boolean {
    return this.#done;
  }

  answer(answer: Answer): void {
    if (this.#settle()) this.#caller.onAnswer(answer);
    else this.#caller.onFate?.(answer);
  }

  /** `nothingRan`: no server has done anything for it, and none will. */
  fail(reason: string, cause?: unknown, nothingRan = !this.sent): void {
    if (this.#settle()) this.#caller.onFailure({ reason, cause });
    if (nothingRan) this.#caller.onFate?.(undefined);
  }

  expire(): void {
    const { moved } = this;
    this.fail(moved ? `no answer in time, after ${moved.message}` : 'no answer in time', moved);
  }

  /** True as often as a call may be sent again. */
  takeRetry(): boolean {
    return this.#retries-- > 0;
  }

  #settle(): boolean {
    if (this.#done) return false;
    this.#done = true;
    this.#deadlines.delete(this);
    this.queue?.delete(this);
    this.queue = undefined;
    return true;
  }
}
