import type { Decision, Policy } from '../../index.ts';

/**
 * What a limited answer tells its client: the policy and its state as in the IETF's RateLimit header fields draft, and
 * when to come back.
 */
export function rateLimitHeaders(policy: Policy, decision: Decision): Record<string, string> {
  const { name, limit, windowMs } = policy;
  const seconds = decision.allowed
    ? Math.ceil(decision.resetAfterMs / 1000)
    : decision.retryAfterSeconds;
  return {
    'Cache-Control': 'no-store',
    'RateLimit-Policy': `"${name}";q=${limit};w=${Math.ceil(windowMs / 1000)}`,
    RateLimit: `"${name}";r=${decision.remaining};t=${seconds}`,
    ...(decision.allowed ? {} : { 'Retry-After': `${decision.retryAfterSeconds}` }),
  };
}
