import { instantiateSync } from '@assemblyscript/loader';
import { SluicegateTypeError } from '../errors.ts';
import { shown } from '../options.ts';
import type { Rate } from '../rate.ts';
import type { TableFunctions } from './front.ts';
import { type Heir, inherit, owner } from './threads.ts';
import { table as privateBase64, sharedTable as sharedBase64 } from './wasm.generated.ts';
import { compile, newMemory, outOfMemory } from './wasm.ts';

interface TableExports extends Record<string, unknown> {
  reserve(maxKeys: number): number;
  createTokenBucket(
    maxKeys: number,
    key0: bigint,
    key1: bigint,
    epoch: bigint,
    capacity: bigint,
    rate: bigint,
    token: bigint,
  ): void;
  createSlidingWindowCounter(
    maxKeys: number,
    key0: bigint,
    key1: bigint,
    epoch: bigint,
    limit: bigint,
    window: bigint,
  ): void;
  describeHeader(ownClock: number, nameSize: number): void;
  fault(): number;
  headerVersion(): number;
  headerAlgorithm(): number;
  headerMaxKeys(): number;
  headerOwnClock(): number;
  headerNameSize(): number;
  policyWord(index: number): bigint;
  evictedIdle(): bigint;
  overflowed(): bigint;
  lockTimeouts(): bigint;
  memoryBytes(): number;
  tokenBucketBury(dead: number): void;
  slidingWindowCounterBury(dead: number): void;
}

/** One algorithm and its numbers, ready for the core. */
export type TablePolicy =
  | { readonly algorithm: 'tokenBucket'; readonly capacity: number; readonly rate: Rate }
  | {
      readonly algorithm: 'slidingWindowCounter';
      readonly limit: number;
      readonly windowUs: number;
    };

/** What a new table is made from. */
export interface TableSettings {
  readonly policy: TablePolicy;
  readonly name: string;
  readonly maxKeys: number;
  readonly shared: boolean;
  /** Whether the creator brought a clock of its own, which those who attach must bring, too. */
  readonly ownClock: boolean;
  /** The clock's microsecond that becomes 0 inside. */
  readonly epochUs: bigint;
}

/** A table in memory. */
export interface Table extends Heir {
  /** A WebAssembly.Memory, which not every user's types know. */
  readonly memory: object;
  readonly policy: TablePolicy;
  readonly name: string;
  readonly maxKeys: number;
  readonly shared: boolean;
  readonly ownClock: boolean;
  readonly functions: TableFunctions;
  readonly memoryBytes: number;
  evictedIdle(): number;
  overflowed(): number;
  lockTimeouts(): number;
}

/** Marks a handle. */
export const HANDLE_KIND = 'sluicegate/limiter';

const MAX_PAGES = 32_768;
const ALGORITHMS = ['', 'tokenBucket', 'slidingWindowCounter'] as const;
const FAULT_VERSION = 2;

const privateModule = compile(privateBase64);
const sharedModule = compile(sharedBase64);

/** A new, empty table. */
export function createTable(settings: TableSettings): Table {
  const { policy, name, maxKeys, shared, ownClock, epochUs } = settings;
  const { memory, exports } = reserve(maxKeys, shared);
  const [key0, key1] = crypto.getRandomValues(new BigUint64Array(2)) as unknown as [bigint, bigint];
  nameBytes(memory, exports).set(new TextEncoder().encode(name));
  exports.describeHeader(ownClock ? 1 : 0, name.length);
  if (policy.algorithm === 'tokenBucket') {
    const { tokens, micros } = policy.rate;
    const capacity = BigInt(policy.capacity);
    exports.createTokenBucket(maxKeys, key0, key1, epochUs, capacity, tokens, micros);
  } else {
    // Windows are multiples of their length on the clock's own zero.
    const window = BigInt(policy.windowUs);
    const epoch = epochUs - (((epochUs % window) + window) % window);
    exports.createSlidingWindowCounter(maxKeys, key0, key1, epoch, BigInt(policy.limit), window);
  }
  return tableOf(memory, exports, shared);
}

