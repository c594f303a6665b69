import type { Key, LocalLimiter } from '../../src/index.ts';

/** Everything a limiter is made from: the same numbers for every subject. */
export interface Setup {
  /** Live keys the limiter will see. */
  readonly keys: number;
  readonly capacity: number;
  /** Milliseconds a token, by `clock`. */
  readonly refillIntervalMs: number;
  readonly clock: () => number;
  /** For packages, which take no clock and read one of their own: `capacity` calls in so many real milliseconds. */
  readonly windowMs: number;
}

/** What is measured. A subject that has it as it is hands it over unwrapped, so that no wrapper is measured. */
export interface Contestant extends Pick<LocalLimiter, 'isAllowed' | 'tryAcquire'> {
  /** A subject that has none is asked for one key after the other. */
  readonly isAllowedMany?: (keys: readonly Key[], out: Uint8Array) => number;
  readonly stats?: LocalLimiter['stats'];
}

/** A package that answers at once. It need not say more than whether a call may go on. */
export type Package = Pick<Contestant, 'isAllowed' | 'stats'>;

/** A package that answers with a promise, which is awaited: it then takes its calls one after the other. */
export interface PromisedPackage {
  /** A promise that is rejected is a denial too. */
  readonly ask: (key: string) => Promise<unknown>;
  readonly allows: (answer: unknown) => boolean;
  readonly stats?: undefined;
}

export type AnyContestant = Package | PromisedPackage;

/** The one thing that a subject's file exports, as `create`. */
export type Create<C extends AnyContestant = Contestant> = (setup: Setup) => C;

/** Asks one key. Only code whose time is not taken may ask like this. */
export async function ask(contestant: AnyContestant, key: Key): Promise<boolean> {
  if (!('ask' in contestant)) return contestant.isAllowed(key);
  try {
    return contestant.allows(await contestant.ask(key as string));
  } catch {
    return false;
  }
}
