import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  type DynamicModule,
  type ExceptionFilter,
  type ExecutionContext,
  HttpException,
  SetMetadata,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { joined, type MethodLimit, methodLimit } from '../decorator.ts';
import { SluicegateTypeError } from '../errors.ts';
import { RateLimitExceededError } from '../http/exceeded.ts';
import { isPromise, type RequestFacts } from '../http/facts.ts';
import { HttpFilter } from '../http/filter.ts';
import type { Headers } from '../http/headers.ts';
import { byIp } from '../http/keys.ts';
import { HTTP_OPTIONS, type HttpOptions, pickHttpOptions } from '../http/options.ts';
import { decisionOf } from '../http/state.ts';
import type { Verdict } from '../http/verdict.ts';
import type { Decision } from '../limiter.ts';
import { knownOptions } from '../options.ts';
import { filterOf, type RateLimitOptions } from '../shorthand.ts';
import { FastifyFacts } from './fastify-facts.ts';
import { NodeFacts, setHeaders, whenDone } from './node-http.ts';

export { RateLimit } from '../decorator.ts';
export * from './common.ts';

/** A request of Express or of Fastify, whichever the app runs on. */
// biome-ignore lint/suspicious/noExplicitAny: the app knows which of the two it is.
export type NestRequest = any;

/** Limits for the whole app; with neither limiter, limit nor routes only routes marked `@RateLimit` are limited. */
export type NestOptions = RateLimitOptions<NestRequest> | HttpOptions<NestRequest>;

type NodeRequest = IncomingMessage & { ip?: string };
type Reply = ServerResponse | FastifyReply;

const SKIP = 'sluicegate:skip';

/** Takes a controller or a route out of the guard's limits. */
export const SkipRateLimit = () => SetMetadata(SKIP, true);

/** Over a limit (429), or undecided and closed (503). */
export class RateLimitException extends HttpException {
  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    super(parsed(verdict.body), verdict.status);
    this.verdict = verdict;
  }
}

/**
 * A guard for `app.useGlobalGuards(...)` and `@UseGuards(...)`. A route marked `@RateLimit` has that limit, by the
 * guard's own key, instead of the guard's; one marked with a `key` of its arguments limits itself beside the guard.
 * Guards do not run for unknown paths: to limit those, `app.use` the middleware of `sluicegate/express`.
 */
export function rateLimit(options: NestOptions = {}): CanActivate {
  if (options.context === true) {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      'a guard cannot set context; app.use the middleware of sluicegate/express, or mark routes',
    );
  }
  const limits = ['limit', 'limiter', 'routes'].some((name) => name in options);
  const filter = limits ? filterOf(options as RateLimitOptions<NestRequest>) : undefined;
  if (!limits) knownOptions(options, HTTP_OPTIONS);
  const marked = new WeakMap<MethodLimit, HttpFilter<NestRequest>>();
  const filterFor = (context: ExecutionContext): HttpFilter<NestRequest> | undefined => {
    const limit = methodLimit(context.getHandler());
    if (limit === undefined || limit.options.key !== undefined) return filter;
    const found = marked.get(limit);
    if (found !== undefined) return found;
    const made = markedFilter(limit, options);
    marked.set(limit, made);
    return made;
  };
  return {
    canActivate(context) {
      if (context.getType() !== 'http' || isSkipped(context)) return true;
      const chosen = filterFor(context);
      if (chosen === undefined) return true;
      const request: NestRequest = context.switchToHttp().getRequest();
      const reply: Reply = context.switchToHttp().getResponse();
      const raw = rawRequest(request);
      const verdict = chosen.check(request, factsOf(request), raw);
      const finish = (made: Verdict) => applied(made, raw, reply);
      return isPromise(verdict) ? Promise.resolve(verdict.then(finish)) : finish(verdict);
    },
  };
}

/** From now on the guard counts the method's calls. */
function markedFilter(limit: MethodLimit, options: NestOptions): HttpFilter<NestRequest> {
  limit.guarded = true;
  const { keyPrefix = '' } = limit.options;
  const { key = byIp(), name: _name, ...rest } = pickHttpOptions<NestRequest>(options);
  const prefixed: HttpOptions<NestRequest>['key'] = (request, facts) => {
    const own = key(request, facts);
    return isPromise(own) ? own.then((later) => joined(keyPrefix, later)) : joined(keyPrefix, own);
  };
  return new HttpFilter<NestRequest>({
    ...rest,
    limiter: limit.limiter(),
    key: keyPrefix === '' ? key : prefixed,
    ...(keyPrefix !== '' && { name: keyPrefix }),
  });
}

function applied(verdict: Verdict, request: IncomingMessage, reply: Reply): boolean {
  if (verdict.settle !== undefined) whenDone(request, rawResponse(reply), verdict.settle);
  setReplyHeaders(reply, verdict.headers);
  if (verdict.allowed) return true;
  throw new RateLimitException(verdict);
}

function isSkipped(context: ExecutionContext): boolean {
  const { getMetadata } = Reflect as unknown as {
    getMetadata?: (key: string, target: object) => unknown;
  };
  if (getMetadata === undefined) return false;
  return [context.getHandler(), context.getClass()].some((place) => getMetadata(SKIP, place));
}

function rawRequest(request: IncomingMessage | FastifyRequest): IncomingMessage {
  return 'raw' in request ? request.raw : request;
}

function rawResponse(reply: Reply): ServerResponse {
  return 'raw' in reply ? reply.raw : reply;
}

function factsOf(request: NodeRequest | FastifyRequest): RequestFacts {
  return 'raw' in request ? new FastifyFacts(request) : new NodeFacts(request, ({ ip }) => ip);
}

function setReplyHeaders(reply: Reply, headers: Headers): void {
  if ('raw' in reply) reply.headers(headers);
  else setHeaders(reply, headers);
}

function parsed(body: string): string | Record<string, unknown> {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** Answers over-limit errors of the guard and of methods marked `@RateLimit`, body and all. */
export class RateLimitExceptionFilter implements ExceptionFilter {
  catch(error: RateLimitException | RateLimitExceededError, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw error;
    const { status, headers, body } = 'verdict' in error ? error.verdict : error.toVerdict();
    const reply: Reply = host.switchToHttp().getResponse();
    if (rawResponse(reply).headersSent) return;
    setReplyHeaders(reply, headers);
    if ('raw' in reply) {
      reply.code(status).send(body);
    } else {
      reply.statusCode = status;
      reply.end(body);
    }
  }
}
Catch(RateLimitException, RateLimitExceededError)(RateLimitExceptionFilter);

/** Guard and answers for the whole app: `imports: [RateLimitModule.forRoot({ limit: 100, windowMs: 60_000 })]`. */
// biome-ignore lint/complexity/noStaticOnlyClass: Nest's modules are classes.
export class RateLimitModule {
  static forRoot(options: NestOptions = {}): DynamicModule {
    return {
      module: RateLimitModule,
      global: true,
      providers: [
        { provide: APP_GUARD, useValue: rateLimit(options) },
        { provide: APP_FILTER, useClass: RateLimitExceptionFilter },
      ],
    };
  }
}

/** What was decided for this request; undefined if nothing was. */
export function getDecision(request: NestRequest): Decision | undefined {
  return decisionOf(rawRequest(request));
}
