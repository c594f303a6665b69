import { pathToRegexp } from 'path-to-regexp';
import { SluicegateTypeError } from '../errors.ts';
import type { RateLimiter } from '../limiter.ts';
import { optionalFunction, shown } from '../options.ts';
import { type Gate, gateOf } from './charge.ts';
import { type Awaitable, isPromise, type OfRequest, type RequestFacts } from './facts.ts';
import type { KeyOf } from './keys.ts';
import type { FilterOptions, LimiterChoice, Route } from './options.ts';

/** What limits a request. */
export interface Rule<Request> {
  readonly matches: ((facts: RequestFacts) => boolean) | undefined;
  readonly gates: readonly Gate[] | OfRequest<Request, Awaitable<readonly Gate[]>>;
  readonly key: KeyOf<Request>;
}

/** The routes in order, then the limiter for all the rest. */
export function rulesOf<Request>(
  { limiter, routes, name }: FilterOptions<Request>,
  key: KeyOf<Request>,
): readonly Rule<Request>[] {
  if (limiter === undefined && routes === undefined) {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      'nothing to limit by: give limit and windowMs, a limiter, or routes',
    );
  }
  const rules = (routes ?? []).map((route) => routeRule(route, key));
  if (limiter !== undefined) {
    rules.push({ matches: undefined, gates: gatesOf(limiter, name), key });
  }
  return rules;
}

function routeRule<Request>(route: Route<Request>, key: KeyOf<Request>): Rule<Request> {
  optionalFunction('key', route.key);
  return {
    matches: matcherOf(route),
    gates: gatesOf(route.limiter, route.name),
    key: route.key ?? key,
  };
}

/**
 * Patterns match without regard to case, a trailing or a doubled slash, and in the decoded path: whatever a framework
 * takes for the endpoint must be limited as the endpoint; what only the table takes for it is answered 404.
 */
function matcherOf({ method, path }: { method?: string; path: string }) {
  if (method !== undefined && (typeof method !== 'string' || method === '')) {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      `method must be a string; got ${shown(method)}`,
    );
  }
  if (typeof path !== 'string' || !path.startsWith('/')) {
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      `path must be a pattern that starts with /; got ${shown(path)}`,
    );
  }
  const { regexp } = pathToRegexp(path);
  const wanted = method?.toUpperCase();
  return (facts: RequestFacts): boolean => {
    const got = facts.method;
    if (wanted !== undefined && got !== wanted && !(wanted === 'GET' && got === 'HEAD')) {
      return false;
    }
    return regexp.test(plainPath(facts.path));
  };
}

function plainPath(path: string): string {
  const single = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
  if (!single.includes('%')) return single;
  try {
    return decodeURI(single);
  } catch {
    return single;
  }
}

function gatesOf<Request>(choice: LimiterChoice<Request>, name?: string): Rule<Request>['gates'] {
  if (typeof choice !== 'function') return fixedGates(choice, name);
  const prepared = new WeakMap<object, Gate>();
  const gate = (limiter: RateLimiter): Gate => {
    const found = typeof limiter === 'object' && limiter !== null && prepared.get(limiter);
    if (found) return found;
    const made = gateOf(limiter, name);
    prepared.set(limiter, made);
    return made;
  };
  const gates = (chosen: RateLimiter | readonly RateLimiter[]): readonly Gate[] => {
    if (!isList(chosen)) return [gate(chosen)];
    if (chosen.length === 0) throw emptyList();
    return chosen.map(gate);
  };
  return (request, facts) => {
    const chosen = choice(request, facts);
    return isPromise(chosen) ? chosen.then(gates) : gates(chosen);
  };
}

function fixedGates(choice: RateLimiter | readonly RateLimiter[], name?: string): readonly Gate[] {
  if (!isList(choice)) return [gateOf(choice, name)];
  const gates = choice.map((limiter) => gateOf(limiter));
  const names = gates.map((gate) => gate.name);
  const twice = names.find((each, i) => names.indexOf(each) !== i);
  if (gates.length === 0) throw emptyList();
  if (twice === undefined) return gates;
  throw new SluicegateTypeError(
    'ERR_INVALID_OPTION',
    `two limiters of one list are named ${shown(twice)}; give each its own name, for clients to tell them apart`,
  );
}

function emptyList(): SluicegateTypeError {
  return new SluicegateTypeError(
    'ERR_INVALID_OPTION',
    'limiter must not be an empty list; to limit nobody, use skip',
  );
}

function isList(choice: RateLimiter | readonly RateLimiter[]): choice is readonly RateLimiter[] {
  return Array.isArray(choice);
}
