// Reads a compiled module as far as a test needs it: which functions there are, and every instruction of each with the
// instructions that can come after it. Opcodes it does not know are an error, so that nothing is overlooked.

import { type Immediates, OPCODES, PREFIXES } from './wasm-opcodes.ts';

/** A way on from an instruction. */
export interface Edge {
  readonly to: number;
  /** For a branch: the block whose label it goes to (-1: the function) and how many values it takes along. */
  readonly label?: { readonly block: number; readonly keeps: number };
}

export interface Instruction {
  readonly name: string;
  /** Index of a local, function and so on; the offset of a memory access; the value of a constant. */
  readonly value: bigint;
  readonly pops: number;
  readonly pushes: number;
  /** For `if` and `br_if`, first where the condition is not 0, then where it is. None at the end of the function. */
  readonly next: readonly Edge[];
}

export interface Signature {
  readonly params: number;
  readonly results: number;
}

export interface WasmFunction {
  readonly index: number;
  readonly signature: Signature;
  /** What the locals that are not parameters begin with: an i64 as a bigint. */
  readonly zeros: readonly (number | bigint)[];
  readonly code: readonly Instruction[];
}

export interface WasmModule {
  /** By index; imported ones are not there. */
  readonly functions: ReadonlyMap<number, WasmFunction>;
  /** Signatures of all functions, imported ones first. */
  readonly signatures: readonly Signature[];
  /** Function indexes by name. */
  readonly exports: ReadonlyMap<string, number>;
  /** `module.name` of imported globals, by index. */
  readonly importedGlobals: readonly string[];
}

class Bytes {
  at = 0;
  readonly #bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }
  byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new Error('the module ends too early');
    return byte;
  }
  u32(): number {
    return Number(this.leb(false));
  }
  /** A number in LEB128. */
  leb(signed: boolean): bigint {
    let value = 0n;
    let shift = 0n;
    let byte: number;
    do {
      byte = this.byte();
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte & 128);
    return signed && byte & 64 ? value - (1n << shift) : value;
  }
  text(): string {
    const size = this.u32();
    const text = new TextDecoder().decode(this.#bytes.subarray(this.at, this.at + size));
    this.at += size;
    return text;
  }
  list<T>(read: () => T): T[] {
    return Array.from({ length: this.u32() }, read);
  }
  get ended(): boolean {
    return this.at >= this.#bytes.length;
  }
}

export function readModule(wasm: Uint8Array): WasmModule {
  const bytes = new Bytes(wasm);
  bytes.at = 8;
  const types: Signature[] = [];
  const signatures: Signature[] = [];
  const exports = new Map<string, number>();
  const functions = new Map<number, WasmFunction>();
  const importedGlobals: string[] = [];
  const signature = (index: number) => types[index] as Signature;
  while (!bytes.ended) {
    const section = bytes.byte();
    const end = bytes.u32() + bytes.at;
    if (section === 1) {
      bytes.list(() => {
        bytes.byte();
        const params = bytes.list(() => bytes.byte()).length;
        types.push({ params, results: bytes.list(() => bytes.byte()).length });
      });
    } else if (section === 2) {
      bytes.list(() => {
        const name = `${bytes.text()}.${bytes.text()}`;
        const kind = bytes.byte();
        if (kind === 0) signatures.push(signature(bytes.u32()));
        else if (kind === 3) importedGlobals.push(name) && bytes.u32() && bytes.byte();
        else skipLimits(bytes, kind);
      });
    } else if (section === 3) {
      bytes.list(() => signatures.push(signature(bytes.u32())));
    } else if (section === 7) {
      bytes.list(() => {
        const name = bytes.text();
        const kind = bytes.byte();
        const index = bytes.u32();
        if (kind === 0) exports.set(name, index);
      });
    } else if (section === 10) {
      let index = signatures.length - bytes.u32();
      for (; index < signatures.length; index++) {
        const own = signatures[index] as Signature;
        functions.set(index, readFunction(bytes, index, own, types));
      }
    }
    bytes.at = end;
  }
  return { functions, signatures, exports, importedGlobals };
}

function skipLimits(bytes: Bytes, kind: number): void {
  if (kind === 1) bytes.byte();
  const flags = bytes.byte();
  bytes.u32();
  if (flags & 1) bytes.u32();
}

const I64 = 0x7e;

interface Raw {
  readonly name: string;
  readonly value: bigint;
  readonly targets: readonly number[];
  readonly pops: number;
  readonly pushes: number;
}

