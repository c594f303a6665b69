import type { IncomingMessage, ServerResponse } from 'node:http';
import { Comparison, LIMIT, MOST_CALLS, WINDOW_MS } from './comparison.ts';
import { page } from './page.generated.ts';

/** The page that sends the same bursts to all four algorithms, and what it asks for. */
export class ComparePage {
  readonly #comparison = new Comparison();

  /** Answers the request if it is for this page; false if it is not. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const [pathname = '', query = ''] = (request.url ?? '').split('?', 2);
    if (pathname !== '/compare' && !pathname.startsWith('/compare/')) return false;
    const searchParams = new URLSearchParams(query);
    const visitor = searchParams.get('visitor') ?? '';
    const calls = Number(searchParams.get('calls'));
    const key = `${request.method} ${pathname}`;
    if (key === 'GET /compare') {
      send(response, 200, 'text/html; charset=utf-8', page);
    } else if (key === 'GET /compare/clock') {
      const clock = { nowMs: this.#comparison.nowMs(), windowMs: WINDOW_MS, limit: LIMIT };
      sendJson(response, 200, clock);
    } else if (key !== 'POST /compare/burst' && key !== 'POST /compare/boundary') {
      sendJson(response, 404, { error: `Not found: ${pathname}` });
    } else if (!/^[\w-]{1,64}$/.test(visitor)) {
      sendJson(response, 400, { error: 'A visitor is 1 to 64 letters, digits, "_" or "-"' });
    } else if (key === 'POST /compare/boundary') {
      this.#comparison.boundary(visitor).then(
        (bursts) => sendJson(response, 200, { bursts }),
        // The demo was stopped while it waited.
        () => response.destroy(),
      );
    } else if (!(Number.isInteger(calls) && calls >= 1 && calls <= MOST_CALLS)) {
      sendJson(response, 400, { error: `calls must be a whole number from 1 to ${MOST_CALLS}` });
    } else {
      sendJson(response, 200, { bursts: [this.#comparison.burst(visitor, calls)] });
    }
    return true;
  }

  close(): void {
    this.#comparison.close();
  }
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  send(response, status, 'application/json', `${JSON.stringify(value)}\n`);
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}
