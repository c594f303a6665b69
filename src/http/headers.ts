import { SluicegateTypeError } from '../errors.ts';
import { shown } from '../options.ts';
import { type Charge, integer, isUncounted, secondsOf, tightest } from './charge.ts';

/**
 * How clients are told. `ietf`: `RateLimit-Policy` and `RateLimit` as the IETF draft has them since draft 8,
 * structured-field lists with an item for each limiter. The older ones know one limiter: the one that binds.
 * `draft-7`: `RateLimit: limit=5, remaining=4, reset=12`. `draft-6`: `RateLimit-Limit`, `-Remaining` and `-Reset` in
 * seconds from now. `legacy`: `X-RateLimit-Limit`, `-Remaining` and `-Reset` in Unix seconds, as GitHub sends it.
 */
export type HeaderFormat = 'ietf' | 'draft-7' | 'draft-6' | 'legacy';

/** Names and values, in the order they are sent. */
export type Headers = Record<string, string>;

/** What a browser must be told to show to scripts of other origins, as in `cors({ exposedHeaders: exposeHeaders })`. */
export const exposeHeaders: string[] = ['RateLimit-Policy', 'RateLimit', 'Retry-After'];

type Format = (headers: Headers, charges: readonly Charge[]) => void;

const FORMATS: Record<HeaderFormat, Format> = {
  // Before ietf, whose RateLimit-Policy is the one to keep.
  'draft-6': (headers, charges) => {
    const charge = tightest(charges) as Charge;
    headers['RateLimit-Policy'] = draftPolicies(charges);
    if (isUncounted(charge.decision)) return;
    const seconds = secondsOf(charge.decision);
    headers['RateLimit-Limit'] = `${integer(charge.decision.limit)}`;
    headers['RateLimit-Remaining'] = `${integer(charge.decision.remaining)}`;
    if (seconds !== Infinity) headers['RateLimit-Reset'] = `${integer(seconds)}`;
  },
  'draft-7': (headers, charges) => {
    const { decision } = tightest(charges) as Charge;
    headers['RateLimit-Policy'] = draftPolicies(charges);
    if (isUncounted(decision)) return;
    const seconds = secondsOf(decision);
    const reset = seconds === Infinity ? '' : `, reset=${integer(seconds)}`;
    headers.RateLimit = `limit=${integer(decision.limit)}, remaining=${integer(decision.remaining)}${reset}`;
  },
  ietf: (headers, charges) => {
    const [first] = charges as [Charge];
    let policies = first.gate.policyItem;
    let rates = rateItem(first);
    for (let i = 1; i < charges.length; i++) {
      const charge = charges[i] as Charge;
      policies += `, ${charge.gate.policyItem}`;
      const rate = rateItem(charge);
      rates += rates === '' || rate === '' ? rate : `, ${rate}`;
    }
    headers['RateLimit-Policy'] = policies;
    if (rates !== '') headers.RateLimit = rates;
  },
  legacy: (headers, charges) => {
    const { decision } = tightest(charges) as Charge;
    if (isUncounted(decision)) return;
    const seconds = secondsOf(decision);
    headers['X-RateLimit-Limit'] = `${integer(decision.limit)}`;
    headers['X-RateLimit-Remaining'] = `${integer(decision.remaining)}`;
    if (seconds !== Infinity) {
      headers['X-RateLimit-Reset'] = `${integer(Math.ceil(Date.now() / 1000) + seconds)}`;
    }
  },
};

function rateItem({ gate, decision }: Charge): string {
  if (isUncounted(decision)) return '';
  const item = gate.rateStart + integer(decision.remaining);
  const seconds = secondsOf(decision);
  return seconds === Infinity ? item : `${item};t=${integer(seconds)}`;
}

function draftPolicies(charges: readonly Charge[]): string {
  return charges.map(({ gate }) => gate.draftPolicy).join(', ');
}

/** Writes the chosen formats of some charges. */
export class HeaderWriter {
  readonly #formats: readonly Format[];

  constructor(chosen: HeaderFormat | readonly HeaderFormat[]) {
    const names = typeof chosen === 'string' ? [chosen] : chosen;
    const known = Object.keys(FORMATS) as HeaderFormat[];
    const unknown = Array.isArray(names) ? names.find((name) => !known.includes(name)) : names;
    if (unknown !== undefined) {
      throw new SluicegateTypeError(
        'ERR_INVALID_OPTION',
        `headers must be any of ${known.join(', ')}; got ${shown(unknown)}`,
      );
    }
    if (names.includes('ietf') && names.includes('draft-7')) {
      throw new SluicegateTypeError(
        'ERR_INVALID_OPTION',
        'headers cannot be both ietf and draft-7: they write the field RateLimit in two grammars; choose one',
      );
    }
    this.#formats = known.filter((name) => names.includes(name)).map((name) => FORMATS[name]);
  }

  /** The headers of a request that may go on. */
  write(charges: readonly Charge[]): Headers {
    const headers: Headers = {};
    if (charges.length > 0) for (const format of this.#formats) format(headers, charges);
    return headers;
  }

  /** The headers of an answer in the handler's stead: never cached; `Retry-After` unless there is no use in waiting. */
  writeDenial(charges: readonly Charge[]): Headers {
    const headers = this.write(charges);
    headers['Cache-Control'] = 'no-store';
    const seconds = retryAfterOf(charges);
    if (seconds >= 1 && seconds !== Infinity) headers['Retry-After'] = `${integer(seconds)}`;
    return headers;
  }
}

/** At least the `t` of every denial. */
function retryAfterOf(charges: readonly Charge[]): number {
  let seconds = 0;
  for (const { decision } of charges) {
    if (!decision.allowed) seconds = Math.max(seconds, decision.retryAfterSeconds);
  }
  return seconds;
}
