import type { Context, Next } from 'koa';
import { RateLimitExceededError } from '../http/exceeded.ts';
import { pathOf, type RequestFacts } from '../http/facts.ts';
import { decisionOf } from '../http/state.ts';
import type { Verdict } from '../http/verdict.ts';
import type { Decision } from '../limiter.ts';
import { filterOf, type RateLimitOptions } from '../shorthand.ts';
import { headerOf, whenDone } from './node-http.ts';
import { addressReader, type TrustProxy } from './proxies.ts';

export * from './common.ts';

export type KoaOptions = RateLimitOptions<Context> & {
  /** Instead of Koa's `app.proxy` and `app.maxIpsCount`. */
  readonly trustProxy?: TrustProxy;
};

export type KoaMiddleware = (ctx: Context, next: Next) => Promise<unknown>;

/**
 * A rate limit for Koa. With `app.proxy` the client's address is the one that the proxy nearest to this server wrote,
 * the last of the list, or the first of the last `app.maxIpsCount`; not `ctx.ip`, which without `maxIpsCount` is the
 * first of the list, where clients write what they like.
 */
export function rateLimit({ trustProxy, ...options }: KoaOptions): KoaMiddleware {
  const filter = filterOf<Context>(options as RateLimitOptions<Context>);
  const reader = addressReader(trustProxy);
  const address = trustProxy === undefined ? trustedAddress : (ctx: Context) => reader(ctx.req);
  return (ctx, next) => {
    const facts = new KoaFacts(ctx, address);
    const verdict = filter.check(ctx, facts, ctx.req);
    if (!('then' in verdict)) {
      return applied(ctx, verdict) ? filter.follow(ctx, facts, next) : Promise.resolve();
    }
    return Promise.resolve(verdict).then((made) =>
      applied(ctx, made) ? filter.follow(ctx, facts, next) : undefined,
    );
  };
}

function applied(ctx: Context, { allowed, status, headers, body, settle }: Verdict): boolean {
  if (settle !== undefined) whenDone(ctx.req, ctx.res, settle);
  ctx.set(headers);
  if (!allowed) {
    ctx.status = status;
    ctx.body = body;
  }
  return allowed;
}

class KoaFacts implements RequestFacts {
  readonly #ctx: Context;
  readonly #address: (ctx: Context) => string | undefined;

  constructor(ctx: Context, address: (ctx: Context) => string | undefined) {
    this.#ctx = ctx;
    this.#address = address;
  }

  get method(): string {
    return this.#ctx.method;
  }

  get path(): string {
    return pathOf(this.#ctx.originalUrl);
  }

  get ip(): string | undefined {
    return this.#address(this.#ctx);
  }

  header(name: string): string | undefined {
    return headerOf(this.#ctx.req, name);
  }
}

function trustedAddress(ctx: Context): string | undefined {
  const { ips, app } = ctx;
  const trusted = app.maxIpsCount > 0 ? ips[0] : ips.at(-1);
  return trusted ?? ctx.req.socket.remoteAddress;
}

/** Answers 429 for errors of methods marked `@RateLimit`. Mount it first; without it Koa answers them as text. */
export function rateLimitErrors(): KoaMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof RateLimitExceededError)) throw error;
      const { status, headers, body } = error.toVerdict();
      ctx.set(headers);
      ctx.status = status;
      ctx.body = body;
    }
  };
}

/** What was decided for this request; undefined if nothing was. */
export function getDecision(ctx: Context): Decision | undefined {
  return decisionOf(ctx.req);
}
