import type { IncomingMessage } from 'node:http';
import proxyaddr from 'proxy-addr';
import { SluicegateTypeError } from '../errors.ts';
import { shown, wholeNumber } from '../options.ts';

/**
 * Whose `X-Forwarded-For` to believe, where the framework has no setting for it: how many proxies stand before this
 * server, or their addresses and networks (`'loopback'`, `'10.0.0.0/8'`), or a function of an address and its distance.
 * Default: nobody's. The app must then be reached through those proxies only.
 */
export type TrustProxy =
  | number
  | string
  | readonly string[]
  | ((address: string, distance: number) => boolean);

/** The parts of a request that tell where it came from. */
export interface Hops {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Finds the client's address in what the trusted proxies say. */
export function addressReader(trustProxy?: TrustProxy): (hops: Hops) => string | undefined {
  if (trustProxy === undefined) return ({ socket }) => socket.remoteAddress;
  const trusts = trustOf(trustProxy);
  return (hops) => {
    // proxy-addr asks about the peer's address as well, which a Unix socket or a serverless platform does not have.
    const trust = (address: string, distance: number) =>
      typeof trustProxy === 'number' || typeof address === 'string'
        ? trusts(address, distance)
        : false;
    return proxyaddr(hops as IncomingMessage, trust);
  };
}

function trustOf(trustProxy: TrustProxy): (address: string, distance: number) => boolean {
  if (typeof trustProxy === 'function') return trustProxy;
  if (typeof trustProxy === 'number') {
    const hops = wholeNumber('trustProxy', trustProxy, 1, 100);
    return (_address, distance) => distance < hops;
  }
  try {
    if (typeof trustProxy === 'string') return proxyaddr.compile(trustProxy.split(/\s*,\s*/));
    if (Array.isArray(trustProxy)) return proxyaddr.compile([...trustProxy]);
  } catch (error) {
    throw notTrusted(error instanceof Error ? error.message : String(error));
  }
  throw notTrusted(`got ${shown(trustProxy)}`);
}

function notTrusted(why: string): SluicegateTypeError {
  return new SluicegateTypeError(
    'ERR_INVALID_OPTION',
    `trustProxy must be a number of proxies, their addresses or networks, or a function; ${why}. ` +
      'Trusting every proxy would let clients choose their address',
  );
}
