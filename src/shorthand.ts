import { SluicegateTypeError } from './errors.ts';
import { HttpFilter } from './http/filter.ts';
import { HTTP_OPTIONS, type HttpOptions, type LimiterChoice, type Route } from './http/options.ts';
import type { Clock, LocalLimiter } from './limiter.ts';
import { SlidingWindowCounterLimiter } from './local/sliding-window-counter-limiter.ts';
import { TokenBucketLimiter } from './local/token-bucket-limiter.ts';
import { knownOptions, limiterName, microseconds, shown, wholeNumber } from './options.ts';

/** A limiter in process, in few words. */
export interface Shorthand {
  /** Most requests at once and, in the long run, a window. Whole, at least 1. */
  readonly limit: number;
  readonly windowMs: number;
  /** Default `'token-bucket'`: `limit` at once, then `limit` a window, flowing evenly. */
  readonly algorithm?: 'token-bucket' | 'sliding-window-counter';
  /** Clients to make room for. Default 100,000. */
  readonly maxKeys?: number;
  /** Default: the process-wide monotonic clock. */
  readonly clock?: Clock;
}

/** One line of a table of endpoints, with a limiter or in few words. */
export type RouteOptions<Request = unknown> =
  | Route<Request>
  | (Omit<Route<Request>, 'limiter'> & Shorthand);

/** What `rateLimit` of every adapter takes: what to limit by, and how HTTP tells it. */
export type RateLimitOptions<Request = unknown> = HttpOptions<Request> & {
  /** The first that matches applies; if none does, the limiter or `limit` beside it, if there is one. */
  readonly routes?: readonly RouteOptions<Request>[];
} & (
    | (Shorthand & { readonly limiter?: never })
    | {
        /** A limiter, a list of which all must pass or none is charged, or a function of the request that picks. */
        readonly limiter: LimiterChoice<Request>;
        readonly limit?: never;
        readonly windowMs?: never;
        readonly algorithm?: never;
        readonly maxKeys?: never;
        readonly clock?: never;
      }
    | {
        readonly routes: readonly RouteOptions<Request>[];
        readonly limiter?: never;
        readonly limit?: never;
        readonly windowMs?: never;
        readonly algorithm?: never;
        readonly maxKeys?: never;
        readonly clock?: never;
      }
  );

const SHORTHAND = ['limit', 'windowMs', 'algorithm', 'maxKeys', 'clock'];
const OPTIONS = [...HTTP_OPTIONS, ...SHORTHAND];
const ROUTE_OPTIONS = ['method', 'path', 'limiter', 'key', 'name', ...SHORTHAND];

/** The filter behind `rateLimit`; `own` are options that the adapter reads itself. */
export function filterOf<Request>(
  options: RateLimitOptions<Request>,
  own: readonly string[] = [],
): HttpFilter<Request> {
  knownOptions(options, [...OPTIONS, ...own]);
  const { limit, windowMs, algorithm, maxKeys, clock, routes, name, ...rest } = options;
  const limiter = choiceOf({ ...options, name: name ?? 'default' });
  return new HttpFilter<Request>({
    ...rest,
    ...(name !== undefined && { name }),
    limiter,
    routes: routes?.map(routeOf),
  });
}

function routeOf<Request>(route: RouteOptions<Request>): Route<Request> {
  knownOptions(route, ROUTE_OPTIONS);
  const { method, path, key, name } = route;
  const limiter = choiceOf<Request>({ ...route, name: name ?? routeName(method, path) });
  if (limiter === undefined) {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      `the route ${shown(path)} has nothing to limit by: give limit and windowMs, or a limiter`,
    );
  }
  return {
    path,
    limiter,
    ...(method !== undefined && { method }),
    ...(key !== undefined && { key }),
    ...(name !== undefined && { name }),
  };
}

/** `POST /login`, if that is fit for a header. */
function routeName(method: unknown, path: unknown): string {
  const name = method === undefined ? `${path}` : `${method} ${path}`;
  try {
    return limiterName(name);
  } catch {
    return 'default';
  }
}

type Choice<Request> = Partial<Shorthand> & {
  readonly limiter?: LimiterChoice<Request>;
  readonly name: string;
};

function choiceOf<Request>(options: Choice<Request>): LimiterChoice<Request> | undefined {
  const { limiter } = options;
  const given = SHORTHAND.filter((name) => options[name as keyof Shorthand] !== undefined);
  if (limiter === undefined) {
    return given.length === 0 ? undefined : limiterOf(options as Shorthand & { name: string });
  }
  if (given.length === 0) return limiter;
  throw new SluicegateTypeError(
    'ERR_INVALID_OPTION',
    `give a limiter or ${given.join(', ')}, not both`,
  );
}

/** The limiter that a shorthand means. */
export function limiterOf(options: Shorthand & { readonly name: string }): LocalLimiter {
  const { limit, windowMs, algorithm = 'token-bucket', name, maxKeys, clock } = options;
  const local = { name, ...(maxKeys !== undefined && { maxKeys }), ...(clock && { clock }) };
  if (algorithm === 'sliding-window-counter') {
    return new SlidingWindowCounterLimiter({ limit, windowMs, ...local });
  }
  if (algorithm === 'token-bucket') return bucketOf(limit, windowMs, local);
  throw new SluicegateTypeError(
    'ERR_INVALID_OPTION',
    `algorithm must be "token-bucket" or "sliding-window-counter"; got ${shown(algorithm)}`,
  );
}

function bucketOf(limit: number, windowMs: number, local: object & { name: string }): LocalLimiter {
  // In the caller's words, before the bucket complains in its own.
  wholeNumber('limit', limit, 1, Number.MAX_SAFE_INTEGER);
  microseconds('windowMs', windowMs);
  return new TokenBucketLimiter({
    capacity: limit,
    refillTokens: limit,
    refillIntervalMs: windowMs,
    ...local,
  });
}
