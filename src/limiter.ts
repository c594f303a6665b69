/**
 * Who is limited. Numbers are safe integers >= 0, strings and bytes are not empty.
 * The three are disjoint: `42`, `'42'` and the bytes `[52, 50]` are three keys.
 */
export type Key = string | number | Uint8Array;

/** Milliseconds, fractions allowed, that never run backwards. Rounded to whole microseconds, ties to even. */
export type Clock = () => number;

/** What a limiter allows, as HTTP headers advertise it. */
export interface Policy {
  readonly name: string;
  /** Most permits that can pass at once. */
  readonly limit: number;
  /** Length of the window; for a token bucket the time from empty to full. Milliseconds, rounded up. */
  readonly windowMs: number;
}

/**
 * Where a decision came from: `local` and `overflow` are the table in process (`overflow`: the key found no slot and
 * shares a state with others), `redis`, `lease` and `denial-cache` the tier across machines, `fallback`, `open` and
 * `closed` its failure policy.
 */
export type DecisionSource =
  | 'local'
  | 'overflow'
  | 'redis'
  | 'lease'
  | 'denial-cache'
  | 'fallback'
  | 'open'
  | 'closed';

/** The answer to one call. A new object each time, which never changes. */
export interface Decision {
  readonly allowed: boolean;
  /** The policy's limit. */
  readonly limit: number;
  /** Whole permits left after this call, never negative. */
  readonly remaining: number;
  /** 0 when allowed; else the least whole milliseconds after which this call passes; `Infinity` if it never can. */
  readonly retryAfterMs: number;
  /** The same in whole seconds, rounded up: at least 1 when denied. */
  readonly retryAfterSeconds: number;
  /** Whole milliseconds, rounded up, until the key is as new. */
  readonly resetAfterMs: number;
  readonly source: DecisionSource;
}

/** What every limiter does, in process or across machines. A denial is a value; only a fault throws or rejects. */
export interface RateLimiter {
  readonly policy: Policy;
  /**
   * Takes `cost` permits (default 1) from `key` if all of them are free; otherwise takes none.
   * A `cost` above the limit can never pass. A `cost` of 0 is allowed, changes nothing and reports the state.
   */
  tryAcquire(key: Key, cost?: number): Decision | Promise<Decision>;
  /** What `tryAcquire` would answer. Changes nothing. */
  peek(key: Key, cost?: number): Decision | Promise<Decision>;
  /** Gives `cost` permits (default 1) back, at most the limit, the newest window's first, never above full. */
  refund(key: Key, cost?: number): void | Promise<void>;
  /** Makes the key as new. */
  reset(key: Key): void | Promise<void>;
  /** Lets go of what the limiter made itself. Calls after it throw; closing twice is fine. */
  close(): void | Promise<void>;
}

/**
 * Counts, at one moment. `allowed` and `denied` are this limiter object's own calls; all others are the table's, and so
 * the same in every thread that shares it. All are exact, but that a thread which is terminated in the middle of a call
 * may leave one uncounted.
 */
export interface LimiterStats {
  /** Calls of `tryAcquire` and `isAllowed` that were allowed. */
  readonly allowed: number;
  /** Calls of `tryAcquire` and `isAllowed` that were denied. */
  readonly denied: number;
  /** Keys that are not as new. */
  readonly liveKeys: number;
  /** Live keys the table was made for. */
  readonly maxKeys: number;
  /** Memory of the table, all of it taken at construction. */
  readonly memoryBytes: number;
  /** Slots taken over from keys that were as new. */
  readonly evictedIdle: number;
  /** Keys that lost a state which still mattered: always 0, since only keys that are as new are evicted. */
  readonly evictedLive: number;
  /** Calls charged to a shared overflow state because the key found no slot. */
  readonly overflowed: number;
  /** Calls that could not have a lock within 20 ms, so that up to one call each may be allowed too many. */
  readonly lockTimeouts: number;
}

/** A limiter in process: the same methods, synchronous. */
export interface LocalLimiter extends RateLimiter {
  tryAcquire(key: Key, cost?: number): Decision;
  /** `tryAcquire(key, cost).allowed`, without an object. */
  isAllowed(key: Key, cost?: number): boolean;
  /**
   * `isAllowed(key)` for each of the keys in turn, all at one reading of the clock, and several times faster where there
   * are many. `out[i]` becomes 1 where `keys[i]` is allowed, else 0; tells how many are. All keys are checked before any
   * permit is taken. `out` is as long as `keys` at least; what lies behind is left as it was.
   */
  isAllowedMany(keys: readonly Key[], out: Uint8Array): number;
  /** `tryAcquire(key)` for each of the keys in turn, as `isAllowedMany`. */
  tryAcquireMany(keys: readonly Key[]): Decision[];
  peek(key: Key, cost?: number): Decision;
  refund(key: Key, cost?: number): void;
  reset(key: Key): void;
  close(): void;
  /** Reads the whole table to count live keys: about a millisecond for each 300,000 of `maxKeys`. */
  stats(): LimiterStats;
  /** What `attach` takes in another thread. Throws unless the limiter was made with `shared: true`. */
  readonly handle: LimiterHandle;
}

/** A limiter across machines: the same methods, always a promise. */
export interface RemoteLimiter extends RateLimiter {
  tryAcquire(key: Key, cost?: number): Promise<Decision>;
  peek(key: Key, cost?: number): Promise<Decision>;
  refund(key: Key, cost?: number): Promise<void>;
  reset(key: Key): Promise<void>;
  close(): Promise<void>;
}

/** A shared limiter on its way to another thread, by `workerData` or `postMessage`; see `attach`. */
export interface LimiterHandle {
  readonly kind: 'sluicegate/limiter';
  /** The shared WebAssembly memory. */
  readonly memory: object;
}

/** Options of every limiter in process. */
export interface LocalOptions {
  /** Printable ASCII without `"` and `\`, 1 to 128 characters. Default `'default'`. */
  readonly name?: string;
  /** Live keys to make room for; the memory, about 24 bytes a key, is taken at once and never grows. Default 100,000. */
  readonly maxKeys?: number;
  /** Whether worker threads may share the limit, by its `handle`. Default false: faster, and private to the thread. */
  readonly shared?: boolean;
  /** Default: the process-wide monotonic clock. */
  readonly clock?: Clock;
}
