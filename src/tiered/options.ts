import { SluicegateTypeError } from '../errors.ts';
import { isLessor } from '../lease.ts';
import type { LocalLimiter, RemoteLimiter } from '../limiter.ts';
import { knownOptions, optionalFunction, shown, wholeNumber } from '../options.ts';
import type { AlarmHandlers } from './alarm.ts';
import type { BreakerOptions } from './breaker.ts';

/** How long a known denial is taken for true. */
export interface DenialCacheOptions {
  /** Milliseconds, whole, at least 1. Default 5,000. */
  readonly maxAgeMs?: number;
}

/** Permits that a process may take ahead of its calls; see docs/leases.md. */
export interface LeaseOptions {
  /** Most that a process takes or holds of a key ahead of its calls. Whole, at least 1. */
  readonly permits: number;
  /** Milliseconds, whole, at least 1, from before Redis counted a permit, in which it may be spent. */
  readonly maxAgeMs: number;
}

interface CommonOptions extends AlarmHandlers {
  /** The limit across machines. Its policy is the tiered limiter's, its `deadlineMs` the longest wait for it. */
  readonly remote: RemoteLimiter;
  /** A limiter in process that is asked first. Default none. */
  readonly local?: LocalLimiter;
  /** Default on; `false` asks Redis about every call. */
  readonly denialCache?: DenialCacheOptions | false;
  /** Default off: a round trip for every call that Redis admits. */
  readonly lease?: LeaseOptions;
  /** Default on; `false` lets every call wait for Redis up to its deadline. */
  readonly breaker?: BreakerOptions | false;
}

export type TieredOptions = CommonOptions &
  (
    | {
        /** What happens to calls that Redis does not decide: there is no default, since both have a price. */
        readonly onFailure: 'open' | 'closed';
        readonly fallback?: never;
      }
    | {
        readonly onFailure: 'fallback';
        /** Decides while Redis does not, in each process by itself. */
        readonly fallback: LocalLimiter;
      }
  );

const OPTIONS = [
  'remote',
  'local',
  'denialCache',
  'lease',
  'breaker',
  'onDegraded',
  'onRecovered',
  'onFailure',
  'fallback',
];
const MOST_MS = 2 ** 31 - 1;

/** The options with their defaults, after both tiers and all that goes with them were looked at. */
export function checkTieredOptions(options: TieredOptions) {
  knownOptions(options, OPTIONS);
  const { remote, local, fallback, onFailure, denialCache = {}, lease, breaker = {} } = options;
  checkLimiter('remote', remote, false);
  if (local !== undefined) checkLimiter('local', local, true);
  if (!['open', 'closed', 'fallback'].includes(onFailure)) {
    throw fault(`onFailure must be 'open', 'closed' or 'fallback'; got ${shown(onFailure)}`);
  }
  if (onFailure === 'fallback') checkLimiter('fallback', fallback, true);
  else if (fallback !== undefined) {
    throw fault(`fallback is only for onFailure: 'fallback'; got onFailure: '${onFailure}'`);
  }
  if (local !== undefined && local === (fallback as unknown)) {
    throw fault('local and fallback must be two limiters: one would be charged twice for a call');
  }
  optionalFunction('onDegraded', options.onDegraded);
  optionalFunction('onRecovered', options.onRecovered);
  return {
    remote,
    local,
    denials: denials(denialCache),
    lease: lease && leaseOf(lease, remote),
    breaker: breakerOf(breaker),
  };
}

function denials(options: DenialCacheOptions | false) {
  if (options === false) return undefined;
  knownOptions(options, ['maxAgeMs']);
  const { maxAgeMs = 5_000 } = options;
  return { maxAgeMs: wholeNumber('denialCache.maxAgeMs', maxAgeMs, 1, MOST_MS) };
}

function leaseOf(options: LeaseOptions, remote: RemoteLimiter) {
  knownOptions(options, ['permits', 'maxAgeMs']);
  if (!isLessor(remote)) {
    throw fault('lease needs a remote that permits can be leased from: one of the Redis limiters');
  }
  return {
    remote,
    permits: wholeNumber('lease.permits', options.permits, 1, Number.MAX_SAFE_INTEGER),
    maxAgeMs: wholeNumber('lease.maxAgeMs', options.maxAgeMs, 1, MOST_MS),
  };
}

function breakerOf(options: BreakerOptions | false) {
  if (options === false) return undefined;
  knownOptions(options, ['failures', 'cooldownMs']);
  const { failures = 5, cooldownMs = 1_000 } = options;
  return {
    failures: wholeNumber('breaker.failures', failures, 1, Number.MAX_SAFE_INTEGER),
    cooldownMs: wholeNumber('breaker.cooldownMs', cooldownMs, 1, MOST_MS),
  };
}

const METHODS = ['tryAcquire', 'peek', 'refund', 'reset', 'close'];

function checkLimiter(name: string, value: unknown, inProcess: boolean): void {
  const cure = inProcess
    ? 'a limiter in process, such as TokenBucketLimiter'
    : 'a limiter across machines, such as RedisTokenBucketLimiter';
  if (typeof value !== 'object' || value === null) {
    throw fault(`${name} must be ${cure}; got ${shown(value)}`);
  }
  const has = (method: string) => typeof (value as Record<string, unknown>)[method] === 'function';
  const missing = METHODS.find((method) => !has(method));
  if (missing !== undefined || !('policy' in value)) {
    throw fault(`${name} must be ${cure}; got an object without ${missing ?? 'policy'}`);
  }
  if (has('isAllowed') !== inProcess) {
    throw fault(`${name} must be ${cure}; got one ${inProcess ? 'across machines' : 'in process'}`);
  }
}

function fault(message: string): SluicegateTypeError {
  return new SluicegateTypeError('ERR_INVALID_OPTION', message);
}
