import type { Key } from '../src/index.ts';

/**
 * - `fresh`: strings of 20 to 24 characters that nobody has seen yet, decoded from bytes in order of arrival, as a
 *   socket hands them over.
 * - `repeated`: strings of the same kind, the same object each time a key comes. V8 hashes such a string once, so this
 *   is JavaScript's best case.
 * - `integer`: 0 up to the number of keys.
 */
export type KeyKind = 'fresh' | 'repeated' | 'integer';
export const KEY_KINDS: readonly KeyKind[] = ['fresh', 'repeated', 'integer'];

/** Keys in some order. */
export interface KeyStream {
  readonly length: number;
  readonly at: (i: number) => Key;
}

/** What `toString('latin1')` comes down to; @types/node does not list it. */
type Latin1Buffer = Buffer & { latin1Slice(from: number, to: number): string };

const PREFIX = Buffer.from('account:');
const NUMBER_DIGITS = 10;
const MAX_SUFFIX_DIGITS = 5;
export const MAX_KEY_BYTES = PREFIX.length + NUMBER_DIGITS + 1 + MAX_SUFFIX_DIGITS;

/** Writes key number `index` (below 2^32) into the buffer and returns where it ends. All keys are different. */
export function writeKey(buffer: Buffer, at: number, index: number): number {
  // Times an odd number modulo 2^32: neighbours do not look alike, and no two numbers become one.
  const scattered = Math.imul(index, 2_654_435_761) >>> 0;
  buffer.set(PREFIX, at);
  const numberEnd = writeDigits(buffer, at + PREFIX.length, NUMBER_DIGITS, scattered);
  buffer[numberEnd] = 0x3a; // :
  return writeDigits(buffer, numberEnd + 1, 1 + (index % MAX_SUFFIX_DIGITS), scattered);
}

function writeDigits(buffer: Buffer, at: number, digits: number, value: number): number {
  let rest = value;
  for (let i = at + digits - 1; i >= at; i--) {
    buffer[i] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  return at + digits;
}

/** The same keys, once each in order of their numbers and then in the order given. */
export function keyStreams(
  kind: KeyKind,
  keys: number,
  order: Uint32Array,
): { readonly all: KeyStream; readonly arrivals: KeyStream } {
  if (kind === 'fresh')
    return { all: freshStrings(inSequence(keys)), arrivals: freshStrings(order) };
  if (kind === 'integer') return { all: integers(inSequence(keys)), arrivals: integers(order) };
  const { at } = freshStrings(inSequence(keys));
  const strings = Array.from({ length: keys }, (_, i) => at(i));
  return {
    all: { length: keys, at: (i) => strings[i] as Key },
    arrivals: { length: order.length, at: (i) => strings[order[i] as number] as Key },
  };
}

/** Keys number 0 up to `keys`. */
export function inSequence(keys: number): Uint32Array {
  return Uint32Array.from({ length: keys }, (_, i) => i);
}

/** Bytes of all keys one behind the other, so that producing a key reads memory as it comes, like a socket's buffer. */
export function freshStrings(order: Uint32Array): KeyStream {
  const { length } = order;
  const bytes = Buffer.alloc(length * MAX_KEY_BYTES) as Latin1Buffer;
  const ends = new Uint32Array(length + 1);
  for (let i = 0; i < length; i++) {
    ends[i + 1] = writeKey(bytes, ends[i] as number, order[i] as number);
  }
  return { length, at: (i) => bytes.latin1Slice(ends[i] as number, ends[i + 1] as number) };
}

/** A new key with every call, without end. */
export function endlessKeys(): () => Key {
  const bytes = Buffer.alloc(MAX_KEY_BYTES) as Latin1Buffer;
  let index = 0;
  return () => bytes.latin1Slice(0, writeKey(bytes, 0, index++));
}

function integers(order: Uint32Array): KeyStream {
  return { length: order.length, at: (i) => order[i] as number };
}
