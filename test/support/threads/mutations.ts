import type { Mutation } from './compile.ts';

// What the shared table is without one of its protections. A test that passes on these tests nothing.

const SHARED = 'table/shared.ts';

/** An update stores what it has worked out, whatever has become of the state. */
export const LOST_UPDATES: Mutation = {
  file: SHARED,
  from: 'return swap(stateOf(slot), state, charged) ? decision(balance, ALLOWED) : AGAIN;',
  to: 'storeWord(stateOf(slot), charged); return decision(balance, ALLOWED);',
};

/** An insert does not care who holds the lock. */
export const UNLOCKED: Mutation = {
  file: SHARED,
  from: 'if (atomic.cmpxchg<u64>(lock, free, free | ((<u64>owner) << OWNER_SHIFT)) != free) return AGAIN;',
  to: 'storeWord(lock, free | ((<u64>owner) << OWNER_SHIFT));',
};

/** Calls take a slot that is changing hands for their key's own. */
export const UNFROZEN: readonly Mutation[] = [
  {
    file: SHARED,
    from: 'return slot != 0 && policy.isFrozen(stateAt(slot)) ? findUnfrozen<T>(policy, tag) : slot;',
    to: 'return slot;',
  },
  {
    file: SHARED,
    from: 'if (tagAt(slot) != tag || policy.isFrozen(state)) return AGAIN;',
    to: 'if (tagAt(slot) != tag) return AGAIN;',
  },
];

/** An insert takes the slot it has chosen, whatever has become of it. */
export const UNCLAIMED: Mutation = {
  file: SHARED,
  from: '} else if (swap(state, probed, frozen)) {',
  to: '} else { storeWord(state, frozen);',
};

/** There is a loop, and so a place where V8 stops a worker, between taking a lock and releasing it. */
export const INTERRUPTIBLE: Mutation = {
  file: SHARED,
  from: 'const debt = loadWord(cell);',
  to: 'let debt: u64 = 0; for (let i = 0; i < 20000; i++) debt = loadWord(cell);',
};

/** A frozen slot is taken for one that is as new, which as a number it looks like. */
export const FROZEN_IS_FREE: Mutation = {
  file: 'table/slots.ts',
  from: 'if (ASC_FEATURE_THREADS && policy.isFrozen(state)) return false;',
  to: '',
};
