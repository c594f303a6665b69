// Runs a function of a compiled module one atomic access at a time: at each it stops and is told what it finds there.
// Knows the instructions that the table's operations are made of, and says so when it meets another.

import type { Instruction, WasmFunction, WasmModule } from './wasm-reader.ts';

/** An atomic access about to be made. */
export interface AtomicAccess {
  readonly kind: 'load' | 'store' | 'swap' | 'add';
  readonly at: number;
  /** Stored, added, or put in the place of `expected`. */
  readonly value: bigint;
  readonly expected: bigint;
  /** Which instruction, as `function:index`. */
  readonly place: string;
}

/** i32 as a number from 0 to 2^32-1, i64 as a bigint from 0 to 2^64-1. */
type Value = number | bigint;

export interface Surroundings {
  readonly module: WasmModule;
  /** What loads that are not atomic read: words that are written once. */
  readonly memory: DataView;
  /** The imported global. */
  readonly owner: number;
}

const KINDS = new Map<string, AtomicAccess['kind']>(
  Object.entries({
    'i64.atomic.load': 'load',
    'i64.atomic.store': 'store',
    'i64.atomic.rmw.cmpxchg': 'swap',
    'i64.atomic.rmw.add': 'add',
  }),
);

const i64 = (value: bigint) => BigInt.asUintN(64, value);
const signed = (value: bigint) => BigInt.asIntN(64, value);
const bit = (value: boolean) => (value ? 1 : 0);

const BIGINTS = new Map<string, (a: bigint, b: bigint) => Value>(
  Object.entries({
    'i64.add': (a, b) => i64(a + b),
    'i64.sub': (a, b) => i64(a - b),
    'i64.mul': (a, b) => i64(a * b),
    'i64.div_u': (a, b) => a / b,
    'i64.rem_u': (a, b) => a % b,
    'i64.and': (a, b) => a & b,
    'i64.or': (a, b) => a | b,
    'i64.shl': (a, b) => i64(a << (b & 63n)),
    'i64.shr_u': (a, b) => a >> (b & 63n),
    'i64.eq': (a, b) => bit(a === b),
    'i64.ne': (a, b) => bit(a !== b),
    'i64.lt_u': (a, b) => bit(a < b),
    'i64.gt_u': (a, b) => bit(a > b),
    'i64.le_u': (a, b) => bit(a <= b),
    'i64.ge_u': (a, b) => bit(a >= b),
    'i64.le_s': (a, b) => bit(signed(a) <= signed(b)),
    'i64.ge_s': (a, b) => bit(signed(a) >= signed(b)),
    'i64.lt_s': (a, b) => bit(signed(a) < signed(b)),
    'i64.gt_s': (a, b) => bit(signed(a) > signed(b)),
  }),
);

const NUMBERS = new Map<string, (a: number, b: number) => number>(
  Object.entries({
    'i32.add': (a, b) => (a + b) >>> 0,
    'i32.sub': (a, b) => (a - b) >>> 0,
    'i32.and': (a, b) => (a & b) >>> 0,
    'i32.or': (a, b) => (a | b) >>> 0,
    'i32.xor': (a, b) => (a ^ b) >>> 0,
    'i32.shl': (a, b) => (a << b) >>> 0,
    'i32.shr_u': (a, b) => a >>> b,
    'i32.eq': (a, b) => bit(a === b),
    'i32.ne': (a, b) => bit(a !== b),
    'i32.lt_u': (a, b) => bit(a < b),
    'i32.gt_u': (a, b) => bit(a > b),
    'i32.le_u': (a, b) => bit(a <= b),
    'i32.ge_u': (a, b) => bit(a >= b),
  }),
);

const LOADS = new Map<string, (memory: DataView, at: number) => Value>(
  Object.entries({
    'i32.load': (memory, at) => memory.getUint32(at, true),
    'i64.load': (memory, at) => memory.getBigUint64(at, true),
    'i64.load32_u': (memory, at) => BigInt(memory.getUint32(at, true)),
  }),
);

