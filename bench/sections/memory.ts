import type { Chart } from '../chart/chart.ts';
import type { MemoryResult } from '../measure/memory.ts';
import { isWanted } from '../options.ts';
import { point } from '../spread.ts';
import { type AnyName, OTHERS, SUBJECTS, titleOf } from '../subjects/index.ts';
import { count, fixed, type Measure } from './section.ts';

export interface MemoryRow extends MemoryResult {
  readonly subject: AnyName;
  readonly keys: number;
}

const KEYS = [1_000, 100_000, 1_000_000];
const MOST_KEYS = 1_000_000;
const ALL = [...SUBJECTS, ...OTHERS] as const;

export const measureMemory: Measure<MemoryRow> = (run, effort, progress) => {
  const sizes = isWanted(effort, 'memory') ? (effort.quick ? [MOST_KEYS] : KEYS) : [];
  const subjects = effort.quick ? SUBJECTS : ALL;
  const rows = sizes.flatMap((keys) =>
    subjects.map((subject) => {
      progress(`memory: ${titleOf(subject)}, ${count(keys)} keys`);
      return { subject, keys, ...run({ measure: 'memory', subject, keys }) };
    }),
  );
  return { rows, section: { ...HEADING, rows: rows.map(cells) }, charts: [chart(rows)] };
};

const HEADING = {
  title: 'Memory of a live key',
  note:
    'Bytes a key with as many live keys as the limiter was made for, keys being strings of 16 to 24 characters. `table` ' +
    'is what stats().memoryBytes says, `heap` the growth of the JavaScript heap, `buffers` that of array buffers beside it, ' +
    '`process` the growth of the resident set (whole pages and reserves: means nothing for few keys, is rough for 100,000).',
  head: [
    'subject',
    'keys',
    'table B/key',
    'heap B/key',
    'buffers B/key',
    'process B/key',
    'live',
    'overflowed',
  ],
};

function cells(row: MemoryRow): string[] {
  const { keys, tableBytes, heapBytes, bufferBytes, rssBytes } = row;
  const perKey = (bytes: number) => fixed(bytes / keys);
  return [
    titleOf(row.subject),
    count(keys),
    tableBytes === 0 ? '-' : perKey(tableBytes),
    perKey(heapBytes),
    perKey(bufferBytes),
    keys < 100_000 ? '-' : perKey(rssBytes),
    count(row.liveKeys),
    count(row.overflowed),
  ];
}

/** Bytes a key: as the limiter says, else what JavaScript's heap and array buffers grew by. */
export function bytesPerKey({ keys, tableBytes, heapBytes, bufferBytes }: MemoryRow): number {
  return (tableBytes || heapBytes + bufferBytes) / keys;
}

function chart(rows: readonly MemoryRow[]): Chart {
  const shown = rows.filter(({ keys }) => keys === MOST_KEYS);
  const dots = shown.map((row) => point(bytesPerKey(row)));
  return {
    title: HEADING.title,
    note: "The table, or JavaScript's heap and array buffers.",
    unit: 'bytes a key',
    series: shown.map(({ subject }) => titleOf(subject)),
    rows: shown.length === 0 ? [] : [{ label: `${count(MOST_KEYS)} keys`, dots }],
  };
}
