import { SluicegateTypeError } from '../errors.ts';
import type { Decision, Policy, RateLimiter } from '../limiter.ts';
import { limiterName, optionalFunction, shown, wholeNumber } from '../options.ts';
import type { Awaitable, OfRequest, RequestFacts } from './facts.ts';
import type { HeaderFormat } from './headers.ts';
import type { KeyOf } from './keys.ts';

/** A denial, as `onLimited` and a `body` function see it. */
export interface Limited {
  readonly decision: Decision;
  /** The policy that denied, by the name that headers give it. */
  readonly policy: Policy;
  /** Status of the answer; in shadow mode the one it would have had. */
  readonly status: number;
  /** False in shadow mode: the request goes on. */
  readonly enforced: boolean;
  readonly facts: RequestFacts;
}

/** What to do with a request that cannot be decided: let it pass, or answer 503. */
export type FailurePolicy = 'open' | 'closed';

/** One limiter, several in order, or a function of the request that picks. */
export type LimiterChoice<Request> =
  | RateLimiter
  | readonly RateLimiter[]
  | OfRequest<Request, Awaitable<RateLimiter | readonly RateLimiter[]>>;

/** Options of every adapter. `Request` is what the framework hands on: `req`, `ctx`, `c`, a `Request`. */
export interface HttpOptions<Request = unknown> {
  /**
   * Who is limited. Default: the client's address, `byIp()`. Also `byHeader('x-api-key')`, `byUser(fn)` or your own
   * function; join several parts with `joinKey`. A key that is none (undefined, '', NaN, an object) is a fault.
   */
  readonly key?: KeyOf<Request>;
  /** Permits that a request takes: a number, or a function of the request. Default 1. */
  readonly cost?: number | OfRequest<Request, Awaitable<number>>;
  /** Requests that are neither counted nor limited. Default: none. */
  readonly skip?: OfRequest<Request, Awaitable<boolean>>;
  /** Default `'ietf'`. A list gives several at once, an empty one none. `Retry-After` comes always. */
  readonly headers?: HeaderFormat | readonly HeaderFormat[];
  /**
   * The answer's body: `'problem+json'` (RFC 9457, the default), `'json'`, which is `{"error":"Rate limit exceeded"}`,
   * or a function, whose string is sent as text and whose other values as JSON.
   */
  readonly body?: 'problem+json' | 'json' | ((limited: Limited, request: Request) => unknown);
  /** Status of a denial, 400 to 599. Default 429. */
  readonly status?: number;
  /** Told of every denial, in shadow mode too. For logs and metrics: what it throws is reported and changes nothing. */
  readonly onLimited?: (limited: Limited, request: Request) => void;
  /**
   * What to do when there is no decision. `'open'` lets the request pass, `'closed'` answers 503, a function is told
   * the error and returns either. Default: open if the limiter could not answer (an outage must not take the site
   * down), closed if the app's own functions threw or gave no usable key, cost or limiter (a bug must not switch the
   * limiter off). Without a function the first error of each kind is emitted as a process warning.
   */
  readonly onError?:
    | FailurePolicy
    | ((error: unknown, request: Request, facts: RequestFacts) => FailurePolicy);
  /**
   * Gives the permits back after the response, exactly once: `'failed'` for a status of 400 or more, `'successful'`
   * for one below, or a function of the status. A connection that broke off before the response was complete counts
   * as 499. Default: never.
   */
  readonly refund?: 'failed' | 'successful' | ((status: number) => boolean);
  /** Name of the policy in headers and bodies. Default: the limiter's own. */
  readonly name?: string;
  /** False decides, counts and sets headers but lets every request pass: shadow mode. Default true. */
  readonly enforce?: boolean;
  /** True carries the key in an async context to methods marked `@RateLimit`. Costs every request. Default false. */
  readonly context?: boolean;
}

/** One line of a table of endpoints. */
export interface Route<Request = unknown> {
  /** Default: every method. GET is HEAD too. */
  readonly method?: string;
  /** Pattern for the whole path, as Express 5 has them: `/users/:id`, `/files/*rest`, `/a{/b}`. */
  readonly path: string;
  readonly limiter: LimiterChoice<Request>;
  /** Default: the table's key. */
  readonly key?: KeyOf<Request>;
  /** Name of the policy in headers and bodies. Default: the limiter's own. */
  readonly name?: string;
}

/** Options with what to limit by: the first route that matches, else the limiter; without either the request passes. */
export interface FilterOptions<Request = unknown> extends HttpOptions<Request> {
  readonly limiter?: LimiterChoice<Request> | undefined;
  readonly routes?: readonly Route<Request>[] | undefined;
}

/** Names of the options above, for checks against typing errors. */
export const HTTP_OPTIONS: readonly string[] = [
  'limiter',
  'routes',
  'key',
  'cost',
  'skip',
  'headers',
  'body',
  'status',
  'onLimited',
  'onError',
  'refund',
  'name',
  'enforce',
  'context',
];

/** Everything that can be wrong before the first request. Limiters, routes and headers are checked where they are made. */
export function checkHttpOptions<Request>(options: FilterOptions<Request>): void {
  const { key, cost, skip, body, status, onLimited, onError, refund, name, enforce, context } =
    options;
  optionalFunction('key', key);
  optionalFunction('skip', skip);
  optionalFunction('onLimited', onLimited);
  if (typeof cost !== 'function' && cost !== undefined) {
    wholeNumber('cost', cost, 0, Number.MAX_SAFE_INTEGER);
  }
  if (status !== undefined) wholeNumber('status', status, 400, 599);
  if (name !== undefined) limiterName(name);
  oneOf('body', body, ['problem+json', 'json']);
  oneOf('onError', onError, ['open', 'closed']);
  oneOf('refund', refund, ['failed', 'successful']);
  optionalBoolean('enforce', enforce);
  optionalBoolean('context', context);
  if (Array.isArray(options.limiter) && name !== undefined) {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      'name is for one limiter; name each of a list where it is made',
    );
  }
}

function oneOf(name: string, value: unknown, words: readonly string[]): void {
  if (value === undefined || typeof value === 'function' || words.includes(value as string)) return;
  throw new SluicegateTypeError(
    'ERR_INVALID_OPTION',
    `${name} must be ${words.map(shown).join(', ')} or a function; got ${shown(value)}`,
  );
}

function optionalBoolean(name: string, value: unknown): void {
  if (value === undefined || typeof value === 'boolean') return;
  throw new SluicegateTypeError(
    'ERR_INVALID_OPTION',
    `${name} must be true or false; got ${shown(value)}`,
  );
}

/** The options without what limits. */
export function pickHttpOptions<Request>(options: HttpOptions<Request>): HttpOptions<Request> {
  const limits = ['limiter', 'routes'];
  const entries = Object.entries(options).filter(
    ([name]) => HTTP_OPTIONS.includes(name) && !limits.includes(name),
  );
  return Object.fromEntries(entries);
}
