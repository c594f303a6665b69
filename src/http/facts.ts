/** What the filter knows of a request, whatever the framework. An adapter reads each only when it is asked for. */
export interface RequestFacts {
  readonly method: string;
  /** The whole path, as the client sent it: mount points included, query left out. */
  readonly path: string;
  /** The client's address as the framework or the app trusts it; undefined where nobody can say. */
  readonly ip: string | undefined;
  /** A header by its lower-case name. Undefined if the client did not send it. */
  header(name: string): string | undefined;
}

/** A value, now or later. */
export type Awaitable<Value> = Value | PromiseLike<Value>;

/** A function of the framework's own request (Express's `req`, Koa's `ctx`, Hono's `c`, a `Request`) and its facts. */
export type OfRequest<Request, Value> = (request: Request, facts: RequestFacts) => Value;

/** Where every request passes, `'then' in value` stands instead: there the engine knows the one shape it sees. */
export function isPromise<Value>(value: Awaitable<Value>): value is PromiseLike<Value> {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as { then?: unknown }).then === 'function';
}

/** The path of a request target: `/a?b`, or `http://host/a` as clients send it to a proxy. */
export function pathOf(target: string): string {
  const path = target.startsWith('/') ? target : withoutOrigin(target);
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

function withoutOrigin(target: string): string {
  const path = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}
