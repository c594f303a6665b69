import { SluicegateTypeError } from './errors.ts';
import { requestContext } from './http/context.ts';
import { RateLimitExceededError } from './http/exceeded.ts';
import { type Awaitable, isPromise } from './http/facts.ts';
import { joinKey } from './http/keys.ts';
import type { Clock, Decision, Key, RateLimiter } from './limiter.ts';
import {
  knownOptions,
  limiterName,
  microseconds,
  optionalFunction,
  wholeNumber,
} from './options.ts';
import { limiterOf } from './shorthand.ts';

export { RateLimitExceededError } from './http/exceeded.ts';

/** What `@RateLimit` takes. */
export interface RateLimitMethodOptions<Args extends unknown[] = []> {
  /** Most calls at once and, in the long run, a window. Default 100. */
  readonly limit?: number;
  /** Default 60. */
  readonly windowSeconds?: number;
  /** Instead of `windowSeconds`. */
  readonly windowMs?: number;
  /** Default `'token-bucket'`. */
  readonly algorithm?: 'token-bucket' | 'sliding-window-counter';
  /** Name of the policy, and a prefix that keeps the keys of methods apart which share a `limiter`. Default `''`. */
  readonly keyPrefix?: string;
  /**
   * Who is limited, from the method's arguments. Default: the key of the request that the call belongs to, if an
   * adapter with `context: true` has set one; else all calls of the method share one budget.
   */
  readonly key?: (...args: Args) => Key;
  /** Limiter to use instead of one made from `limit` and window; one that answers later makes the method async. */
  readonly limiter?: RateLimiter;
  /** Keys to make room for. Default 100,000. */
  readonly maxKeys?: number;
  readonly clock?: Clock;
}

/** Marks a method, as a standard decorator and as TypeScript's legacy one. */
export interface RateLimitDecorator<Args extends unknown[]> {
  // A key may look at the first arguments only.
  <This, Params extends [...Args, ...unknown[]], Result>(
    method: (this: This, ...args: Params) => Result,
    context: ClassMethodDecoratorContext<This, (this: This, ...args: Params) => Result>,
  ): (this: This, ...args: Params) => Result;
  (prototype: object, name: string | symbol, descriptor: PropertyDescriptor): void;
}

/** A marked method's limit, for adapters that apply it to a route themselves. */
export interface MethodLimit {
  readonly options: RateLimitMethodOptions<never[]>;
  readonly limiter: () => RateLimiter;
  /** An adapter limits the route before the method runs: calls are not counted again. */
  guarded: boolean;
}

type Method = (this: unknown, ...args: never[]) => unknown;

const LIMIT = Symbol('sluicegate.method-limit');
const OPTIONS = [
  'limit',
  'windowSeconds',
  'windowMs',
  'algorithm',
  'keyPrefix',
  'key',
  'limiter',
  'maxKeys',
  'clock',
];
/** Key of a method that has no other. */
const WHOLE_METHOD = 'method';

/**
 * Limits the calls of a method: over the limit it throws a `RateLimitExceededError`, which the adapters turn into 429.
 * An `async` method rejects with it. One function for standard and legacy decorators; in Nest it marks a route, which
 * then has this limit, per client, instead of the module's. Each use makes a limiter of its own at the first call.
 *
 * @example
 * class Accounts {
 *   @RateLimit({ limit: 5, windowSeconds: 60, keyPrefix: 'login', key: (email: string) => email })
 *   login(email: string, password: string) {}
 * }
 */
export function RateLimit<Args extends unknown[] = []>(
  options: RateLimitMethodOptions<Args> = {},
): RateLimitDecorator<Args> {
  checkMethodOptions(options);
  const known = options as unknown as RateLimitMethodOptions<never[]>;
  const decorate = (
    target: object,
    context: ClassMethodDecoratorContext | string | symbol,
    descriptor?: PropertyDescriptor,
  ): unknown => {
    if (typeof target === 'function' && typeof context === 'object' && context.kind === 'method') {
      return limited(target as Method, known, context.name);
    }
    if (typeof descriptor?.value === 'function' && typeof context !== 'object') {
      descriptor.value = limited(descriptor.value, known, context);
      return undefined;
    }
    throw new SluicegateTypeError(
      'ERR_INVALID_OPTION',
      '@RateLimit marks methods; use it on a method of a class',
    );
  };
  return decorate as RateLimitDecorator<Args>;
}

/** The limit of a method marked `@RateLimit`. */
export function methodLimit(method: unknown): MethodLimit | undefined {
  return (method as { [LIMIT]?: MethodLimit } | undefined)?.[LIMIT];
}

