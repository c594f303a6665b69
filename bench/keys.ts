import type { Key } from '../src/index.ts';

/**
 * - `fresh`: strings that nobody has seen yet, decoded from bytes in order of arrival, as a socket hands them over.
 * - `repeated`: strings of the same kind, the same object each time a key comes. V8 hashes such a string once, so this
 *   is JavaScript's best case.
 * - `integer`: 0 up to the number of keys.
 * - `bytes`: `Uint8Array`s over a part of a buffer, each a new object.
 */
export type KeyKind = 'fresh' | 'repeated' | 'integer' | 'bytes';
export const KEY_KINDS: readonly KeyKind[] = ['fresh', 'repeated', 'integer', 'bytes'];

/** What keys look like. */
export interface KeyForm {
  readonly kind: KeyKind;
  /** Fewest and most characters, or bytes. */
  readonly length: readonly [number, number];
  /** Whether every character lies beyond Latin-1, so that a string takes two bytes a character. */
  readonly wide: boolean;
}

/** Strings like `account:account:1f3870be`. */
export const USUAL_LENGTH = [16, 24] as const;

/** Keys in some order. */
export interface KeyStream {
  readonly length: number;
  readonly at: (i: number) => Key;
}

/** What `toString` comes down to; @types/node does not list it. */
export type Decodable = Buffer & {
  latin1Slice(from?: number, to?: number): string;
  ucs2Slice(from?: number, to?: number): string;
};

const MAX_LENGTH = 200;
const ID_DIGITS = 8;
const HEX = Buffer.from('0123456789abcdef');
const PADDING = Buffer.from('account:'.repeat(MAX_LENGTH / 8));
/** Takes `0` and all letters up to `z` beyond Latin-1, into the Greek alphabet and around it. */
const WIDE_SHIFT = 0x350;

/** Writes key number `index` (below 2^32), a byte a character, and returns where it ends. All keys are different. */
export function writeKey(
  buffer: Buffer,
  at: number,
  index: number,
  [shortest, longest]: KeyForm['length'],
): number {
  // Times an odd number modulo 2^32: neighbours do not look alike, and no two numbers become one.
  const scattered = Math.imul(index, 2_654_435_761) >>> 0;
  const length = shortest + (scattered % (longest - shortest + 1));
  const idAt = at + length - ID_DIGITS;
  // Copied in a loop, which is quicker for a few bytes than a method of Buffer.
  for (let i = at; i < idAt; i++) buffer[i] = PADDING[i - at] as number;
  for (let i = 0; i < ID_DIGITS; i++) {
    buffer[idAt + i] = HEX[(scattered >>> (28 - 4 * i)) & 15] as number;
  }
  return at + length;
}

/** The same keys, once each in order of their numbers and then in the order given. */
export function keyStreams(
  form: KeyForm,
  keys: number,
  order: Uint32Array,
): { readonly all: KeyStream; readonly arrivals: KeyStream } {
  const { kind } = form;
  const sequence = inSequence(keys);
  if (kind === 'integer') return { all: integers(sequence), arrivals: integers(order) };
  if (kind === 'bytes') return { all: bytes(form, sequence), arrivals: bytes(form, order) };
  const all = freshStrings(sequence, form);
  if (kind === 'fresh') return { all, arrivals: freshStrings(order, form) };
  const strings = Array.from({ length: keys }, (_, i) => all.at(i));
  return {
    all: { length: keys, at: (i) => strings[i] as Key },
    arrivals: { length: order.length, at: (i) => strings[order[i] as number] as Key },
  };
}

/** Keys number 0 up to `keys`. */
export function inSequence(keys: number): Uint32Array {
  return Uint32Array.from({ length: keys }, (_, i) => i);
}

export const USUAL: KeyForm = { kind: 'fresh', length: USUAL_LENGTH, wide: false };

export function freshStrings(order: Uint32Array, { length, wide }: KeyForm = USUAL): KeyStream {
  const { text, ends } = written(order, length);
  if (!wide) {
    return {
      length: order.length,
      at: (i) => text.latin1Slice(ends[i] as number, ends[i + 1] as number),
    };
  }
  // `Uint16Array.from` would gather hundreds of millions of numbers in a list first.
  const units = new Uint16Array(text.length);
  for (let i = 0; i < text.length; i++) units[i] = (text[i] as number) + WIDE_SHIFT;
  const wideText = Buffer.from(units.buffer) as Decodable;
  return {
    length: order.length,
    at: (i) => wideText.ucs2Slice(2 * (ends[i] as number), 2 * (ends[i + 1] as number)),
  };
}

/** All keys one behind the other, so that producing a key reads memory as it comes, like a socket's buffer. */
function written(order: Uint32Array, length: KeyForm['length']) {
  const text = Buffer.alloc(order.length * length[1]);
  const ends = new Uint32Array(order.length + 1);
  order.forEach((index, i) => {
    ends[i + 1] = writeKey(text, ends[i] as number, index, length);
  });
  return { text: text.subarray(0, ends[order.length]) as Decodable, ends };
}

/** Keys number 2^31 and on, which no other stream has, without end. */
export function endlessKeys({ length }: KeyForm = USUAL): KeyStream {
  const text = Buffer.alloc(length[1]) as Decodable;
  return {
    length: Number.POSITIVE_INFINITY,
    at: (i) => text.latin1Slice(0, writeKey(text, 0, 2 ** 31 + i, length)),
  };
}

function bytes({ length }: KeyForm, order: Uint32Array): KeyStream {
  const { text, ends } = written(order, length);
  const array = new Uint8Array(text.buffer, text.byteOffset, text.length);
  return {
    length: order.length,
    at: (i) => array.subarray(ends[i] as number, ends[i + 1] as number),
  };
}

function integers(order: Uint32Array): KeyStream {
  return { length: order.length, at: (i) => order[i] as number };
}
