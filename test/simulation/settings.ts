import type { Algorithm } from '../../src/redis/commands.ts';
import { Random } from '../support/random.ts';

/** Something that goes wrong. Times and lengths in milliseconds of the world. */
export type Fault = { readonly at: number } & (
  | { readonly kind: 'reset'; readonly node: number; readonly ms: number }
  | { readonly kind: 'stall'; readonly node: number; readonly ms: number }
  | { readonly kind: 'pause'; readonly node: number; readonly ms: number }
  | { readonly kind: 'crash'; readonly node: number; readonly ms: number }
  | { readonly kind: 'close'; readonly node: number; readonly ms: number }
  | { readonly kind: 'restart'; readonly empty: boolean; readonly ms: number }
  | { readonly kind: 'refusal'; readonly ms: number }
  /** Connections break as soon as a lease was taken or given back: nobody is told. */
  | { readonly kind: 'cuts'; readonly ms: number }
  | { readonly kind: 'clock step'; readonly ms: number }
);

/** All that a schedule is made of, beside the seed from which the rest is drawn. */
export interface Setting {
  readonly seed: number;
  readonly algorithm: Algorithm;
  /** Of a bucket: the capacity, and the time in which it fills. */
  readonly limit: number;
  readonly windowMs: number;
  readonly nodes: number;
  readonly keys: number;
  readonly lease?: { readonly permits: number; readonly maxAgeMs: number };
  readonly deadlineMs: number;
  readonly denials: boolean;
  readonly breaker: boolean;
  readonly onFailure: 'open' | 'closed';
  /** Microseconds that a message is on its way. */
  readonly delayUs: readonly [number, number];
  /** Whether the client sends again what was not answered when the connection broke. */
  readonly resends: boolean;
  /** Before the first attempt to connect again. */
  readonly retryMs: number;
  readonly durationMs: number;
  /** Milliseconds from one arrival to the next, on average, and the most calls that arrive together. */
  readonly everyMs: number;
  readonly burst: number;
  /** Of so many milliseconds half are ten times as busy; 0 if all are the same. */
  readonly waveMs: number;
  readonly maxCost: number;
  /** How unequal: 0 for all the same, 1 as Zipf saw it. */
  readonly skewOfKeys: number;
  readonly skewOfNodes: number;
  readonly percentRefunds: number;
  readonly percentResets: number;
  readonly percentPeeks: number;
  /** More is asked for all the time than there is, and nothing goes wrong. */
  readonly saturated: boolean;
  readonly faults: readonly Fault[];
}

const ALGORITHMS: readonly Algorithm[] = [
  'fixed-window',
  'sliding-window-counter',
  'sliding-window-log',
  'token-bucket',
];

/** The schedule of a seed. Of six one is saturated, and three have faults. */
export function settingOf(seed: number): Setting {
  const random = new Random(seed);
  const saturated = seed % 6 === 0;
  const algorithm = random.pick(ALGORITHMS);
  const nodes = random.pick([1, 2, 2, 3, 3, 5, 8, random.between(1, 50)]);
  const keys = saturated ? random.between(1, 2) : random.pick([1, 1, 2, 3, 10, 30]);
  const limit = saturated ? random.between(30, 300) : random.pick([1, 5, 20, 60, 200]);
  const windowMs = random.pick([100, 250, 500, 1_000]);
  const leased = random.chance(80);
  const lease = {
    permits: random.pick([1, 2, 5, 10, Math.ceil(limit / 4), limit]),
    maxAgeMs: random.pick([5, 20, 50, 100, 300, 1_000, 3_000]),
  };
  const least = random.pick([50, 300, 1_000]);
  const periods = saturated ? 2.5 : random.pick([0.5, 1.5, 3]);
  const rounds = periods * limit * keys;
  const some = random.between(20, 250);
  const calls = saturated ? 3 * rounds : random.chance(50) ? some : Math.min(2 * rounds, 600);
  const durationMs = Math.ceil(periods * windowMs);
  const burst = random.pick([1, 1, 3, 10]);
  const setting: Setting = {
    seed,
    algorithm,
    limit,
    windowMs,
    nodes,
    keys,
    ...(leased && { lease }),
    deadlineMs: saturated ? 50 : random.pick([10, 50, 50, 200]),
    denials: random.chance(70),
    breaker: random.chance(70),
    onFailure: random.pick(['open', 'closed'] as const),
    delayUs: [least, least * random.pick([1, 2, 6])],
    resends: random.chance(60),
    retryMs: random.pick([1, 5, 50]),
    durationMs,
    everyMs: (durationMs * (burst + 1)) / 2 / calls,
    burst,
    waveMs: saturated ? 0 : random.pick([0, windowMs / 2, windowMs]),
    maxCost: saturated || random.chance(60) ? 1 : Math.min(limit, 4),
    skewOfKeys: saturated ? 0 : random.pick([0, 1, 1.5]),
    skewOfNodes: random.pick([0, 1, 2]),
    percentRefunds: !saturated && random.chance(10) ? 10 : 0,
    percentResets: !saturated && random.chance(5) ? 3 : 0,
    percentPeeks: random.chance(20) ? 10 : 0,
    saturated,
    faults: [],
  };
  return [1, 3, 5].includes(seed % 6) ? { ...setting, faults: faultsOf(setting, random) } : setting;
}

function faultsOf({ nodes, durationMs, windowMs }: Setting, random: Random): Fault[] {
  const kinds = [
    'reset',
    'reset',
    'stall',
    'pause',
    'crash',
    'close',
    'restart',
    'refusal',
    'cuts',
    'cuts',
  ] as const;
  const some = [random.pick(kinds), random.pick(kinds), random.pick(kinds)];
  const faults = Array.from({ length: random.between(1, 12) }, (): Fault => {
    const at = random.below(durationMs);
    const node = random.below(nodes);
    const ms = random.pick([1, 5, 20, 60, 200]);
    const kind = random.pick(some);
    if (kind === 'restart') return { at, kind, empty: random.chance(50), ms };
    if (kind === 'refusal' || kind === 'cuts') return { at, kind, ms };
    return { at, kind, node, ms };
  });
  if (random.chance(10)) {
    const ms = random.pick([-windowMs, -20, 20, windowMs]);
    faults.push({ at: random.below(durationMs), kind: 'clock step', ms });
  }
  return faults.sort((a, b) => a.at - b.at);
}

/** The policy as scripts take it. */
export function policyOf({ algorithm, limit, windowMs }: Setting): number[] {
  const windowUs = windowMs * 1000;
  return algorithm === 'token-bucket' ? [limit, limit, windowUs] : [limit, windowUs];
}
