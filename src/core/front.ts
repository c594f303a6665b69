import { instantiateSync } from '@assemblyscript/loader';
import { SluicegateRangeError } from '../errors.ts';
import { front as frontBase64, textFront as textFrontBase64 } from './wasm.generated.ts';
import { compile, newMemory } from './wasm.ts';

/**
 * The front's functions. `seat` names a limiter; `length` and `number` a key, as `takeKey` says; `ms` is a clock's
 * reading. No i64 among them: JavaScript would have to make a bigint for each call.
 */
interface FrontExports extends Record<string, unknown> {
  connect(group: number, ms: number): number;
  isAllowed(seat: number, length: number, number: number, ms: number, cost: number): number;
  tryAcquire(seat: number, length: number, number: number, ms: number, cost: number): number;
  force(seat: number, length: number, number: number, ms: number, cost: number): number;
  peek(seat: number, length: number, number: number, ms: number, cost: number): number;
  refund(seat: number, length: number, number: number, ms: number, cost: number): void;
  reset(seat: number, length: number, number: number, ms: number): void;
  liveKeys(seat: number, ms: number): number;
  allowedCalls(seat: number): number;
  deniedCalls(seat: number): number;
  /** Read the string's characters themselves. Only where the engine lets them. */
  isAllowedText?(seat: number, text: string, ms: number, cost: number): number;
  tryAcquireText?(seat: number, text: string, ms: number, cost: number): number;
  sealText?(seat: number, text: string, place: number): void;
  keep(seat: number, length: number, number: number, place: number): void;
  begin(seat: number): void;
  absorb(): void;
  seal(length: number, kind: number, place: number): void;
  /** Decide the keys sealed in places `from` up to `to`, not included; tell how far they came, if another thread is in the way. */
  isAllowedMany(seat: number, from: number, to: number, ms: number): number;
  tryAcquireMany(seat: number, from: number, to: number, ms: number): number;
}

interface FrontGlobals {
  readonly SCRATCH: WebAssembly.Global;
  readonly SCRATCH_SIZE: WebAssembly.Global;
  readonly RESULTS: WebAssembly.Global;
  readonly ANSWERS: WebAssembly.Global;
  readonly BATCH: WebAssembly.Global;
  readonly GROUP: WebAssembly.Global;
  readonly MAX_KEYS: WebAssembly.Global;
}

/** Scratch area and more than 65,000 seats. Pages that nobody touches cost address space only. */
const PAGES = 129;

const memory = newMemory({ initial: PAGES }, 'the front, which all limiters of a thread need');
const functions = new WebAssembly.Table({ element: 'anyfunc', initial: 1 });
const instance = instantiateFront();
// The loader's own `exports` are wrappers; these are the functions themselves, which V8 can inline calls to.
const exports = instance.exports as unknown as FrontExports;
const globals = instance.exports as unknown as FrontGlobals;

/** In an answer of `tryAcquire`, `peek` and `force`. */
export const ALLOWED = 1;
export const OVERFLOW = 2;
/** An answer from here on is none: another thread is in the way. */
export const WAIT = 4;

export const {
  isAllowed,
  tryAcquire,
  force,
  peek,
  refund,
  reset,
  liveKeys,
  allowedCalls,
  deniedCalls,
  isAllowedText,
  tryAcquireText,
  sealText,
  keep,
  isAllowedMany,
  tryAcquireMany,
  begin,
  absorb,
  seal,
} = exports;

/** Bytes of key that fit in the scratch area. */
export const SCRATCH_SIZE = Number(globals.SCRATCH_SIZE.value);
/** Largest `maxKeys` of a table. */
export const MAX_KEYS = Number(globals.MAX_KEYS.value);

const scratchAt = Number(globals.SCRATCH.value);
/** The scratch area, as bytes and as UTF-16 units. */
export const scratch = new Uint8Array(memory.buffer, scratchAt, SCRATCH_SIZE);
export const scratchUnits = new Uint16Array(memory.buffer, scratchAt, SCRATCH_SIZE / 2);
/** Keys that one call of the front decides at most, in places 1 up to BATCH. Place 0 is for single calls. */
export const BATCH = Number(globals.BATCH.value);
/** What the last described decisions say, by place: remaining, retryAfterMs, resetAfterMs. */
export const described = new Float64Array(
  memory.buffer,
  Number(globals.RESULTS.value),
  (BATCH + 1) * 3,
);
/** What a batch's decisions are, by place. */
export const answers = new Uint8Array(memory.buffer, Number(globals.ANSWERS.value), BATCH + 1);

/** Functions that the front calls of each table, in the order of the function table's groups. */
export type TableFunctions = readonly unknown[];

/** With the string builtins where the engine has them: a module that uses them then needs nobody to import them. */
function instantiateFront(): WebAssembly.Instance {
  const imports = { env: { memory, table: functions } };
  try {
    return instantiateSync(compile(textFrontBase64, { builtins: ['js-string'] }), imports).instance;
  } catch (error) {
    if (!(error instanceof WebAssembly.LinkError || error instanceof TypeError)) throw error;
    return instantiateSync(compile(frontBase64), imports).instance;
  }
}

const groupSize = Number(globals.GROUP.value);
const freeGroups: number[] = [];
let groups = 0;

/** Gives back the places of limiters that were dropped without `close`; else each would keep its table alive. */
const dropped = new FinalizationRegistry<number>(releaseGroup);

/** A limiter's place in this thread's front. */
export interface Seat {
  /** What the front's functions take. */
  readonly address: number;
  readonly group: number;
}

/** Connects a table to the front, from the reading `ms` on, for as long as `owner` lives or until `leaveSeat`. */
export function takeSeat(owner: object, tableFunctions: TableFunctions, ms: number): Seat {
  const group = freeGroups.pop() ?? addGroup();
  tableFunctions.forEach((entry, i) => {
    functions.set(group * groupSize + i, entry);
  });
  const address = exports.connect(group, ms);
  if (address === 0) {
    releaseGroup(group);
    throw new SluicegateRangeError(
      'ERR_OUT_OF_MEMORY',
      `a thread can have ${group} limiters at once; close those that are no longer used`,
    );
  }
  dropped.register(owner, group, owner);
  return { address, group };
}

/** Lets go of the table. */
export function leaveSeat(owner: object, seat: Seat): void {
  dropped.unregister(owner);
  releaseGroup(seat.group);
}

function addGroup(): number {
  functions.grow(groupSize);
  return groups++;
}

function releaseGroup(group: number): void {
  for (let i = 0; i < groupSize; i++) functions.set(group * groupSize + i, null);
  freeGroups.push(group);
}
