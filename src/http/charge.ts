import { SluicegateTypeError } from '../errors.ts';
import type { Decision, Key, RateLimiter } from '../limiter.ts';
import { limiterName, shown } from '../options.ts';

/** Structured-field integers have at most 15 digits. */
const MAX_INTEGER = 999_999_999_999_999;

/** A limiter with what never changes of its headers. */
export interface Gate {
  readonly limiter: RateLimiter;
  readonly name: string;
  /** `"login";q=5;w=60` */
  readonly policyItem: string;
  /** `"login";r=` */
  readonly rateStart: string;
  /** `5;w=60`, as drafts 6 and 7 wrote a policy. */
  readonly draftPolicy: string;
}

/** One answer of one limiter to one request. */
export interface Charge {
  readonly gate: Gate;
  readonly key: Key;
  readonly cost: number;
  readonly decision: Decision;
}

/** Prepares a limiter; its policy's name, or the one given instead, must be fit for a header. */
export function gateOf(limiter: unknown, name?: string): Gate {
  if (!isLimiter(limiter)) {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      `limiter must be a RateLimiter; got ${shown(limiter)}. To limit nobody, use skip`,
    );
  }
  const { policy } = limiter;
  const given = limiterName(name ?? policy.name);
  const quota = integer(policy.limit);
  const window = integer(Math.ceil(policy.windowMs / 1000));
  return {
    limiter,
    name: given,
    policyItem: `"${given}";q=${quota};w=${window}`,
    rateStart: `"${given}";r=`,
    draftPolicy: `${quota};w=${window}`,
  };
}

function isLimiter(value: unknown): value is RateLimiter {
  const { tryAcquire, policy } = (value ?? {}) as Partial<RateLimiter>;
  return typeof tryAcquire === 'function' && typeof policy === 'object';
}

/** Whole, and short enough for a structured field. */
export function integer(value: number): number {
  return Math.min(value, MAX_INTEGER);
}

/** Seconds until the permits are back (allowed) or the call would pass (denied); Infinity for never. */
export function secondsOf({ allowed, resetAfterMs, retryAfterSeconds }: Decision): number {
  return allowed ? Math.ceil(resetAfterMs / 1000) : retryAfterSeconds;
}

/** An answer of the failure policy: nothing was counted, so its numbers say nothing. */
export function isUncounted({ source }: Decision): boolean {
  return source === 'open' || source === 'closed';
}

/** The charge that binds: the denial, else the one with the least left. */
export function tightest(charges: readonly Charge[]): Charge | undefined {
  let found = charges[0];
  for (let i = 1; i < charges.length; i++) {
    const next = charges[i] as Charge;
    if (found !== undefined && isTighter(next.decision, found.decision)) found = next;
  }
  return found;
}

function isTighter(a: Decision, b: Decision): boolean {
  return a.allowed === b.allowed ? a.remaining < b.remaining : !a.allowed;
}
