// Which of the table's words each memory access in a compiled module touches, told by how its address is computed. The
// module is followed along its control flow with values of which only this is known; where ways meet, what is known is
// what they agree on. Calls hand over what all their callers agree on.
//
// What it takes for granted: a computed number that is added to the address of a slot is a multiple of a slot's size.

import type { Instruction, WasmFunction, WasmModule } from './wasm-reader.ts';

/** The words of assembly/layout.ts. */
export type Region =
  | 'horizon'
  | 'count'
  | 'lock'
  | 'cell'
  | 'tag'
  | 'state'
  | 'cell or state'
  | 'header'
  | 'unknown';

const HEADER_SIZE = 512n;
const LOCKS_END = 8704n;
const HORIZON = 128n;
const COUNTS: readonly bigint[] = [192n, 200n, 208n];
const OVERFLOW_AT = 48n;
const SETS_AT = 52n;
const SLOT_SIZE = 16n;
const LOWER_HALF = 0xffffffffn;
const OWNER = 'thread.owner';

type Area = 'lock' | 'cell' | 'slot' | 'cell or state';

export type Value = {
  /** The instruction that made it; -1 if several may have. Equal makers, equal values. */
  readonly maker: number;
  /** Whether the number of this thread is in it. */
  readonly owner: boolean;
} & (
  | { readonly is: 'any' }
  | { readonly is: 'const'; readonly value: bigint }
  /** An address, or 0. A slot's offset is kept modulo its size. */
  | { readonly is: 'address'; readonly region: Area; readonly offset: bigint }
  /** What a compare-and-swap found, and whether that means that it swapped. */
  | { readonly is: 'found'; readonly swap: number; readonly expected: Value }
  | { readonly is: 'swapped' | 'not swapped'; readonly swap: number }
);

const ANY: Value = { is: 'any', maker: -1, owner: false };

interface State {
  readonly locals: readonly Value[];
  readonly stack: readonly Value[];
}

/** The values on the stack before each instruction that can be reached. */
export type Stacks = ReadonlyMap<number, readonly Value[]>;

function alike(a: Value, b: Value): boolean {
  if (a.is !== b.is || a.owner !== b.owner) return false;
  if (a.is === 'const') return a.value === (b as typeof a).value;
  if (a.is === 'address') {
    return a.region === (b as typeof a).region && a.offset === (b as typeof a).offset;
  }
  return a.is === 'any' || (a as { swap: number }).swap === (b as typeof a & { swap: number }).swap;
}

function isLockAddress(value: Value): boolean {
  if (value.is === 'const') return value.value >= HEADER_SIZE && value.value < LOCKS_END;
  return value.is === 'address' && value.region === 'lock';
}

function join(a: Value, b: Value): Value {
  const maker = a.maker === b.maker ? a.maker : -1;
  const owner = a.owner || b.owner;
  if (alike(a, b)) return { ...a, maker };
  if (a.is === 'address' && b.is === 'const' && b.value === 0n) return { ...a, maker, owner };
  if (b.is === 'address' && a.is === 'const' && a.value === 0n) return { ...b, maker, owner };
  if (isLockAddress(a) && isLockAddress(b)) {
    return { is: 'address', region: 'lock', offset: 0n, maker, owner };
  }
  if (isCellOrState(a) && isCellOrState(b)) return address('cell or state', 0n, maker);
  return { is: 'any', maker, owner };
}

/** A call that only looks has the address of either in one variable. */
function isCellOrState(value: Value): boolean {
  if (value.is !== 'address') return false;
  return value.region === 'slot' ? value.offset === 8n : value.region !== 'lock';
}

function address(region: Area, offset: bigint, maker: number): Value {
  const kept = region === 'slot' ? ((offset % SLOT_SIZE) + SLOT_SIZE) % SLOT_SIZE : 0n;
  return { is: 'address', region, offset: kept, maker, owner: false };
}

function sum(a: Value, b: Value, maker: number): Value {
  if (b.is === 'address' || (a.is === 'const' && b.is !== 'const')) return sum(b, a, maker);
  if (a.is === 'address') {
    return address(a.region, a.offset + (b.is === 'const' ? b.value : 0n), maker);
  }
  if (b.is === 'const' && a.is === 'const') {
    return { is: 'const', value: a.value + b.value, maker, owner: false };
  }
  return isLockAddress(b) ? address('lock', 0n, maker) : { ...ANY, maker };
}

