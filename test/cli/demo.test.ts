import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/ports.ts';
import { Command, MAIN } from './command.ts';

const BUCKET = { method: 'GET', path: '/api/token-bucket', burst: 10, perSecond: 2 };
const COUNTER = { method: 'GET', path: '/api/sliding-window-counter', burst: 10, perSecond: 1 };
const LOGIN = { method: 'POST', path: '/api/login', burst: 5, perSecond: 1 / 12 };
type Route = typeof BUCKET;

let demo: Command;
let url: string;

beforeAll(async () => {
  demo = new Command(['demo'], { PORT: '0' });
  url = await demo.url();
});

afterAll(() => demo.stop());

function call({ method, path }: Pick<Route, 'method' | 'path'>, client: string) {
  return fetch(`${url}${path}?client=${client}`, { method });
}

/** Calls one by one until one is denied; returns that one. */
async function exhaust(route: Route, client: string): Promise<Response> {
  for (let calls = 0; calls < 100; calls++) {
    const response = await call(route, client);
    if (response.status === 429) return response;
  }
  throw new Error(`${route.path} denied none of 100 calls`);
}

interface RouteStats {
  path: string;
  policy: object;
  stats: { allowed: number; denied: number };
  clients: { client: string; remaining: number; retryAfterMs: number; resetAfterMs: number }[];
}

async function stats(): Promise<(route: Pick<Route, 'path'>) => RouteStats> {
  const { routes } = (await (await fetch(`${url}/stats`)).json()) as { routes: RouteStats[] };
  return ({ path }) => routes.find((route) => route.path === path) as RouteStats;
}

/** Calls counted so far, per route. */
async function counted(): Promise<{ allowed: number; denied: number }[]> {
  const now = await stats();
  return [BUCKET, COUNTER, LOGIN].map((route) => {
    const { allowed, denied } = now(route).stats;
    return { allowed, denied };
  });
}

describe('a limited route of the demo', () => {
  it.each([BUCKET, COUNTER, LOGIN])('allows a burst of $burst: $path', async (route) => {
    const started = performance.now();
    const calls = Array.from({ length: route.burst + 20 }, () => call(route, 'burst'));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    const seconds = (performance.now() - started) / 1000;
    const allowed = statuses.filter((status) => status === 200).length;
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(allowed).toBeGreaterThanOrEqual(route.burst);
    expect(allowed).toBeLessThanOrEqual(route.burst + route.perSecond * seconds);
  });

  it.each([
    { ...BUCKET, policy: '"token-bucket";q=10;w=5', state: /^"token-bucket";r=9;t=1$/ },
    {
      ...COUNTER,
      policy: '"sliding-window-counter";q=10;w=10',
      state: /^"sliding-window-counter";r=9;t=(1\d|20)$/,
    },
    { ...LOGIN, policy: '"login";q=5;w=60', state: /^"login";r=4;t=([6-9]\d|1[01]\d|120)$/ },
  ])('tells its policy and what is left: $path', async ({ policy, state, ...route }) => {
    const { status, headers } = await call(route, 'headers');
    expect(status).toBe(200);
    expect(headers.get('RateLimit-Policy')).toBe(policy);
    expect(headers.get('RateLimit')).toMatch(state);
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(headers.get('Retry-After')).toBeNull();
  });

  it.each([BUCKET, COUNTER, LOGIN])('tells when to come back: $path', async (route) => {
    const response = await exhaust(route, 'denied');
    const { headers } = response;
    const retryAfter = headers.get('Retry-After') ?? '';
    expect(retryAfter).toMatch(/^[1-9]\d*$/);
    expect(headers.get('RateLimit')).toMatch(new RegExp(`^"[a-z-]+";r=0;t=${retryAfter}$`));
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(await response.json()).toMatchObject({
      error: 'Rate limit exceeded',
      client: 'denied',
      allowed: false,
      remaining: 0,
      retryAfterSeconds: Number(retryAfter),
      source: 'local',
    });
  });

  it('lets the client pass once the wait is over, not before', async () => {
    await exhaust(BUCKET, 'waiter');
    let asked: number;
    let denied: Response;
    do {
      asked = performance.now();
      denied = await call(BUCKET, 'waiter');
    } while (denied.status !== 429);
    const { retryAfterMs } = (await denied.json()) as { retryAfterMs: number };
    while ((await call(BUCKET, 'waiter')).status === 429) {
      expect(performance.now() - asked).toBeLessThan(20_000);
    }
    // 1 ms for the rounding of two clocks.
    expect(performance.now() - asked).toBeGreaterThan(retryAfterMs - 1);
  });

  it('gives every client a budget of its own', async () => {
    await exhaust(LOGIN, 'spender');
    expect((await call(LOGIN, 'spender')).status).toBe(429);
    expect((await call(LOGIN, 'saver')).status).toBe(200);
    const byHeader = { method: 'POST', headers: { 'X-Demo-Client': 'spender' } };
    expect((await fetch(url + LOGIN.path, byHeader)).status).toBe(429);
    const byAddress = await fetch(url + LOGIN.path, { method: 'POST' });
    expect(await byAddress.json()).toMatchObject({ client: '127.0.0.1', allowed: true });
  });

  it.each(['127.0.0.1', '::1', 'a b', 'x'.repeat(33)])(
    'refuses a client named %j',
    async (name) => {
      const response = await call(BUCKET, encodeURIComponent(name));
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        error: 'A client is 1 to 32 letters, digits, "_" or "-"',
      });
    },
  );
});

