import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { LocalLimiter } from '../../index.ts';
import { clientOf, RecentClients } from './clients.ts';
import { rateLimitHeaders } from './headers.ts';
import { page } from './page.generated.ts';
import type { DemoRoute } from './routes.ts';

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** What one path answers. */
interface Resource {
  readonly method: string;
  readonly answer: (client: string) => Answer;
}

/** An HTTP server, not yet listening, over limiters that stay the caller's. */
export function demoServer(routes: readonly DemoRoute[]): Server {
  const recent = new RecentClients();
  const resources = new Map<string, Resource>([
    ['/', { method: 'GET', answer: () => PAGE }],
    ['/stats', { method: 'GET', answer: (client) => json(200, stats(routes, recent, client)) }],
  ]);
  for (const route of routes) {
    const answer = (client: string) => {
      recent.see(client);
      return limited(route, client);
    };
    resources.set(route.path, { method: route.method, answer });
  }
  return createServer((request, response) => {
    const { status, headers, body } = answerTo(request, resources);
    const length = { 'Content-Length': Buffer.byteLength(body) };
    response.writeHead(status, { ...headers, ...length }).end(body);
  });
}

function answerTo(request: IncomingMessage, resources: Map<string, Resource>): Answer {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const resource = resources.get(path);
  if (resource === undefined) return json(404, { error: `Not found: ${path}` });
  // HEAD is GET; node:http leaves the body out.
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (method !== resource.method) {
    const allow = resource.method === 'GET' ? 'GET, HEAD' : resource.method;
    return json(405, { error: `${path} answers to ${allow} only` }, { Allow: allow });
  }
  const client = clientOf(request, new URLSearchParams(query));
  if (client === undefined) {
    return json(400, { error: 'A client is 1 to 32 letters, digits, "_" or "-"' });
  }
  return resource.answer(client);
}

function limited({ limiter }: DemoRoute, client: string): Answer {
  const decision = limiter.tryAcquire(client);
  const headers = rateLimitHeaders(limiter.policy, decision);
  return decision.allowed
    ? json(200, { client, ...decision }, headers)
    : json(429, { error: 'Rate limit exceeded', client, ...decision }, headers);
}

function stats(routes: readonly DemoRoute[], recent: RecentClients, you: string): object {
  return {
    you,
    routes: routes.map(({ limiter, ...route }) => ({
      ...route,
      policy: limiter.policy,
      stats: limiter.stats(),
      clients: recent.latestFirst().map((client) => stateOf(limiter, client)),
    })),
  };
}

/** `peek` answers for one more call; with a cost of 0 it tells what is left now. */
function stateOf(limiter: LocalLimiter, client: string): object {
  const { retryAfterMs } = limiter.peek(client);
  const { remaining, resetAfterMs } = limiter.peek(client, 0);
  return { client, remaining, retryAfterMs, resetAfterMs };
}

function json(status: number, value: object, headers: Record<string, string> = {}): Answer {
  const type = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return {
    status,
    headers: { ...type, ...headers },
    body: `${JSON.stringify(value, null, 2)}\n`,
  };
}

const PAGE: Answer = {
  status: 200,
  headers: { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' },
  body: page,
};
