import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { front, sharedTable, table, textFront } from '../../src/core/wasm.generated.ts';
import { parseWasm } from '../support/wasm-module.ts';

/** What a module imports, in the order of the names. */
function importsOf(module: WebAssembly.Module): string[] {
  return WebAssembly.Module.imports(module)
    .map(({ module, name, kind }) => `${kind} ${module}.${name}`)
    .sort();
}

function builtModule(name: string) {
  const bytes = readFileSync(new URL(`../../build/${name}.wasm`, import.meta.url));
  return { bytes, module: new WebAssembly.Module(bytes), parsed: parseWasm(bytes) };
}

const FRONT = builtModule('front');
const TEXT_FRONT = builtModule('textFront');
const TABLE = builtModule('table');
const SHARED_TABLE = builtModule('sharedTable');

const KEYED_CALL = 'i32 i32 f64 f64 f64 ->';

const FRONT_FUNCTIONS = {
  connect: 'i32 f64 -> i32',
  isAllowed: `${KEYED_CALL} i32`,
  tryAcquire: `${KEYED_CALL} i32`,
  force: `${KEYED_CALL} i32`,
  peek: `${KEYED_CALL} i32`,
  refund: KEYED_CALL,
  reset: 'i32 i32 f64 f64 ->',
  liveKeys: 'i32 f64 -> i32',
  allowedCalls: 'i32 -> f64',
  deniedCalls: 'i32 -> f64',
  begin: 'i32 ->',
  absorb: '->',
  seal: 'i32 i32 i32 ->',
  keep: 'i32 i32 f64 i32 ->',
  isAllowedMany: 'i32 i32 i32 f64 -> i32',
  tryAcquireMany: 'i32 i32 i32 f64 -> i32',
};

const OPERATIONS = {
  Acquire: 'i64 i64 i64 -> i64',
  Force: 'i64 i64 i64 -> i64',
  Peek: 'i64 i64 i64 -> i64',
  Refund: 'i64 i64 i64 ->',
  Reset: 'i64 i64 ->',
  Live: 'i64 -> i32',
  Bury: 'i32 ->',
};

const TABLE_FUNCTIONS = {
  reserve: 'i32 -> i32',
  createTokenBucket: 'i32 i64 i64 i64 i64 i64 i64 ->',
  createSlidingWindowCounter: 'i32 i64 i64 i64 i64 i64 ->',
  ...Object.fromEntries(
    ['tokenBucket', 'slidingWindowCounter'].flatMap((algorithm) =>
      Object.entries(OPERATIONS).map(([name, signature]) => [algorithm + name, signature]),
    ),
  ),
  describeHeader: 'i32 i32 ->',
  fault: '-> i32',
  memoryBytes: '-> f64',
  evictedIdle: '-> i64',
  overflowed: '-> i64',
  headerAlgorithm: '-> i32',
  headerEpoch: '-> i64',
  headerKey0: '-> i64',
  headerKey1: '-> i64',
  headerMaxKeys: '-> i32',
  headerNameSize: '-> i32',
  headerOwnClock: '-> i32',
  headerVersion: '-> i32',
  horizon: '-> i64',
  lockTimeouts: '-> i64',
  policyWord: 'i32 -> i64',
  touch: 'i64 i64 i64 i64 i64 i64 i64 i64 -> i64',
};

