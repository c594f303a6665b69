import type { MemoryResult } from '../measure/memory.ts';
import { SUBJECTS, type SubjectName, titleOf } from '../subjects/index.ts';
import { count, fixed, type Measure } from './section.ts';

export interface MemoryRow extends MemoryResult {
  readonly subject: SubjectName;
  readonly keys: number;
}

const KEYS = [1_000, 100_000, 1_000_000];

export const measureMemory: Measure<MemoryRow> = (run, _effort, progress) => {
  const rows = KEYS.flatMap((keys) =>
    SUBJECTS.map((subject) => {
      progress(`${titleOf(subject)}, ${count(keys)} keys`);
      return { subject, keys, ...run({ measure: 'memory', subject, keys }) };
    }),
  );
  return { rows, section: { ...HEADING, rows: rows.map(cells) } };
};

const HEADING = {
  title: 'Memory of a live key',
  note:
    'Bytes a key with as many live keys as the limiter was made for, keys being strings of 20 to 24 characters. `table` ' +
    'is what stats().memoryBytes says, `heap` the growth of the JavaScript heap, `process` the growth of the resident ' +
    'set (whole pages and reserves: means nothing for few keys, is rough for 100,000).',
  head: ['subject', 'keys', 'table B/key', 'heap B/key', 'process B/key', 'live', 'overflowed'],
};

function cells(row: MemoryRow): string[] {
  const { keys, tableBytes, heapBytes, rssBytes } = row;
  const perKey = (bytes: number) => fixed(bytes / keys);
  return [
    titleOf(row.subject),
    count(keys),
    tableBytes === 0 ? '-' : perKey(tableBytes),
    perKey(heapBytes),
    keys < 100_000 ? '-' : perKey(rssBytes),
    count(row.liveKeys),
    count(row.overflowed),
  ];
}