describe('the other answers of the demo', () => {
  it('is a page with everything in it', async () => {
    const response = await fetch(`${url}/`);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(html).not.toMatch(/(src|href|action)="(?!data:|\/stats"|\/compare")|@import|url\(/);
    const script = /<script type="module">(.*)<\/script>/s.exec(html)?.[1] ?? '';
    expect(script).toContain("fetch('/stats')");
    expect(() => new Function(script)).not.toThrow();
  });

  it('counts every call in /stats, and tells what each client has left', async () => {
    const earlier = await stats();
    await call(LOGIN, 'counted');
    await call(LOGIN, 'counted');
    await exhaust(BUCKET, 'counted');
    const now = await stats();
    const calls = (route: Route) => ({
      allowed: now(route).stats.allowed - earlier(route).stats.allowed,
      denied: now(route).stats.denied - earlier(route).stats.denied,
    });
    expect(calls(LOGIN)).toEqual({ allowed: 2, denied: 0 });
    expect(calls(COUNTER)).toEqual({ allowed: 0, denied: 0 });
    expect(calls(BUCKET).allowed).toBeGreaterThanOrEqual(10);
    expect(calls(BUCKET).denied).toBe(1);
    const state = (route: Route) => now(route).clients.find(({ client }) => client === 'counted');
    expect(state(LOGIN)).toMatchObject({ remaining: 3, retryAfterMs: 0 });
    expect(state(COUNTER)).toMatchObject({ remaining: 10, retryAfterMs: 0, resetAfterMs: 0 });
    expect(state(BUCKET)?.remaining).toBeLessThan(10);
    expect(now(LOGIN).policy).toEqual({ name: 'login', limit: 5, windowMs: 60_000 });
  });

  it('shows a bounded number of clients', async () => {
    for (let i = 0; i < 20; i++) await call(BUCKET, `crowd-${i}`);
    const clients = (await stats())(BUCKET).clients.map(({ client }) => client);
    expect(clients).toHaveLength(8);
    expect(clients[0]).toBe('crowd-19');
  });

  it.each(['/nowhere', '/api', '/api/login/', '//', '/%', '/page.generated.ts', '/constructor'])(
    'answers 404 at %s',
    async (path) => {
      expect((await fetch(url + path)).status).toBe(404);
    },
  );

  it.each([
    ['POST', '/', 'GET, HEAD'],
    ['DELETE', '/stats', 'GET, HEAD'],
    ['POST', BUCKET.path, 'GET, HEAD'],
    ['PUT', COUNTER.path, 'GET, HEAD'],
    ['GET', LOGIN.path, 'POST'],
  ])('answers 405 to %s %s and charges nothing', async (method, path, allow) => {
    const before = await counted();
    const response = await call({ method, path }, 'wrong-method');
    expect(response.status).toBe(405);
    expect(response.headers.get('Allow')).toBe(allow);
    expect(await counted()).toEqual(before);
  });

  it('answers HEAD like GET, without the body', async () => {
    const response = await call({ ...BUCKET, method: 'HEAD' }, 'header');
    expect(response.status).toBe(200);
    expect(response.headers.get('RateLimit')).toBe('"token-bucket";r=9;t=1');
    expect(await response.text()).toBe('');
  });

  it.each(['GET ?? HTTP/1.1', 'GET http://[ HTTP/1.1', 'OPTIONS * HTTP/1.1', 'GET // HTTP/1.1'])(
    'survives the request line "%s"',
    async (line) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.end(`${line}\r\nHost: demo\r\nConnection: close\r\n\r\n`);
      const [answer] = await once(socket, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1\.1 40[04] /);
      expect((await fetch(`${url}/stats`)).status).toBe(200);
    },
  );
});