function readFunction(
  bytes: Bytes,
  index: number,
  signature: Signature,
  types: readonly Signature[],
): WasmFunction {
  const end = bytes.u32() + bytes.at;
  const zeros = bytes
    .list(() => ({ count: bytes.u32(), type: bytes.byte() }))
    .flatMap(({ count, type }) => Array.from({ length: count }, () => (type === I64 ? 0n : 0)));
  const raw: Raw[] = [];
  while (bytes.at < end) raw.push(readInstruction(bytes));
  return { index, signature, zeros, code: link(raw, signature, types) };
}

function readInstruction(bytes: Bytes): Raw {
  const first = bytes.byte();
  const number = PREFIXES.includes(first) ? first * 256 + bytes.u32() : first;
  const opcode = OPCODES.get(number);
  if (opcode === undefined) throw new Error(`opcode 0x${number.toString(16)} is not known here`);
  const { name, pops, pushes, immediates } = opcode;
  const targets = immediates === 'targets' ? bytes.list(() => bytes.u32()) : [];
  if (immediates === 'targets') targets.push(bytes.u32());
  return { name, pops, pushes, targets, value: readImmediates(bytes, immediates) };
}

function readImmediates(bytes: Bytes, immediates: Immediates): bigint {
  switch (immediates) {
    case 'block':
    case 'i32':
    case 'i64':
      return bytes.leb(true);
    case 'index':
      return BigInt(bytes.u32());
    case 'two indexes': {
      const index = bytes.u32();
      bytes.u32();
      return BigInt(index);
    }
    case 'memory':
      bytes.u32();
      return BigInt(bytes.u32());
    case 'types':
      bytes.list(() => bytes.byte());
      return 0n;
    case 'f32':
    case 'f64':
      bytes.at += immediates === 'f32' ? 4 : 8;
      return 0n;
    case 'byte':
    case 'two bytes':
      bytes.at += immediates === 'byte' ? 1 : 2;
      return 0n;
    default:
      return 0n;
  }
}

const EMPTY = -64n;

interface Block {
  readonly at: number;
  readonly loop: boolean;
  readonly keeps: number;
  else: number;
  end: number;
}

/** Finds where each block ends, and from that where each instruction goes on. */
function link(raw: readonly Raw[], signature: Signature, types: readonly Signature[]) {
  const blocks: Block[] = [];
  const whole: Block = {
    at: -1,
    loop: false,
    keeps: signature.results,
    else: -1,
    end: raw.length - 1,
  };
  const around: Block[][] = [];
  let open = [whole];
  for (const [at, { name, value }] of raw.entries()) {
    around.push(open);
    if (name === 'block' || name === 'loop' || name === 'if') {
      const results =
        value >= 0n ? (types[Number(value)] as Signature).results : value === EMPTY ? 0 : 1;
      const params = value >= 0n ? (types[Number(value)] as Signature).params : 0;
      if (params > 0) throw new Error('blocks with parameters are not known here');
      const loop = name === 'loop';
      const block = { at, loop, keeps: loop ? 0 : results, else: -1, end: -1 };
      blocks[at] = block;
      open = [block, ...open];
    } else if (name === 'else') {
      (open[0] as Block).else = at;
    } else if (name === 'end') {
      (open[0] as Block).end = at;
      open = open.slice(1);
    }
  }
  const branch = (at: number, depth: number): Edge => {
    const block = around[at]?.[depth] as Block;
    // To the `end` itself, which does nothing: so the last one is where every way out of the function meets.
    return {
      to: block.loop ? block.at : block.end,
      label: { block: block.at, keeps: block.keeps },
    };
  };
  return raw.map(({ name, value, targets, pops, pushes }, at): Instruction => {
    const through: Edge = { to: at + 1 };
    let next: readonly Edge[] = at + 1 < raw.length ? [through] : [];
    if (name === 'unreachable') next = [];
    else if (name === 'return') next = [branch(at, (around[at] as Block[]).length - 1)];
    else if (name === 'br') next = [branch(at, Number(value))];
    else if (name === 'br_if') next = [branch(at, Number(value)), through];
    else if (name === 'br_table') next = targets.map((depth) => branch(at, depth));
    else if (name === 'else') next = [{ to: (around[at] as Block[])[0]?.end ?? -1 }];
    else if (name === 'if') {
      const block = blocks[at] as Block;
      next = [through, { to: block.else >= 0 ? block.else + 1 : block.end }];
    }
    return { name, value, pops, pushes, next };
  });
}
