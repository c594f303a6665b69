import * as fc from 'fast-check';
import { parseRateLimit } from 'ratelimit-header-parser';
import { parseList } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { type Charge, gateOf } from '../../src/http/charge.ts';
import { exposeHeaders, type HeaderFormat, HeaderWriter } from '../../src/http/headers.ts';
import type { Decision, Policy } from '../../src/limiter.ts';

const policies = fc.record({
  name: fc.stringMatching(/^[ !#-[\]-~]{1,20}$/),
  limit: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  windowMs: fc.integer({ min: 1, max: 31_536_000_000 }),
});

const MAX = 999_999_999_999_999;

function decisionFrom(
  policy: Policy,
  { allowed, share, ms, never }: { allowed: boolean; share: number; ms: number; never: boolean },
): Decision {
  const retryAfterMs = allowed ? 0 : never ? Infinity : ms;
  return {
    allowed,
    limit: policy.limit,
    remaining: Math.floor(policy.limit * share),
    retryAfterMs,
    retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
    resetAfterMs: ms,
    source: 'local',
  };
}

const outcomes = fc.record({
  allowed: fc.boolean(),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  ms: fc.integer({ min: 1, max: 31_536_000_000 }),
  never: fc.boolean(),
});

const charges = fc
  .tuple(policies, outcomes)
  .map(([policy, outcome]) => chargeOf(policy, decisionFrom(policy, outcome)));

function chargeOf(policy: Policy, decision: Decision): Charge {
  return { gate: gateOf({ policy, tryAcquire: () => decision }), key: 'k', cost: 1, decision };
}

function seconds({ allowed, resetAfterMs, retryAfterSeconds }: Decision): number {
  return allowed ? Math.ceil(resetAfterMs / 1000) : retryAfterSeconds;
}

describe('ietf headers', () => {
  it('are structured-field lists that say what was decided, for any policies', () => {
    fc.assert(
      fc.property(fc.array(charges, { minLength: 1, maxLength: 3 }), (list) => {
        const headers = new HeaderWriter('ietf').write(list);
        const policy = parseList(headers['RateLimit-Policy'] as string);
        const rate = parseList(headers.RateLimit as string);
        expect(policy).toHaveLength(list.length);
        expect(rate).toHaveLength(list.length);
        for (const [i, { gate, decision }] of list.entries()) {
          const { limit, windowMs, name } = gate.limiter.policy;
          expect(policy[i]).toEqual([
            name,
            new Map([
              ['q', Math.min(limit, MAX)],
              ['w', Math.ceil(windowMs / 1000)],
            ]),
          ]);
          const t = seconds(decision);
          const wait: [string, number][] = t === Infinity ? [] : [['t', t]];
          const r: [string, number] = ['r', Math.min(decision.remaining, MAX)];
          expect(rate[i]).toEqual([name, new Map([r, ...wait])]);
        }
      }),
    );
  });

  it('never ask for less patience in Retry-After than in t, nor for less than a second', () => {
    fc.assert(
      fc.property(fc.array(charges, { minLength: 1, maxLength: 3 }), (list) => {
        const headers = new HeaderWriter('ietf').writeDenial(list);
        const waits = list
          .filter(({ decision }) => !decision.allowed && decision.retryAfterMs !== Infinity)
          .map(({ decision }) => decision.retryAfterSeconds);
        const retryAfter = headers['Retry-After'];
        expect(headers['Cache-Control']).toBe('no-store');
        if (list.some(({ decision }) => decision.retryAfterMs === Infinity)) {
          expect(retryAfter).toBeUndefined();
        } else if (waits.length > 0) {
          expect(retryAfter).toMatch(/^[1-9]\d*$/);
          expect(Number(retryAfter)).toBe(Math.max(...waits));
        }
      }),
    );
  });

  it.each(['"', 'a\\b', 'ä', '', 'a\nb', 'x'.repeat(129)])('refuse the name %j', (name) => {
    const policy = { name, limit: 1, windowMs: 1000 };
    expect(() => gateOf({ policy, tryAcquire: () => undefined })).toThrow(RangeError);
  });

  it('say nothing of an answer that was not counted', () => {
    const policy = { name: 'p', limit: 5, windowMs: 1000 };
    const open = { ...decisionFrom(policy, open0), source: 'open' as const };
    const writer = new HeaderWriter(['ietf', 'draft-6', 'legacy']);
    expect(writer.write([chargeOf(policy, open)])).toEqual({ 'RateLimit-Policy': '"p";q=5;w=1' });
  });
});

const open0 = { allowed: true, share: 1, ms: 1, never: false };

describe('older headers', () => {
  const small = fc
    .tuple(
      fc.record({
        name: fc.constant('p'),
        limit: fc.integer({ min: 1, max: 1e9 }),
        windowMs: fc.integer({ min: 1000, max: 86_400_000 }),
      }),
      outcomes.map((o) => ({ ...o, never: false, ms: (o.ms % 86_400_000) + 1 })),
    )
    .map(([policy, outcome]) => chargeOf(policy, decisionFrom(policy, outcome)));

  it.each(['draft-7', 'draft-6', 'legacy'] as const)(
    '%s are read by ratelimit-header-parser as they were meant',
    (format) => {
      fc.assert(
        fc.property(small, (charge) => {
          const before = Date.now();
          const headers = new HeaderWriter(format).write([charge]);
          const reset = format === 'legacy' ? 'unix' : 'seconds';
          const parsed = parseRateLimit(new Headers(headers), { reset });
          const { decision } = charge;
          expect(parsed).toMatchObject({ limit: decision.limit, remaining: decision.remaining });
          const due = before + seconds(decision) * 1000;
          const told = parsed?.reset?.getTime() ?? 0;
          expect(told).toBeGreaterThanOrEqual(due - 1000);
          expect(told).toBeLessThanOrEqual(due + 3000);
        }),
      );
    },
  );

  it('tell of the limiter that binds: a denial, else the least left', () => {
    const a = { name: 'a', limit: 10, windowMs: 1000 };
    const b = { name: 'b', limit: 100, windowMs: 60_000 };
    const pass = (policy: Policy, remaining: number) =>
      chargeOf(policy, { ...decisionFrom(policy, open0), remaining });
    const deny = (policy: Policy) =>
      chargeOf(
        policy,
        decisionFrom(policy, { allowed: false, share: 0.5, ms: 2000, never: false }),
      );
    const writer = new HeaderWriter('draft-7');
    expect(writer.write([pass(a, 3), pass(b, 2)]).RateLimit).toBe(
      'limit=100, remaining=2, reset=1',
    );
    expect(writer.write([pass(a, 0), deny(b)]).RateLimit).toBe('limit=100, remaining=50, reset=2');
    expect(writer.write([pass(a, 0), deny(b)])['RateLimit-Policy']).toBe('10;w=1, 100;w=60');
  });

  it('leave the reset out when waiting is of no use', () => {
    const policy = { name: 'p', limit: 5, windowMs: 1000 };
    const never = { allowed: false, share: 1, ms: 1, never: true };
    const headers = new HeaderWriter(['draft-6', 'legacy']).writeDenial([
      chargeOf(policy, decisionFrom(policy, never)),
    ]);
    expect(Object.keys(headers).sort()).toEqual([
      'Cache-Control',
      'RateLimit-Limit',
      'RateLimit-Policy',
      'RateLimit-Remaining',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
    ]);
  });
});

describe('the choice of headers', () => {
  it('refuses two grammars for one field', () => {
    expect(() => new HeaderWriter(['ietf', 'draft-7'])).toThrow(/two grammars/);
  });

  it.each([['draft-8'], [['ietf', 'x']], [5], [null]])('refuses %j', (chosen) => {
    expect(() => new HeaderWriter(chosen as HeaderFormat)).toThrow(
      /headers must be any of draft-6, draft-7, ietf, legacy/,
    );
  });

  it('writes none for an empty list', () => {
    expect(new HeaderWriter([]).write([])).toEqual({});
  });

  it('names what browsers must be allowed to show', () => {
    expect(exposeHeaders).toEqual(['RateLimit-Policy', 'RateLimit', 'Retry-After']);
  });
});
