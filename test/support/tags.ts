import type { Key } from '../../src/index.ts';
import { sipHash13 } from '../model/siphash.ts';
import { instantiateAssembly } from './assembly.ts';

const KEY = [0x0706050403020100n, 0x0f0e0d0c0b0a0908n] as const;

/** A table that keeps nothing but the tag it was asked about. The functions are in the order that the front calls. */
const TABLE = `
  let tag: u64 = 0;
  export function lastTag(): u64 { return tag; }
  export function acquire(key: u64, now: u64, cost: u64): u64 { tag = key; return 0; }
  export function force(key: u64, now: u64, cost: u64): u64 { return 0; }
  export function peek(key: u64, now: u64, cost: u64): u64 { tag = key; return 0; }
  export function refund(key: u64, now: u64, cost: u64): void {}
  export function reset(key: u64, now: u64): void {}
  export function live(now: u64): u32 { return 0; }
  export function touch(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64): u64 { return 0; }
  export function horizon(): u64 { return 0; }
  export function algorithm(): u32 { return 1; }
  export function key0(): u64 { return 0x0706050403020100; }
  export function key1(): u64 { return 0x0f0e0d0c0b0a0908; }
  export function epoch(): i64 { return 0; }
  export function policyWord(index: u32): u64 { return 1; }
`;

/** The bytes that are hashed for a key: its own, and one for its kind. A number has its seven bytes only. */
function spelled(key: Key): Uint8Array {
  if (typeof key === 'number') {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(key));
    return bytes.subarray(0, 7);
  }
  if (typeof key !== 'string') return Uint8Array.from([...key, 131]);
  const units = Array.from({ length: key.length }, (_, i) => key.charCodeAt(i));
  const wide = units.some((unit) => unit > 255);
  return Uint8Array.from(
    wide ? [...units.flatMap((unit) => [unit & 255, unit >> 8]), 130] : [...units, 129],
  );
}

/** The tag that a key must have under the recorder's hash key. */
export function tagDue(key: Key): bigint {
  return sipHash13(...KEY, spelled(key));
}

/** Functions for the front's function table, and the tag that it last asked about. */
export async function tagRecorder(): Promise<{ functions: unknown[]; lastTag: () => bigint }> {
  const { lastTag, memory: _, ...functions } = await instantiateAssembly(TABLE);
  return {
    functions: Object.values(functions),
    lastTag: () => BigInt.asUintN(64, (lastTag as () => bigint)()),
  };
}
