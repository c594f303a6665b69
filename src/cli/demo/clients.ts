import type { IncomingMessage } from 'node:http';

const SHOWN = 8;

/**
 * Who asks: the name in `?client=` or in X-Demo-Client, else the address. Undefined if the name is none.
 * Names hold neither dots nor colons, so that nobody can pass for an address.
 * A service must never believe a client about its key; the demo does, so that one person can play several.
 */
export function clientOf(request: IncomingMessage, query: URLSearchParams): string | undefined {
  const name = query.get('client') || request.headers['x-demo-client'] || undefined;
  if (name === undefined) return request.socket.remoteAddress ?? 'disconnected';
  return typeof name === 'string' && /^[\w-]{1,32}$/.test(name) ? name : undefined;
}

/** The clients seen last, the latest first. */
export class RecentClients {
  readonly #names = new Set<string>();

  see(name: string): void {
    this.#names.delete(name);
    this.#names.add(name);
    if (this.#names.size > SHOWN) this.#names.delete([...this.#names][0] as string);
  }

  latestFirst(): string[] {
    return [...this.#names].reverse();
  }
}
