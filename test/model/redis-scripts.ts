import type { Argument, ScriptCall } from '../../src/redis/commands.ts';

/** The state of one key under one algorithm, as it was last written. Times are whole microseconds of the server. */
interface KeyState {
  /** What a call of this cost would be answered. `stamp` is what its permits would be given back with. */
  look(cost: number, now: number): Outlook;
  take(cost: number, now: number): void;
  /** Says whether it changed anything: what changes nothing is not written. */
  giveBack(cost: number, now: number): boolean;
  /** Takes back what a lease of that stamp did not use. */
  release(cost: number, stamp: number, now: number): boolean;
  /** Microseconds for which the key is needed; undefined leaves the time that it has. */
  lifetime(now: number): number | undefined;
}

interface Outlook {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly retryAfter: number;
  readonly resetAfter: number;
  readonly stamp: number;
  /** Microseconds until the end of the window that counts them; 0 where no window ends. */
  readonly life: number;
}

/** "count start": a window begins with its first permit. */
class FixedWindow implements KeyState {
  readonly #limit: number;
  readonly #window: number;
  #count = 0;
  #start = 0;

  constructor([limit, window]: readonly number[]) {
    this.#limit = limit as number;
    this.#window = window as number;
  }

  look(cost: number, now: number): Outlook {
    const seen = this.#seen(now);
    const left = seen.start + this.#window - now;
    const allowed = cost === 0 || seen.count + cost <= this.#limit;
    const count = allowed ? seen.count + cost : seen.count;
    return {
      allowed,
      remaining: Math.max(0, this.#limit - count),
      retryAfter: allowed || cost > this.#limit ? 0 : left,
      resetAfter: count > 0 ? left : 0,
      stamp: seen.start,
      life: left,
    };
  }

  take(cost: number, now: number): void {
    const { count, start } = this.#seen(now);
    this.#count = count + cost;
    this.#start = start;
  }

  giveBack(cost: number, now: number): boolean {
    const { count } = this.#seen(now);
    if (count === 0) return false;
    this.#count = Math.max(0, count - cost);
    return true;
  }

  release(cost: number, stamp: number, now: number): boolean {
    return this.#start <= stamp && this.giveBack(cost, now);
  }

  lifetime(now: number): number {
    return this.#count > 0 ? this.#start + this.#window - now : 0;
  }

  #seen(now: number): { count: number; start: number } {
    const over = this.#count === 0 || now >= this.#start + this.#window;
    return over ? { count: 0, start: now } : { count: this.#count, start: this.#start };
  }
}

interface Windows {
  readonly at: number;
  readonly index: number;
  readonly previous: number;
  readonly current: number;
}

/** Permits of the clock's windows; of the previous one the share counts that the trailing window still covers. */
class SlidingWindowCounter implements KeyState {
  readonly #limit: number;
  readonly #window: number;
  #index = 0;
  #previous = 0;
  #current = 0;

  constructor([limit, window]: readonly number[]) {
    this.#limit = limit as number;
    this.#window = window as number;
  }

