import type { Key } from '../limiter.ts';
import { invalidKey, isIntegerKey } from '../options.ts';
import {
  absorb,
  begin,
  keep,
  SCRATCH_SIZE,
  scratch,
  scratchUnits,
  seal,
  sealText,
} from './front.ts';

/** Kinds of key that come sealed; see assembly/front/key.ts. */
const LATIN1 = 129;
const UTF16 = 130;
const BYTES = 131;

/** A character that Latin-1 does not have. */
const WIDE = /[^\0-\xff]/;
/**
 * Characters from which a text is copied as a whole, in the same time whatever its length. A shorter one is read faster
 * character by character; that takes twice as long where the engine has no string builtins.
 */
const LONG = sealText === undefined ? 48 : 96;
const scratchBuffer = Buffer.from(scratch.buffer, scratch.byteOffset, SCRATCH_SIZE);

const NUMBER = -1;
const SEALED = -2;

/**
 * Puts the key where the front finds it and says how: so many Latin-1 bytes in the scratch area; -1, the number
 * itself; -2, hashed already, the tag being in `place`. To be followed at once by the front's function, with `numberOf`
 * the same key.
 */
export function takeKey(seat: number, key: Key, place = 0): number {
  if (typeof key === 'string') {
    const { length } = key;
    if (length === 0) throw invalidKey(key);
    if (length >= LONG) return takeLong(seat, key, place);
    if (sealText !== undefined) {
      sealText(seat, key, place);
      return SEALED;
    }
    let units = 0;
    for (let i = 0; i < length; i++) {
      const unit = key.charCodeAt(i);
      units |= unit;
      scratch[i] = unit;
    }
    return units < 256 ? length : sealString(seat, key, place);
  }
  if (typeof key === 'number') {
    if (isIntegerKey(key)) return NUMBER;
    throw invalidKey(key);
  }
  return sealBytes(seat, key, place);
}

/** Whether the front reads the key itself, where it can. */
export function isShortText(key: Key): key is string {
  return typeof key === 'string' && key.length > 0 && key.length < LONG;
}

export function numberOf(key: Key): number {
  return typeof key === 'number' ? key : 0;
}

/** Puts the key's tag into a place of the front's. */
export function sealKey(seat: number, key: Key, place: number): void {
  const length = takeKey(seat, key, place);
  if (length !== SEALED) keep(seat, length, numberOf(key), place);
}

function takeLong(seat: number, key: string, place: number): number {
  if (key.length > SCRATCH_SIZE || WIDE.test(key)) return sealString(seat, key, place);
  return scratchBuffer.write(key, 0, key.length, 'latin1');
}

/** Latin-1 or not is told by the characters, never by how the engine stores them: one key, one tag. */
function sealString(seat: number, key: string, place: number): number {
  const wide = WIDE.test(key);
  const target = wide ? scratchUnits : scratch;
  const put = (from: number, to: number) => {
    for (let i = from; i < to; i++) target[i - from] = key.charCodeAt(i);
  };
  return sealParts(seat, key.length, target, put, wide ? UTF16 : LATIN1, place);
}

function sealBytes(seat: number, key: Uint8Array, place: number): number {
  if (!(key instanceof Uint8Array) || key.length === 0) throw invalidKey(key);
  const put = (from: number, to: number) => scratch.set(key.subarray(from, to));
  return sealParts(seat, key.length, scratch, put, BYTES, place);
}

/** Streams a key of any length through the scratch area. */
function sealParts(
  seat: number,
  length: number,
  target: Uint8Array | Uint16Array,
  put: (from: number, to: number) => void,
  kind: number,
  place: number,
): number {
  begin(seat);
  let from = 0;
  for (; length - from > target.length; from += target.length) {
    put(from, from + target.length);
    absorb();
  }
  put(from, length);
  seal((length - from) * target.BYTES_PER_ELEMENT, kind, place);
  return SEALED;
}
