import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** `1.2.3.4:80`, `[::1]` and `[::1]:80`, as some proxies write an address. */
const WITH_PORT = /^(?:\[(.*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;
const MAPPED = '::ffff:';
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
  const [, bracketed, v4] = WITH_PORT.exec(address) ?? [];
  const host = (bracketed ?? v4 ?? address).split('%', 1)[0] as string;
  return isIPv6(host) ? ipv6Key(host, subnet) : `ip:${host}`;
}

function ipv6Key(host: string, subnet: number): string {
  const address = ipaddr.IPv6.parse(host);
  const [, , , , , , high = 0, low = 0] = address.parts;
  if (address.isIPv4MappedAddress() || address.range() === 'rfc6052') {
    return `ip:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  const groups = address.parts.slice(0, Math.ceil(subnet / GROUP_BITS));
  const spare = groups.length * GROUP_BITS - subnet;
  const last = groups.length - 1;
  groups[last] = ((groups[last] as number) >> spare) << spare;
  return `ip:${groups.map((group) => group.toString(16)).join(':')}/${subnet}`;
}
