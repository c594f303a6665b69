import { readFileSync, writeFileSync } from 'node:fs';
import type { Origin } from './report.ts';
import { describeMachine } from './report.ts';
import { root } from './root.ts';
import type { Figures } from './sections/goals.ts';
import { bytesPerKey } from './sections/memory.ts';
import { count, fixed } from './sections/section.ts';
import { type TimedRow, timedOf } from './sections/timed.ts';
import { PACKAGES, RIVALS, SUBJECTS, titleOf } from './subjects/index.ts';

/** What was measured on one Node.js. */
export interface Run {
  readonly origin: Origin;
  readonly figures: Figures;
}

const MARKERS = /<!-- bench -->[\s\S]*<!-- \/bench -->/;
const PACKAGES_LIVE = 1_000_000;

/** Writes the README's figures anew, between its `bench` markers. The first run's are told in full. */
export function writeReadme(runs: readonly Run[], command: string): void {
  const file = new URL('README.md', root);
  const readme = readFileSync(file, 'utf8');
  if (!MARKERS.test(readme)) throw new Error('the README has no <!-- bench --> markers');
  const text = `<!-- bench -->\n${figuresOf(runs, command)}\n<!-- /bench -->`;
  writeFileSync(
    file,
    readme.replace(MARKERS, () => text),
  );
}

function figuresOf(runs: readonly Run[], command: string): string {
  const [first] = runs as readonly [Run];
  const { origin } = first;
  return `Nanoseconds a call, net of making the key and of reading the clock, against a token bucket in a plain \`Map\` (an
object a key) and one in typed arrays (an open-addressed table with a fast hash of its own, the quickest JavaScript we
could write). Ratios are the rival's time over ours: above 1 we are faster. Fresh strings have 16 to 24 characters and
are new objects each time, as a socket gives them.

${timingTable(runs)}

Against other packages, ${count(PACKAGES_LIVE)} live keys, each with its own clock and with its promise if it answers with one:

${packagesTable(runs)}

${memoryLine(first)}

${describeMachine(origin)}; Node.js ${runs.map(({ origin }) => origin.node).join(' and ')}, ${origin.date.slice(0, 10)},
\`${command}\`, which prints more rows. Ours hashes every byte of every key under a secret, which is what makes
keys from strangers safe; the hash of the typed arrays is no secret, and a stranger can choose keys that share a bucket.`;
}

function timingTable(runs: readonly Run[]): string {
  const [first, ...others] = runs as readonly [Run, ...Run[]];
  const head = [
    'call',
    'live keys',
    ...SUBJECTS.map(titleOf),
    ...RIVALS.map((rival) => `${titleOf(rival)} / ours`),
    ...others.flatMap(({ origin }) =>
      RIVALS.map((rival) => `${titleOf(rival)}, Node.js ${major(origin.node)}`),
    ),
  ];
  const rows = first.figures.timing
    .filter(isShown)
    .map((row) => [
      named(row),
      count(row.live),
      ...SUBJECTS.map((subject) => fixed(timedOf(row, subject).net.median, 0)),
      ...ratios(row),
      ...others.flatMap(({ figures }) => ratios(sameRow(figures.timing, row))),
    ]);
  return table(head, rows, 1);
}

/** Few rows, which a quick run has too. */
function isShown({ name, method }: TimedRow): boolean {
  if (method === 'isAllowedMany') return true;
  const names = ['fresh strings', 'integers', 'repeated strings'];
  return method === 'isAllowed' && names.includes(name);
}

function named({ name, method }: TimedRow): string {
  return `\`${method}\`, ${name}`;
}

function sameRow(rows: readonly TimedRow[], { name, method, live }: TimedRow): TimedRow {
  return rows.find(
    (row) => row.name === name && row.method === method && row.live === live,
  ) as TimedRow;
}

function ratios(row: TimedRow): string[] {
  return RIVALS.map((rival) => fixed(timedOf(row, rival).overOurs.median, 2));
}

function packagesTable(runs: readonly Run[]): string {
  const rowOf = ({ figures }: Run) =>
    figures.packages.find(
      ({ name, live }) => name === 'fresh strings' && live === PACKAGES_LIVE,
    ) as TimedRow;
  const head = [
    'package',
    ...runs.flatMap(({ origin }) => [`ns, Node.js ${major(origin.node)}`, '/ ours']),
  ];
  const rows = PACKAGES.map((name) => [
    titleOf(name),
    ...runs.flatMap((run) => {
      const { net, overOurs } = timedOf(rowOf(run), name);
      return [fixed(net.median, 0), name === 'ours' ? '' : fixed(overOurs.median, 1)];
    }),
  ]);
  return table(head, rows, 1);
}

function memoryLine({ figures: { memory, latency } }: Run): string {
  const bytes = SUBJECTS.map((subject) => {
    const row = memory.find((each) => each.subject === subject && each.keys === PACKAGES_LIVE);
    return `${titleOf(subject)} ${row === undefined ? '-' : fixed(bytesPerKey(row), 0)}`;
  });
  const longest = SUBJECTS.map((subject) => {
    const row = latency.find((each) => each.subject === subject && each.pattern === 'new');
    return `${titleOf(subject)} ${row === undefined ? '-' : fixed(row.max / 1000, 1)}`;
  });
  return (
    `Bytes a live key: ${bytes.join(', ')}. Longest call while 3,000,000 new keys arrive, in milliseconds:\n` +
    `${longest.join(', ')}.`
  );
}

function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  texts: number,
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, i) => (i < texts ? '---' : '---:'));
  return [head, rule, ...rows].map(line).join('\n');
}

function major(version: string): string {
  return version.split('.')[0] as string;
}
