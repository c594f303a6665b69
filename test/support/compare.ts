import type { Key, LocalLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/testing.ts';
import { type ModelLimiter, sameAnswer } from '../model/model-limiter.ts';
import { Random } from './random.ts';

/** Spellings that look alike are among them: each is a key of its own. */
const KEYS: readonly Key[] = ['ann', 42, '42', new Uint8Array([52, 50]), '\u{1d4b3}', 'é'];

/** 10 years, for which a silent key's state stays right. */
const SPAN_US = 315_360_000_000_000;

/** A policy with the numbers that make random calls meet its edges. */
export interface Comparison {
  readonly make: (clock: () => number) => { limiter: LocalLimiter; model: ModelLimiter };
  readonly limit: number;
  /** The time in which the limit comes back. */
  readonly periodUs: number;
  /** Longest time from first call to last; default 10 years. */
  readonly spanUs?: number;
}

/**
 * Makes `calls` random calls on a limiter and on its model and throws where their answers differ. Time stands, creeps,
 * leaps, runs backwards, and lands on and around the moments that denials named.
 */
export function compareRandomly(comparison: Comparison, seed: number, calls: number): void {
  const random = new Random(seed);
  const { limit, spanUs = SPAN_US } = comparison;
  const periodUs = Math.min(comparison.periodUs, Math.floor(spanUs / 1000));
  let calling = 0;
  while (calling < calls) {
    const startUs = random.pick([0, 7_000_123, 1_753_000_000_000_001, -5_000_000_000_001]);
    const clock = new ManualClock(startUs / 1000);
    const { limiter, model } = comparison.make(clock.now);
    let atUs = startUs;
    let edgeUs = startUs;
    for (; calling < calls && atUs - startUs < spanUs; calling++) {
      atUs = Math.max(moved(random, atUs, edgeUs, periodUs, spanUs), startUs);
      // The model's clock starts with its first call, the limiter's at its construction.
      clock.set(Math.min(atUs, startUs + spanUs) / 1000);
      const key = random.pick(KEYS);
      const cost = randomCost(random, limit);
      const retryAfterMs = compareOnce(limiter, model, random, key, cost, () => {
        return `call ${calling} of seed ${seed}: cost ${cost} of key ${key} at ${clock.now()} ms`;
      });
      if (retryAfterMs > 0 && retryAfterMs < Infinity) edgeUs = atUs + retryAfterMs * 1000;
    }
    limiter.close();
  }
}

function moved(
  random: Random,
  atUs: number,
  edgeUs: number,
  periodUs: number,
  spanUs: number,
): number {
  const dice = random.below(1000);
  if (dice < 350) return atUs;
  if (dice < 600) return atUs + random.below(Math.ceil(periodUs / 20) + 2);
  if (dice < 750) return atUs + random.below(periodUs + 2);
  if (dice < 800) return atUs + random.below(3 * periodUs + 2);
  if (dice < 850) return atUs - random.below(periodUs + 2);
  if (dice < 998) return edgeUs + random.pick([-1000, -999, -1, 0, 0, 1]);
  return atUs + random.below(spanUs);
}

function randomCost(random: Random, limit: number): number {
  const dice = random.below(100);
  if (dice < 40) return 1;
  if (dice < 55) return random.between(0, Math.min(limit, 5));
  if (dice < 80) return random.between(1, limit);
  if (dice < 85) return random.between(Math.ceil(limit / 2), limit);
  if (dice < 93) return limit;
  if (dice < 96) return 0;
  return random.pick([Math.min(limit + 1, Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER]);
}

/** One call of either; answers the wait that it named. */
function compareOnce(
  limiter: LocalLimiter,
  model: ModelLimiter,
  random: Random,
  key: Key,
  cost: number,
  place: () => string,
): number {
  const dice = random.below(100);
  if (dice < 10) {
    limiter.refund(key, cost);
    model.refund(key, cost);
    return 0;
  }
  if (dice < 12) {
    limiter.reset(key);
    model.reset(key);
    return 0;
  }
  if (dice < 25) {
    const got = limiter.isAllowed(key, cost);
    if (got !== model.isAllowed(key, cost))
      throw new Error(`isAllowed is wrong: ${got}, ${place()}`);
    return 0;
  }
  const method = dice < 45 ? 'peek' : 'tryAcquire';
  const got = limiter[method](key, cost);
  const due = model[method](key, cost);
  if (!sameAnswer(got, due)) {
    const [gotText, dueText] = [got, due].map((answer) => JSON.stringify(answer));
    throw new Error(`${method} answers ${gotText} and not ${dueText}, ${place()}`);
  }
  return got.retryAfterMs;
}