/** `a | b` or `a & b`, where one may be an address, or 0 for none. */
function packed(a: Value, b: Value, masks: boolean, maker: number): Value {
  const isSlot = (value: Value) =>
    value.is === 'address' || (value.is === 'const' && value.value === 0n);
  if (isSlot(b) && !isSlot(a)) return packed(b, a, masks, maker);
  const owner = a.owner || b.owner;
  const keeps = isSlot(a) && (!masks || (b.is === 'const' && b.value === LOWER_HALF));
  return keeps ? { ...a, maker, owner } : { ...ANY, maker, owner };
}

function loaded(at: Value, offset: bigint, maker: number): Value {
  if (at.is === 'const' && at.value + offset === OVERFLOW_AT) return address('cell', 0n, maker);
  if (at.is === 'const' && at.value + offset === SETS_AT) return address('slot', 0n, maker);
  return { ...ANY, maker };
}

function compared(a: Value, b: Value, equal: boolean, maker: number): Value {
  if (b.is === 'found') return a.is === 'found' ? { ...ANY, maker } : compared(b, a, equal, maker);
  if (a.is !== 'found') return { ...ANY, maker };
  const { expected } = a;
  const same = b.maker >= 0 ? b.maker === expected.maker : false;
  if (!same) return { ...ANY, maker };
  return { is: equal ? 'swapped' : 'not swapped', swap: a.swap, maker, owner: false };
}

export class Regions {
  readonly module: WasmModule;
  readonly #stacks = new Map<number, Map<number, readonly Value[]>>();
  readonly #params = new Map<number, readonly Value[]>();
  readonly #results = new Map<number, Value>();

