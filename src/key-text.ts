import { createHash } from 'node:crypto';
import type { Key } from './limiter.ts';
import { checkKey } from './options.ts';

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
