import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import { RateLimitExceededError } from '../http/exceeded.ts';
import { decisionOf } from '../http/state.ts';
import type { Decision } from '../limiter.ts';
import { filterOf, type RateLimitOptions } from '../shorthand.ts';
import { applyVerdict, NodeFacts } from './node-http.ts';
import { addressReader, type TrustProxy } from './proxies.ts';

export * from './common.ts';

export type ExpressOptions<Req extends IncomingMessage = Request> = RateLimitOptions<Req> & {
  /** For connect and polka, which have no setting of their own. Express: `app.set('trust proxy', 1)` instead. */
  readonly trustProxy?: TrustProxy;
};

export type ExpressMiddleware<Req extends IncomingMessage = Request> = (
  request: Req,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * A rate limit for Express, and for connect and polka. The client's address is Express's `req.ip`, as `trust proxy`
 * makes it.
 */
export function rateLimit<Req extends IncomingMessage = Request>({
  trustProxy,
  ...options
}: ExpressOptions<Req>): ExpressMiddleware<Req> {
  const filter = filterOf<Req>(options as RateLimitOptions<Req>);
  const reader = addressReader(trustProxy);
  const address =
    trustProxy === undefined ? (request: Req) => ownAddress(request) ?? reader(request) : reader;
  return (request, response, next) => {
    const facts = new NodeFacts(request, address);
    const verdict = filter.check(request, facts, request);
    if (!('then' in verdict)) {
      if (applyVerdict(request, response, verdict)) filter.follow(request, facts, next);
      return;
    }
    verdict
      .then((made) => {
        if (applyVerdict(request, response, made)) filter.follow(request, facts, next);
      })
      .then(undefined, next);
  };
}

function ownAddress(request: object): string | undefined {
  return (request as { ip?: string }).ip;
}

/**
 * Answers 429 for errors of methods marked `@RateLimit`, and hands on all others. Mount it after the routes.
 * For polka: `polka({ onError: rateLimitErrors() })`.
 */
export function rateLimitErrors() {
  return (
    error: unknown,
    request: IncomingMessage,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ): void => {
    if (error instanceof RateLimitExceededError && !response.headersSent) {
      applyVerdict(request, response, error.toVerdict());
    } else {
      next(error);
    }
  };
}

/** What was decided for this request; undefined if nothing was. */
export function getDecision(request: IncomingMessage): Decision | undefined {
  return decisionOf(request);
}
