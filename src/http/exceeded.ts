import type { ErrorCode } from '../errors.ts';
import type { Decision, Policy } from '../limiter.ts';
import { gateOf } from './charge.ts';
import { HeaderWriter } from './headers.ts';
import { denial, type Verdict } from './verdict.ts';

const STATUS = 429;
const writer = new HeaderWriter('ietf');

/**
 * A method marked `@RateLimit` was called over its limit. Carries what Express, Koa, Fastify, Hono and Nest look for
 * in an error (`status`, `statusCode`, `expose`, `headers`, `getResponse()`), so that all of them answer 429.
 */
export class RateLimitExceededError extends Error {
  readonly code: ErrorCode = 'ERR_RATE_LIMITED';
  readonly status: number = STATUS;
  readonly statusCode: number = STATUS;
  readonly expose: boolean = true;
  readonly policy: Policy;
  readonly decision: Decision;

  constructor(policy: Policy, decision: Decision) {
    const { retryAfterSeconds } = decision;
    const wait = retryAfterSeconds === Infinity ? '' : `; try again in ${retryAfterSeconds} s`;
    super(`over the limit "${policy.name}"${wait}`);
    this.name = 'RateLimitExceededError';
    this.policy = policy;
    this.decision = decision;
  }

  /** Headers of the answer. */
  get headers(): Readonly<Record<string, string>> {
    return this.toVerdict().headers;
  }

  /** The answer, for Hono and other servers that speak fetch. */
  getResponse(): Response {
    const { status, headers, body } = this.toVerdict();
    return new Response(body, { status, headers });
  }

  /** The answer, for those who write it themselves. */
  toVerdict(): Verdict {
    const { policy, decision } = this;
    // Only the policy is read of it.
    const gate = gateOf({ policy, tryAcquire: () => decision });
    const facts = { method: '', path: '', ip: undefined, header: () => undefined };
    const limited = { decision, policy, status: STATUS, enforced: true, facts };
    const charges = [{ gate, key: '', cost: 1, decision }];
    return denial(limited, charges, writer, undefined, undefined);
  }
}
