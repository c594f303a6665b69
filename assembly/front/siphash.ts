// SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; one compression and three finalization
// rounds), a keyed hash: whoever does not know the 128-bit key cannot choose keys that meet in the table.
//
// The round is written out each time: WebAssembly has no function of four results, and a detour through memory or a
// loop costs a fifth of a short key's time.

/** Message blocks are 8 bytes. The last one holds what is left of the message and, as its top byte, its length. */
export const BLOCK_BITS: usize = 3;

/** The hash of a message that lies in memory: `blocks` full blocks at `at`, and the last one. */
export function sipHash(key0: u64, key1: u64, at: usize, blocks: usize, last: u64): u64 {
  return finish(
    key0 ^ 0x736f6d6570736575,
    key1 ^ 0x646f72616e646f6d,
    key0 ^ 0x6c7967656e657261,
    key1 ^ 0x7465646279746573,
    at,
    blocks,
    last,
  );
}

/** A hash in progress, for messages that come in parts. */
@unmanaged
export class SipState {
  v0: u64;
  v1: u64;
  v2: u64;
  v3: u64;

  start(key0: u64, key1: u64): void {
    this.v0 = key0 ^ 0x736f6d6570736575;
    this.v1 = key1 ^ 0x646f72616e646f6d;
    this.v2 = key0 ^ 0x6c7967656e657261;
    this.v3 = key1 ^ 0x7465646279746573;
  }

  absorb(at: usize, blocks: usize): void {
    let v0 = this.v0;
    let v1 = this.v1;
    let v2 = this.v2;
    let v3 = this.v3;
    for (const end = at + (blocks << 3); at < end; at += 8) {
      const word = load<u64>(at);
      v3 ^= word;
      v0 += v1;
      v2 += v3;
      v1 = rotl(v1, 13) ^ v0;
      v3 = rotl(v3, 16) ^ v2;
      v0 = rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = rotl(v1, 17) ^ v2;
      v3 = rotl(v3, 21) ^ v0;
      v2 = rotl(v2, 32);
      v0 ^= word;
    }
    this.v0 = v0;
    this.v1 = v1;
    this.v2 = v2;
    this.v3 = v3;
  }

  finish(at: usize, blocks: usize, last: u64): u64 {
    return finish(this.v0, this.v1, this.v2, this.v3, at, blocks, last);
  }
}

/** The last steps, on a state in registers: `blocks` full blocks at `at`, the last one, and the finalization. */
export function finish(
  v0: u64,
  v1: u64,
  v2: u64,
  v3: u64,
  at: usize,
  blocks: usize,
  last: u64,
): u64 {
  for (const end = at + (blocks << 3); at < end; at += 8) {
    const word = load<u64>(at);
    v3 ^= word;
    v0 += v1;
    v2 += v3;
    v1 = rotl(v1, 13) ^ v0;
    v3 = rotl(v3, 16) ^ v2;
    v0 = rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = rotl(v1, 17) ^ v2;
    v3 = rotl(v3, 21) ^ v0;
    v2 = rotl(v2, 32);
    v0 ^= word;
  }
  v3 ^= last;
  v0 += v1;
  v2 += v3;
  v1 = rotl(v1, 13) ^ v0;
  v3 = rotl(v3, 16) ^ v2;
  v0 = rotl(v0, 32);
  v2 += v1;
  v0 += v3;
  v1 = rotl(v1, 17) ^ v2;
  v3 = rotl(v3, 21) ^ v0;
  v2 = rotl(v2, 32);
  v0 ^= last;
  v2 ^= 0xff;

  v0 += v1;
  v2 += v3;
  v1 = rotl(v1, 13) ^ v0;
  v3 = rotl(v3, 16) ^ v2;
  v0 = rotl(v0, 32);
  v2 += v1;
  v0 += v3;
  v1 = rotl(v1, 17) ^ v2;
  v3 = rotl(v3, 21) ^ v0;
  v2 = rotl(v2, 32);

  v0 += v1;
  v2 += v3;
  v1 = rotl(v1, 13) ^ v0;
  v3 = rotl(v3, 16) ^ v2;
  v0 = rotl(v0, 32);
  v2 += v1;
  v0 += v3;
  v1 = rotl(v1, 17) ^ v2;
  v3 = rotl(v3, 21) ^ v0;
  v2 = rotl(v2, 32);

  v0 += v1;
  v2 += v3;
  v1 = rotl(v1, 13) ^ v0;
  v3 = rotl(v3, 16) ^ v2;
  v0 = rotl(v0, 32);
  v2 += v1;
  v0 += v3;
  v1 = rotl(v1, 17) ^ v2;
  v3 = rotl(v3, 21) ^ v0;
  v2 = rotl(v2, 32);

  return v0 ^ v1 ^ v2 ^ v3;
}