describe.each([
  ['private', TABLE, []],
  ['shared', SHARED_TABLE, ['global thread.owner']],
])('the table module, %s', (kind, { module, parsed }, more) => {
  it('imports a memory, and the thread it is in where that matters', () => {
    expect(importsOf(module)).toEqual([...more, 'memory env.memory']);
  });

  it('exports these functions, and where the name goes', () => {
    expect(Object.fromEntries(parsed.signatures)).toEqual(TABLE_FUNCTIONS);
    const others = WebAssembly.Module.exports(module).filter(({ kind }) => kind !== 'function');
    expect(others.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'global NAME',
      'global NAME_SIZE',
    ]);
  });

  it('writes nothing into a memory by being instantiated on it', () => {
    expect(parsed).toMatchObject({ hasStart: false, dataSegments: 0, elementSegments: 0 });
    const memory = new WebAssembly.Memory(
      kind === 'shared' ? { initial: 1, maximum: 32_768, shared: true } : { initial: 1 },
    );
    const bytes = new Uint8Array(memory.buffer).fill(0xa5);
    new WebAssembly.Instance(module, { env: { memory }, thread: { owner: 1 } });
    expect(bytes.every((byte) => byte === 0xa5)).toBe(true);
  });

  it('has no state of its own: no globals that change, no memory, no table', () => {
    expect(parsed.globals.filter(({ mutable }) => mutable)).toEqual([]);
    expect(parsed).toMatchObject({ definesMemory: false, definesTable: false });
  });
});

describe.each([
  ['copying', FRONT, [], {}],
  [
    'with string builtins',
    TEXT_FRONT,
    ['function wasm:js-string.charCodeAt', 'function wasm:js-string.length'],
    {
      isAllowedText: 'i32 externref f64 f64 -> i32',
      tryAcquireText: 'i32 externref f64 f64 -> i32',
      sealText: 'i32 externref i32 ->',
    },
  ],
])('the front module, %s', (_, { module, parsed }, moreImports, moreFunctions) => {
  it('imports a memory and a function table and nothing else of ours', () => {
    expect(importsOf(module)).toEqual([...moreImports, 'memory env.memory', 'table env.table']);
  });

  it('exports these functions and some constants', () => {
    expect(Object.fromEntries(parsed.signatures)).toEqual({ ...FRONT_FUNCTIONS, ...moreFunctions });
    const others = WebAssembly.Module.exports(module).filter(({ kind }) => kind !== 'function');
    expect(others.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
      'global ANSWERS',
      'global BATCH',
      'global GROUP',
      'global MAX_KEYS',
      'global RESULTS',
      'global SCRATCH',
      'global SCRATCH_SIZE',
    ]);
  });

  it('asks JavaScript for no bigint', () => {
    expect([...parsed.signatures.values()].join()).not.toContain('i64');
  });

  it('keeps what it knows in its memory only', () => {
    expect(parsed.globals.filter(({ mutable }) => mutable)).toEqual([]);
    expect(parsed).toMatchObject({ hasStart: false, dataSegments: 0, elementSegments: 0 });
  });
});

describe('the built modules', () => {
  it.each([
    ['front', front, FRONT.bytes],
    ['textFront', textFront, TEXT_FRONT.bytes],
    ['table', table, TABLE.bytes],
    ['sharedTable', sharedTable, SHARED_TABLE.bytes],
  ])('are the ones in JavaScript: %s', (_, base64, bytes) => {
    expect(base64).toBe(bytes.toString('base64'));
  });
});

describe('the parser that these tests rely on', () => {
  it('sees what it is there to see', () => {
    // A module with data, a start function and a global that changes:
    // (module (memory 1) (global (mut i64) (i64.const -1)) (func) (export "f" (func 0)) (start 0) (data (i32.const 0) "x"))
    const bytes = Uint8Array.from([
      ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 3, 1, 0, 1],
      ...[6, 6, 1, 126, 1, 66, 127, 11, 7, 5, 1, 1, 102, 0, 0, 8, 1, 0, 10, 4, 1, 2, 0, 11],
      ...[11, 7, 1, 0, 65, 0, 11, 1, 120],
    ]);
    expect(WebAssembly.validate(bytes)).toBe(true);
    expect(parseWasm(bytes)).toEqual({
      signatures: new Map([['f', '->']]),
      globals: [{ mutable: true }],
      hasStart: true,
      dataSegments: 1,
      elementSegments: 0,
      definesMemory: true,
      definesTable: false,
    });
  });
});
