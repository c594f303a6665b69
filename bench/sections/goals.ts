import { OTHERS, RIVALS, titleOf } from '../subjects/index.ts';
import type { Method } from '../workloads.ts';
import type { LatencyRow } from './latency.ts';
import { bytesPerKey, type MemoryRow } from './memory.ts';
import { count, fixed, type Measured } from './section.ts';
import { type TimedRow, timedOf } from './timed.ts';

/** Rows of the other sections, which the goals are about. */
export interface Figures {
  readonly timing: readonly TimedRow[];
  readonly packages: readonly TimedRow[];
  readonly memory: readonly MemoryRow[];
  readonly latency: readonly LatencyRow[];
}

export interface GoalRow {
  readonly what: string;
  /** At least this, or at most. */
  readonly wanted: { readonly least: number } | { readonly most: number };
  readonly seen: number;
  readonly isMet: boolean;
  /** Whom it was against, where there is a choice. */
  readonly against: string;
}

type TimingGoal = readonly [name: string, method: Method, live: number, least: number];

const TIMING: readonly TimingGoal[] = [
  ['fresh strings', 'isAllowed', 1_000, 1.5],
  ['fresh strings', 'isAllowed', 100_000, 5],
  ['fresh strings', 'isAllowed', 1_000_000, 5],
  ['fresh strings', 'tryAcquire', 1_000, 1.3],
  ['fresh strings', 'tryAcquire', 100_000, 4],
  ['fresh strings', 'tryAcquire', 1_000_000, 4],
  ['fresh strings, batches of 1,000', 'isAllowedMany', 1_000_000, 8],
  ['repeated strings', 'isAllowed', 1_000, 0.9],
  ['integers', 'isAllowed', 1_000, 1.2],
  ['integers', 'isAllowed', 100_000, 2.5],
  ['integers', 'isAllowed', 1_000_000, 2.5],
];
const PACKAGE_LIVE = 1_000_000;
const PACKAGE_LEAST = 8;
const MOST_P999 = 1 / 3;
const MOST_LONGEST = 1 / 40;
const MOST_BYTES = 24;

/** What we want to be, met or not. Goals whose rows were not measured are left out. */
export function goals({ timing, packages, memory, latency }: Figures): Measured<GoalRow> {
  const rows = [
    ...TIMING.flatMap((goal) => timingGoals(timing, goal)),
    ...packageGoals(packages),
    ...latencyGoals(latency),
    ...memoryGoals(memory),
  ];
  return { rows, section: { ...HEADING, rows: rows.map(cells) } };
}

/** Against each rival: the goal is met if it is against the faster one too. */
function timingGoals(
  rows: readonly TimedRow[],
  [name, method, live, least]: TimingGoal,
): GoalRow[] {
  const row = rows.find(
    (each) => each.name === name && each.method === method && each.live === live,
  );
  if (row === undefined) return [];
  const what = `${name}, ${count(live)} live, ${method}: time of the rival / ours`;
  return RIVALS.map((rival) =>
    goal(what, { least }, timedOf(row, rival).overOurs.median, titleOf(rival)),
  );
}

function packageGoals(rows: readonly TimedRow[]): GoalRow[] {
  const row = rows.find(({ name, live }) => name === 'fresh strings' && live === PACKAGE_LIVE);
  if (row === undefined) return [];
  const what = `a decision with the package's own clock, ${count(PACKAGE_LIVE)} live: time of the rival / ours`;
  return OTHERS.map((rival) =>
    goal(what, { least: PACKAGE_LEAST }, timedOf(row, rival).overOurs.median, titleOf(rival)),
  );
}

function latencyGoals(rows: readonly LatencyRow[]): GoalRow[] {
  const of = (subject: string) =>
    rows.find((row) => row.subject === subject && row.pattern === 'new');
  const [ours, map] = [of('sluicegate'), of('map')];
  if (ours === undefined || map === undefined) return [];
  const against = titleOf('map');
  return [
    goal(
      'p99.9 while new keys arrive: ours / the rival',
      { most: MOST_P999 },
      ours.p999 / map.p999,
      against,
    ),
    goal(
      'longest call while new keys arrive: ours / the rival',
      { most: MOST_LONGEST },
      ours.max / map.max,
      against,
    ),
  ];
}

function memoryGoals(rows: readonly MemoryRow[]): GoalRow[] {
  return rows
    .filter(({ subject, keys }) => subject === 'sluicegate' && keys === PACKAGE_LIVE)
    .map((row) =>
      goal(`bytes a key, ${count(row.keys)} live`, { most: MOST_BYTES }, bytesPerKey(row), ''),
    );
}

function goal(what: string, wanted: GoalRow['wanted'], seen: number, against: string): GoalRow {
  // As precise as it is printed, so that a figure printed as the goal meets it.
  const rounded = Number(seen.toFixed(3));
  const isMet = 'least' in wanted ? rounded >= wanted.least : rounded <= wanted.most + 0.0005;
  return { what, wanted, seen, isMet, against };
}

const HEADING = {
  title: 'Goals',
  note: 'What we want of the figures above, met or not.',
  head: ['goal', 'against', 'wanted', 'seen', 'met'],
};

function cells({ what, wanted, seen, isMet, against }: GoalRow): string[] {
  const bound = 'least' in wanted ? `>= ${number(wanted.least)}` : `<= ${number(wanted.most)}`;
  return [what, against, bound, number(seen), isMet ? 'yes' : 'no'];
}

function number(value: number): string {
  if (Number.isNaN(value)) return '-'; // noise has left nothing of one of the times
  return value >= 1 ? `${Number(fixed(value, 2))}` : `${Number(fixed(value, 3))}`;
}
