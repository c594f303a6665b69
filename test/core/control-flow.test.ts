import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { acquisitions, lockStores } from '../support/control-flow.ts';
import { readModule, type WasmModule } from '../support/wasm-reader.ts';
import { moduleOf } from '../support/wasm-writer.ts';

describe('the built table', () => {
  const wasm = readFileSync(new URL('../../build/sharedTable.wasm', import.meta.url));
  const module = readModule(wasm);
  const found = acquisitions(module);

  it('takes a lock where each algorithm inserts a key, and nowhere else', () => {
    const takers = ['tokenBucketAcquire', 'slidingWindowCounterAcquire'].map((name) => {
      const reached = reachedFrom(module, module.exports.get(name) as number);
      return found.filter(({ fn }) => reached.has(fn)).length;
    });
    expect(takers).toEqual([1, 1]);
    expect(found).toHaveLength(2);
  });

  it('cannot be stopped anywhere between taking a lock and releasing it', () => {
    expect(found.map(({ faults }) => faults)).toEqual([[], []]);
  });

  it('releases the lock in one place, some hundred instructions on', () => {
    for (const { releases, length } of found) {
      expect(releases).toHaveLength(1);
      expect(length).toBeGreaterThan(50);
      expect(length).toBeLessThan(400);
    }
  });

  it('has no other store to a lock', () => {
    const releases = found.flatMap(({ fn, releases }) => releases.map((at) => `${fn}:${at}`));
    expect(lockStores(module).sort()).toEqual(releases.sort());
  });
});

function reachedFrom(module: WasmModule, index: number, reached = new Set<number>()): Set<number> {
  reached.add(index);
  for (const { name, value } of module.functions.get(index)?.code ?? []) {
    if (name === 'call' && !reached.has(Number(value))) reachedFrom(module, Number(value), reached);
  }
  return reached;
}

/** The lock's address, and its word, as the table computes them. */
const READ = `
  local.get 0
  i64.const 8
  i64.shr_u
  i32.wrap_i64
  i32.const 1023
  i32.and
  i32.const 3
  i32.shl
  i32.const 512
  i32.add
  local.tee 1
  i64.atomic.load
  local.set 2`;
const SWAP = `
  local.get 1
  local.get 2
  local.get 2
  global.get 0
  i64.extend_i32_u
  i64.const 32
  i64.shl
  i64.or
  i64.atomic.rmw.cmpxchg`;
const RETURN_IF = `
  if
  i64.const -1
  return
  end`;
const TAKE = `${READ} ${SWAP}
  local.get 2
  i64.ne ${RETURN_IF}`;
const RELEASE = `
  local.get 1
  i64.const 0
  i64.atomic.store`;
const ANSWER = `
  i64.const 1`;
/** Runs only for some tags. */
const sometimes = (inside: string) => `
  local.get 0
  i64.eqz
  if
  ${inside}
  end`;

function faultsOf(body: string): readonly string[] {
  const wasm = moduleOf(body);
  expect(WebAssembly.validate(wasm as Uint8Array<ArrayBuffer>)).toBe(true);
  const found = acquisitions(readModule(wasm));
  expect(found).toHaveLength(1);
  return found[0]?.faults ?? [];
}

describe('the walk', () => {
  it('finds nothing wrong with arithmetic, branches, and accesses to the table', () => {
    const inside = `
      i32.const 48
      i32.load
      i64.atomic.load
      local.get 0
      i64.mul
      drop
      block
      ${sometimes('br 1')}
      end
      ${sometimes('nop; else; nop')}`;
    expect(faultsOf(TAKE + inside + RELEASE + ANSWER)).toEqual([]);
  });

  it('understands a swap that is tested for equality, and one whose test is turned round', () => {
    const equal = `${READ} ${SWAP}
      local.get 2
      i64.eq`;
    expect(faultsOf(`${equal}\nif ${RELEASE}\nend ${ANSWER}`)).toEqual([]);
    expect(faultsOf(`${equal}\ni32.eqz ${RETURN_IF} ${RELEASE} ${ANSWER}`)).toEqual([]);
  });

  it('reports both ways of a test that it does not understand', () => {
    const other = `${READ} ${SWAP}
      local.get 0
      i64.ne`;
    expect(faultsOf(other + RETURN_IF + RELEASE + ANSWER)).toContain('a return');
  });

  it.each([
    ['a loop', 'loop; end'],
    ['a way back', 'loop; local.get 0; i64.eqz; br_if 0; end'],
    ['a call', 'call 1'],
    ['an indirect call', 'i32.const 0; call_indirect 1'],
    ['a return', 'i64.const 2; return'],
    ['the end of the function', 'i64.const 2; br 1'],
    ['a division', 'local.get 0; local.get 0; i64.div_u; drop'],
    ['a division', 'local.get 0; local.get 0; i64.rem_s; drop'],
    ['a division', 'i32.const 1; i32.const 0; i32.rem_u; drop'],
    ['a conversion that traps', 'f64.const 0; i64.trunc_f64_s; drop'],
    ['unreachable', 'unreachable'],
    ['a change of the memory as a whole', 'i32.const 1; memory.grow; drop'],
    ['a change of the memory as a whole', 'i32.const 0; i32.const 0; i32.const 0; memory.fill'],
    ['a change of the memory as a whole', 'i32.const 0; i32.const 0; i32.const 0; memory.copy'],
    ['a wait or notify', 'i32.const 0; i64.const 0; i64.const 0; memory.atomic.wait64; drop'],
    ['a wait or notify', 'i32.const 0; i32.const 1; memory.atomic.notify; drop'],
    ['an access to who knows where', 'local.get 0; i32.wrap_i64; i64.load; drop'],
  ])('reports %s, even on one way only: %s', (fault, inside) => {
    expect(faultsOf(TAKE + sometimes(inside) + RELEASE + ANSWER)).toContain(fault);
  });

  it('reports a way back to before the lock was taken', () => {
    const body = `loop ${READ} ${SWAP}
      local.get 2
      i64.ne
      br_if 0
      ${sometimes('br 1')} ${RELEASE}
      end ${ANSWER}`;
    expect(faultsOf(body)).toEqual(['a way back', 'a loop']);
  });

  it('reports a way on which the lock is never released', () => {
    expect(faultsOf(TAKE + sometimes(RELEASE) + ANSWER)).toContain('the end of the function');
  });

  it('takes a swap of a lock that puts no thread into it for no acquisition', () => {
    const frees = `${READ}
      local.get 1
      local.get 2
      i64.const 7
      i64.atomic.rmw.cmpxchg`;
    expect(acquisitions(readModule(moduleOf(frees)))).toEqual([]);
  });
});
