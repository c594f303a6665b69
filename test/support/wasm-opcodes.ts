// WebAssembly's instructions, as far as AssemblyScript uses them: numbers, memory, atomics, control.
// https://webassembly.github.io/spec/core/binary/instructions.html and the threads proposal.

/** What follows the opcode. */
export type Immediates =
  | 'none'
  | 'block'
  | 'index'
  | 'two indexes'
  | 'targets'
  | 'memory'
  | 'byte'
  | 'two bytes'
  | 'i32'
  | 'i64'
  | 'f32'
  | 'f64'
  | 'types';

export interface Opcode {
  readonly name: string;
  readonly immediates: Immediates;
  /** Values that it takes from the stack and puts there; control, calls and variables say it in their own way. */
  readonly pops: number;
  readonly pushes: number;
}

const PREFIX_NUMERIC = 0xfc;
const PREFIX_ATOMIC = 0xfe;
export const PREFIXES: readonly number[] = [PREFIX_NUMERIC, PREFIX_ATOMIC];

/** By opcode; those after a prefix by prefix * 256 + number. */
export const OPCODES = new Map<number, Opcode>();

function define(
  first: number,
  names: string,
  pops: number,
  pushes: number,
  immediates: Immediates = 'none',
): void {
  for (const [i, name] of names.trim().split(/\s+/).entries()) {
    OPCODES.set(first + i, { name, immediates, pops, pushes });
  }
}

const each = (prefix: string, names: string) =>
  names.replace(/\S+/g, (name) => `${prefix}.${name}`);
const SIGNED = 'lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u';
const INTEGER = 'add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr';
const FLOAT = 'add sub mul div min max copysign';

define(0x00, 'unreachable nop', 0, 0);
define(0x02, 'block loop', 0, 0, 'block');
define(0x04, 'if', 1, 0, 'block');
define(0x05, 'else', 0, 0);
define(0x0b, 'end', 0, 0);
define(0x0c, 'br', 0, 0, 'index');
define(0x0d, 'br_if', 1, 0, 'index');
define(0x0e, 'br_table', 1, 0, 'targets');
define(0x0f, 'return', 0, 0);
define(0x10, 'call', 0, 0, 'index');
define(0x11, 'call_indirect', 1, 0, 'two indexes');
define(0x1a, 'drop', 1, 0);
define(0x1b, 'select', 3, 1);
define(0x1c, 'select', 3, 1, 'types');
define(0x20, 'local.get', 0, 1, 'index');
define(0x21, 'local.set', 1, 0, 'index');
define(0x22, 'local.tee', 1, 1, 'index');
define(0x23, 'global.get', 0, 1, 'index');
define(0x24, 'global.set', 1, 0, 'index');
define(0x28, 'i32.load i64.load f32.load f64.load', 1, 1, 'memory');
define(0x2c, each('i32', 'load8_s load8_u load16_s load16_u'), 1, 1, 'memory');
define(0x30, each('i64', 'load8_s load8_u load16_s load16_u load32_s load32_u'), 1, 1, 'memory');
define(0x36, 'i32.store i64.store f32.store f64.store', 2, 0, 'memory');
define(0x3a, 'i32.store8 i32.store16 i64.store8 i64.store16 i64.store32', 2, 0, 'memory');
define(0x3f, 'memory.size', 0, 1, 'byte');
define(0x40, 'memory.grow', 1, 1, 'byte');
define(0x41, 'i32.const', 0, 1, 'i32');
define(0x42, 'i64.const', 0, 1, 'i64');
define(0x43, 'f32.const', 0, 1, 'f32');
define(0x44, 'f64.const', 0, 1, 'f64');
define(0x45, 'i32.eqz', 1, 1);
define(0x46, each('i32', `eq ne ${SIGNED}`), 2, 1);
define(0x50, 'i64.eqz', 1, 1);
define(0x51, each('i64', `eq ne ${SIGNED}`), 2, 1);
define(0x5b, each('f32', 'eq ne lt gt le ge'), 2, 1);
define(0x61, each('f64', 'eq ne lt gt le ge'), 2, 1);
define(0x67, each('i32', 'clz ctz popcnt'), 1, 1);
define(0x6a, each('i32', INTEGER), 2, 1);
define(0x79, each('i64', 'clz ctz popcnt'), 1, 1);
define(0x7c, each('i64', INTEGER), 2, 1);
define(0x8b, each('f32', 'abs neg ceil floor trunc nearest sqrt'), 1, 1);
define(0x92, each('f32', FLOAT), 2, 1);
define(0x99, each('f64', 'abs neg ceil floor trunc nearest sqrt'), 1, 1);
define(0xa0, each('f64', FLOAT), 2, 1);
define(0xa7, each('i32', 'wrap_i64 trunc_f32_s trunc_f32_u trunc_f64_s trunc_f64_u'), 1, 1);
define(0xac, each('i64', 'extend_i32_s extend_i32_u'), 1, 1);
define(0xae, each('i64', 'trunc_f32_s trunc_f32_u trunc_f64_s trunc_f64_u'), 1, 1);
define(
  0xb2,
  each('f32', 'convert_i32_s convert_i32_u convert_i64_s convert_i64_u demote_f64'),
  1,
  1,
);
define(
  0xb7,
  each('f64', 'convert_i32_s convert_i32_u convert_i64_s convert_i64_u promote_f32'),
  1,
  1,
);
define(
  0xbc,
  'i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 f64.reinterpret_i64',
  1,
  1,
);
define(0xc0, 'i32.extend8_s i32.extend16_s i64.extend8_s i64.extend16_s i64.extend32_s', 1, 1);

const SATURATING = 'trunc_sat_f32_s trunc_sat_f32_u trunc_sat_f64_s trunc_sat_f64_u';
define(0xfc00, `${each('i32', SATURATING)} ${each('i64', SATURATING)}`, 1, 1);
define(0xfc0a, 'memory.copy', 3, 0, 'two bytes');
define(0xfc0b, 'memory.fill', 3, 0, 'byte');

/** In the order of the opcodes: the widths that each kind of atomic access comes in. */
const atomics = (kind: string, ending = '') =>
  `i32.${kind}${ending} i64.${kind}${ending} ` +
  `i32.${kind}8${ending}_u i32.${kind}16${ending}_u ` +
  `i64.${kind}8${ending}_u i64.${kind}16${ending}_u i64.${kind}32${ending}_u`;
define(0xfe00, 'memory.atomic.notify', 2, 1, 'memory');
define(0xfe01, 'memory.atomic.wait32 memory.atomic.wait64', 3, 1, 'memory');
define(0xfe03, 'atomic.fence', 0, 0, 'byte');
define(0xfe10, atomics('atomic.load'), 1, 1, 'memory');
define(0xfe17, atomics('atomic.store').replaceAll('_u', ''), 2, 0, 'memory');
for (const [i, change] of ['add', 'sub', 'and', 'or', 'xor', 'xchg'].entries()) {
  define(0xfe1e + i * 7, atomics('atomic.rmw', `.${change}`), 2, 1, 'memory');
}
define(0xfe48, atomics('atomic.rmw', '.cmpxchg'), 3, 1, 'memory');
