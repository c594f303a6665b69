import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestFacts } from '../http/facts.ts';
import type { HttpFilter } from '../http/filter.ts';
import { decisionOf } from '../http/state.ts';
import type { Verdict } from '../http/verdict.ts';
import type { Decision } from '../limiter.ts';
import { filterOf, type RateLimitOptions } from '../shorthand.ts';
import { applyVerdict, NodeFacts } from './node-http.ts';
import { addressReader, type TrustProxy } from './proxies.ts';

export * from './common.ts';

export type NodeOptions = RateLimitOptions<IncomingMessage> & {
  readonly trustProxy?: TrustProxy;
};

/** Answers a request that is over the limit, else calls `next`. Tells, too, whether the request may go on. */
export type NodeMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: () => void,
) => boolean | PromiseLike<boolean>;

/** A rate limit for Node's own `http` and `https` servers. */
export function rateLimit({ trustProxy, ...options }: NodeOptions): NodeMiddleware {
  const filter = filterOf<IncomingMessage>(options as RateLimitOptions<IncomingMessage>);
  const address = addressReader(trustProxy);
  return (request, response, next) => {
    const facts = new NodeFacts(request, address);
    const verdict = filter.check(request, facts, request);
    if ('then' in verdict) {
      return verdict.then((made) => finish(filter, request, response, facts, made, next));
    }
    return finish(filter, request, response, facts, verdict, next);
  };
}

function finish(
  filter: HttpFilter<IncomingMessage>,
  request: IncomingMessage,
  response: ServerResponse,
  facts: RequestFacts,
  verdict: Verdict,
  next: (() => void) | undefined,
): boolean {
  if (!applyVerdict(request, response, verdict)) return false;
  if (next !== undefined) filter.follow(request, facts, next);
  return true;
}

/** What was decided for this request; undefined if nothing was. */
export function getDecision(request: IncomingMessage): Decision | undefined {
  return decisionOf(request);
}