  constructor(module: WasmModule) {
    this.module = module;
    for (const index of module.exports.values()) {
      const { params } = module.signatures[index] as { params: number };
      this.#params.set(
        index,
        Array.from({ length: params }, () => ANY),
      );
    }
    for (const [index, { results }] of module.signatures.entries()) {
      if (results > 0 && !module.functions.has(index)) this.#results.set(index, ANY);
    }
    // Until nothing new is learned of any call.
    for (let before = ''; before !== this.#known(); ) {
      before = this.#known();
      for (const fn of module.functions.values()) this.#follow(fn);
    }
  }

  /** The values on the stack before each instruction of a function that can be reached. */
  stacks(fn: WasmFunction): Stacks {
    return this.#stacks.get(fn.index) ?? new Map();
  }

  /** What an instruction that reads or writes memory touches. */
  regionOf(fn: WasmFunction, at: number): Region {
    const { name, pops, value: offset } = fn.code[at] as Instruction;
    const stack = this.stacks(fn).get(at) as readonly Value[];
    const base = stack[stack.length - pops] as Value;
    if (base.is === 'address' && base.region === 'slot') {
      const within = (base.offset + offset) % SLOT_SIZE;
      return within === 0n ? 'tag' : within === 8n ? 'state' : 'unknown';
    }
    if (base.is === 'address') return base.region === 'slot' ? 'unknown' : base.region;
    if (base.is !== 'const') return 'unknown';
    const where = base.value + offset;
    if (where >= HEADER_SIZE) return isLockAddress({ ...base, value: where }) ? 'lock' : 'unknown';
    if (where === HORIZON) return 'horizon';
    if (COUNTS.includes(where)) return 'count';
    return name.includes('atomic') ? 'unknown' : 'header';
  }

  #known(): string {
    const shown = (values: unknown) =>
      JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
    return shown([[...this.#params], [...this.#results]]);
  }

  #follow(fn: WasmFunction): void {
    const params = this.#params.get(fn.index);
    if (params === undefined) return;
    const states = new Map<number, State>();
    const heights = new Map([[-1, 0]]);
    const rest = fn.zeros.map((): Value => ({ is: 'const', value: 0n, maker: -1, owner: false }));
    states.set(0, { locals: [...params, ...rest], stack: [] });
    const todo = [0];
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      const before = states.get(at) as State;
      const { name, next } = fn.code[at] as Instruction;
      const after = this.#step(fn, at, before);
      if (after === undefined) continue;
      if (name === 'block' || name === 'loop' || name === 'if') heights.set(at, after.stack.length);
      if (next.length === 0 && name === 'end') this.#returns(fn, after.stack);
      for (const { to, label } of next) {
        let { stack } = after;
        if (label !== undefined) {
          const kept = label.keeps > 0 ? stack.slice(-label.keeps) : [];
          stack = [...stack.slice(0, heights.get(label.block)), ...kept];
        }
        const known = states.get(to);
        const state = known === undefined ? { ...after, stack } : met(known, { ...after, stack });
        if (known !== undefined && same(known, state)) continue;
        states.set(to, state);
        todo.push(to);
      }
    }
    this.#stacks.set(fn.index, new Map([...states].map(([at, { stack }]) => [at, stack])));
  }

  #step(fn: WasmFunction, at: number, { locals, stack }: State): State | undefined {
    const { name, value, pops, pushes } = fn.code[at] as Instruction;
    const index = Number(value);
    const taken = pops > 0 ? stack.slice(-pops) : [];
    const left = stack.slice(0, stack.length - pops);
    const [a = ANY, b = ANY, c = ANY] = taken;
    const put = (...values: Value[]): State => ({ locals, stack: [...left, ...values] });
    switch (name) {
      case 'local.get':
        return put(locals[index] as Value);
      case 'local.set':
        return { locals: locals.with(index, a), stack: left };
      case 'local.tee':
        return { locals: locals.with(index, a), stack };
      case 'global.get':
        return put({ ...ANY, maker: at, owner: this.module.importedGlobals[index] === OWNER });
      case 'i32.const':
      case 'i64.const':
        return put({ is: 'const', value, maker: at, owner: false });
      case 'i32.load':
        return put(loaded(a, value, at));
      case 'i32.add':
        return put(sum(a, b, at));
      case 'i32.sub':
        return put(
          a.is === 'address' && b.is === 'const'
            ? sum(a, { ...b, value: -b.value }, at)
            : { ...ANY, maker: at },
        );
      case 'select':
        return put({ ...join(a, b), maker: at });
      // `place` hands over a slot in the lower half of a 64-bit number.
      case 'i64.extend_i32_u':
      case 'i32.wrap_i64':
        return put(
          a.is === 'address' || a.is === 'const'
            ? { ...a, maker: at }
            : { ...ANY, maker: at, owner: a.owner },
        );
      case 'i64.or':
      case 'i64.and':
        return put(packed(a, b, name === 'i64.and', at));
      case 'i64.eq':
      case 'i64.ne':
        return put(compared(a, b, name === 'i64.eq', at));
      case 'i32.eqz':
        if (a.is === 'swapped') return put({ ...a, is: 'not swapped' });
        if (a.is === 'not swapped') return put({ ...a, is: 'swapped' });
        return put({ ...ANY, maker: at });
      case 'i64.atomic.rmw.cmpxchg':
        return put({ is: 'found', swap: at, expected: b, maker: at, owner: b.owner || c.owner });
      case 'call':
        return this.#call(index, { locals, stack }, at);
    }
    const owner = taken.some((value) => value.owner);
    return put(...Array.from({ length: pushes }, (): Value => ({ is: 'any', maker: at, owner })));
  }

  #call(index: number, { locals, stack }: State, at: number) {
    const { params, results } = this.module.signatures[index] as {
      params: number;
      results: number;
    };
    const given = stack.slice(stack.length - params);
    const known = this.#params.get(index);
    // Makers are instructions of one function and say nothing in another.
    const foreign = given.map((value) => ({ ...value, maker: -1 }));
    this.#params.set(index, known?.map((value, i) => join(value, foreign[i] as Value)) ?? foreign);
    const left = stack.slice(0, stack.length - params);
    if (results === 0) return { locals, stack: left };
    const result = this.#results.get(index);
    // Not known yet, so for now the call does not come back.
    return result && { locals, stack: [...left, { ...result, maker: at }] };
  }

  #returns(fn: WasmFunction, stack: readonly Value[]): void {
    if (fn.signature.results === 0) return;
    this.#results.set(fn.index, { ...(stack.at(-1) as Value), maker: -1 });
  }
}

function met(a: State, b: State): State {
  return {
    locals: a.locals.map((value, i) => join(value, b.locals[i] as Value)),
    stack: a.stack.map((value, i) => join(value, b.stack[i] as Value)),
  };
}

function same(a: State, b: State): boolean {
  const equal = (one: readonly Value[], other: readonly Value[]) =>
    one.every((value, i) => alike(value, other[i] as Value) && value.maker === other[i]?.maker);
  return equal(a.locals, b.locals) && equal(a.stack, b.stack);
}
