const WORD = (1n << 64n) - 1n;

type State = [v0: bigint, v1: bigint, v2: bigint, v3: bigint];

/** SipHash-1-3 of a message of bytes: one round after each block of eight, three at the end. */
export function sipHash13(key0: bigint, key1: bigint, message: Uint8Array): bigint {
  const state: State = [
    key0 ^ ascii('somepseu'),
    key1 ^ ascii('dorandom'),
    key0 ^ ascii('lygenera'),
    key1 ^ ascii('tedbytes'),
  ];
  // Filled up with zeros to whole blocks; the last byte of the last one is the length.
  const padded = new Uint8Array((message.length & ~7) + 8);
  padded.set(message);
  padded[padded.length - 1] = message.length;
  const view = new DataView(padded.buffer);
  for (let at = 0; at < padded.length; at += 8) compress(state, view.getBigUint64(at, true));
  state[2] ^= 0xffn;
  for (let i = 0; i < 3; i++) round(state);
  return state[0] ^ state[1] ^ state[2] ^ state[3];
}

function compress(state: State, block: bigint): void {
  state[3] ^= block;
  round(state);
  state[0] ^= block;
}

function round(v: State): void {
  v[0] = (v[0] + v[1]) & WORD;
  v[2] = (v[2] + v[3]) & WORD;
  v[1] = rotate(v[1], 13n) ^ v[0];
  v[3] = rotate(v[3], 16n) ^ v[2];
  v[0] = rotate(v[0], 32n);
  v[2] = (v[2] + v[1]) & WORD;
  v[0] = (v[0] + v[3]) & WORD;
  v[1] = rotate(v[1], 17n) ^ v[2];
  v[3] = rotate(v[3], 21n) ^ v[0];
  v[2] = rotate(v[2], 32n);
}

function rotate(word: bigint, by: bigint): bigint {
  return ((word << by) | (word >> (64n - by))) & WORD;
}

/** The constants are text, its first letter in the highest byte. */
function ascii(text: string): bigint {
  return Buffer.from(text, 'latin1').readBigUInt64BE();
}
