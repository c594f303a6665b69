// The steps that threads of the model make: each is one access to one shared word.

export type AccessKind = 'load' | 'store' | 'swap' | 'add' | 'choose';
export type Word = 'horizon' | 'lock' | 'cell' | 'tag' | 'state' | 'count' | 'patience';

/** One step: what happens to one shared word. */
export interface Access {
  readonly kind: AccessKind;
  readonly word: Word;
  readonly at: number;
  /** Stored, or put in the place of `expected`. */
  readonly value: number;
  readonly expected: number;
  /** What of the word that is found the thread takes notice of: it gets this, and no more. */
  readonly view: (word: number) => number;
}

export type Steps<T> = Generator<Access, T, number>;
export type Phase = (...args: number[]) => Steps<Outcome>;

/** How a phase ends: in the next phase, or in the answer to the call. */
export type Outcome =
  | { readonly to: Phase; readonly args: readonly number[]; readonly waits: boolean }
  | { readonly answer: number; readonly latest: number };

/** Words that no thread reads: statistics. */
const NOWHERE = -1;

const same = (word: number) => word;

export function load(word: Word, at: number, view: (word: number) => number = same): Access {
  return { kind: 'load', word, at, value: 0, expected: 0, view };
}

export function store(word: Word, at: number, value: number): Access {
  return { kind: 'store', word, at, value, expected: 0, view: () => 0 };
}

/** 1 if the word was as expected and is now `value`. */
export function swap(word: Word, at: number, expected: number, value: number): Access {
  return { kind: 'swap', word, at, value, expected, view: (seen) => (seen === expected ? 1 : 0) };
}

export function count(): Access {
  return { kind: 'add', word: 'count', at: NOWHERE, value: 1, expected: 0, view: () => 0 };
}

/** Either 0 or 1: what the model does not decide. */
export function choose(): Access {
  return { kind: 'choose', word: 'patience', at: NOWHERE, value: 0, expected: 0, view: same };
}

export function to(phase: Phase, ...args: number[]): Outcome {
  return { to: phase, args, waits: false };
}
