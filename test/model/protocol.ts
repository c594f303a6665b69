// The protocol of assembly/table/shared.ts with its callers in the front, as steps: each `yield` is one access to a
// shared word, in the order in which the code makes them. test/core/steps.test.ts holds the two against each other.
//
// A thread is a chain of PHASES, generators over plain numbers. Inside a phase a thread is known by what it has read so
// far, so threads that have read different things differ, even if it does not matter to them any more. Where one phase
// goes over to the next, all that matters are that one's arguments.

import {
  choose,
  count,
  load,
  type Outcome,
  type Phase,
  type Steps,
  store,
  swap,
  to,
  type Word,
} from './protocol-access.ts';
import { modelTable, type ProtocolSettings } from './protocol-table.ts';

export const ALLOWED = 1;
export const OVERFLOW = 2;
/** With ALLOWED and OVERFLOW, in the answer of a call that did without the lock. */
export const FORCED = 4;
export const BALANCE_SHIFT = 3;
/** Answer of a refund or reset that found its key. */
export const APPLIED = 1;
const BEHIND = -1;
const LOCKED = -2;
const AGAIN = -3;

const SEQUENCES = 8;
const OWNER_SHIFT = 3;
const ownerOf = (lock: number) => lock >> OWNER_SHIFT;

export type Protocol = ReturnType<typeof protocol>;