function checkMethodOptions<Args extends unknown[]>(options: RateLimitMethodOptions<Args>): void {
  knownOptions(options, OPTIONS);
  const { limit, windowSeconds, windowMs, keyPrefix, key } = options;
  if (limit !== undefined) wholeNumber('limit', limit, 1, Number.MAX_SAFE_INTEGER);
  if (keyPrefix !== undefined && keyPrefix !== '') limiterName(keyPrefix);
  optionalFunction('key', key);
  if (windowSeconds !== undefined && windowMs !== undefined) {
    throw new SluicegateTypeError('ERR_INVALID_OPTION', 'give windowSeconds or windowMs, not both');
  }
  microseconds(windowMs === undefined ? 'windowSeconds * 1000' : 'windowMs', windowOf(options));
}

function windowOf({
  windowSeconds = 60,
  windowMs,
}: {
  windowSeconds?: number;
  windowMs?: number;
}): number {
  return windowMs ?? windowSeconds * 1000;
}

function limited(
  method: Method,
  options: RateLimitMethodOptions<never[]>,
  name: string | symbol,
): Method {
  let own: RateLimiter | undefined;
  const limiter = (): RateLimiter => {
    own ??= options.limiter ?? makeLimiter(options, String(name));
    return own;
  };
  const limit: MethodLimit = { options, limiter, guarded: false };
  const isAsync = method.constructor.name === 'AsyncFunction';
  const wrapper = function (this: unknown, ...args: never[]): unknown {
    if (limit.guarded) return method.apply(this, args);
    const go = (decision: Decision): unknown => {
      if (decision.allowed) return method.apply(this, args);
      throw new RateLimitExceededError(policyOf(limit), decision);
    };
    try {
      const decision = decide(limit, args);
      return isPromise(decision) ? Promise.resolve(decision.then(go)) : go(decision);
    } catch (error) {
      if (isAsync) return Promise.reject(error);
      throw error;
    }
  };
  return dressedAs(wrapper, method, limit);
}

function makeLimiter(options: RateLimitMethodOptions<never[]>, name: string): RateLimiter {
  const { limit = 100, algorithm, keyPrefix = '', maxKeys, clock } = options;
  return limiterOf({
    limit,
    windowMs: windowOf(options),
    name: keyPrefix === '' ? printable(name) : keyPrefix,
    ...(algorithm && { algorithm }),
    ...(maxKeys !== undefined && { maxKeys }),
    ...(clock && { clock }),
  });
}

function printable(name: string): string {
  return /^[\w$]{1,128}$/.test(name) ? name : 'default';
}

function policyOf({ limiter, options: { keyPrefix = '' } }: MethodLimit) {
  const { policy } = limiter();
  return keyPrefix === '' ? policy : { ...policy, name: keyPrefix };
}

function decide({ limiter, options }: MethodLimit, args: never[]): Awaitable<Decision> {
  const { key, keyPrefix = '' } = options;
  const prefixed = (own: Key): Key => (keyPrefix === '' ? own : joined(keyPrefix, own));
  const found = key === undefined ? requestContext.getStore()?.key() : key(...args);
  if (isPromise(found)) return found.then((own) => limiter().tryAcquire(prefixed(own)));
  if (found === undefined && key === undefined) return limiter().tryAcquire(prefixed(WHOLE_METHOD));
  return limiter().tryAcquire(prefixed(found as Key));
}

/** One key of prefix and key; bytes go as hexadecimal digits, and what is no key is left for the limiter to refuse. */
export function joined(prefix: string, key: Key): Key {
  if (key instanceof Uint8Array && key.length > 0) {
    return joinKey([prefix, 'bytes', Buffer.from(key).toString('hex')]);
  }
  return key !== '' && (typeof key === 'string' || typeof key === 'number')
    ? joinKey([prefix, key])
    : key;
}

/** Name, length and metadata of the method, so that frameworks find what other decorators left on it. */
function dressedAs(wrapper: Method, method: Method, limit: MethodLimit): Method {
  Object.defineProperties(wrapper, {
    name: { value: method.name, configurable: true },
    length: { value: method.length, configurable: true },
    [LIMIT]: { value: limit },
  });
  const { getOwnMetadataKeys, getOwnMetadata, defineMetadata } = Reflect as unknown as Metadata;
  for (const key of getOwnMetadataKeys?.(method) ?? []) {
    defineMetadata?.(key, getOwnMetadata?.(key, method), wrapper);
  }
  return wrapper;
}

/** What `reflect-metadata` adds, where it is loaded. */
interface Metadata {
  getOwnMetadataKeys?: (target: object) => unknown[];
  getOwnMetadata?: (key: unknown, target: object) => unknown;
  defineMetadata?: (key: unknown, value: unknown, target: object) => void;
}
