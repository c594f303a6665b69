import * as fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { addressKey } from '../../src/http/address.ts';
import type { RequestFacts } from '../../src/http/facts.ts';
import { byHeader, byIp, byUser, joinKey } from '../../src/http/keys.ts';

const facts = (ip?: string, headers: Record<string, string> = {}): RequestFacts => ({
  method: 'GET',
  path: '/',
  ip,
  header: (name) => headers[name],
});
const ip = (address: string, ipv6Subnet?: number) =>
  byIp(ipv6Subnet === undefined ? {} : { ipv6Subnet })(undefined, facts(address));

describe('byIp', () => {
  it.each([
    ['203.0.113.9:51234', '203.0.113.9:51235'],
    ['203.0.113.9:51234', '203.0.113.9'],
    ['::ffff:1.2.3.4', '::ffff:102:304'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['0:0:0:0:0:FFFF:1.2.3.4', '1.2.3.4'],
    ['64:ff9b::1.2.3.4', '1.2.3.4'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:DB8:0::1'],
    ['::1', '0:0:0:0:0:0:0:1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
  ])('takes %s and %s for one client', (a, b) => {
    expect(ip(a)).toBe(ip(b));
  });

  it.each([
    ['::ffff:1.2.3.4', '::ffff:5.6.7.8'],
    ['1.2.3.4', '1.2.3.5'],
    ['2001:db8:1:2::1', '2001:db8:1:102::1'],
    ['2001:db8:1:2::1.2.3.4', '1.2.3.4'],
    ['2001:db8:1:2::1.2.3.4', '::ffff:1.2.3.4'],
    ['::1', '127.0.0.1'],
  ])('tells %s and %s apart', (a, b) => {
    expect(ip(a)).not.toBe(ip(b));
  });

  it('folds IPv6 to the network it is told', () => {
    expect(ip('2001:db8:1:2:a::1', 64)).toBe(ip('2001:db8:1:2:b::1', 64));
    expect(ip('2001:db8:1:2:a::1', 64)).not.toBe(ip('2001:db8:1:3::1', 64));
    expect(ip('2001:db8::1', 128)).not.toBe(ip('2001:db8::2', 128));
    expect(ip('2001:db8::1', 1)).toBe(ip('3fff::1', 1));
  });

  it('folds equal exactly when the leading bits are, for every width', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const address = fc.array(group, { minLength: 8, maxLength: 8 });
    const spelled = (groups: number[]) => groups.map((g) => g.toString(16)).join(':');
    const bits = (groups: number[]) => groups.map((g) => g.toString(2).padStart(16, '0')).join('');
    fc.assert(
      fc.property(
        address.filter(([first]) => first !== 0 && first !== 0x64),
        fc.integer({ min: 1, max: 128 }),
        fc.integer({ min: 0, max: 127 }),
        (a, width, flipped) => {
          const b = [...a];
          b[flipped >> 4] = (b[flipped >> 4] as number) ^ (0x8000 >> (flipped & 15));
          fc.pre(b[0] !== 0 && b[0] !== 0x64);
          const same = bits(a).slice(0, width) === bits(b).slice(0, width);
          expect(addressKey(spelled(a), width) === addressKey(spelled(b), width)).toBe(same);
        },
      ),
    );
  });

  it('reads every spelling of an address as ipaddr.js does', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        // The old IPv4-compatible form, which ipaddr.js takes for ::ffff:.
        fc.pre(!/^::\d+\./.test(address));
        const parsed = ipaddr.IPv6.parse(address);
        const v4 = parsed.parts.slice(6).flatMap((part) => [part >> 8, part & 255]);
        const v6 = parsed.parts.map((part) => part.toString(16));
        const embedded = parsed.isIPv4MappedAddress() || parsed.range() === 'rfc6052';
        const expected = embedded ? v4.join('.') : `${v6.join(':')}/128`;
        expect(addressKey(address, 128)).toBe(`ip:${expected}`);
        expect(addressKey(address.toUpperCase(), 128)).toBe(`ip:${expected}`);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    'unknown',
    '_hidden',
    '1.2.3',
    '1.2.3.4.5',
    ':::',
    'fe80::1%',
    '%',
    '[',
    'ä',
    '::ffff:x',
  ])('takes %s, which is no address, as it stands', (text) => {
    expect(ip(text)).toMatch(/^ip:/);
    expect(ip(text)).not.toBe(ip('other'));
  });

  it('never throws, whatever a proxy writes', () => {
    fc.assert(fc.property(fc.string({ minLength: 1 }), (text) => ip(text).startsWith('ip:')));
  });

  it('refuses to invent a key for a client without an address', () => {
    for (const none of [undefined, '']) {
      expect(() => byIp()(undefined, facts(none))).toThrow(/no address here.*ip.*trustProxy/s);
    }
  });

  it.each([0, 129, 56.5, Number.NaN])('refuses a network of %d bits', (ipv6Subnet) => {
    expect(() => byIp({ ipv6Subnet })).toThrow(/ipv6Subnet must be a whole number from 1 to 128/);
  });
});

describe('byHeader', () => {
  const key = byHeader('X-API-Key');
  const of = (value?: string) =>
    key(undefined, facts('1.2.3.4', value === undefined ? {} : { 'x-api-key': value }));

  it('never shows the header’s value', () => {
    expect(of('secret')).toMatch(/^header:x-api-key:[\w-]{43}$/);
    expect(of('secret')).not.toContain('secret');
  });

  it('tells values apart that differ in one late character only', () => {
    expect(of(`${'a'.repeat(300)}b`)).not.toBe(of(`${'a'.repeat(300)}c`));
  });

  it('falls back to the address for no header and an empty one, or to what it is told', () => {
    expect(of()).toBe('ip:1.2.3.4');
    expect(of('')).toBe('ip:1.2.3.4');
    const other = byHeader('x-api-key', { fallback: () => 'nobody' });
    expect(other(undefined, facts())).toBe('nobody');
  });
});

describe('byUser', () => {
  const of = (id: unknown) => byUser(() => id as never)(undefined, facts('1.2.3.4'));

  it('keeps users apart from addresses of the same spelling', () => {
    expect(of('127.0.0.1')).toBe('user:127.0.0.1');
    expect(of('127.0.0.1')).not.toBe(ip('127.0.0.1'));
  });

  it('takes 42 and "42" for one user', () => {
    expect(of(42)).toBe(of('42'));
  });

  it.each([undefined, null, ''])('limits a user of id %s by address', (id) => {
    expect(of(id)).toBe('ip:1.2.3.4');
  });

  it.each([Number.NaN, {}, [], true, 1.5, -1, 5n])('refuses the id %s', (id) => {
    expect(() => of(id)).toThrow(TypeError);
  });

  it('waits for a user that comes later', async () => {
    expect(await of(Promise.resolve(7))).toBe('user:7');
    expect(await of(Promise.resolve(undefined))).toBe('ip:1.2.3.4');
  });
});

describe('joinKey', () => {
  it('gives one key to equal lists only', () => {
    const part = fc.string({ minLength: 1, unit: fc.constantFrom(':', 'a', '1', '2') });
    const list = fc.array(part, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(list, list, (a, b) => {
        expect(joinKey(a) === joinKey(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
    expect(joinKey(['a:b', 'c'])).not.toBe(joinKey(['a', 'b:c']));
  });

  it.each([[[]], [['']], [[undefined]], [['a', Number.NaN]], ['ab'], [undefined]])(
    'refuses %j',
    (parts) => {
      expect(() => joinKey(parts as never)).toThrow(TypeError);
    },
  );
});
