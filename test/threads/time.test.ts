import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/index.ts';
import { TokenBucketLimiter } from '../../src/index.ts';
import { mutatedPackage } from '../support/threads/compile.ts';
import { crew, messageOf, sharedWords, startWorker, until } from '../support/threads/crew.ts';
import { joining, type Made, make } from '../support/threads/limiters.ts';
import { LOST_UPDATES } from '../support/threads/mutations.ts';

const WORKERS = 4;
const LIMIT = 100;
const WINDOW_MS = 10;
const US = 0.001;

/** Workers that call one key without a break. */
class Hammer {
  readonly #control = sharedWords(1);
  readonly #calls = sharedWords(WORKERS);
  readonly #admitted = sharedWords(1);
  readonly #crew: Promise<unknown>;

  constructor(data: object) {
    const words = { control: this.#control, calls: this.#calls, admitted: this.#admitted };
    this.#crew = crew('hammer.js', WORKERS, { ...data, ...words });
  }

  get admitted(): number {
    return Atomics.load(this.#admitted, 0);
  }

  /** Resolves when every worker has begun and ended a call. */
  async settled(): Promise<void> {
    const seen = Array.from(this.#calls);
    await Promise.race([
      this.#crew,
      until(() => this.#calls.every((n, i) => n >= (seen[i] ?? 0) + 2)),
    ]);
  }

  async stop(): Promise<void> {
    Atomics.store(this.#control, 0, 1);
    await this.#crew;
  }
}

/**
 * Runs the clock while workers call one key, sometimes back a little, as a thread that reads late would see it. Stands
 * still at each of `stops` until every worker has been denied.
 */
async function run(
  made: Made,
  stops: readonly number[],
  due: (ms: number) => number,
): Promise<Hammer> {
  const hammer = new Hammer(joining(made));
  const { clock } = made;
  await hammer.settled();
  for (const stop of stops) {
    while (clock.now() < stop) {
      const now = clock.now();
      clock.set(Math.max(0, now - Math.random()));
      await new Promise((resolve) => setImmediate(resolve));
      clock.set(Math.min(stop, now + Math.random()));
      // Or what is left over could pass the limit, and be lost.
      await until(() => due(clock.now()) - hammer.admitted < made.limiter.policy.limit / 2);
    }
    await hammer.settled();
  }
  await hammer.stop();
  return hammer;
}

describe('while time runs', () => {
  it('a token bucket admits exactly capacity + rate x elapsed', async () => {
    const made = await make('token bucket', { limit: LIMIT, windowMs: WINDOW_MS });
    const due = (ms: number) => LIMIT + Math.floor((ms * LIMIT) / WINDOW_MS);
    const end = 200;
    const { admitted } = await run(made, [end], due);
    expect(admitted).toBe(due(end));
  });

  it('a token bucket would admit more if an update did not compare before it swaps', async () => {
    const folder = mutatedPackage([LOST_UPDATES]);
    // So many that there is always one to race for.
    const limit = 10_000;
    const due = (ms: number) => limit + Math.floor((ms * limit) / WINDOW_MS);
    const end = 100;
    const excess = async () => {
      const made = await make('token bucket', { limit, windowMs: WINDOW_MS, folder });
      return (await run(made, [end], due)).admitted - due(end);
    };
    await expect.poll(excess, { timeout: 60_000, interval: 1 }).toBeGreaterThan(0);
  }, 90_000);

  it('a sliding window counter admits limit, then limit - 1 in every window', async () => {
    const made = await make('sliding window counter', { limit: LIMIT, windowMs: WINDOW_MS });
    const windows = 20;
    // The last moment of each window, when all that it lets through is due.
    const stops = Array.from({ length: windows }, (_, i) => (i + 1) * WINDOW_MS - US);
    const { admitted } = await run(made, stops, () => 0);
    expect(admitted).toBe(LIMIT + (windows - 1) * (LIMIT - 1));
  });

  it('the process-wide clock holds for all: capacity + rate x elapsed, and at least that minus 1', async () => {
    const capacity = 12_000; // not full again before the workers have started, however busy the machine
    const perSecond = 400;
    const before = process.hrtime.bigint();
    const limiter = new TokenBucketLimiter({ capacity, refillPerSecond: perSecond, shared: true });
    let mine = 0;
    while (limiter.isAllowed('hot')) mine++;
    const begun = process.hrtime.bigint();
    const hammer = new Hammer({ handle: limiter.handle });
    await until(() => hammer.admitted >= 2 * perSecond);
    await hammer.stop();
    const ending = process.hrtime.bigint();
    while (limiter.isAllowed('hot')) mine++;
    const after = process.hrtime.bigint();
    const due = (elapsed: bigint) => capacity + (Number(elapsed) * perSecond) / 1e9;
    expect(hammer.admitted + mine).toBeLessThanOrEqual(due(after - before));
    expect(hammer.admitted + mine).toBeGreaterThanOrEqual(due(ending - begun) - 1);
  });

  it('a worker that has just started reads the same time as the main thread', async () => {
    const limiter = new TokenBucketLimiter({ capacity: 10, refillPerSecond: 0.1, shared: true });
    const before = process.hrtime.bigint();
    const mine = limiter.tryAcquire('key', 10);
    const after = process.hrtime.bigint();
    const worker = startWorker('once.js', { handle: limiter.handle, key: 'key' });
    const its = await messageOf<{ decision: Decision; before: bigint; after: bigint }>(worker);
    const elapsed = mine.resetAfterMs - its.decision.resetAfterMs;
    const ms = (ns: bigint) => Number(ns) / 1e6;
    // Both waits are rounded up to whole milliseconds.
    expect(elapsed).toBeGreaterThanOrEqual(ms(its.before - after) - 1);
    expect(elapsed).toBeLessThanOrEqual(ms(its.after - before) + 1);
  });
});
