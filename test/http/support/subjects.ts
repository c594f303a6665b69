import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { All, Controller, HttpException, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import connect from 'connect';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
// @ts-expect-error: polka 0.5 has no types
import polka from 'polka';
import * as ours from '../../../src/adapters/express.ts';
import * as oursFastify from '../../../src/adapters/fastify.ts';
import * as oursFetch from '../../../src/adapters/fetch.ts';
import * as oursHono from '../../../src/adapters/hono.ts';
import * as oursKoa from '../../../src/adapters/koa.ts';
import * as oursNest from '../../../src/adapters/nest.ts';
import * as oursNode from '../../../src/adapters/node.ts';
import type { Decision } from '../../../src/limiter.ts';
import { decorate } from './legacy.ts';
import type { Running, Setup, Subject } from './subject.ts';
import 'reflect-metadata';

// biome-ignore lint/suspicious/noExplicitAny: the same options for all frameworks.
type Any = any;

interface Reply {
  readonly status: number;
  readonly body: string;
}

/** What the servers answer, whatever the framework. Throws where a handler would. */
async function answer(path: string, setup: Setup): Promise<Reply> {
  if (path === '/hello') return { status: 200, body: 'hello' };
  if (path === '/teapot') return { status: 418, body: 'teapot' };
  if (path === '/fail') throw new Error('thrown by the handler');
  if (path === '/service') return { status: 200, body: String(await setup.service?.()) };
  if (path === '/slow') {
    await setup.gate;
    return { status: 200, body: 'slow' };
  }
  return { status: 404, body: 'unknown' };
}

const pathOf = (url = '/') => url.split('?', 1)[0] as string;
const shown = (decision: Decision | undefined) => JSON.stringify(decision ?? null);
const PATHS = ['/hello', '/teapot', '/fail', '/service', '/slow'];

function mountsOf({ mounts, twice }: Setup): readonly Any[] {
  return mounts.map((options, i) => ({ options, times: twice && i === 0 ? 2 : 1 }));
}

/** One middleware per mount; the first maybe twice. */
function middlewares<Made>(setup: Setup, make: (options: Any) => Made): Made[] {
  return mountsOf(setup).flatMap(({ options, times }) => {
    const made = make(options);
    return times === 2 ? [made, made] : [made];
  });
}

async function running(server: Server, stop?: () => Promise<unknown>): Promise<Running> {
  if (!server.listening) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      if (stop !== undefined) await stop();
      else await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function write(
  request: IncomingMessage,
  response: ServerResponse,
  setup: Setup,
  getDecision: (request: IncomingMessage) => Decision | undefined,
): Promise<void> {
  const { status, body } = await answer(pathOf((request as Any).originalUrl ?? request.url), setup);
  response.statusCode = status;
  response.setHeader('x-decision', shown(getDecision(request)));
  response.end(body);
}

/** Fastify takes no number of proxies. */
const hops =
  (proxies = 0) =>
  (_address: string, distance: number) =>
    distance < proxies;

const SEES_ALL = {
  seesUnknownPaths: true,
  keepsHeadersOnError: true,
  seesBrokenConnections: true,
  carriesContext: true,
  ownErrorBodies: false,
};

const node: Subject = {
  name: 'node',
  ...SEES_ALL,
  start(setup) {
    const trust = setup.proxies === undefined ? {} : { trustProxy: setup.proxies };
    const limits = middlewares(setup, (options) => oursNode.rateLimit({ ...options, ...trust }));
    return running(
      createServer((request, response) => {
        const handle = (): unknown =>
          write(request, response, setup, oursNode.getDecision).catch((error) => {
            const limited = error instanceof oursNode.RateLimitExceededError;
            const { status, headers, body } = limited
              ? error.toVerdict()
              : { status: 500, headers: {}, body: 'failed' };
            for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
            response.statusCode = status;
            response.end(body);
          });
        const chain = limits.reduceRight<() => unknown>(
          (next, limit) => () => limit(request, response, next as () => void),
          handle,
        );
        chain();
      }),
    );
  },
};

function expressLike(name: string, make: (setup: Setup) => { app: Any; trust: object }): Subject {
  return {
    name,
    ...SEES_ALL,
    start(setup) {
      const { app, trust } = make(setup);
      for (const limit of middlewares(setup, (o) => ours.rateLimit<Any>({ ...o, ...trust }))) {
        app.use(limit);
      }
      const handle = (request: Any, response: Any, next: Any) => {
        write(request, response, setup, ours.getDecision).catch(next);
      };
      if (app.onError === undefined) app.use(handle);
      // Polka runs the routes after its middleware.
      else app.all('*', handle);
      if (app.onError === undefined) {
        app.use(ours.rateLimitErrors());
        // biome-ignore lint/correctness/noUnusedFunctionParameters: four make an error handler.
        app.use((error: Any, request: Any, response: Any, next: Any) => {
          response.statusCode = 500;
          response.end('failed');
        });
      }
      return running(createServer(app.handler ?? app));
    },
  };
}

const expressSubject = expressLike('express', ({ proxies }) => {
  const app = express();
  if (proxies !== undefined) app.set('trust proxy', proxies);
  return { app, trust: {} };
});

const connectSubject = expressLike('connect', ({ proxies }) => ({
  app: connect(),
  trust: proxies === undefined ? {} : { trustProxy: proxies },
}));

const polkaSubject = expressLike('polka', ({ proxies }) => {
  const errors = ours.rateLimitErrors();
  const onError = (error: Any, request: Any, response: Any) =>
    errors(error, request, response, () => {
      response.statusCode = 500;
      response.end('failed');
    });
  return {
    app: polka({ onError }),
    trust: proxies === undefined ? {} : { trustProxy: proxies },
  };
});

const fastifySubject: Subject = {
  name: 'fastify',
  ...SEES_ALL,
  ownErrorBodies: true,
  async start(setup) {
    const app = fastify({ trustProxy: hops(setup.proxies) });
    for (const plugin of middlewares(setup, (o) => oursFastify.rateLimit(o))) {
      await app.register(plugin);
    }
    const handle = async (request: Any, reply: Any) => {
      const { status, body } = await answer(pathOf(request.url), setup);
      reply.header('x-decision', shown(oursFastify.getDecision(request)));
      return reply.code(status).send(body);
    };
    for (const url of PATHS) {
      app.route({ method: ['GET', 'POST', 'OPTIONS'], url, handler: handle });
    }
    await app.listen({ port: 0, host: '127.0.0.1' });
    return running(app.server as Server, () => app.close());
  },
};

const koaSubject: Subject = {
  name: 'koa',
  ...SEES_ALL,
  keepsHeadersOnError: false,
  start(setup) {
    const app = new Koa({ proxy: setup.proxies !== undefined });
    if (setup.proxies !== undefined && setup.proxies > 1) app.maxIpsCount = setup.proxies;
    app.silent = true;
    app.use(oursKoa.rateLimitErrors());
    for (const limit of middlewares(setup, (o) => oursKoa.rateLimit(o))) app.use(limit);
    app.use(async (ctx) => {
      const { status, body } = await answer(ctx.path, setup);
      ctx.set('x-decision', shown(oursKoa.getDecision(ctx)));
      ctx.status = status;
      ctx.body = body;
    });
    return running(createServer(app.callback()));
  },
};

const honoSubject: Subject = {
  name: 'hono',
  ...SEES_ALL,
  start(setup) {
    const app = new Hono();
    const trust = setup.proxies === undefined ? {} : { trustProxy: setup.proxies };
    for (const limit of middlewares(setup, (o) => oursHono.rateLimit({ ...o, ...trust }))) {
      app.use(limit);
    }
    app.onError((error, c) => {
      if (error instanceof oursHono.RateLimitExceededError) return error.getResponse();
      return c.text('failed', 500);
    });
    for (const path of PATHS) {
      app.all(path, async (c) => {
        const { status, body } = await answer(path, setup);
        c.header('x-decision', shown(oursHono.getDecision(c)));
        return c.body(body, status as Any);
      });
    }
    return running(createServer(getRequestListener(app.fetch)));
  },
};

const fetchSubject: Subject = {
  name: 'fetch',
  ...SEES_ALL,
  keepsHeadersOnError: false,
  seesBrokenConnections: false,
  start(setup) {
    const trust = setup.proxies === undefined ? {} : { trustProxy: setup.proxies };
    const handle = async (request: Request, _info: unknown): Promise<Response> => {
      const { status, body } = await answer(new URL(request.url).pathname, setup);
      const headers = { 'x-decision': shown(oursFetch.getDecision(request)) };
      return new Response(request.method === 'HEAD' ? null : body, { status, headers });
    };
    const chain = middlewares(setup, (o) => oursFetch.rateLimit({ ...o, ...trust })).reduceRight(
      (next, limit) => limit(next as Any) as Any,
      handle,
    );
    const listener = getRequestListener(chain as Any, {
      errorHandler: () => new Response('failed', { status: 500 }),
      overrideGlobalObjects: false,
    });
    return running(createServer(listener));
  },
};

/** The controller as tsc emits it for legacy decorators. */
function nestModule(setup: Setup): Any {
  class AuditController {
    async all(request: Any, reply: Any): Promise<void> {
      const { status, body } = await answer(pathOf(request.url), setup).catch((error) => {
        throw error instanceof oursNest.RateLimitExceededError
          ? error
          : new HttpException('failed', 500);
      });
      const decision = shown(oursNest.getDecision(request));
      if ('raw' in reply) reply.header('x-decision', decision).code(status).send(body);
      else {
        reply.setHeader('x-decision', decision);
        reply.status(status).send(body);
      }
    }
  }
  for (const [i, param] of [Req(), Res()].entries()) {
    param(AuditController.prototype, 'all', i);
  }
  decorate([All(PATHS)], AuditController.prototype, 'all');
  Controller()(AuditController);
  class AuditModule {}
  Module({
    controllers: [AuditController],
    imports: [oursNest.RateLimitModule.forRoot(setup.mounts[0] as Any)],
  })(AuditModule);
  return AuditModule;
}

function nestSubject(name: string, adapter: (setup: Setup) => Any): Subject {
  return {
    name,
    ...SEES_ALL,
    seesUnknownPaths: false,
    carriesContext: false,
    async start(setup) {
      const app = await NestFactory.create(nestModule(setup), adapter(setup), { logger: false });
      for (const guard of middlewares({ ...setup, mounts: setup.mounts.slice(1) }, (o) => {
        return oursNest.rateLimit(o);
      })) {
        app.useGlobalGuards(guard);
      }
      await app.listen(0, '127.0.0.1');
      return running(app.getHttpServer(), () => app.close());
    },
  };
}

export const subjects: readonly Subject[] = [
  node,
  expressSubject,
  connectSubject,
  polkaSubject,
  fastifySubject,
  koaSubject,
  honoSubject,
  fetchSubject,
  nestSubject('nest on express', ({ proxies }) => {
    const app = express();
    if (proxies !== undefined) app.set('trust proxy', proxies);
    return new ExpressAdapter(app);
  }),
  nestSubject(
    'nest on fastify',
    ({ proxies }) => new FastifyAdapter({ trustProxy: hops(proxies) }),
  ),
];