/** The table that another limiter, here or in another thread, has made in this shared memory. */
export function openTable(memory: unknown): Table {
  if (!(memory instanceof WebAssembly.Memory) || !(memory.buffer instanceof SharedArrayBuffer)) {
    throw invalidHandle(`its memory is ${shown(memory)} and not a shared WebAssembly.Memory`);
  }
  const exports = instantiate(sharedModule, memory);
  const fault = exports.fault();
  if (fault === FAULT_VERSION) {
    throw invalidHandle(
      `its layout has version ${exports.headerVersion()}, which this release cannot read; ` +
        'use one release of sluicegate in all threads',
    );
  }
  if (fault !== 0) throw invalidHandle('its memory does not hold a table');
  return tableOf(memory, exports, true);
}

/** The error for a handle that is none. */
export function invalidHandle(why: string): SluicegateTypeError {
  return new SluicegateTypeError(
    'ERR_INVALID_HANDLE',
    `invalid handle: ${why}; pass the \`handle\` of a limiter made with shared: true`,
  );
}

function tableOf(memory: WebAssembly.Memory, exports: TableExports, shared: boolean): Table {
  const algorithm = ALGORITHMS[exports.headerAlgorithm()] as TablePolicy['algorithm'];
  const table: Table = {
    memory,
    policy: policyOf(exports, algorithm),
    name: String.fromCharCode(...nameBytes(memory, exports).subarray(0, exports.headerNameSize())),
    maxKeys: exports.headerMaxKeys(),
    shared,
    ownClock: exports.headerOwnClock() !== 0,
    functions: functionsOf(exports, algorithm),
    memoryBytes: exports.memoryBytes(),
    evictedIdle: () => Number(exports.evictedIdle()),
    overflowed: () => Number(exports.overflowed()),
    lockTimeouts: () => Number(exports.lockTimeouts()),
    bury: (dead) => exports[`${algorithm}Bury`](dead),
  };
  if (shared) inherit(table);
  return table;
}

function policyOf(exports: TableExports, algorithm: TablePolicy['algorithm']): TablePolicy {
  const [first, second, third] = [0, 1, 2].map((i) => exports.policyWord(i)) as [
    bigint,
    bigint,
    bigint,
  ];
  return algorithm === 'tokenBucket'
    ? { algorithm, capacity: Number(first), rate: { tokens: second, micros: third } }
    : { algorithm, limit: Number(first), windowUs: Number(second) };
}

function nameBytes(memory: WebAssembly.Memory, exports: TableExports): Uint8Array {
  const { NAME, NAME_SIZE } = exports as unknown as Record<string, WebAssembly.Global>;
  return new Uint8Array(memory.buffer, Number(NAME?.value), Number(NAME_SIZE?.value));
}

function reserve(maxKeys: number, shared: boolean) {
  const purpose = `maxKeys: ${maxKeys}, about ${Math.ceil((maxKeys * 24) / 2 ** 20)} MiB`;
  // The table grows it once, to its size. A shared one must say beforehand how far it may.
  const descriptor = shared ? { initial: 1, maximum: MAX_PAGES, shared } : { initial: 1 };
  const memory = newMemory(descriptor, purpose);
  const exports = instantiate(shared ? sharedModule : privateModule, memory);
  if (exports.reserve(maxKeys) === 0) throw outOfMemory(purpose);
  return { memory, exports };
}

function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory): TableExports {
  const { instance } = instantiateSync(module, { env: { memory }, thread: { owner } });
  return instance.exports as unknown as TableExports;
}

/** In the order that assembly/front/table.ts counts them. */
function functionsOf(exports: TableExports, algorithm: TablePolicy['algorithm']): TableFunctions {
  const operations = ['Acquire', 'Force', 'Peek', 'Refund', 'Reset', 'Live'];
  const header = ['Algorithm', 'Key0', 'Key1', 'Epoch'].map((name) => `header${name}`);
  const names = [
    ...operations.map((name) => algorithm + name),
    'touch',
    'horizon',
    ...header,
    'policyWord',
  ];
  return names.map((name) => exports[name]);
}
