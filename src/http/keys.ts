import { createHash } from 'node:crypto';
import { SluicegateTypeError } from '../errors.ts';
import type { Key } from '../limiter.ts';
import { checkKey, invalidKey, optionalFunction, shown, wholeNumber } from '../options.ts';
import { addressKey } from './address.ts';
import { type Awaitable, isPromise, type OfRequest } from './facts.ts';

/** Who is limited. What it returns goes to the limiter as it is, so that the app can `limiter.reset(key)`. */
export type KeyOf<Request> = OfRequest<Request, Awaitable<Key>>;

/** Who is limited, if there is something to tell by; else the key falls back to another. */
type MaybeKeyOf<Request> = OfRequest<Request, Awaitable<Key | undefined | null>>;

/** An IPv6 customer usually gets a /56 or a /48, rarely as little as a /64. */
const IPV6_SUBNET = 56;

/**
 * Limits by the client's address: the default. `ipv6Subnet`, 56 by default, is how many leading bits of an IPv6
 * address name one client, 1 to 128. Everybody behind one NAT shares one address: for signed-in users take `byUser`.
 * A request without an address is a fault, never a shared budget; see `onError`.
 */
export function byIp({ ipv6Subnet = IPV6_SUBNET }: { readonly ipv6Subnet?: number } = {}) {
  wholeNumber('ipv6Subnet', ipv6Subnet, 1, 128);
  return (_request: unknown, { ip }: { readonly ip: string | undefined }): string => {
    if (ip !== undefined && ip !== '') return addressKey(ip, ipv6Subnet);
    throw new SluicegateTypeError(
      'ERR_INVALID_KEY',
      'the client has no address here: say how to find it with the option ip (fetch, hono) or trustProxy, ' +
        'or give another key',
    );
  };
}

/**
 * Limits by a header such as an API key. Only its SHA-256 hash leaves the process. Without the header, or with an
 * empty one, `fallback` decides: by default the client's address, so leaving it out wins nothing. Anybody can invent
 * headers: check the API key before the limiter, or limit by address too.
 */
export function byHeader<Request = unknown>(
  name: string,
  { fallback = byIp() }: { readonly fallback?: KeyOf<Request> } = {},
): KeyOf<Request> {
  if (typeof name !== 'string' || name === '') throw notAHeader(name);
  optionalFunction('fallback', fallback);
  const header = name.toLowerCase();
  return (request, facts) => {
    const value = facts.header(header);
    return value === undefined || value === ''
      ? fallback(request, facts)
      : `header:${header}:${createHash('sha256').update(value).digest('base64url')}`;
  };
}

/**
 * Limits by what the app knows of the user: an id, a string or a number. For users who have none (undefined, null or
 * '') `fallback` decides: by default the client's address.
 */
export function byUser<Request>(
  user: MaybeKeyOf<Request>,
  { fallback = byIp() }: { readonly fallback?: KeyOf<Request> } = {},
): KeyOf<Request> {
  if (typeof user !== 'function') throw notAFunction('byUser', user);
  optionalFunction('fallback', fallback);
  return (request, facts) => {
    const keyed = (id: Key | undefined | null): Awaitable<Key> =>
      id === undefined || id === null || id === '' ? fallback(request, facts) : userKey(id);
    const id = user(request, facts);
    return isPromise(id) ? id.then(keyed) : keyed(id);
  };
}

function userKey(id: Key): string {
  checkKey(id);
  if (id instanceof Uint8Array) throw invalidKey(id);
  return `user:${id}`;
}

/**
 * One key from several parts, as `joinKey([tenant, user])`. Two lists give one key only if they are equal part by
 * part: `['a:b', 'c']` and `['a', 'b:c']` differ. Numbers count as their decimal digits.
 */
export function joinKey(parts: readonly (string | number)[]): string {
  if (!Array.isArray(parts) || parts.length === 0) {
    throw new SluicegateTypeError(
      'ERR_INVALID_KEY',
      `joinKey takes a list of parts; got ${shown(parts)}`,
    );
  }
  let key = '';
  for (const part of parts) {
    checkKey(part);
    const text = String(part);
    key += `${text.length}:${text}`;
  }
  return key;
}

function notAHeader(name: unknown): SluicegateTypeError {
  return new SluicegateTypeError(
    'ERR_INVALID_OPTION',
    `byHeader takes a header's name; got ${shown(name)}`,
  );
}

function notAFunction(name: string, value: unknown): SluicegateTypeError {
  return new SluicegateTypeError(
    'ERR_INVALID_OPTION',
    `${name} takes a function; got ${shown(value)}`,
  );
}
