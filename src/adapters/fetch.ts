import { RateLimitExceededError } from '../http/exceeded.ts';
import { isPromise } from '../http/facts.ts';
import type { Headers as HeaderRecord } from '../http/headers.ts';
import { decisionCount, decisionOf } from '../http/state.ts';
import type { Verdict } from '../http/verdict.ts';
import type { Decision } from '../limiter.ts';
import { filterOf, type RateLimitOptions } from '../shorthand.ts';
import { type AddressOptions, clientReader, runtimeAddress, WebFacts } from './web.ts';

export * from './common.ts';

export type FetchOptions = RateLimitOptions<Request> & AddressOptions<[Request, ...unknown[]]>;

/** A handler as Bun, Deno, Next.js route handlers and service workers have it. */
export type FetchHandler<Args extends unknown[]> = (
  request: Request,
  ...args: Args
) => Response | Promise<Response>;

/**
 * A rate limit around a function from Request to Response: `rateLimit({ limit, windowMs })(handler)`.
 * Bun's `server` and Deno's `info`, the handler's second argument, tell the client's address; elsewhere say how to
 * find it with `ip`, or with `trustProxy` alone behind proxies that hide their own address.
 * Permits are refunded when the handler has made its response, since nobody tells when that has been sent.
 */
export function rateLimit({ ip, trustProxy, ...options }: FetchOptions) {
  const filter = filterOf<Request>(options as RateLimitOptions<Request>);
  const client = clientReader(trustProxy);
  return <Args extends unknown[]>(
    handler: FetchHandler<Args>,
  ): ((request: Request, ...args: Args) => Promise<Response>) => {
    return async (request, ...args) => {
      const facts = new WebFacts(request, () =>
        client(request, ip === undefined ? runtimeAddress(args[0], request) : ip(request, ...args)),
      );
      const checked = filter.check(request, facts, request);
      const verdict = isPromise(checked) ? await checked : checked;
      if (!verdict.allowed) return answerOf(verdict, request);
      return handled(verdict, request, () =>
        filter.follow(request, facts, () => handler(request, ...args)),
      );
    };
  };
}

async function handled(
  { headers, settle }: Verdict,
  request: Request,
  run: () => Response | Promise<Response>,
): Promise<Response> {
  const decisions = decisionCount(request);
  let status = 500;
  try {
    const response = await run();
    status = response.status;
    // A filter further in has written a list that holds this one's item too.
    return decisionCount(request) > decisions ? response : withHeaders(response, headers);
  } catch (error) {
    if (!(error instanceof RateLimitExceededError)) throw error;
    status = error.status;
    return answerOf(error.toVerdict(), request);
  } finally {
    settle?.(status);
  }
}

function withHeaders(response: Response, headers: HeaderRecord): Response {
  try {
    for (const name in headers) response.headers.set(name, headers[name] as string);
    return response;
  } catch {
    // Responses of fetch() and Response.redirect() cannot be changed.
    return withHeaders(new Response(response.body, response), headers);
  }
}

/** A denial as a Response; without a body where the client expects none. */
function answerOf({ status, headers, body }: Verdict, { method }: Request): Response {
  return new Response(method === 'HEAD' ? null : body, { status, headers });
}

/** What was decided for this request; undefined if nothing was. */
export function getDecision(request: Request): Decision | undefined {
  return decisionOf(request);
}
