import { beforeAll, describe, expect, it } from 'vitest';
import { peek, SCRATCH_SIZE, takeSeat } from '../../src/core/front.ts';
import { numberOf, takeKey } from '../../src/core/key.ts';
import type { Key } from '../../src/index.ts';
import { Random } from '../support/random.ts';
import { tagDue, tagRecorder } from '../support/tags.ts';

// From 48 characters, or 96 with string builtins, a text is copied as a whole.
const LENGTHS = [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 47, 48, 49, 95, 96, 97, 255, 256, 1_000];
const AROUND_THE_SCRATCH_AREA = [1, 2, 4].flatMap((times) => {
  const size = (times * SCRATCH_SIZE) / 2;
  return [-9, -8, -1, 0, 1, 8].map((more) => size + more);
});

describe('a key becomes the keyed hash of its bytes and its kind:', () => {
  let tagOf: (key: Key) => bigint;
  const random = new Random(4);

  beforeAll(async () => {
    const { functions, lastTag } = await tagRecorder();
    const seat = takeSeat({}, functions, 0);
    tagOf = (key) => {
      peek(seat.address, takeKey(seat.address, key), numberOf(key), 0, 1);
      return lastTag();
    };
  });

  function expectTag(key: Key): void {
    if (tagOf(key) !== tagDue(key)) {
      expect.fail(`${typeof key} of length ${typeof key === 'number' ? 1 : key.length}`);
    }
  }

  it.each([
    ['Latin-1 text', 256],
    ['any text, lone surrogates too', 65_536],
  ])('%s, of any length', (_, units) => {
    for (const length of [...LENGTHS, ...AROUND_THE_SCRATCH_AREA]) {
      const text = random.text(length, units);
      expectTag(text);
      // A short key after a long one.
      expectTag(text.slice(0, 3));
    }
  });

  it('Latin-1 text that the engine keeps in two bytes a character', () => {
    for (const length of [5, 20, 60, 300, SCRATCH_SIZE, SCRATCH_SIZE + 5]) {
      const text = `${random.text(length, 256)}Ж`.slice(0, -1);
      expectTag(text);
    }
  });

  it('text whose only wide character is its first, its last or in the middle', () => {
    for (const length of [1, 8, 40, 60, 200, SCRATCH_SIZE, SCRATCH_SIZE + 1, 2 * SCRATCH_SIZE]) {
      const latin = random.text(length, 256);
      for (const place of [0, length >> 1, length]) {
        expectTag(`${latin.slice(0, place)}\u0100${latin.slice(place)}`);
      }
    }
  });

  it('bytes, of any length', () => {
    for (const length of [...LENGTHS, ...AROUND_THE_SCRATCH_AREA]) {
      expectTag(Uint8Array.from({ length }, () => random.below(256)));
    }
  });

  it('whole numbers to 2^53 - 1', () => {
    for (let bit = 0; bit < 53; bit++) for (const more of [-1, 0, 1]) expectTag(2 ** bit + more);
    for (let i = 0; i < 1_000; i++) expectTag(random.below(2 ** 53));
    expectTag(Number.MAX_SAFE_INTEGER);
  });
});
