import { createHash } from 'node:crypto';
import type { Key } from '../limiter.ts';
import { checkKey } from '../options.ts';

/** Longer texts are hashed, so that a key from outside cannot fill Redis or a cache. */
const MAX_TEXT = 128;
const PLAIN = /^[\w.@:-]{1,128}$/;
/** Half of a surrogate pair: such strings have no UTF-8 of their own. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * A key as printable ASCII without braces, never empty, at most 130 characters. No two keys have the same text: the
 * first character tells the kind, and within a kind the spelling can be read back or is a SHA-256.
 *
 *   n42          number                       s..., percent-encoded where it is not plain: string
 *   b...         bytes, base64url             u...  a string with half a surrogate pair: its UTF-16 units, base64url
 *   S... B... U...  the SHA-256 of a long one, base64url
 */
export function keyText(key: Key): string {
  if (typeof key === 'string') return PLAIN.test(key) ? `s${key}` : stringText(key);
  checkKey(key);
  return typeof key === 'number' ? `n${key}` : bytesText('b', key);
}

function stringText(key: string): string {
  checkKey(key);
  if (LONE_SURROGATE.test(key)) return bytesText('u', Buffer.from(key, 'utf16le'));
  // Percent-encoding only ever makes it longer.
  const text = key.length <= MAX_TEXT ? encodeURIComponent(key) : '';
  return text !== '' && text.length <= MAX_TEXT ? `s${text}` : digest('S', Buffer.from(key));
}

function bytesText(kind: string, bytes: Uint8Array): string {
  // Four characters for three bytes.
  if (bytes.length > (MAX_TEXT * 3) / 4) return digest(kind.toUpperCase(), bytes);
  return kind + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64url');
}

function digest(kind: string, bytes: Uint8Array): string {
  return kind + createHash('sha256').update(bytes).digest('base64url');
}

/** A limiter's name within a Redis key: without braces, which would move the hash tag, and without colons and spaces. */
export function nameText(name: string): string {
  return encodeURIComponent(name);
}

/** The cluster slot of a hash tag: CRC-16/XMODEM modulo 16384, https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec */
export function slotOf(tag: string): number {
  let crc = 0;
  for (let i = 0; i < tag.length; i++) {
    crc = ((crc << 8) ^ (CRC[((crc >> 8) ^ tag.charCodeAt(i)) & 0xff] as number)) & 0xffff;
  }
  return crc & 0x3fff;
}

const CRC = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});
