import { once } from 'node:events';
import type { Server } from 'node:http';
import { parseArgs } from 'node:util';
import { usageFault } from '../fault.ts';
import { redisAddress } from '../redis.ts';
import { type Deciders, decideHere, decideInRedis, decideInWorkers } from './decide.ts';
import { HOST, listen } from './listen.ts';
import { type DemoRoute, demoRoutes } from './routes.ts';
import { demoServer } from './server.ts';

const HELP = `Usage: sluicegate demo [--port N] [--workers N | --redis URL]

Serves three limited routes on 127.0.0.1, and a page to try them on.

Options:
  --port N    the port, 0 for any free one; also PORT=N. Default: 3000, or the next free one
  --workers N decide in that many worker threads, 1 to 64, which share the limits
  --redis URL decide in Redis, redis://host:port, so that several demos share the limits
  -h, --help  show this

Ctrl-C stops it.`;

const MAX_WORKERS = 64;
const ORPHAN_CHECK_MS = 250;

/** `sluicegate demo`: serves until SIGINT or SIGTERM. */
export async function demo(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', short: 'h' },
      port: { type: 'string' },
      workers: { type: 'string' },
      redis: { type: 'string' },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const wanted = portOf('--port', values.port) ?? portOf('PORT', process.env.PORT || undefined);
  const workers = workersOf(values.workers);
  const url = redisOf(values.redis, workers);
  const told = toldToStop();
  const routes = demoRoutes(workers > 0);
  const deciders = await decidersOf(routes, workers, url);
  const server = demoServer(routes, deciders);
  try {
    const port = await listen(server, wanted);
    console.log(welcome(`http://${HOST}:${port}`, routes, workers));
    await told;
    await stop(server);
  } finally {
    await deciders.close();
    for (const { limiter } of routes) limiter.close();
  }
  console.log('Stopped.');
}

function portOf(source: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw usageFault(`${source} must be a whole number from 0 to 65535; got '${text}'`);
}

/** How many workers; 0 for none. */
function workersOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_WORKERS) {
    return Number(text);
  }
  throw usageFault(`--workers must be a whole number from 1 to ${MAX_WORKERS}; got '${text}'`);
}

function redisOf(text: string | undefined, workers: number): string | undefined {
  if (text === undefined) return undefined;
  if (workers > 0) throw usageFault('--workers and --redis do not go together');
  return redisAddress(text);
}

async function decidersOf(
  routes: readonly DemoRoute[],
  workers: number,
  redisUrl: string | undefined,
): Promise<Deciders> {
  if (redisUrl !== undefined) return decideInRedis(routes, redisUrl);
  return workers > 0 ? decideInWorkers(routes, workers) : decideHere(routes);
}

/** Resolves on SIGINT or SIGTERM, and then stays deaf: npm passes Ctrl-C on, though the terminal has sent it already. */
function toldToStop(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGINT', () => resolve());
    process.on('SIGTERM', () => resolve());
    if (process.env.npm_lifecycle_event !== undefined) whenOrphaned(resolve);
  });
}

/** Signals for npm end its shell, which tells nobody: without this the server would stay behind on its port. */
function whenOrphaned(callback: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, ORPHAN_CHECK_MS);
  timer.unref();
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

function welcome(url: string, routes: readonly DemoRoute[], workers: number): string {
  const pool =
    workers > 0 ? `\n${workers} worker threads decide in turn and share every limit.\n` : '';
  const tries = routes.map(({ method, path, limiter, rule }) => {
    const calls = limiter.policy.limit + 2;
    const post = method === 'GET' ? '' : `-X ${method} `;
    return `  # ${rule}\n  curl -s -o /dev/null -w '%{http_code}\\n' ${post}'${url}${path}?[1-${calls}]'`;
  });
  return `
  Sluicegate demo: ${url}/
${pool}
Open that page, or try:

${tries.join('\n\n')}

  # one answer with its headers, as a client of another name
  curl -i '${url}/api/token-bucket?client=ann'

  # counts, and what every client has left
  curl '${url}/stats'

Ctrl-C stops it.
`;
}