const UNARY = new Map<string, (a: Value) => Value>(
  Object.entries({
    'i32.eqz': (a) => bit(a === 0),
    'i64.eqz': (a) => bit(a === 0n),
    'i32.wrap_i64': (a) => Number(BigInt.asUintN(32, a as bigint)),
    'i64.extend_i32_u': (a) => BigInt(a),
  }),
);

/** Runs the function of that index; gives back what it returns. */
export function* run(
  around: Surroundings,
  index: number,
  args: readonly Value[],
): Generator<AtomicAccess, Value | undefined, bigint> {
  const { module, memory, owner } = around;
  const { code, zeros, signature } = module.functions.get(index) as WasmFunction;
  const locals: Value[] = [...args, ...zeros];
  const stack: Value[] = [];
  const heights = new Map([[-1, 0]]);
  const pop = () => stack.pop() as Value;
  let at = 0;
  for (;;) {
    const { name, value, next } = code[at] as Instruction;
    let way = 0;
    const atomic = KINDS.get(name);
    const bigints = BIGINTS.get(name);
    const numbers = NUMBERS.get(name);
    const unary = UNARY.get(name);
    const load = LOADS.get(name);
    if (bigints !== undefined) {
      const b = pop() as bigint;
      stack.push(bigints(pop() as bigint, b));
    } else if (numbers !== undefined) {
      const b = pop() as number;
      stack.push(numbers(pop() as number, b));
    } else if (unary !== undefined) {
      stack.push(unary(pop()));
    } else if (load !== undefined) {
      stack.push(load(memory, (pop() as number) + Number(value)));
    } else if (atomic !== undefined) {
      const stored = atomic === 'load' ? 0n : (pop() as bigint);
      const expected = atomic === 'swap' ? (pop() as bigint) : 0n;
      const where = (pop() as number) + Number(value);
      const place = `${index}:${at}`;
      const found = yield { kind: atomic, at: where, value: stored, expected, place };
      if (atomic !== 'store') stack.push(found);
    } else {
      switch (name) {
        case 'local.get':
          stack.push(locals[Number(value)] as Value);
          break;
        case 'local.set':
          locals[Number(value)] = pop();
          break;
        case 'local.tee':
          locals[Number(value)] = stack.at(-1) as Value;
          break;
        case 'global.get':
          stack.push(owner);
          break;
        case 'i32.const':
          stack.push(Number(BigInt.asUintN(32, value)));
          break;
        case 'i64.const':
          stack.push(i64(value));
          break;
        case 'select': {
          const [a, b, condition] = stack.splice(-3) as [Value, Value, number];
          stack.push(condition !== 0 ? a : b);
          break;
        }
        case 'drop':
          pop();
          break;
        case 'call': {
          const callee = module.functions.get(Number(value)) as WasmFunction;
          const { params } = callee.signature;
          const given = params > 0 ? stack.splice(-params) : [];
          const result = yield* run(around, callee.index, given);
          if (result !== undefined) stack.push(result);
          break;
        }
        case 'if':
        case 'br_if':
          way = pop() !== 0 ? 0 : 1;
          if (name === 'if') heights.set(at, stack.length);
          break;
        case 'block':
        case 'loop':
          heights.set(at, stack.length);
          break;
        case 'br':
        case 'else':
        case 'end':
        case 'return':
        case 'nop':
          break;
        default:
          throw new Error(`${name} is not known here`);
      }
    }
    const edge = next[way];
    if (edge === undefined) return signature.results > 0 ? pop() : undefined;
    if (edge.label !== undefined) {
      const kept = edge.label.keeps > 0 ? stack.slice(-edge.label.keeps) : [];
      stack.length = heights.get(edge.label.block) as number;
      stack.push(...kept);
    }
    at = edge.to;
  }
}