describe('the port of the demo', () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    while (closers.length > 0) await closers.pop()?.();
  });

  async function occupy(port: number): Promise<number> {
    const server: Server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    return (server.address() as { port: number }).port;
  }

  function start(args: string[], env: Record<string, string> = {}): Command {
    const command = new Command(['demo', ...args], env);
    closers.push(() => command.stop());
    return command;
  }

  it('is the one in PORT', async () => {
    const port = await freePort();
    expect(await start([], { PORT: `${port}` }).url()).toBe(`http://127.0.0.1:${port}`);
  });

  it('is the one after --port, whatever PORT says', async () => {
    const port = await freePort();
    const demo = start(['--port', `${port}`], { PORT: 'ignored' });
    expect(await demo.url()).toBe(`http://127.0.0.1:${port}`);
  });

  it('is never another than the one in PORT: in use ends with exit code 1', async () => {
    const port = String(await occupy(0));
    const { code, stdout, stderr } = await start([], { PORT: port }).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `sluicegate: port ${port} is in use; choose another with PORT=N or --port N\n`,
    );
  });

  it('is the next free one from 3000 if nobody chose one', async () => {
    // Somebody else's program on 3000 does as well.
    await occupy(3000).catch(() => undefined);
    const port = Number(new URL(await start([]).url()).port);
    expect(port).toBeGreaterThan(3000);
    expect(port).toBeLessThan(3100);
    await expect(occupy(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('stopping the demo', () => {
  /** Closed by the other side, gently or not. */
  function gone(socket: Socket): Promise<void> {
    return new Promise((resolve) => socket.on('error', () => {}).once('close', () => resolve()));
  }

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'is clean on %s, open connections or not',
    async (signal) => {
      const command = new Command(['demo'], { PORT: '0' });
      const address = await command.url();
      const idle = connect(Number(new URL(address).port), '127.0.0.1');
      const halfway = connect(Number(new URL(address).port), '127.0.0.1');
      const closed = Promise.all([gone(idle), gone(halfway)]);
      halfway.write('GET /stats HTTP/1.1\r\n');
      idle.write('GET /stats HTTP/1.1\r\nHost: demo\r\n\r\n');
      await once(idle, 'data');
      command.child.kill(signal);
      // As npm does, which hands on what the terminal has sent already.
      command.child.kill(signal);
      const { code, stdout, stderr } = await command.ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/\nStopped\.\n$/);
      await closed;
      await expect(fetch(address)).rejects.toThrow();
    },
  );

  it.skipIf(process.platform === 'win32')(
    'happens too when the shell of npm has died',
    async () => {
      const inShell = spawn('sh', ['-c', '"$0" "$1" demo; true', process.execPath, MAIN], {
        env: { ...process.env, PORT: '0', npm_lifecycle_event: 'start' },
      });
      let stdout = '';
      const ended = once(inShell, 'close');
      for await (const text of inShell.stdout) {
        stdout += text;
        if (stdout.includes('Ctrl-C stops it.')) inShell.kill('SIGKILL');
      }
      await ended;
      expect(stdout).toMatch(/\nStopped\.\n$/);
    },
  );
});

interface Body {
  decider: string;
}
type Pooled = RouteStats & { deciders: object[] };

describe('with worker threads', () => {
  it('admits exactly the limit, however many workers decide', async () => {
    const pool = new Command(['demo', '--workers', '4'], { PORT: '0' });
    try {
      const poolUrl = await pool.url();
      const login = `${poolUrl}${LOGIN.path}?client=crowd`;
      const calls = Array.from({ length: 60 }, () => fetch(login, { method: LOGIN.method }));
      const answers = await Promise.all(calls);
      const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as Body[];
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(LOGIN.burst);
      const deciders = new Set(bodies.map(({ decider }) => decider));
      expect([...deciders].sort()).toEqual(['worker 1', 'worker 2', 'worker 3', 'worker 4']);
      const { routes } = (await (await fetch(`${poolUrl}/stats`)).json()) as { routes: Pooled[] };
      const route = routes.find(({ path }) => path === LOGIN.path);
      expect(route?.stats).toMatchObject({ allowed: LOGIN.burst, denied: 60 - LOGIN.burst });
      expect(route?.deciders).toHaveLength(4);
      pool.child.kill('SIGINT');
      expect(await pool.ended).toMatchObject({ code: 0 });
    } finally {
      await pool.stop();
    }
  });

  it.each(['0', '65', 'two', ''])('refuses %j as their number', async (workers) => {
    const { code, stderr } = await new Command(['demo', '--workers', workers]).ended;
    expect(code).toBe(2);
    expect(stderr).toContain('--workers must be a whole number from 1 to 64');
  });
});
