// Compiled by test/http/types.test.ts, strictly and with the frameworks' own types; never run.
import { createServer, type IncomingMessage } from 'node:http';
import type { CanActivate, DynamicModule } from '@nestjs/common';
import connect from 'connect';
import express, { type Request as ExpressRequest } from 'express';
import fastify, { type FastifyRequest } from 'fastify';
import { Hono, type Context as HonoContext } from 'hono';
import Koa, { type Context as KoaContext } from 'koa';
import type { Decision } from 'sluicegate';
import { TokenBucketLimiter } from 'sluicegate';
import { RateLimit, RateLimitExceededError } from 'sluicegate/decorator';
import * as onExpress from 'sluicegate/express';
import * as onFastify from 'sluicegate/fastify';
import * as onFetch from 'sluicegate/fetch';
import * as onHono from 'sluicegate/hono';
import { HttpFilter } from 'sluicegate/http';
import * as onKoa from 'sluicegate/koa';
import * as onNest from 'sluicegate/nest';
import * as onNode from 'sluicegate/node';

const shorthand = { limit: 5, windowMs: 60_000 };
const limiter = new TokenBucketLimiter({ capacity: 5, refillPerSecond: 1 });

const expressApp = express();
expressApp.use(onExpress.rateLimit(shorthand));
expressApp.use(
  onExpress.rateLimit({
    limiter,
    key: (req) => req.get('x-user') ?? 'nobody',
    cost: (req: ExpressRequest) => req.path.length,
    skip: (_, facts) => facts.ip === '127.0.0.1',
  }),
);
expressApp.get('/', onExpress.rateLimit({ limiter: [limiter] }), (req, res) => {
  const decision: Decision | undefined = onExpress.getDecision(req);
  res.json(decision);
});
expressApp.use(onExpress.rateLimitErrors());
connect().use(onExpress.rateLimit<IncomingMessage>({ ...shorthand, trustProxy: 1 }));

const fastifyApp = fastify();
fastifyApp.register(onFastify.rateLimit({ limiter, key: (req: FastifyRequest) => req.id }));
fastifyApp.get('/', { config: { rateLimit: { ...shorthand, key: (req) => req.id } } }, (req) => {
  return onFastify.getDecision(req)?.remaining;
});
fastifyApp.get('/free', { config: { rateLimit: false } }, () => 'free');

const koaApp = new Koa();
koaApp.use(onKoa.rateLimitErrors());
koaApp.use(onKoa.rateLimit({ ...shorthand, key: (ctx: KoaContext) => ctx.get('x-user') }));
koaApp.use((ctx) => {
  ctx.body = onKoa.getDecision(ctx)?.remaining;
});

const honoApp = new Hono<{ Bindings: { LIMIT: string } }>();
honoApp.use(onHono.rateLimit({ ...shorthand, ip: (c: HonoContext) => c.req.header('x-real-ip') }));
honoApp.get('/', onHono.rateLimit({ routes: [{ path: '/', limiter }] }), (c) => {
  return c.text(`${onHono.getDecision(c)?.remaining}`);
});

export const GET: (request: Request, context: { params: object }) => Promise<Response> =
  onFetch.rateLimit(shorthand)((request: Request, context: { params: object }) => {
    return Response.json([onFetch.getDecision(request), context.params]);
  });

export const guard: CanActivate = onNest.rateLimit({ ...shorthand, key: (req) => req.user.id });
export const nestModule: DynamicModule = onNest.RateLimitModule.forRoot({ body: 'json' });

const limit = onNode.rateLimit({ ...shorthand, trustProxy: ['loopback', '10.0.0.0/8'] });
createServer((req, res) => limit(req, res, () => res.end(`${onNode.getDecision(req)?.remaining}`)));

export class Accounts {
  @RateLimit({ ...shorthand, key: (email: string) => email })
  login(email: string, _password?: string): string {
    return email;
  }

  @RateLimit({ limit: 5, windowSeconds: 60, keyPrefix: 'login' })
  async list(): Promise<string[]> {
    return [];
  }

  // @ts-expect-error: the key wants a string, the method has a number
  @RateLimit({ key: (email: string) => email })
  remove(_id: number): void {}
}

export const filter: HttpFilter<string> = new HttpFilter<string>({ limiter, key: (s) => s });
export const code: 'ERR_RATE_LIMITED' | string = new RateLimitExceededError(
  limiter.policy,
  limiter.peek('a'),
).code;

// @ts-expect-error: nothing to limit by
onExpress.rateLimit({});
// @ts-expect-error: a limiter and a limit
onExpress.rateLimit({ limiter, ...shorthand });
// @ts-expect-error: no such header format
onExpress.rateLimit({ ...shorthand, headers: 'draft-8' });
// @ts-expect-error: no such option
onExpress.rateLimit({ ...shorthand, max: 5 });
