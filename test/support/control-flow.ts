// Walks a compiled module from every place where a lock is taken to where it is released, along every way there is, and
// reports what could stop a thread in between. V8 stops a worker at loop heads, backward branches, calls, function
// entries and, in its baseline compiler, at returns; an instruction that traps ends the call. Either would leave the lock
// held for ever.
//
// A lock is TAKEN by a compare-and-swap of a lock word that puts the thread's own number into it: its address is computed
// into the lock area, and the imported `thread.owner` is part of the new word. (What frees the lock of a dead thread is
// a compare-and-swap of a lock word, too, but puts nobody's number there.) It is RELEASED by an atomic store to a lock
// word. Only the ways on which the swap succeeded are walked, where a branch tests just that; if a branch on it is not
// understood, both are, and the failing way's return is reported.

import type { Instruction, WasmFunction, WasmModule } from './wasm-reader.ts';
import { Regions, type Value } from './wasm-regions.ts';

export interface Acquisition {
  readonly fn: number;
  /** The compare-and-swap. */
  readonly at: number;
  /** Instructions that release the lock again. */
  readonly releases: readonly number[];
  /** Instructions between the two. */
  readonly length: number;
  readonly faults: readonly string[];
}

const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [/^loop$/, 'a loop'],
  [/^call$/, 'a call'],
  [/^call_indirect$/, 'an indirect call'],
  [/^return$/, 'a return'],
  [/\.(div|rem)_[su]$/, 'a division'],
  [/\.trunc_f/, 'a conversion that traps'],
  [/^unreachable$/, 'unreachable'],
  [/^memory\.(grow|fill|copy)$/, 'a change of the memory as a whole'],
  [/^memory\.atomic\./, 'a wait or notify'],
];

export function acquisitions(module: WasmModule): Acquisition[] {
  const regions = new Regions(module);
  const found: Acquisition[] = [];
  for (const fn of module.functions.values()) {
    for (const [at, stack] of regions.stacks(fn)) {
      if (takesLock(regions, fn, at, stack)) found.push(walk(regions, fn, at));
    }
  }
  return found;
}

/** Every store to a lock word, as `function:instruction`. */
export function lockStores(module: WasmModule): string[] {
  const regions = new Regions(module);
  return [...module.functions.values()].flatMap((fn) => {
    const stores = [...regions.stacks(fn).keys()].filter((at) => isRelease(regions, fn, at));
    return stores.map((at) => `${fn.index}:${at}`);
  });
}

function takesLock(regions: Regions, fn: WasmFunction, at: number, stack: readonly Value[]) {
  const { name } = fn.code[at] as Instruction;
  if (!name.includes('rmw') || regions.regionOf(fn, at) !== 'lock') return false;
  if (!name.endsWith('.cmpxchg')) throw new Error(`${name} of a lock word is not known here`);
  return stack.at(-1)?.owner === true;
}

function walk(regions: Regions, fn: WasmFunction, taken: number): Acquisition {
  const faults = new Set<string>();
  const releases = new Set<number>();
  const seen = new Set<number>();
  const todo = [taken + 1];
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const { name } = fn.code[at] as Instruction;
    if (isRelease(regions, fn, at)) {
      releases.add(at);
      continue;
    }
    for (const [pattern, rule] of FORBIDDEN) if (pattern.test(name)) faults.add(rule);
    if (at === fn.code.length - 1) faults.add('the end of the function');
    if (touchesMemory(name) && regions.regionOf(fn, at) === 'unknown') {
      faults.add('an access to who knows where');
    }
    for (const { to } of onSuccess(regions, fn, at, taken)) {
      if (to <= at) faults.add('a way back');
      todo.push(to);
    }
  }
  return {
    fn: fn.index,
    at: taken,
    releases: [...releases],
    length: seen.size,
    faults: [...faults],
  };
}

function isRelease(regions: Regions, fn: WasmFunction, at: number): boolean {
  const { name } = fn.code[at] as Instruction;
  return name === 'i64.atomic.store' && regions.regionOf(fn, at) === 'lock';
}

function touchesMemory(name: string): boolean {
  return /\.(load|store)|\.rmw/.test(name);
}

/** The ways on; of a branch that tests whether the lock was taken, the one where it was. */
function onSuccess(regions: Regions, fn: WasmFunction, at: number, taken: number) {
  const { name, next } = fn.code[at] as Instruction;
  const tested = regions.stacks(fn).get(at)?.at(-1);
  if ((name !== 'if' && name !== 'br_if') || tested === undefined) return next;
  if (tested.is === 'swapped' && tested.swap === taken) return next.slice(0, 1);
  if (tested.is === 'not swapped' && tested.swap === taken) return next.slice(1);
  return next;
}
