import type {
  FastifyInstance,
  FastifyPluginCallback,
  FastifyReply,
  FastifyRequest,
  RouteOptions as FastifyRoute,
  HookHandlerDoneFunction,
} from 'fastify';
import type { HttpFilter } from '../http/filter.ts';
import { decisionOf } from '../http/state.ts';
import type { Verdict } from '../http/verdict.ts';
import type { Decision } from '../limiter.ts';
import { filterOf, type RateLimitOptions } from '../shorthand.ts';
import { FastifyFacts } from './fastify-facts.ts';
import { whenDone } from './node-http.ts';

export * from './common.ts';

export type FastifyOptions = RateLimitOptions<FastifyRequest>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route's own limit instead of the plugin's; `false` for none. */
    rateLimit?: RateLimitOptions<FastifyRequest> | false;
  }
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

/**
 * A rate limit for Fastify, as a plugin: `app.register(rateLimit({ limit: 100, windowMs: 60_000 }))`. Limits every
 * request of the instance it is registered in and of all below, unknown paths too. A route's `config.rateLimit` takes
 * the same options and replaces the plugin's limit there; `false` lifts it. Without options only such routes are
 * limited. The client's address is `request.ip`, as `trustProxy` of the instance makes it.
 */
export function rateLimit(options?: FastifyOptions): FastifyPluginCallback {
  const filter = options === undefined ? undefined : filterOf<FastifyRequest>(options);
  const plugin: FastifyPluginCallback = (app, _options, done) => {
    register(app, filter);
    done();
  };
  // As fastify-plugin does: no scope of its own, so that it holds where it is registered.
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'sluicegate',
    [Symbol.for('plugin-meta')]: { fastify: '5.x', name: 'sluicegate' },
  });
}

function register(app: FastifyInstance, filter: HttpFilter<FastifyRequest> | undefined): void {
  // Reading a request's route costs as much as a decision, so only apps with routes of their own limits pay it.
  let special = false;
  // Fastify adds a HEAD route for each GET; both share one limit.
  const hooks = new WeakMap<object, Hook>();
  app.addHook('onRoute', (route) => {
    const own = route.config?.rateLimit;
    if (own === undefined) return;
    special = true;
    if (own === false) return;
    const hook = hooks.get(own) ?? hookOf(filterOf(own));
    hooks.set(own, hook);
    route.onRequest = [...listOf(route.onRequest), hook];
  });
  if (filter === undefined) return;
  const hook = hookOf(filter);
  app.addHook('onRequest', (request, reply, done) => {
    if (special && request.routeOptions.config.rateLimit !== undefined) done();
    else hook(request, reply, done);
  });
}

function listOf(hooks: FastifyRoute['onRequest']): Hook[] {
  return (hooks === undefined ? [] : Array.isArray(hooks) ? hooks : [hooks]) as Hook[];
}

function hookOf(filter: HttpFilter<FastifyRequest>): Hook {
  return (request, reply, done) => {
    const facts = new FastifyFacts(request);
    const verdict = filter.check(request, facts, request.raw);
    if (!('then' in verdict)) {
      if (applied(verdict, request, reply)) filter.follow(request, facts, done);
      return;
    }
    verdict
      .then((made) => {
        if (applied(made, request, reply)) filter.follow(request, facts, done);
      })
      .then(undefined, done);
  };
}

function applied(verdict: Verdict, request: FastifyRequest, reply: FastifyReply): boolean {
  const { allowed, status, headers, body, settle } = verdict;
  if (settle !== undefined) whenDone(request.raw, reply.raw, settle);
  for (const name in headers) reply.header(name, headers[name]);
  if (!allowed) reply.code(status).send(body);
  return allowed;
}

/** What was decided for this request; undefined if nothing was. */
export function getDecision(request: FastifyRequest): Decision | undefined {
  return decisionOf(request.raw);
}
