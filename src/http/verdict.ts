import type { Charge } from './charge.ts';
import type { Headers, HeaderWriter } from './headers.ts';
import type { HttpOptions, Limited } from './options.ts';

/** What to do with a request. */
export interface Verdict {
  /** Whether the handler runs. */
  readonly allowed: boolean;
  /** Status of the answer in the handler's stead; 200 when allowed. */
  readonly status: number;
  /** For the handler's response when allowed, else for the answer. */
  readonly headers: Headers;
  /** Body of the answer; '' when allowed. */
  readonly body: string;
  /** To be called with the response's status once it is done or broken off (499). Only there if that matters. */
  readonly settle: ((status: number) => void) | undefined;
}

/** Nothing to say. */
export const PASS: Verdict = Object.freeze({
  allowed: true,
  status: 200,
  headers: Object.freeze({}) as Headers,
  body: '',
  settle: undefined,
});

/** Status, for refunds, of a connection that broke off before the response was complete. */
export const BROKEN_OFF = 499;

const PROBLEM = 'application/problem+json';
const JSON_TYPE = 'application/json';
const TEXT = 'text/plain; charset=utf-8';
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

/** The answer to a request that is over a limit. */
export function denial<Request>(
  limited: Limited,
  charges: readonly Charge[],
  writer: HeaderWriter,
  body: HttpOptions<Request>['body'],
  request: Request,
): Verdict {
  const headers = writer.writeDenial(charges);
  return { allowed: false, status: limited.status, headers, ...content(), settle: undefined };

  function content() {
    if (typeof body === 'function') {
      const value = body(limited, request);
      const text = typeof value === 'string';
      headers['Content-Type'] = text ? TEXT : JSON_TYPE;
      return { body: text ? value : (JSON.stringify(value) ?? '') };
    }
    headers['Content-Type'] = body === 'json' ? JSON_TYPE : PROBLEM;
    if (body === 'json') return { body: '{"error":"Rate limit exceeded"}' };
    return {
      body: JSON.stringify({
        type: QUOTA_EXCEEDED,
        title: 'Request cannot be satisfied as assigned quota has been exceeded',
        status: limited.status,
        'violated-policies': [limited.policy.name],
      }),
    };
  }
}

/** The answer to a request that could not be decided and must not pass. */
export function unavailable(
  charges: readonly Charge[],
  writer: HeaderWriter,
  body: HttpOptions<never>['body'],
): Verdict {
  const headers = writer.writeDenial(charges);
  const problem = body !== 'json';
  headers['Content-Type'] = problem ? PROBLEM : JSON_TYPE;
  return {
    allowed: false,
    status: 503,
    headers,
    body: problem
      ? '{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"The rate limiter cannot answer"}'
      : '{"error":"Rate limiter unavailable"}',
    settle: undefined,
  };
}
