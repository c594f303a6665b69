// Makes small modules from text, for tests of what reads modules: one instruction a line or between
// semicolons, with its immediates, such as
// `i64.const 5`, `br_if 0`, `if i64`, `i64.load 8` (an offset).

import { OPCODES, type Opcode } from './wasm-opcodes.ts';

const I32 = 0x7f;
const I64 = 0x7e;
const EMPTY = 0x40;

const byName = new Map<string, readonly [number, Opcode]>();
for (const [number, opcode] of OPCODES) {
  if (!byName.has(opcode.name)) byName.set(opcode.name, [number, opcode]);
}

function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

function signed(value: bigint): number[] {
  const low = Number(value & 127n);
  const rest = value >> 7n;
  const ends = rest === (low & 64 ? -1n : 0n);
  return ends ? [low] : [low | 128, ...signed(rest)];
}

function instruction(line: string): number[] {
  const [name = '', ...words] = line.trim().split(/\s+/);
  const [number, { immediates }] = byName.get(name) ?? fail(name);
  const opcode = number < 256 ? [number] : [number >> 8, ...unsigned(number & 255)];
  const index = Number(words[0] ?? 0);
  switch (immediates) {
    case 'block':
      return [...opcode, words[0] === undefined ? EMPTY : I64];
    case 'i32':
    case 'i64':
      return [...opcode, ...signed(BigInt(words[0] ?? 0))];
    case 'f64':
      return [...opcode, ...new Uint8Array(new Float64Array([index]).buffer)];
    case 'index':
      return [...opcode, ...unsigned(index)];
    case 'memory':
      // The alignment, which atomic accesses must give exactly.
      return [
        ...opcode,
        name.includes('32') || name.endsWith('notify') ? 2 : 3,
        ...unsigned(index),
      ];
    case 'two indexes':
    case 'two bytes':
      return [...opcode, ...unsigned(index), 0];
    case 'byte':
      return [...opcode, 0];
    case 'none':
      return opcode;
    default:
      return fail(name);
  }
}

function fail(name: string): never {
  throw new Error(`${name} cannot be written`);
}

const sized = (bytes: readonly number[]) => [...unsigned(bytes.length), ...bytes];
const list = (items: readonly (readonly number[])[]) => [
  ...unsigned(items.length),
  ...items.flat(),
];
const text = (value: string) => sized([...new TextEncoder().encode(value)]);
const section = (id: number, bytes: readonly number[]) => [id, ...sized(bytes)];

/**
 * A module with the table's imports and the function `run`, from an i64 to an i64, with one more i32 and one more i64 local.
 * Function 1 takes and gives nothing; function table 0 is empty.
 */
export function moduleOf(body: string): Uint8Array {
  const code = body
    .trim()
    .split(/\s*[\n;]\s*/)
    .flatMap(instruction);
  const memory = [...text('env'), ...text('memory'), 2, 3, 0, ...unsigned(32_768)];
  const owner = [...text('thread'), ...text('owner'), 3, I32, 0];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(
      1,
      list([
        [0x60, 1, I64, 1, I64],
        [0x60, 0, 0],
      ]),
    ),
    ...section(2, list([memory, owner])),
    ...section(3, list([[0], [1]])),
    ...section(4, list([[0x70, 0, 0]])),
    ...section(7, list([[...text('run'), 0, 0]])),
    ...section(
      10,
      list([
        sized([
          ...list([
            [1, I32],
            [1, I64],
          ]),
          ...code,
          0x0b,
        ]),
        [2, 0, 0x0b],
      ]),
    ),
  ]);
}
