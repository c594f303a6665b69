import type { ServerResponse } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Headers as HeaderRecord } from '../http/headers.ts';
import { decisionCount, decisionOf } from '../http/state.ts';
import type { Verdict } from '../http/verdict.ts';
import type { Decision } from '../limiter.ts';
import { filterOf, type RateLimitOptions } from '../shorthand.ts';
import { whenDone } from './node-http.ts';
import { type AddressOptions, clientReader, runtimeAddress, WebFacts } from './web.ts';

export * from './common.ts';

export type HonoOptions = RateLimitOptions<Context> & AddressOptions<[Context]>;

/**
 * A rate limit for Hono. The client's address is what @hono/node-server, Bun (`fetch: app.fetch`) and Deno tell; on
 * other platforms say how to find it with `ip`, and behind a proxy with `trustProxy`.
 */
export function rateLimit({ ip, trustProxy, ...options }: HonoOptions): MiddlewareHandler {
  const filter = filterOf<Context>(options as RateLimitOptions<Context>);
  const client = clientReader(trustProxy);
  return (c, next) => {
    const { raw } = c.req;
    const facts = new WebFacts(raw, () =>
      client(raw, ip === undefined ? runtimeAddress(c.env, raw) : ip(c)),
    );
    const finish = (verdict: Verdict): Promise<Response | undefined> => {
      const { allowed, status, headers, body, settle } = verdict;
      if (!allowed) {
        const text = raw.method === 'HEAD' ? '' : body;
        return Promise.resolve(c.body(text, status as ContentfulStatusCode, headers));
      }
      const outgoing = settle && nodeResponse(c);
      if (settle && outgoing) whenDone(outgoing.req, outgoing, settle);
      for (const name in headers) c.header(name, headers[name]);
      const decisions = decisionCount(c);
      return filter.follow(c, facts, next).then(
        () => {
          if (c.error === undefined && decisionCount(c) === decisions) keepHeaders(c, headers);
          if (settle && !outgoing) settle(c.res.status);
          return undefined;
        },
        (error) => {
          if (settle && !outgoing) settle(500);
          throw error;
        },
      );
    };
    const verdict = filter.check(c, facts, c);
    return 'then' in verdict ? Promise.resolve(verdict.then(finish)) : finish(verdict);
  };
}

/** Hono drops prepared headers when a handler returns a Response that it made itself. */
function keepHeaders(c: Context, headers: HeaderRecord): void {
  for (const name in headers) {
    if (c.res.headers.get(name) !== headers[name]) c.header(name, headers[name]);
  }
}

function nodeResponse(c: Context): ServerResponse | undefined {
  return (c.env as { outgoing?: ServerResponse } | undefined)?.outgoing;
}

/** What was decided for this request; undefined if nothing was. */
export function getDecision(c: Context): Decision | undefined {
  return decisionOf(c);
}
