import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastifyLimit from '@fastify/rate-limit';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { rateLimit as expressLimit } from 'express-rate-limit';
import fastify from 'fastify';
import { type Context, Hono } from 'hono';
import { rateLimiter as honoLimit } from 'hono-rate-limiter';
import Koa from 'koa';
import koaLimit from 'koa-ratelimit';
import { rateLimit as onExpress } from '../../src/adapters/express.ts';
import { rateLimit as onFastify } from '../../src/adapters/fastify.ts';
import { rateLimit as onHono } from '../../src/adapters/hono.ts';
import { rateLimit as onKoa } from '../../src/adapters/koa.ts';
import { rateLimit as onNode } from '../../src/adapters/node.ts';

/**
 * `bare` sets the headers that `ours` does, and `bareRival` those of the `rival`, with no limiter: headers alone cost
 * several per cent.
 */
export type Variant = 'bare' | 'ours' | 'bareRival' | 'rival';

type Fields = Record<string, string>;

/** Never reached in a run. */
const limit = 1_000_000;
const windowMs = 60_000;
/** What is left of the bare servers' limit: as with a limiter, no two answers are the same. */
let left = limit;

function ours(): Fields {
  left -= 1;
  return {
    'RateLimit-Policy': '"default";q=1000000;w=60',
    RateLimit: `"default";r=${left};t=1`,
  };
}

/** Makes the headers that a variant sets itself; undefined where a limiter does. */
function bareHeaders(
  variant: Variant,
  rival: (remaining: number) => Fields,
): (() => Fields) | undefined {
  if (variant === 'bare') return ours;
  if (variant !== 'bareRival') return undefined;
  return () => {
    left -= 1;
    return rival(left);
  };
}

function onNodeHttp(variant: Variant): Server {
  if (variant !== 'ours') {
    return createServer((_request, response) => {
      const fields = ours();
      for (const name in fields) response.setHeader(name, fields[name] as string);
      response.end('hello');
    });
  }
  const limited = onNode({ limit, windowMs });
  return createServer((request, response) => {
    limited(request, response, () => response.end('hello'));
  });
}

function onExpressApp(variant: Variant): Server {
  const app = express();
  const headers = bareHeaders(variant, (remaining) => ({
    'RateLimit-Policy': '"1000000-in-1min"; q=1000000; w=60; pk=:MTJjYTE3YjQ5YWYy:',
    RateLimit: `"1000000-in-1min"; r=${remaining}; t=60`,
  }));
  if (headers) {
    app.use((_request, response, next) => {
      const fields = headers();
      for (const name in fields) response.setHeader(name, fields[name] as string);
      next();
    });
  } else if (variant === 'ours') app.use(onExpress({ limit, windowMs }));
  else app.use(expressLimit({ limit, windowMs, standardHeaders: 'draft-8', legacyHeaders: false }));
  app.get('/', (_request, response) => {
    response.send('hello');
  });
  return createServer(app);
}

async function onFastifyApp(variant: Variant): Promise<Server> {
  const app = fastify();
  const headers = bareHeaders(variant, (remaining) => ({
    'x-ratelimit-limit': '1000000',
    'x-ratelimit-remaining': `${remaining}`,
    'x-ratelimit-reset': '60',
  }));
  if (headers) {
    app.addHook('onRequest', (_request, reply, done) => {
      const fields = headers();
      for (const name in fields) reply.header(name, fields[name]);
      done();
    });
  } else if (variant === 'ours') await app.register(onFastify({ limit, windowMs }));
  else await app.register(fastifyLimit, { max: limit, timeWindow: windowMs });
  app.get('/', (_request, reply) => {
    reply.send('hello');
  });
  await app.ready();
  return app.server as Server;
}

function onKoaApp(variant: Variant): Server {
  const app = new Koa();
  const headers = bareHeaders(variant, (remaining) => ({
    'X-RateLimit-Remaining': `${remaining}`,
    'X-RateLimit-Reset': '1700000000',
    'X-RateLimit-Limit': '1000000',
  }));
  if (headers) {
    app.use((ctx, next) => {
      ctx.set(headers());
      return next();
    });
  } else if (variant === 'ours') app.use(onKoa({ limit, windowMs }));
  else app.use(koaLimit({ driver: 'memory', db: new Map(), max: limit, duration: windowMs }));
  app.use((ctx) => {
    ctx.body = 'hello';
  });
  return createServer(app.callback());
}

function onHonoApp(variant: Variant): Server {
  const app = new Hono();
  const headers = bareHeaders(variant, (remaining) => ({
    'RateLimit-Policy': '1000000;w=60',
    'RateLimit-Limit': '1000000',
    'RateLimit-Remaining': `${remaining}`,
    'RateLimit-Reset': '60',
  }));
  if (headers) {
    app.use((c, next) => {
      const fields = headers();
      for (const name in fields) c.header(name, fields[name]);
      return next();
    });
  } else if (variant === 'ours') app.use(onHono({ limit, windowMs }));
  else {
    const keyGenerator = (c: Context) => c.env.incoming.socket.remoteAddress ?? '';
    app.use(honoLimit({ limit, windowMs, keyGenerator }) as never);
  }
  app.get('/', (c) => c.text('hello'));
  return createServer(getRequestListener(app.fetch as never));
}

/** Frameworks, and the usual limiter for each. */
export const FRAMEWORKS = {
  node: { rival: undefined, make: onNodeHttp },
  fastify: { rival: '@fastify/rate-limit', make: onFastifyApp },
  express: { rival: 'express-rate-limit', make: onExpressApp },
  koa: { rival: 'koa-ratelimit', make: onKoaApp },
  hono: { rival: 'hono-rate-limiter', make: onHonoApp },
} as const;

export type Framework = keyof typeof FRAMEWORKS;

// Forked by main.ts as `servers.js FRAMEWORK VARIANT`: says its port, then its CPU time whenever it is asked.
if (process.send !== undefined) {
  const [framework, variant] = process.argv.slice(2) as [Framework, Variant];
  const server = await FRAMEWORKS[framework].make(variant);
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
}
