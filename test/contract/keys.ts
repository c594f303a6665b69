import { expect, it } from 'vitest';
import type { Key, RateLimiter } from '../../src/index.ts';
import type { Subjects } from './subject.ts';

const bytes = (...values: number[]) => new Uint8Array(values);
const text = (...units: number[]) => String.fromCharCode(...units);

/** Groups of keys that a careless spelling would take for one. */
const LOOK_ALIKES: [string, Key[]][] = [
  ['numbers, their digits and the bytes of those', [42, '42', bytes(52, 50), bytes(42)]],
  [
    'zero, empty-looking strings and zero bytes',
    [0, '0', '\0', '\0\0', ' ', bytes(0), bytes(0, 0)],
  ],
  ['names of nothing', ['undefined', 'null', 'NaN', '[object Object]', 'false']],
  ['characters that share their low byte', ['a', '\u0161', '\u2061', text(0x6161), '\uff61']],
  [
    'one character, its two bytes, and its low one',
    ['\u0100', '\0', '\0\u0001', '\u0001\0', bytes(0, 1)],
  ],
  ['accents composed and combined', ['\u00e9', 'e\u0301', '\u00c3\u00a9']],
  ['lone surrogates', ['\ud800', '\udc00', '\ufffd', '\ud800\udc00', '\udc00\ud800', '?']],
  ['cases and spaces', ['ann', 'Ann', 'ann ', ' ann', 'ann\n', 'ann\0']],
  ['joined parts', ['a:b|c', 'a|b:c', 'a:b:c', 'ab:c', 'a', 'ab']],
  ['large numbers', [2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53 - 2, 2 ** 52, 1]],
  [
    'numbers and the bytes that spell them',
    [1, bytes(1, 0, 0, 0, 0, 0, 0), text(1, 0, 0, 0, 0, 0, 0)],
  ],
  [
    'addresses and user names',
    ['127.0.0.1', 'user:127.0.0.1', 'ip:127.0.0.1', '::1', '::ffff:127.0.0.1'],
  ],
  ['braces', ['}x', '{}x', '{}', '{', 'a{b}c', '{b}']],
  ['globs', ['*', '?', '[a-z]', 'user:*', 'user:1', 'a', '\\*', '%', '_']],
  ['object members', ['__proto__', 'constructor', 'toString', 'hasOwnProperty']],
  ['twins of a weak 32-bit hash', ['costarring', 'liquid', 'declinate', 'macallums']],
];

async function spend(limiter: RateLimiter, key: Key): Promise<void> {
  expect(await limiter.tryAcquire(key)).toMatchObject({ allowed: true, remaining: 0 });
}

/** Which calls are about the same key, and which are not. */
export function describeKeys(subjects: Subjects): void {
  it.each(LOOK_ALIKES)('tells apart %s', async (_, keys) => {
    const limiter = await subjects.limiter(1);
    for (const key of keys) await spend(limiter, key);
    for (const key of keys) expect(await limiter.peek(key)).toMatchObject({ allowed: false });
  });

  it('knows a key again, however it was made', async () => {
    const limiter = await subjects.limiter(1);
    await spend(limiter, 'user:\u00fc\u00fc');
    await spend(limiter, 'user:\u{1d4b3}');
    await spend(limiter, 42);
    await spend(limiter, bytes(1, 2, 3));
    const wide = 'user:\u00fc\u00fc\u{1d4b3}';
    const again: Key[] = [
      ['us', 'er:', '\u00fc', '\u00fc'].join(''),
      wide.slice(0, 7),
      `user:${String.fromCodePoint(0x1d4b3)}`,
      Number('4.2e1'),
      Buffer.from([1, 2, 3]),
      bytes(0, 1, 2, 3, 4).subarray(1, 4),
    ];
    for (const key of again)
      expect(await limiter.tryAcquire(key)).toMatchObject({ allowed: false });
  });

  it('takes minus zero for zero', async () => {
    const limiter = await subjects.limiter(1);
    await spend(limiter, 0);
    expect(await limiter.tryAcquire(-0)).toMatchObject({ allowed: false });
  });

  it.each([1, 7, 8, 9, 255, 256, 300, 16_385, 32_767, 32_768, 32_769, 100_000])(
    'tells keys of %d characters apart by any one of them',
    async (length) => {
      const limiter = await subjects.limiter(1);
      for (const [filling, other] of ['ab', '\u00e9\u00e8', '\u0416\u0417']) {
        const whole = `${filling}`.repeat(length);
        await spend(limiter, whole);
        for (const place of new Set([0, length >> 1, length - 1])) {
          await spend(limiter, `${whole.slice(0, place)}${other}${whole.slice(place + 1)}`);
        }
        await spend(limiter, `${whole}${filling}`);
        expect(await limiter.peek(whole)).toMatchObject({ allowed: false });
      }
    },
  );

  it('keeps two limiters apart', async () => {
    const [one, other] = [await subjects.limiter(1), await subjects.subject(1, 'other')];
    await spend(one, 'ann');
    await spend(other.limiter, 'ann');
    await one.reset('ann');
    expect(await other.limiter.peek('ann')).toMatchObject({ allowed: false });
    await one.close();
    expect(await other.limiter.peek('ann')).toMatchObject({ allowed: false });
  });
}
