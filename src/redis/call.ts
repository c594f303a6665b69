import type { Algorithm, Argument, Operation } from './commands.ts';
import type { Deadlines, Expiring } from './deadlines.ts';

/** A slot that moved, and a clock that was not what we took it for: neither call ran, and each can happen once. */
const RETRIES = 2;

/** What a script says about one key. */
export interface Answer {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly retryAfterUs: number;
  readonly resetAfterUs: number;
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
  waiting: Call[];
}

export interface Question {
  readonly operation: Operation;
  readonly key: string;
  readonly slot: number;
  readonly cost: number;
  readonly expiresAt: number;
  /** Microseconds in place of the server's, or empty. */
  readonly now: number | '';
}

/** One call in flight. Settled once; whatever comes after that is dropped. */
export class Call implements Expiring {
  readonly lane: Lane;
  readonly question: Question;
  readonly #deadlines: Deadlines;
  /** On its own, since its slot has moved. */
  alone = false;
  /** Where it waits to be sent. */
  queue: Set<Call> | undefined;
  #retries = RETRIES;
  #onAnswer: ((answer: Answer) => void) | undefined;
  readonly #onFailure: (failure: Failure) => void;

  constructor(
    lane: Lane,
    question: Question,
    deadlines: Deadlines,
    onAnswer: (answer: Answer) => void,
    onFailure: (failure: Failure) => void,
  ) {
    this.lane = lane;
    this.question = question;
    this.#deadlines = deadlines;
    this.#onAnswer = onAnswer;
    this.#onFailure = onFailure;
    deadlines.add(this);
  }

  get expiresAt(): number {
    return this.question.expiresAt;
  }

  get done(): boolean {
    return this.#onAnswer === undefined;
  }

  answer(answer: Answer): void {
    this.#settle()?.(answer);
  }

  fail(reason: string, cause?: unknown): void {
    if (this.#settle() !== undefined) this.#onFailure({ reason, cause });
  }

  expire(): void {
    this.fail('no answer in time');
  }

  /** True as often as a call may be sent again. */
  takeRetry(): boolean {
    return this.#retries-- > 0;
  }

  #settle() {
    const onAnswer = this.#onAnswer;
    this.#onAnswer = undefined;
    this.#deadlines.delete(this);
    this.queue?.delete(this);
    this.queue = undefined;
    return onAnswer;
  }
}
