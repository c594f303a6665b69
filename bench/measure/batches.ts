import type { Decision, Key } from '../../src/index.ts';
import type { KeyStream } from '../keys.ts';
import type { Contestant, Package, PromisedPackage } from '../subjects/subject.ts';
import type { TickingClock } from '../ticking-clock.ts';

/** Calls that count as one operation of the `benchmark` package: its own loop then weighs nothing. */
export const BATCH = 100_000;
/** Keys that `isAllowedMany` is given at once. */
const MANY = 1_000;

/**
 * Each call of the function that this and the others here return does the next `BATCH` arrivals, over and over.
 * `limiters` are a power of two in number and take turns. Each has a loop of its own: one that took the call as a function
 * would measure that, too.
 */
export function allowedBatch(
  limiters: readonly Package[],
  { at, length }: KeyStream,
  { tick }: TickingClock,
): () => void {
  const mask = limiters.length - 1;
  let from = 0;
  return () => {
    const to = from + BATCH;
    let allowed = 0;
    for (let i = from; i < to; i++) {
      tick();
      if ((limiters[i & mask] as Package).isAllowed(at(i))) allowed++;
    }
    from = to % length;
    expectAllAllowed(allowed);
  };
}

/** Decisions are put where anyone could see them, since V8 leaves out objects that never leave a function. */
export const seen: { last: Decision | undefined } = { last: undefined };

export function decisionBatch(
  limiters: readonly Contestant[],
  { at, length }: KeyStream,
  { tick }: TickingClock,
): () => void {
  const mask = limiters.length - 1;
  let from = 0;
  return () => {
    const to = from + BATCH;
    let allowed = 0;
    for (let i = from; i < to; i++) {
      tick();
      const decision = (limiters[i & mask] as Contestant).tryAcquire(at(i));
      if (decision.allowed) allowed++;
      seen.last = decision;
    }
    from = to % length;
    expectAllAllowed(allowed);
  };
}

/** `MANY` keys are gathered, and then asked for at once. */
export function manyBatch(
  limiters: readonly Contestant[],
  { at, length }: KeyStream,
  { tick }: TickingClock,
): () => void {
  const mask = limiters.length - 1;
  const keys = new Array<Key>(MANY).fill('');
  const out = new Uint8Array(MANY);
  const asks = limiters.map(askerOfMany);
  let from = 0;
  return () => {
    const to = from + BATCH;
    let allowed = 0;
    for (let i = from; i < to; i += MANY) {
      for (let j = 0; j < MANY; j++) {
        tick();
        keys[j] = at(i + j);
      }
      allowed += (asks[(i / MANY) & mask] as ReturnType<typeof askerOfMany>)(keys, out);
    }
    from = to % length;
    expectAllAllowed(allowed);
  };
}

/** A subject without batches is asked in a loop. */
export function askerOfMany(
  limiter: Contestant,
): (keys: readonly Key[], out: Uint8Array) => number {
  if (limiter.isAllowedMany !== undefined) return limiter.isAllowedMany.bind(limiter);
  return (keys, out) => {
    let allowed = 0;
    for (let i = 0; i < keys.length; i++) {
      const isAllowed = limiter.isAllowed(keys[i] as Key);
      out[i] = isAllowed ? 1 : 0;
      if (isAllowed) allowed++;
    }
    return allowed;
  };
}

/**
 * Each promise is awaited before the next call, as a request's handler does. That is as fast as it gets: keeping 100 or
 * 1,000 promises in flight for `Promise.all` took the same time or up to a tenth more.
 */
export function promisedBatch(
  limiters: readonly PromisedPackage[],
  { at, length }: KeyStream,
): () => Promise<void> {
  const mask = limiters.length - 1;
  let from = 0;
  return async () => {
    const to = from + BATCH;
    let allowed = 0;
    for (let i = from; i < to; i++) {
      const limiter = limiters[i & mask] as PromisedPackage;
      if (limiter.allows(await limiter.ask(at(i) as string))) allowed++;
    }
    from = to % length;
    expectAllAllowed(allowed);
  };
}

function expectAllAllowed(allowed: number): void {
  if (allowed !== BATCH) throw new Error(`${BATCH - allowed} timed calls of ${BATCH} were denied`);
}
