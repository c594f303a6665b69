import { describe, expect, it } from 'vitest';
import { mutatedPackage } from '../support/threads/compile.ts';
import { messageOf, sharedWords, startWorker } from '../support/threads/crew.ts';
import { expectWellFormed, inspect } from '../support/threads/inspection.ts';
import { Ledger } from '../support/threads/ledger.ts';
import { ALGORITHMS, type Algorithm, joining, make } from '../support/threads/limiters.ts';
import { UNCLAIMED } from '../support/threads/mutations.ts';

/** For each algorithm; `node scripts/stress.js` sets more. */
const SECONDS = Number(process.env.CHURN_SECONDS ?? 5);
const TIMEOUT = (SECONDS + 60) * 1_000;
const WORKERS = 4;
/** Room for 96 slots. */
const MAX_KEYS = 64;
const KEYS = 1_000;
const HOT_KEYS = 48;
/** The last ones, which are also reset now and then, so that nothing is known about them. */
const RESET_KEYS = 50;
const STEPS = 1_000;
const LIMIT = 3;
/** In steps, each a millisecond of the clock. */
const WINDOW = 12;

interface Churned {
  readonly rounds: number;
  readonly admitted: number;
  readonly excess: number;
  readonly lockTimeouts: number;
  readonly evictedIdle: number;
  readonly evictedLive: number;
  readonly overflowed: number;
}

/** Lets workers churn for so long, or until they were admitted too much. Looks at the table after every round. */
async function churn(algorithm: Algorithm, seconds: number, folder?: string): Promise<Churned> {
  const until = performance.now() + seconds * 1_000;
  const sizes = { limit: LIMIT, windowMs: WINDOW, maxKeys: MAX_KEYS };
  const made = await make(algorithm, folder === undefined ? sizes : { ...sizes, folder });
  const { limiter } = made;
  const counts = new Uint16Array(new SharedArrayBuffer(2 * STEPS * KEYS));
  const control = sharedWords(2);
  const plan = { keys: KEYS, hotKeys: HOT_KEYS, resetKeys: RESET_KEYS, steps: STEPS };
  const common = { ...joining(made), ...plan, counts, control, meeting: sharedWords(2) };
  const workers = Array.from({ length: WORKERS }, (_, index) =>
    startWorker('churn.js', { ...common, index, workers: WORKERS }),
  );
  const table = inspect(limiter.handle);
  const ledger = new Ledger(algorithm, KEYS - RESET_KEYS, LIMIT, WINDOW);
  for (let round = 0; ; round++) {
    await Promise.all(workers.map((worker) => messageOf(worker)));
    ledger.enter(round * STEPS, counts, KEYS);
    if (folder === undefined) expectWellFormed(table);
    counts.fill(0);
    const over = performance.now() > until || ledger.excess > limiter.stats().lockTimeouts;
    if (over) Atomics.store(control, 0, 1);
    const answers = over ? Promise.all(workers.map((worker) => messageOf(worker))) : undefined;
    Atomics.store(control, 1, round + 1);
    Atomics.notify(control, 1);
    if (answers === undefined) continue;
    await answers;
    const { lockTimeouts, evictedIdle, evictedLive, overflowed } = limiter.stats();
    const { admitted, excess } = ledger;
    const rounds = round + 1;
    return { rounds, admitted, excess, lockTimeouts, evictedIdle, evictedLive, overflowed };
  }
}

describe.each(ALGORITHMS)('%s on a table far too small', (algorithm) => {
  it('never admits too much for any key, and the table stays well-formed', {
    timeout: TIMEOUT,
  }, async () => {
    const churned = await churn(algorithm, SECONDS);
    console.log(`${algorithm}, ${WORKERS} workers, ${SECONDS} s: ${JSON.stringify(churned)}`);
    expect(churned.excess).toBeLessThanOrEqual(churned.lockTimeouts);
    expect(churned.evictedLive).toBe(0);
    // All of it happened: inserts and evictions, and overflow beside them.
    expect(churned.evictedIdle).toBeGreaterThan(1_000);
    expect(churned.overflowed).toBeGreaterThan(1_000);
    expect(churned.admitted).toBeGreaterThan(1_000);
  });

  it('would admit too much if a slot were taken without comparing', {
    timeout: TIMEOUT,
  }, async () => {
    const churned = await churn(algorithm, 60, mutatedPackage([UNCLAIMED]));
    expect(churned.excess).toBeGreaterThan(churned.lockTimeouts);
  });
});
