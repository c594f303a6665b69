import { instantiateSync } from '@assemblyscript/loader';
import { SluicegateRangeError } from '../errors.ts';
import type { Rate } from '../rate.ts';
import type { TableFunctions } from './front.ts';
import { table as tableBase64 } from './wasm.generated.ts';
import { compile } from './wasm.ts';

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
  evictedIdle(): bigint;
  overflowed(): bigint;
  memoryBytes(): number;
}

/** One algorithm and its numbers, ready for the core. */
export type TablePolicy =
  | { readonly algorithm: 'tokenBucket'; readonly capacity: number; readonly rate: Rate }
  | {
      readonly algorithm: 'slidingWindowCounter';
      readonly limit: number;
      readonly windowUs: number;
    };

/** A table in memory of its own. */
export interface Table {
  readonly functions: TableFunctions;
  readonly memoryBytes: number;
  evictedIdle(): number;
  overflowed(): number;
}

const tableModule = compile(tableBase64);

/** A new, empty table. `epochUs` is the clock's microsecond that becomes 0 inside. */
export function createTable(policy: TablePolicy, maxKeys: number, epochUs: bigint): Table {
  const exports = instantiate(maxKeys);
  const [key0, key1] = crypto.getRandomValues(new BigUint64Array(2)) as unknown as [bigint, bigint];
  if (policy.algorithm === 'tokenBucket') {
    const { capacity, rate } = policy;
    exports.createTokenBucket(
      maxKeys,
      key0,
      key1,
      epochUs,
      BigInt(capacity),
      rate.tokens,
      rate.micros,
    );
  } else {
    // Windows are multiples of their length on the clock's own zero.
    const window = BigInt(policy.windowUs);
    const epoch = epochUs - (((epochUs % window) + window) % window);
    exports.createSlidingWindowCounter(maxKeys, key0, key1, epoch, BigInt(policy.limit), window);
  }
  return {
    functions: functionsOf(exports, policy.algorithm),
    memoryBytes: exports.memoryBytes(),
    evictedIdle: () => Number(exports.evictedIdle()),
    overflowed: () => Number(exports.overflowed()),
  };
}

function instantiate(maxKeys: number): TableExports {
  try {
    const memory = new WebAssembly.Memory({ initial: 1 });
    const { instance } = instantiateSync(tableModule, { env: { memory } });
    const exports = instance.exports as unknown as TableExports;
    if (exports.reserve(maxKeys) !== 0) return exports;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new SluicegateRangeError(
    'ERR_OUT_OF_MEMORY',
    `the system gives no memory for maxKeys: ${maxKeys}, about ${Math.ceil((maxKeys * 24) / 2 ** 20)} MiB; ` +
      'take fewer keys, close other limiters, or allow the process more address space ' +
      '(each WebAssembly memory reserves about 10 GB of it, see ulimit -v)',
  );
}

/** In the order that assembly/front/table.ts counts them. */
function functionsOf(exports: TableExports, algorithm: TablePolicy['algorithm']): TableFunctions {
  const operations = ['Acquire', 'Peek', 'Refund', 'Reset', 'Live'].map((name) => algorithm + name);
  const header = ['headerAlgorithm', 'headerKey0', 'headerKey1', 'headerEpoch', 'policyWord'];
  return [...operations, ...header].map((name) => exports[name]);
}
