import { expect } from 'vitest';
import type { LimiterHandle } from '../../../src/index.ts';
import { compileForTest } from './compile.ts';

/** test/assembly/inspect.ts over one table. Addresses are the module's business: they come from it and go to it. */
export interface Inspection {
  tagOfNumber(key: number): bigint;
  slots(): number;
  usedSlots(): number;
  heldLocks(): number;
  frozenSlots(): number;
  misplacedSlots(): number;
  duplicateSlots(): number;
  slotWith(tag: bigint): number;
  tagAt(slot: number): bigint;
  stateAt(slot: number): bigint;
  setTag(slot: number, tag: bigint): void;
  setState(slot: number, state: bigint): void;
  isFrozen(slot: number): number;
  lockOf(tag: bigint): number;
  overflowCell(tag: bigint): number;
  ownerIn(lock: number): number;
  sequenceIn(lock: number): number;
  victim(tag: bigint, now: bigint): number;
  take(lock: number, owner: number): void;
  stateAfterInsert(slot: number, tag: bigint, now: bigint): bigint;
  freeze(slot: number, owner: number): void;
  release(lock: number): void;
}

let module: WebAssembly.Module | undefined;

export function inspect({ memory }: Pick<LimiterHandle, 'memory'>): Inspection {
  module ??= compileForTest('inspect.ts');
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return exports as unknown as Inspection;
}

/** At least as many as start from the debt in one overflow cell. */
export const KEYS_PER_CELL = 64;

export const WELL_FORMED = { heldLocks: 0, frozenSlots: 0, misplacedSlots: 0, duplicateSlots: 0 };

/** What is wrong with a table that nobody is using. */
export function faultsOf(table: Inspection): typeof WELL_FORMED {
  return {
    heldLocks: table.heldLocks(),
    frozenSlots: table.frozenSlots(),
    misplacedSlots: table.misplacedSlots(),
    duplicateSlots: table.duplicateSlots(),
  };
}

export function expectWellFormed(table: Inspection): void {
  expect(faultsOf(table)).toEqual(WELL_FORMED);
}
