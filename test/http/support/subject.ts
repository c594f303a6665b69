import type { HttpOptions } from '../../../src/http/options.ts';
import type { RateLimiter } from '../../../src/limiter.ts';

/** Options that mean the same to every adapter: functions read the facts, not the framework's request. */
export type CommonOptions = HttpOptions<unknown> & {
  readonly limiter?:
    | RateLimiter
    | readonly RateLimiter[]
    | ((request: unknown, facts: never) => RateLimiter);
  readonly routes?: readonly unknown[];
};

export interface Setup {
  /** One filter each, mounted in this order. */
  readonly mounts: readonly CommonOptions[];
  /** Mounts the first filter a second time. */
  readonly twice?: boolean;
  /** Believe so many proxies. */
  readonly proxies?: number;
  /** `/slow` answers when this is done. */
  readonly gate?: Promise<void>;
  /** `/service` answers with what this returns. */
  readonly service?: () => unknown;
}

/**
 * A server with these answers: `/hello` 'hello' and the decision in `x-decision`, `/fail` throws, `/teapot` 418,
 * `/slow` waits, `/service` calls the service, anything else 404. All methods.
 */
export interface Running {
  readonly port: number;
  close(): Promise<void>;
}

/** A framework under audit, and what is documented as different about it. */
export interface Subject {
  readonly name: string;
  start(setup: Setup): Promise<Running>;
  /** False where the limit does not see unknown paths (Nest's guards). */
  readonly seesUnknownPaths: boolean;
  /** False where the framework drops headers when a handler throws (Koa). */
  readonly keepsHeadersOnError: boolean;
  /** False where the end of the response is not seen, only the handler's (fetch). */
  readonly seesBrokenConnections: boolean;
  /** False where nothing runs around the handler (Nest's guards). */
  readonly carriesContext: boolean;
  /** True where the framework writes the bodies of thrown errors in its own JSON (Fastify). */
  readonly ownErrorBodies: boolean;
}