export function protocol(settings: ProtocolSettings) {
  const { policy, keys } = settings;
  const table = modelTable(settings);
  const { lacks, slotOf, stateOf, lockOf, cellOf, isTag, isNobodys, isHorizonPast } = table;
  const cellBalance = (state: number, phase: number) =>
    state === 0 ? 0 : policy.balance(state, phase);
  const decision = (balance: number, flags: number) => (balance << BALANCE_SHIFT) | flags;

  /** `patient` calls wait for a lock for ever; the others may at any moment have waited long enough. */
  function* acquire(
    tag: number,
    now: number,
    cost: number,
    owner: number,
    patient: number,
  ): Steps<Outcome> {
    const slot = yield* slotOf(tag);
    return slot !== 0
      ? to(update, slot, tag, now, cost, owner, patient, 0)
      : to(insert, tag, now, cost, owner, patient);
  }

  function answered(
    answer: number,
    tag: number,
    now: number,
    cost: number,
    owner: number,
    patient: number,
  ): Outcome {
    if (answer === BEHIND) return to(behind, tag, cost, owner, patient, 0);
    if (answer === LOCKED && !patient) return to(impatient, tag, now, cost, owner);
    if (answer === LOCKED) {
      return { to: acquire, args: [tag, now, cost, owner, patient], waits: true };
    }
    if (answer === AGAIN) return to(acquire, tag, now, cost, owner, patient);
    return { answer, latest: now };
  }

  function* behind(
    tag: number,
    cost: number,
    owner: number,
    patient: number,
    forced: number,
  ): Steps<Outcome> {
    const now = yield table.horizon();
    return forced ? to(force, tag, now, cost) : to(acquire, tag, now, cost, owner, patient);
  }

  function* impatient(tag: number, now: number, cost: number, owner: number): Steps<Outcome> {
    const enough = yield choose();
    return enough ? to(force, tag, now, cost) : to(acquire, tag, now, cost, owner, 0);
  }

  function* force(tag: number, now: number, cost: number): Steps<Outcome> {
    const slot = yield* slotOf(tag);
    if (slot !== 0) return to(update, slot, tag, now, cost, 0, 0, 1);
    yield* table.raiseHorizon(now);
    if (!lacks('horizon check') && (yield isHorizonPast(now)))
      return to(behind, tag, cost, 0, 0, 1);
    const cell = cellOf(tag);
    const phase = policy.phase(now);
    const state = yield load('cell', cell);
    const balance = cellBalance(state, phase);
    const allowed = policy.allows(balance, policy.left(now), cost);
    if (allowed) {
      const charged = policy.handedOver(policy.charged(state, balance, phase, cost), 0);
      if (!(yield swap('cell', cell, state, charged))) return to(force, tag, now, cost);
    } else if (!(yield load('cell', cell, (word) => (word === state ? 1 : 0)))) {
      return to(force, tag, now, cost);
    }
    yield count();
    yield count();
    const flags = OVERFLOW | FORCED | (allowed ? ALLOWED : 0);
    return { answer: decision(balance, flags), latest: now };
  }

  function* update(
    slot: number,
    tag: number,
    now: number,
    cost: number,
    owner: number,
    patient: number,
    forced: number,
  ): Steps<Outcome> {
    const again = forced ? to(force, tag, now, cost) : to(acquire, tag, now, cost, owner, patient);
    const state = yield load('state', stateOf(slot));
    if (!lacks('second tag read') && !(yield isTag(slot, tag))) return again;
    if (isNobodys(state)) return again;
    const phase = policy.phase(now);
    const balance = policy.balance(state, phase);
    if (policy.allows(balance, policy.left(now), cost)) {
      const charged = policy.charged(state, balance, phase, cost);
      if (!(yield swap('state', stateOf(slot), state, charged))) return again;
      return { answer: decision(balance, ALLOWED), latest: now };
    }
    if (lacks('denial re-read')) return { answer: decision(balance, 0), latest: now };
    const unchanged = load('state', stateOf(slot), (word) => (word === state ? 1 : 0));
    return (yield unchanged) ? { answer: decision(balance, 0), latest: now } : again;
  }

  function* insert(
    tag: number,
    now: number,
    cost: number,
    owner: number,
    patient: number,
  ): Steps<Outcome> {
    const early = lacks('overflow under the lock') ? yield load('cell', cellOf(tag)) : 0;
    yield* table.raiseHorizon(now);
    const lock = lockOf(tag);
    const free = yield load('lock', lock, (word) => (ownerOf(word) === 0 ? word : -1));
    if (free === -1) return answered(LOCKED, tag, now, cost, owner, patient);
    return to(probe, tag, now, cost, owner, patient, free, early);
  }

  function* probe(
    tag: number,
    now: number,
    cost: number,
    owner: number,
    patient: number,
    free: number,
    early: number,
  ): Steps<Outcome> {
    const ends = (answer: number) => answered(answer, tag, now, cost, owner, patient);
    if ((yield* table.findUnfrozen(tag)) !== 0) return ends(AGAIN);
    const phase = policy.phase(now);
    const slot = yield* table.place(tag, phase);
    const probed = slot !== 0 ? yield load('state', stateOf(slot)) : 0;
    const freedom = table.freedom(probed, phase);
    if (slot !== 0 && !(yield* table.isFree(slot, freedom))) return ends(AGAIN);
    const evicts = slot !== 0 && !(yield isTag(slot, 0)) ? 1 : 0;
    const checks = !lacks('horizon check') && !lacks('horizon check before the lock');
    if (checks && (yield isHorizonPast(now))) return ends(BEHIND);
    return to(claim, tag, now, cost, owner, patient, free, slot, probed, evicts, early);
  }

  function* claim(...args: number[]): Steps<Outcome> {
    const [tag, now, cost, owner, patient, free] = args as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    if (!(yield swap('lock', lockOf(tag), free, free | (owner << OWNER_SHIFT)))) {
      return answered(AGAIN, tag, now, cost, owner, patient);
    }
    return to(underLock, ...args);
  }

  /** From the success of taking the lock to its release, which is the last step. */
  function* underLock(
    tag: number,
    now: number,
    cost: number,
    owner: number,
    patient: number,
    free: number,
    slot: number,
    probed: number,
    evicts: number,
    early: number,
  ): Steps<Outcome> {
    const cell = cellOf(tag);
    const phase = policy.phase(now);
    let answer = AGAIN;
    const checks = !lacks('horizon check') && !lacks('horizon check under the lock');
    if (checks && (yield isHorizonPast(now))) {
      answer = BEHIND;
    } else {
      const debt = lacks('overflow under the lock') ? early : yield load('cell', cell);
      const balance = cellBalance(debt, phase);
      const charged = policy.charged(debt, balance, phase, cost);
      if (!policy.allows(balance, policy.left(now), cost)) {
        answer = decision(balance, slot === 0 ? OVERFLOW : 0);
      } else if (slot === 0) {
        if (yield swap('cell', cell, debt, policy.handedOver(charged, 0))) {
          answer = decision(balance, OVERFLOW | ALLOWED);
        }
      } else if (yield swap('state', stateOf(slot), probed, policy.frozen(probed, owner))) {
        yield store('tag', slot, tag);
        yield store('state', stateOf(slot), policy.handedOver(charged, probed));
        answer = decision(balance, ALLOWED);
      }
    }
    const released = lacks('lock sequence') ? free : (free + 1) % SEQUENCES;
    yield store('lock', lockOf(tag), released);
    return to(tally, answer, tag, now, cost, owner, patient, evicts);
  }

  function* tally(
    answer: number,
    tag: number,
    now: number,
    cost: number,
    owner: number,
    patient: number,
    evicts: number,
  ): Steps<Outcome> {
    if (answer >= 0 && (answer & OVERFLOW || (evicts && answer & ALLOWED))) yield count();
    return answered(answer, tag, now, cost, owner, patient);
  }

  function* peek(tag: number, now: number, cost: number): Steps<Outcome> {
    const phase = policy.phase(now);
    const slot = yield* slotOf(tag);
    const word: Word = slot !== 0 ? 'state' : 'cell';
    const at = slot !== 0 ? stateOf(slot) : cellOf(tag);
    const state = yield load(word, at);
    if (slot !== 0 && (!(yield isTag(slot, tag)) || isNobodys(state)))
      return to(peek, tag, now, cost);
    const balance = slot !== 0 ? policy.balance(state, phase) : cellBalance(state, phase);
    const source = slot === 0 && (yield* table.place(tag, phase)) === 0 ? OVERFLOW : 0;
    if (slot === 0 && !lacks('horizon check') && (yield isHorizonPast(now))) {
      return to(peekBehind, tag, cost);
    }
    const unchanged = load(word, at, (seen) => (seen === state ? 1 : 0));
    if (!lacks('peek re-read') && !(yield unchanged)) return to(peek, tag, now, cost);
    const allowed = policy.allows(balance, policy.left(now), cost) ? ALLOWED : 0;
    return { answer: decision(balance, source | allowed), latest: now };
  }

  function* peekBehind(tag: number, cost: number): Steps<Outcome> {
    return to(peek, tag, yield table.horizon(), cost);
  }

  function* refund(tag: number, now: number, cost: number): Steps<Outcome> {
    const phase = policy.phase(now);
    const slot = yield* slotOf(tag);
    if (slot === 0) return { answer: 0, latest: now };
    const state = yield load('state', stateOf(slot));
    const lost = !(yield isTag(slot, tag)) || isNobodys(state);
    if (lost) return to(refund, tag, now, cost);
    const refunded = policy.refunded(state, policy.balance(state, phase), phase, cost);
    const done = yield swap('state', stateOf(slot), state, refunded);
    return done ? { answer: APPLIED, latest: now } : to(refund, tag, now, cost);
  }

  function* reset(tag: number, now: number): Steps<Outcome> {
    const phase = policy.phase(now);
    const slot = yield* slotOf(tag);
    if (slot === 0) return { answer: 0, latest: now };
    const state = yield load('state', stateOf(slot));
    if (!(yield isTag(slot, tag)) || isNobodys(state)) return to(reset, tag, now);
    const done = yield swap('state', stateOf(slot), state, policy.renewed(state, phase));
    return done ? { answer: APPLIED, latest: now } : to(reset, tag, now);
  }

  function* bury(dead: number, owner: number): Steps<Outcome> {
    const phase = policy.phase(yield table.horizon());
    for (let slot = table.slots.from; slot < table.slots.to; slot += table.slots.size) {
      const isDeads = (state: number) => policy.isFrozen(state) && policy.ownerOf(state) === dead;
      const state = yield load('state', stateOf(slot), (seen) => (isDeads(seen) ? seen : 0));
      if (state === 0) continue;
      const mine = policy.takenOver(state, owner);
      if (!(yield swap('state', stateOf(slot), state, mine))) continue;
      yield store('tag', slot, 0);
      yield store('state', stateOf(slot), policy.thawed(mine, phase));
    }
    for (let lock = table.locks.from; lock < table.locks.to; lock++) {
      const word = yield load('lock', lock, (seen) => (ownerOf(seen) === dead ? seen : 0));
      if (word !== 0) yield swap('lock', lock, word, (word + 1) % SEQUENCES);
    }
    return { answer: 0, latest: 0 };
  }

  return {
    policy,
    keys,
    table,
    ownerOf,
    isLocked: (phase: Phase) => phase === underLock,
    isBurying: (phase: Phase) => phase === bury,
    /** Whether it is the front's, which has had an answer from the table. */
    isFronts: (phase: Phase) => [behind, impatient, peekBehind].includes(phase),
    calls: { acquire, force, peek, refund, reset, bury },
  };
}
