import { createServer, type IncomingMessage, type Server } from 'node:http';
import { clientOf, RecentClients } from './clients.ts';
import { ComparePage } from './compare/answers.ts';
import type { Answered, Deciders, Tally } from './decide.ts';
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
  readonly answer: (client: string) => Answer | Promise<Answer>;
}

/** An HTTP server, not yet listening, over limiters that stay the caller's. */
export function demoServer(routes: readonly DemoRoute[], deciders: Deciders): Server {
  const recent = new RecentClients();
  const resources = new Map<string, Resource>([
    ['/', { method: 'GET', answer: () => PAGE }],
    [
      '/stats',
      {
        method: 'GET',
        answer: async (client) => json(200, await stats(routes, deciders, recent, client)),
      },
    ],
  ]);
  for (const [i, route] of routes.entries()) {
    const answer = (client: string) => {
      recent.see(client);
      return limited(route, client, deciders.ask(i, client));
    };
    resources.set(route.path, { method: route.method, answer });
  }
  const compare = new ComparePage();
  const server = createServer(async (request, response) => {
    if (compare.handle(request, response)) return;
    const { status, headers, body } = await answerTo(request, resources);
    const length = { 'Content-Length': Buffer.byteLength(body) };
    response.writeHead(status, { ...headers, ...length }).end(body);
  });
  return server.once('close', () => compare.close());
}

function answerTo(
  request: IncomingMessage,
  resources: Map<string, Resource>,
): Answer | Promise<Answer> {
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

async function limited(
  { limiter }: DemoRoute,
  client: string,
  asked: Promise<Answered>,
): Promise<Answer> {
  const { decision, decider } = await asked;
  const headers = rateLimitHeaders(limiter.policy, decision);
  return decision.allowed
    ? json(200, { client, decider, ...decision }, headers)
    : json(429, { error: 'Rate limit exceeded', client, decider, ...decision }, headers);
}

async function stats(
  routes: readonly DemoRoute[],
  deciders: Deciders,
  recent: RecentClients,
  you: string,
): Promise<object> {
  const clients = recent.latestFirst();
  const states = routes.map(async ({ method, path, title, rule, limiter }, i) => ({
    method,
    path,
    title,
    rule,
    policy: limiter.policy,
    stats: { ...limiter.stats(), ...totals(deciders.tallies(i)) },
    deciders: deciders.tallies(i),
    clients: await Promise.all(clients.map((client) => stateOf(deciders, i, client))),
  }));
  return { you, routes: await Promise.all(states) };
}

/** A limiter counts the calls of its own thread only; these are everybody's. */
function totals(tallies: readonly Tally[]): { allowed: number; denied: number } {
  return {
    allowed: tallies.reduce((sum, { allowed }) => sum + allowed, 0),
    denied: tallies.reduce((sum, { denied }) => sum + denied, 0),
  };
}

/** `peek` answers for one more call; with a cost of 0 it tells what is left now. */
async function stateOf(deciders: Deciders, route: number, client: string): Promise<object> {
  const [{ retryAfterMs }, { remaining, resetAfterMs }] = await Promise.all([
    deciders.peek(route, client, 1),
    deciders.peek(route, client, 0),
  ]);
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
