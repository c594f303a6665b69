import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import Koa from 'koa';
import { afterEach, expect, it } from 'vitest';
import { RateLimitExceededError } from '../../src/decorator.ts';
import type { Decision } from '../../src/limiter.ts';
import { ask } from './support/client.ts';

const policy = { name: 'login', limit: 5, windowMs: 60_000 };
const decision: Decision = {
  allowed: false,
  limit: 5,
  remaining: 0,
  retryAfterMs: 11_500,
  retryAfterSeconds: 12,
  resetAfterMs: 60_000,
  source: 'local',
};
const thrower = () => {
  throw new RateLimitExceededError(policy, decision);
};
let server: Server;

afterEach(() => {
  server.close();
});

function expressApp(): RequestListener {
  return express().set('env', 'test').get('/', thrower);
}

function koaApp(): RequestListener {
  const app = new Koa();
  app.silent = true;
  return app.use(thrower).callback();
}

const honoApp = () => getRequestListener(new Hono().get('/', thrower).fetch);

it.each([
  ['Express', expressApp],
  ['Koa', koaApp],
  ['Hono', honoApp],
])('%s answers 429 for a RateLimitExceededError by itself', async (_, make) => {
  server = createServer(make());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { status, headers } = await ask((server.address() as AddressInfo).port, '/');
  expect(status).toBe(429);
  expect(headers).toMatchObject({ 'retry-after': '12', ratelimit: '"login";r=0;t=12' });
});
