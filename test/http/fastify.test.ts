import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { afterEach, expect, it } from 'vitest';
import { rateLimit } from '../../src/adapters/fastify.ts';
import { ManualClock } from '../../src/testing.ts';
import { ask, statuses } from './support/client.ts';

const clock = new ManualClock();
const limit = (count: number) => ({ limit: count, windowMs: 60_000, clock: clock.now });
let app = fastify();

afterEach(() => app.close());

async function serve(build: (made: typeof app) => Promise<void>): Promise<number> {
  app = fastify();
  await build(app);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

const hello = async () => 'hello';

it('a route has its own limit instead of the plugin’s, or none', async () => {
  const port = await serve(async (made) => {
    await made.register(rateLimit(limit(3)));
    made.get('/', hello);
    made.get('/login', { config: { rateLimit: { ...limit(1), name: 'login' } } }, hello);
    made.get('/health', { config: { rateLimit: false } }, hello);
  });
  const login = await ask(port, '/login');
  expect(login.headers['ratelimit-policy']).toBe('"login";q=1;w=60');
  expect(await statuses(port, 2, '/login')).toEqual([429, 429]);
  expect(await statuses(port, 9, '/health')).toEqual(Array(9).fill(200));
  expect((await ask(port, '/health')).headers).not.toHaveProperty('ratelimit');
  expect(await statuses(port, 2, '/')).toEqual([200, 200]);
  expect(await statuses(port, 2, '/unknown')).toEqual([404, 429]);
});

it('without options only routes that say so are limited', async () => {
  const port = await serve(async (made) => {
    await made.register(rateLimit());
    made.get('/', hello);
    made.get('/login', { config: { rateLimit: limit(1) } }, hello);
  });
  expect(await statuses(port, 3, '/')).toEqual([200, 200, 200]);
  expect(await statuses(port, 2, '/login')).toEqual([200, 429]);
});

it('a route’s HEAD shares the limit of its GET', async () => {
  const port = await serve(async (made) => {
    await made.register(rateLimit());
    made.get('/login', { config: { rateLimit: limit(1) } }, hello);
  });
  expect(await statuses(port, 2, '/login', { method: 'HEAD' })).toEqual([200, 429]);
  expect(await statuses(port, 1, '/login')).toEqual([429]);
});

it('charges once a request that fails validation or cannot be read', async () => {
  const port = await serve(async (made) => {
    await made.register(rateLimit(limit(2)));
    const schema = { body: { type: 'object', required: ['name'] } };
    made.post('/', { schema }, hello);
  });
  const post = (body: string) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(await statuses(port, 1, '/', post('{}'))).toEqual([400]);
  expect(await statuses(port, 2, '/', post('{'))).toEqual([400, 429]);
});

it('a limit inside a scope is of that scope only', async () => {
  const port = await serve(async (made) => {
    made.get('/', hello);
    await made.register(async (scope) => {
      await scope.register(rateLimit(limit(1)));
      scope.get('/inner', hello);
    });
  });
  expect(await statuses(port, 2, '/inner')).toEqual([200, 429]);
  expect(await statuses(port, 2, '/')).toEqual([200, 200]);
});

it('wrong options of a route stop the app from starting', async () => {
  app = fastify();
  await app.register(rateLimit());
  const bad = { config: { rateLimit: { limit: 0, windowMs: 1 } } };
  expect(() => app.get('/', bad, hello)).toThrow(/limit must be a whole number/);
});
