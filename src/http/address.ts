import { isIPv4, isIPv6 } from 'node:net';

/** `1.2.3.4:80`, `[::1]` and `[::1]:80`, as some proxies write an address. */
const WITH_PORT = /^(?:\[(.*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;
const MAPPED = '::ffff:';
const GROUPS = 8;
const GROUP_BITS = 16;

/**
 * A client's address as a key: one spelling for each, port and zone stripped. IPv4 inside IPv6 (`::ffff:1.2.3.4`, and
 * `64:ff9b::/96` of a translator) is that IPv4 address; other IPv6 addresses stand for their network of `subnet` bits,
 * since one customer has that many addresses. What is no address is taken as it stands.
 */
export function addressKey(address: string, subnet: number): string {
  if (!address.includes(':')) return `ip:${address}`;
  if (address.startsWith(MAPPED)) {
    const rest = address.slice(MAPPED.length);
    if (isIPv4(rest)) return `ip:${rest}`;
  }
  if (isIPv6(address)) return ipv6Key(address, subnet);
  const [, bracketed, v4] = WITH_PORT.exec(address) ?? [];
  const host = bracketed ?? v4 ?? address;
  return isIPv6(host) ? ipv6Key(host, subnet) : `ip:${host}`;
}

function ipv6Key(host: string, subnet: number): string {
  const groups = groupsOf(host);
  if (isMapped(groups) || isTranslated(groups)) {
    const [high, low] = groups.slice(6) as [number, number];
    return `ip:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  const length = Math.ceil(subnet / GROUP_BITS);
  const spare = length * GROUP_BITS - subnet;
  let key = 'ip:';
  for (let i = 0; i < length - 1; i++) key += `${(groups[i] as number).toString(16)}:`;
  const last = ((groups[length - 1] as number) >> spare) << spare;
  return `${key}${last.toString(16)}/${subnet}`;
}

/** The eight numbers of an address that Node has found to be one. */
function groupsOf(host: string): number[] {
  const zone = host.indexOf('%');
  const address = zone < 0 ? host : host.slice(0, zone);
  const gap = address.indexOf('::');
  if (gap < 0) return numbersOf(address);
  const head = gap === 0 ? [] : numbersOf(address.slice(0, gap));
  const tail = gap + 2 === address.length ? [] : numbersOf(address.slice(gap + 2));
  while (head.length + tail.length < GROUPS) head.push(0);
  return head.concat(tail);
}

function numbersOf(part: string): number[] {
  const numbers: number[] = [];
  for (const group of part.split(':')) {
    if (group.includes('.')) {
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
      numbers.push((a << 8) | b, (c << 8) | d);
    } else {
      numbers.push(Number.parseInt(group, 16));
    }
  }
  return numbers;
}

/** `::ffff:0:0/96` */
function isMapped(groups: readonly number[]): boolean {
  return groups[5] === 0xffff && groups.every((group, i) => i > 4 || group === 0);
}

/** `64:ff9b::/96` */
function isTranslated(groups: readonly number[]): boolean {
  if (groups[0] !== 0x64 || groups[1] !== 0xff9b) return false;
  return groups.every((group, i) => i < 2 || i > 5 || group === 0);
}
