// What answers are right: those of one thread that makes the same calls one after the other, on a limiter that has a word
// for every key and never evicts. Two questions are asked of it.
//
//   ORDER   Is there an order of the calls, in which each thread's own keep theirs, that gives all the answers there are,
//           balances included? Calls still on their way, or lost with their thread, may be in it or not.
//   EXCESS  Were more permits given than any order at all would give, each call at its own time or at a later one that
//           another thread has read? A call that did without the lock may add its own.

import { ALLOWED, APPLIED, BALANCE_SHIFT, FORCED } from './protocol.ts';
import type { ModelPolicy } from './protocol-policies.ts';

export interface Call {
  readonly call: 'acquire' | 'impatient' | 'peek' | 'refund' | 'reset' | 'bury';
  /** For bury: the number of the thread. */
  readonly tag: number;
  readonly now: number;
  readonly cost: number;
}

/** A call that has ended, with the time at which it was answered. */
export interface Answered {
  readonly call: Call;
  readonly answer: number;
  readonly latest: number;
}

/** What one thread has had answered, and the call it is in. */
export interface Progress {
  readonly answered: readonly Answered[];
  readonly pending: Call | undefined;
}

const takes = ({ call }: Call) => call === 'acquire' || call === 'impatient';

function balanceOf(policy: ModelPolicy, word: number, now: number): number {
  return word === 0 ? 0 : policy.balance(word, policy.phase(now));
}

/** The key's word after a call that was allowed or applied; `word` itself if it was not. */
function after(policy: ModelPolicy, word: number, call: Call, now: number): number {
  const phase = policy.phase(now);
  const balance = balanceOf(policy, word, now);
  if (call.call === 'refund') return policy.refunded(word, balance, phase, call.cost);
  if (call.call === 'reset') return policy.renewed(word, phase);
  const allowed = policy.allows(balance, policy.left(now), call.cost);
  return takes(call) && allowed ? policy.charged(word, balance, phase, call.cost) : word;
}

/** Whether this is what the call answers on `word`. */
function gives(policy: ModelPolicy, word: number, { call, answer, latest }: Answered): boolean {
  if (call.call === 'refund' || call.call === 'reset') return true;
  const balance = balanceOf(policy, word, latest);
  const allowed = policy.allows(balance, policy.left(latest), call.cost);
  return allowed === ((answer & ALLOWED) !== 0) && balance === answer >> BALANCE_SHIFT;
}

/** The word that a key has after `calls`, made alone. */
export function wordAfter(policy: ModelPolicy, calls: readonly Call[], tag: number): number {
  const own = calls.filter((call) => call.tag === tag && call.call !== 'bury');
  return own.reduce((word, call) => after(policy, word, call, call.now), 0);
}

export function hasOrder(
  policy: ModelPolicy,
  tag: number,
  word: number,
  threads: readonly Progress[],
  times: readonly number[],
): boolean {
  const own = threads.map(({ answered, pending }) => ({
    answered: answered.filter(({ call }) => call.tag === tag && call.call !== 'bury'),
    pending: pending?.tag === tag && pending.call !== 'bury' ? pending : undefined,
  }));
  const failed = new Set<string>();
  /** `at`: how many answers of each thread are placed; one more than there are once its pending call is, too. */
  function place(word: number, at: readonly number[]): boolean {
    if (own.every(({ answered }, i) => (at[i] as number) >= answered.length)) return true;
    const key = `${word} ${at}`;
    if (failed.has(key)) return false;
    const found = own.some(({ answered, pending }, i) => {
      const next = at.with(i, (at[i] as number) + 1);
      const done = answered[at[i] as number];
      if (done !== undefined) {
        if (!gives(policy, word, done)) return false;
        const changes = takes(done.call) || (done.answer & APPLIED) !== 0;
        return place(changes ? after(policy, word, done.call, done.latest) : word, next);
      }
      if (pending === undefined || (at[i] as number) > answered.length) return false;
      return times.some(
        (now) => now >= pending.now && place(after(policy, word, pending, now), next),
      );
    });
    if (!found) failed.add(key);
    return found;
  }
  return place(
    word,
    own.map(() => 0),
  );
}

/** The most permits that `calls` can be given on this key in any order, from `word` on. */
export function mostAdmitted(
  policy: ModelPolicy,
  tag: number,
  word: number,
  calls: readonly Call[],
  times: readonly number[],
): number {
  // Copies, since a program may hold one call twice.
  const own = calls
    .filter((call) => call.tag === tag && call.call !== 'bury' && call.call !== 'peek')
    .map((call) => ({ ...call }));
  const known = new Map<string, number>();
  function most(word: number, left: readonly Call[]): number {
    const key = `${word} ${left.map((call) => own.indexOf(call))}`;
    let best = known.get(key);
    if (best !== undefined) return best;
    best = 0;
    for (const call of left) {
      const rest = left.filter((other) => other !== call);
      for (const now of times.filter((time) => time >= call.now)) {
        const then = after(policy, word, call, now);
        const gained = takes(call) && then !== word ? call.cost : 0;
        best = Math.max(best, gained + most(then, rest));
      }
    }
    known.set(key, best);
    return best;
  }
  return most(word, own);
}

/** Permits that a thread was given on this key by calls that had the lock or needed none. */
export function admitted(answered: readonly Answered[], tag: number): number {
  const given = answered.filter(({ call, answer }) => {
    return call.tag === tag && takes(call) && (answer & ALLOWED) !== 0 && (answer & FORCED) === 0;
  });
  return given.reduce((sum, { call }) => sum + call.cost, 0);
}

/** Whether a call on this key did without the lock. */
export function wasForced(answered: readonly Answered[], tag: number): boolean {
  return answered.some(
    ({ call, answer }) => call.tag === tag && takes(call) && (answer & FORCED) !== 0,
  );
}
