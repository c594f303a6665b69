// The miniature table of the model: a few locks, two cells, two sets of a few slots; and how a key is looked for in it,
// as in assembly/table/slots.ts.

import { load, type Steps, swap } from './protocol-access.ts';
import type { ModelPolicy } from './protocol-policies.ts';

/** The protections that can be left out, to see what each is there for. */
export type Protection =
  | 'second tag read'
  | 'denial re-read'
  | 'peek re-read'
  | 'horizon raise'
  | 'horizon check'
  | 'horizon check before the lock'
  | 'horizon check under the lock'
  | 'lock sequence'
  | 'overflow under the lock'
  | 'frozen is nobody’s'
  | 'frozen is not free'
  | 'frozen is passed over';

/** A key and where in the miniature it may be. */
export interface ModelKey {
  /** From 1 on, in the order of the keys. */
  readonly tag: number;
  readonly sets: readonly [number, number];
  readonly lock: number;
  readonly cell: number;
}

export interface ProtocolSettings {
  readonly policy: ModelPolicy;
  readonly keys: readonly ModelKey[];
  /** Slots a set. */
  readonly ways: number;
  /** Live keys up to which the first set is preferred. */
  readonly fill: number;
  readonly locks?: number;
  readonly without?: readonly Protection[];
}

const HORIZON = 0;
const LOCKS = 1;
const CELLS = 2;
const SETS = 2;
const SLOT_SIZE = 2;

export type ModelTable = ReturnType<typeof modelTable>;

export function modelTable(settings: ProtocolSettings) {
  const { policy, keys, ways, fill, locks = 2, without = [] } = settings;
  const cells = LOCKS + locks;
  const slots = cells + CELLS;
  const end = slots + SETS * ways * SLOT_SIZE;
  const lacks = (protection: Protection) => without.includes(protection);
  const keyOf = (tag: number) => keys[tag - 1] as ModelKey;
  const setsOf = (tag: number) => keyOf(tag).sets.map((set) => slots + set * ways * SLOT_SIZE);
  const slotsIn = (set: number) => Array.from({ length: ways }, (_, way) => set + way * SLOT_SIZE);
  const stateOf = (slot: number) => slot + 1;
  const isNobodys = (state: number) => policy.isFrozen(state) && !lacks('frozen is nobody’s');
  const isTag = (slot: number, tag: number) => load('tag', slot, (seen) => (seen === tag ? 1 : 0));
  const frozenAt = (slot: number) =>
    load('state', stateOf(slot), (state) => (isNobodys(state) ? 1 : 0));

  function* find(tag: number): Steps<number> {
    for (const set of setsOf(tag)) {
      let slot = 0;
      for (const at of slotsIn(set)) if (yield isTag(at, tag)) slot = at;
      if (slot !== 0) return slot;
    }
    return 0;
  }

  function* findUnfrozen(tag: number): Steps<number> {
    for (const slot of setsOf(tag).flatMap(slotsIn)) {
      if ((yield isTag(slot, tag)) && !(yield frozenAt(slot))) return slot;
    }
    return 0;
  }

  function* slotOf(tag: number): Steps<number> {
    const slot = yield* find(tag);
    if (slot === 0 || lacks('frozen is passed over')) return slot;
    return (yield frozenAt(slot)) ? yield* findUnfrozen(tag) : slot;
  }

  /** What of a state decides whether its slot is free: 1 it is, 0 it is not, 2 if nothing stands there. */
  function freedom(state: number, phase: number): number {
    if (policy.isFrozen(state)) return lacks('frozen is not free') ? 1 : 0;
    return policy.reusable(state, phase) ? 1 : state === 0 ? 2 : 0;
  }

  function* isFree(slot: number, freedom: number): Steps<boolean> {
    return freedom === 1 || (freedom === 2 && (yield isTag(slot, 0)) === 1);
  }

  function* survey(set: number, phase: number): Steps<{ live: number; free: number }> {
    let live = 0;
    let free = 0;
    for (const slot of slotsIn(set)) {
      const seen = yield load('state', stateOf(slot), (state) => freedom(state, phase));
      if (!(yield* isFree(slot, seen))) live++;
      else if (free === 0) free = slot;
    }
    return { live, free };
  }

  function* place(tag: number, phase: number): Steps<number> {
    const [firstAt, secondAt] = setsOf(tag) as [number, number];
    const first = yield* survey(firstAt, phase);
    if (first.live < fill) return first.free;
    const second = yield* survey(secondAt, phase);
    return second.live < first.live ? second.free : first.free;
  }

  function* raiseHorizon(now: number): Steps<void> {
    if (lacks('horizon raise')) return;
    let seen = yield load('horizon', HORIZON, (word) => Math.min(word, now));
    while (seen < now) {
      const before = seen;
      const step = swap('horizon', HORIZON, before, now);
      seen = yield { ...step, view: (word) => (word === before ? now : Math.min(word, now)) };
    }
  }

  return {
    keys,
    lacks,
    stateOf,
    isNobodys,
    isTag,
    slotOf,
    findUnfrozen,
    freedom,
    isFree,
    place,
    raiseHorizon,
    horizonAt: HORIZON,
    horizon: () => load('horizon', HORIZON),
    isHorizonPast: (now: number) => load('horizon', HORIZON, (seen) => (seen > now ? 1 : 0)),
    lockOf: (tag: number) => LOCKS + keyOf(tag).lock,
    cellOf: (tag: number) => cells + keyOf(tag).cell,
    locks: { from: LOCKS, to: cells },
    cells: { from: cells, to: slots },
    slots: { from: slots, to: end, size: SLOT_SIZE },
  };
}
