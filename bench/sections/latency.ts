import type { Chart } from '../chart/chart.ts';
import { type LatencyResult, LIVE_KEYS, NEW_KEYS, type Pattern } from '../measure/latency.ts';
import { isWanted } from '../options.ts';
import { medianOf, point } from '../spread.ts';
import { type AnyName, isPackage, PACKAGES, SUBJECTS, titleOf } from '../subjects/index.ts';
import { alternating, count, fixed, type Measure } from './section.ts';

type Figures = Omit<LatencyResult, 'collections'>;
type Figure = keyof Figures;

export interface LatencyRow extends LatencyResult {
  readonly subject: AnyName;
  readonly pattern: Pattern;
  /** One entry a process; the row's own figures are their medians. */
  readonly rounds: readonly LatencyResult[];
}

interface Case {
  readonly subject: AnyName;
  readonly pattern: Pattern;
}

const FIGURES: readonly Figure[] = ['p50', 'p99', 'p999', 'max', 'loop50', 'loop99', 'loopMax'];
const PATTERNS: readonly Pattern[] = ['new', 'churn'];
/** The base's row tells what the machine does on its own. */
const OWN: readonly AnyName[] = ['base', ...SUBJECTS];
const ALL: readonly AnyName[] = [...OWN, ...PACKAGES];

export const measureLatency: Measure<LatencyRow> = (run, effort, progress) => {
  const { quick, latencyRounds: turns } = effort;
  const cases = isWanted(effort, 'latency') ? casesOf(quick) : [];
  const rounds = new Map<string, LatencyResult[]>(cases.map((each) => [idOf(each), []]));
  for (let turn = 0; turn < turns; turn++) {
    for (const each of alternating(cases, turn)) {
      progress(`round ${turn + 1} of ${turns}: latency, ${idOf(each)}`);
      rounds.get(idOf(each))?.push(run({ measure: 'latency', ...each }));
    }
  }
  const rows = cases.map((each) => latencyRow(each, rounds.get(idOf(each)) ?? []));
  return {
    rows,
    section: { ...HEADING, rows: rows.map((row) => cells(row, rows)) },
    charts: PATTERNS.map((pattern) => chart(pattern, rows)),
  };
};

function casesOf(quick: boolean): Case[] {
  const patterns = quick ? PATTERNS.slice(0, 1) : PATTERNS;
  return patterns.flatMap((pattern) =>
    (quick ? OWN : ALL).map((subject) => ({ subject, pattern })),
  );
}

function idOf({ subject, pattern }: Case): string {
  return `${titleOf(subject)}, ${pattern}`;
}

function latencyRow(each: Case, rounds: readonly LatencyResult[]): LatencyRow {
  const medians = FIGURES.map((figure) => [figure, medianOf(rounds.map((round) => round[figure]))]);
  const collections = rounds.map((round) => round.collections);
  return {
    ...each,
    ...(Object.fromEntries(medians) as Figures),
    collections: {
      count: medianOf(collections.map(({ count }) => count)),
      totalMs: medianOf(collections.map(({ totalMs }) => totalMs)),
      longestMs: medianOf(collections.map(({ longestMs }) => longestMs)),
    },
    rounds,
  };
}

const TITLES: Record<Pattern, string> = {
  new: `${count(NEW_KEYS)} new keys arrive`,
  churn: `${count(LIVE_KEYS)} live keys churn`,
};

const HEADING = {
  title: 'Single calls, the event loop and garbage collection',
  note:
    'isAllowed at full speed with fresh strings of 16 to 24 characters, one reading of the timer included, in ' +
    'microseconds; packages read their own clock as well, and promises are awaited. In a churn every other call brings a ' +
    'new key, and keys become as new at the same rate; a `Map` forgets none; packages have windows of a second. The event ' +
    'loop gets a turn every 1,000 calls; `loop` is how much later than due it served a timer, `gc` the garbage collections, ' +
    'both in milliseconds. Medians over the processes.',
  head: [
    'while',
    'subject',
    'p50',
    'p99',
    'p99.9',
    'longest',
    '/ ours',
    'loop p50',
    'loop p99',
    'loop longest',
    'gc',
    'gc in all',
    'gc longest',
  ],
};

function cells(row: LatencyRow, rows: readonly LatencyRow[]): string[] {
  const { subject, p50, p99, p999, max, loop50, loop99, loopMax, collections } = row;
  const ours = isPackage(subject) ? 'ours' : 'sluicegate';
  const oursRow = rows.find((each) => each.subject === ours && each.pattern === row.pattern);
  return [
    TITLES[row.pattern],
    titleOf(subject),
    ...[p50, p99, p999].map((us) => fixed(us, 2)),
    fixed(max, 0),
    fixed(max / (oursRow?.max ?? Number.NaN), 2),
    ...[loop50, loop99, loopMax].map((ms) => fixed(ms)),
    count(collections.count),
    fixed(collections.totalMs, 0),
    fixed(collections.longestMs),
  ];
}

function chart(pattern: Pattern, rows: readonly LatencyRow[]): Chart {
  const shown = rows.filter((row) => row.pattern === pattern);
  const figures = { p50: 'p50', p99: 'p99', p999: 'p99.9', max: 'longest' } as const;
  return {
    title: `Single calls while ${TITLES[pattern]}`,
    note: 'One reading of the timer included.',
    unit: 'µs a call',
    series: shown.map(({ subject }) => titleOf(subject)),
    rows:
      shown.length === 0
        ? []
        : Object.entries(figures).map(([figure, label]) => ({
            label,
            dots: shown.map((row) => point(row[figure as keyof typeof figures])),
          })),
  };
}
