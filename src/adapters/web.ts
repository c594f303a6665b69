import type { RequestFacts } from '../http/facts.ts';
import { pathOf } from '../http/facts.ts';
import { addressReader, type TrustProxy } from './proxies.ts';

/** How to find the client's address where there is no framework to know it. */
export interface AddressOptions<Args extends readonly unknown[]> {
  /**
   * The address of the peer, as `(c) => c.req.header('cf-connecting-ip')` on Cloudflare. Default: what Node, Bun and
   * Deno hand to the server.
   */
  readonly ip?: (...args: Args) => string | undefined;
  readonly trustProxy?: TrustProxy;
}

/** Facts of a `Request`. `peer` is the address that the runtime or the app knows. */
export class WebFacts implements RequestFacts {
  readonly #request: Request;
  readonly #address: () => string | undefined;

  constructor(request: Request, address: () => string | undefined) {
    this.#request = request;
    this.#address = address;
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    return pathOf(this.#request.url);
  }

  get ip(): string | undefined {
    return this.#address();
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }
}

/** Finds the client's address from the peer's and what trusted proxies say. */
export function clientReader(
  trustProxy?: TrustProxy,
): (request: Request, peer: string | undefined) => string | undefined {
  if (trustProxy === undefined) return (_request, peer) => peer;
  const reader = addressReader(trustProxy);
  return (request, peer) => {
    const forwarded = request.headers.get('x-forwarded-for') ?? undefined;
    const address = reader({
      socket: { remoteAddress: peer },
      headers: { 'x-forwarded-for': forwarded },
    });
    return address === '' ? undefined : address;
  };
}

interface Runtime {
  /** Node, as @hono/node-server hands it on. */
  incoming?: { socket?: { remoteAddress?: string } };
  /** Deno. */
  remoteAddr?: { hostname?: string };
  /** Bun: the server itself, or an object that has it. */
  requestIP?: (request: Request) => { address?: string } | null;
  server?: Runtime;
}

/** The peer's address in what the runtime hands to a handler beside the request. */
export function runtimeAddress(info: unknown, request: Request): string | undefined {
  if (typeof info !== 'object' || info === null) return undefined;
  const { incoming, remoteAddr, server } = info as Runtime;
  if (incoming !== undefined) return incoming.socket?.remoteAddress;
  if (remoteAddr !== undefined) return remoteAddr.hostname;
  const bun = (server ?? info) as Runtime;
  return typeof bun.requestIP === 'function' ? bun.requestIP(request)?.address : undefined;
}