  look(cost: number, now: number): Outlook {
    const seen = this.#seen(now);
    const allowed = cost === 0 || this.#passes(cost, seen);
    const free = this.#free(allowed ? cost : 0, seen);
    return {
      allowed,
      remaining: free > 0n ? Number(free / BigInt(this.#window)) : 0,
      retryAfter: allowed || cost > this.#limit ? 0 : this.#wait(cost, seen.at) + seen.at - now,
      resetAfter: this.#renewal({ ...seen, current: seen.current + (allowed ? cost : 0) }, now),
      stamp: seen.at,
      life: (seen.index + 1) * this.#window - now,
    };
  }

  take(cost: number, now: number): void {
    const seen = this.#seen(now);
    this.#write(seen, seen.previous, seen.current + cost);
  }

  giveBack(cost: number, now: number): boolean {
    const seen = this.#seen(now);
    const fromCurrent = Math.min(cost, seen.current);
    const fromPrevious = Math.min(cost - fromCurrent, seen.previous);
    if (fromCurrent + fromPrevious === 0) return false;
    this.#write(seen, seen.previous - fromPrevious, seen.current - fromCurrent);
    return true;
  }

  /** To the window that counted it, and to no other. */
  release(cost: number, stamp: number, now: number): boolean {
    const seen = this.#seen(now);
    const age = seen.index - Math.floor(stamp / this.#window);
    const fromCurrent = age === 0 ? Math.min(cost, seen.current) : 0;
    const fromPrevious = age === 1 ? Math.min(cost, seen.previous) : 0;
    if (fromCurrent + fromPrevious === 0) return false;
    this.#write(seen, seen.previous - fromPrevious, seen.current - fromCurrent);
    return true;
  }

  lifetime(now: number): number {
    return this.#renewal(this.#seen(now), now);
  }

  #write({ index }: Windows, previous: number, current: number): void {
    this.#index = index;
    this.#previous = previous;
    this.#current = current;
  }

  /** A clock that was set back stands at the start of the newest window. */
  #seen(now: number): Windows {
    const empty = this.#previous === 0 && this.#current === 0;
    const at = empty ? now : Math.max(now, this.#index * this.#window);
    const index = Math.floor(at / this.#window);
    const age = index - this.#index;
    const previous = age === 0 ? this.#previous : age === 1 ? this.#current : 0;
    return { at, index, previous, current: age === 0 ? this.#current : 0 };
  }

  /** What the guess of the trailing window leaves free after a call of this cost, over the window's microseconds. */
  #free(cost: number, { at, index, previous, current }: Windows): bigint {
    const share = BigInt((index + 1) * this.#window - at);
    const used = BigInt(current + cost) * BigInt(this.#window) + BigInt(previous) * share;
    return BigInt(this.#limit) * BigInt(this.#window) - used;
  }

  #passes(cost: number, seen: Windows): boolean {
    return this.#free(cost, seen) >= 0n;
  }

  /** Found by trying: with no other traffic it passes from some moment on. */
  #wait(cost: number, at: number): number {
    let denied = 0;
    let passing = 2 * this.#window;
    while (passing - denied > 1) {
      const middle = Math.floor((denied + passing) / 2);
      if (this.#passes(cost, this.#seen(at + middle))) passing = middle;
      else denied = middle;
    }
    return passing;
  }

  #renewal({ index, previous, current }: Windows, now: number): number {
    const end = (index + 1) * this.#window;
    if (current > 0) return end + this.#window - now;
    return previous > 0 ? end - now : 0;
  }
}

/** All calls of the trailing window, and some that have left it: those go with later calls. */
class SlidingWindowLog implements KeyState {
  readonly #limit: number;
  readonly #window: number;
  #calls: { readonly at: number; permits: number }[] = [];
  /** Until a release the key is kept for its newest call; a release leaves its time alone. */
  #released = false;

  constructor([limit, window]: readonly number[]) {
    this.#limit = limit as number;
    this.#window = window as number;
  }

  look(cost: number, now: number): Outlook {
    const at = this.#at(now);
    const calls = this.#inWindow(now);
    const used = sum(calls);
    const allowed = cost === 0 || used + cost <= this.#limit;
    const newest = allowed && cost > 0 ? at : calls.at(-1)?.at;
    return {
      allowed,
      remaining: Math.max(0, this.#limit - used - (allowed ? cost : 0)),
      retryAfter: allowed || cost > this.#limit ? 0 : this.#leaves(calls, used, cost) - now,
      resetAfter: newest === undefined ? 0 : newest + this.#window - now,
      stamp: at,
      life: 0,
    };
  }

  take(cost: number, now: number): void {
    const at = this.#at(now);
    const gone = this.#calls.length - this.#inWindow(now).length;
    this.#calls.splice(0, gone === this.#calls.length ? gone : Math.min(gone, 100));
    this.#calls.push({ at, permits: cost });
    this.#released = false;
  }

  /** The newest permits first. */
  giveBack(cost: number, now: number): boolean {
    const calls = this.#inWindow(now);
    if (cost === 0 || calls.length === 0) return false;
    for (let i = calls.length - 1; i >= 0 && cost > 0; i--) {
      const call = calls[i] as { permits: number };
      const back = Math.min(cost, call.permits);
      call.permits -= back;
      cost -= back;
    }
    this.#calls = sum(calls) === 0 ? [] : this.#calls.filter(({ permits }) => permits > 0);
    this.#released = false;
    return true;
  }

  /** The oldest permits up to the stamp. */
  release(cost: number, stamp: number, now: number): boolean {
    for (const call of this.#inWindow(now)) {
      if (call.at > stamp) break;
      const back = Math.min(cost, call.permits);
      call.permits -= back;
      cost -= back;
    }
    this.#calls = this.#calls.filter(({ permits }) => permits > 0);
    this.#released = true;
    return true;
  }

  lifetime(now: number): number | undefined {
    const newest = this.#calls.at(-1);
    if (newest === undefined) return 0;
    return this.#released ? undefined : newest.at + this.#window - now;
  }

  /** A clock that was set back stands. */
  #at(now: number): number {
    return Math.max(now, this.#calls.at(-1)?.at ?? now);
  }

  #inWindow(now: number) {
    const since = this.#at(now) - this.#window;
    return this.#calls.filter(({ at }) => at > since);
  }

  #leaves(calls: readonly { at: number; permits: number }[], used: number, cost: number): number {
    for (const { at, permits } of calls) {
      used -= permits;
      if (used + cost <= this.#limit) return at + this.#window;
    }
    throw new Error('an empty window would let it pass');
  }
}

function sum(calls: readonly { readonly permits: number }[]): number {
  return calls.reduce((total, { permits }) => total + permits, 0);
}

/** "level stamp": what is missing from a full bucket, in units of which a token has `token`. */
class TokenBucket implements KeyState {
  readonly #capacity: bigint;
  readonly #rate: bigint;
  readonly #token: bigint;
  #missing = 0n;
  #since = 0;

  constructor([capacity, rate, token]: readonly number[]) {
    this.#capacity = BigInt(capacity as number);
    this.#rate = BigInt(rate as number);
    this.#token = BigInt(token as number);
  }

  look(cost: number, now: number): Outlook {
    const { at, missing: before } = this.#seen(now);
    const full = this.#capacity * this.#token;
    const wanted = BigInt(cost) * this.#token;
    const allowed = cost === 0 || before + wanted <= full;
    const missing = allowed ? before + wanted : before;
    const waits = !allowed && BigInt(cost) <= this.#capacity;
    return {
      allowed,
      remaining: missing < full ? Number((full - missing) / this.#token) : 0,
      retryAfter: waits ? this.#flowsIn(before + wanted - full) + at - now : 0,
      resetAfter: missing > 0n ? this.#flowsIn(missing) + at - now : 0,
      stamp: at,
      life: 0,
    };
  }

  take(cost: number, now: number): void {
    const { at, missing } = this.#seen(now);
    this.#since = at;
    this.#missing = missing + BigInt(cost) * this.#token;
  }

  giveBack(cost: number, now: number): boolean {
    return this.#fill(BigInt(cost) * this.#token, now);
  }

  /** Without what has flowed in since. */
  release(cost: number, stamp: number, now: number): boolean {
    const since = BigInt(Math.max(0, this.#seen(now).at - stamp));
    return this.#fill(BigInt(cost) * this.#token - since * this.#rate, now);
  }

  lifetime(now: number): number {
    return this.#missing > 0n ? this.#flowsIn(this.#missing) + this.#since - now : 0;
  }

  /** A clock that was set back stands. */
  #seen(now: number): { at: number; missing: bigint } {
    const at = this.#missing > 0n ? Math.max(now, this.#since) : now;
    return { at, missing: lessBy(this.#missing, BigInt(at - this.#since) * this.#rate) };
  }

  #fill(units: bigint, now: number): boolean {
    const { at, missing } = this.#seen(now);
    if (units <= 0n || missing === 0n) return false;
    this.#since = at;
    this.#missing = lessBy(missing, units);
    return true;
  }

  #flowsIn(units: bigint): number {
    return Number((units + this.#rate - 1n) / this.#rate);
  }
}

/** Never below zero. */
function lessBy(units: bigint, by: bigint): bigint {
  return units > by ? units - by : 0n;
}

const ALGORITHMS = {
  'fixed-window': { size: 2, State: FixedWindow },
  'sliding-window-counter': { size: 2, State: SlidingWindowCounter },
  'sliding-window-log': { size: 2, State: SlidingWindowLog },
  'token-bucket': { size: 3, State: TokenBucket },
};

/** Keys live for an hour where the time is given. */
const HOUR_MS = 3_600_000;
const MAX_NODES = 1000;

interface Stored<T> {
  readonly value: T;
  /** Its last millisecond on the server's clock. */
  lastMs: number;
}

/** A Redis that knows our scripts and nothing else, as their headers describe them. */
export class RedisModel {
  readonly #keys = new Map<string, Stored<KeyState>>();
  /** Until which microsecond each node counts, by the key of the set. */
  readonly #nodes = new Map<string, Stored<Map<string, number>>>();

  /** What requests were answered that must not run twice. */
  readonly #answers = new Map<string, Stored<number[]>>();

  flush(): void {
    this.#keys.clear();
    this.#nodes.clear();
    this.#answers.clear();
  }

  /** The reply of a script that a server runs when its clock shows `clock`, in microseconds. */
  run({ algorithm, keys, args }: ScriptCall, clock: number): (number | string)[] {
    const [notAfter, given] = args as [Argument, Argument];
    if (clock > Number(notAfter)) return [clock];
    const { size } = ALGORITHMS[algorithm];
    const policy = args.slice(2, 2 + size).map(Number);
    const each = args.slice(2 + size);
    const time = { clock, now: given === '' ? clock : Number(given), fed: given !== '' };
    const run = new Run(this.#keys, ALGORITHMS[algorithm].State, policy, time);
    if (each[0] !== 'lease' && each[0] !== 'release') {
      return [clock, ...keys.flatMap((key, i) => run.step(key, each.slice(2 * i)))];
    }
    return [
      clock,
      ...this.#once(keys[2] as string, clock, Number(notAfter), () => {
        if (each[0] === 'lease') return this.#lease(run, keys, each.slice(1), time);
        return [...run.step(keys[0] as string, each), 0, 0, 0];
      }),
    ];
  }

  /** A request is answered again as it was the first time, for as long as it can come again. */
  #once(key: string, clock: number, notAfter: number, run: () => number[]): number[] {
    const known = this.#answers.get(key);
    if (known !== undefined && Math.floor(clock / 1000) <= known.lastMs) return known.value;
    const ms = Math.ceil((notAfter - clock) / 1000) + 1;
    const value = run();
    this.#answers.set(key, { value, lastMs: Math.floor(clock / 1000) + ms });
    return value;
  }

  #lease(
    run: Run,
    [key, nodesKey]: readonly string[],
    [least, need, most, node, ms]: readonly Argument[],
    { clock, now }: ScriptTime,
  ): number[] {
    const nodes = this.#nodesOf(nodesKey as string, clock);
    for (const [other, until] of nodes.value) if (until <= now) nodes.value.delete(other);
    if (nodes.value.size < MAX_NODES || nodes.value.has(String(node))) {
      nodes.value.set(String(node), now + Number(ms) * 1000);
      nodes.lastMs = Math.floor(clock / 1000) + Number(ms);
    }
    const fits = run.look(key as string, 0).remaining;
    const share = Math.floor(fits / (2 * nodes.value.size));
    const wish = Math.max(Number(need), Math.min(Number(most), share));
    const granted = fits >= Number(least) ? Math.min(fits, wish) : 0;
    const { remaining, resetAfter, stamp, life } = run.look(key as string, granted);
    if (granted > 0) run.take(key as string, granted);
    const { retryAfter } = run.look(key as string, Number(least));
    return [granted, remaining, retryAfter, resetAfter, nodes.value.size, stamp, life];
  }

  #nodesOf(key: string, clock: number): Stored<Map<string, number>> {
    const known = this.#nodes.get(key);
    if (known !== undefined && Math.floor(clock / 1000) <= known.lastMs) return known;
    const fresh = { value: new Map(), lastMs: Infinity };
    this.#nodes.set(key, fresh);
    return fresh;
  }
}

interface ScriptTime {
  readonly clock: number;
  readonly now: number;
  /** Whether the time is given and not the clock's. */
  readonly fed: boolean;
}

/** One call of a script. */
class Run {
  readonly #keys: Map<string, Stored<KeyState>>;
  readonly #State: new (
    policy: readonly number[],
  ) => KeyState;
  readonly #policy: readonly number[];
  readonly #time: ScriptTime;

  constructor(
    keys: Map<string, Stored<KeyState>>,
    State: new (policy: readonly number[]) => KeyState,
    policy: readonly number[],
    time: ScriptTime,
  ) {
    this.#keys = keys;
    this.#State = State;
    this.#policy = policy;
    this.#time = time;
  }

  /** Allowed or done, remaining, retryAfter, resetAfter. */
  step(key: string, [op, cost, stamp]: readonly Argument[]): number[] {
    const { now } = this.#time;
    const permits = Number(cost);
    if (op === 'acquire' || op === 'peek') {
      const { allowed, remaining, retryAfter, resetAfter } = this.look(key, permits);
      if (op === 'acquire' && allowed && permits > 0) this.take(key, permits);
      return [allowed ? 1 : 0, remaining, retryAfter, resetAfter];
    }
    const state = this.#of(key)?.value;
    let changed = false;
    if (op === 'reset') this.#keys.delete(key);
    else if (op === 'refund') changed = state?.giveBack(permits, now) ?? false;
    else if (op === 'release') changed = state?.release(permits, Number(stamp), now) ?? false;
    else throw new Error(`no such operation: ${op}`);
    if (state && changed) this.#keep(key, state);
    return [1, 0, 0, 0];
  }

  look(key: string, cost: number): Outlook {
    const state = this.#of(key)?.value ?? new this.#State(this.#policy);
    return state.look(cost, this.#time.now);
  }

  take(key: string, cost: number): void {
    const state = this.#of(key)?.value ?? new this.#State(this.#policy);
    state.take(cost, this.#time.now);
    this.#keep(key, state);
  }

  #of(key: string): Stored<KeyState> | undefined {
    const stored = this.#keys.get(key);
    if (stored === undefined || Math.floor(this.#time.clock / 1000) <= stored.lastMs) return stored;
    this.#keys.delete(key);
    return undefined;
  }

  #keep(key: string, value: KeyState): void {
    const { clock, now, fed } = this.#time;
    const us = value.lifetime(now);
    if (us === 0) this.#keys.delete(key);
    if (us === 0 || us === undefined) return;
    const ms = fed ? HOUR_MS : Math.max(1, Math.ceil(us / 1000));
    this.#keys.set(key, { value, lastMs: Math.floor(clock / 1000) + ms });
  }
}
