import type { HeapResult } from '../measure/heap.ts';
import { isWanted } from '../options.ts';
import { SUBJECTS, type SubjectName, titleOf } from '../subjects/index.ts';
import { count, fixed, type Measure } from './section.ts';

export interface HeapRow extends HeapResult {
  readonly subject: SubjectName;
  readonly calls: number;
}

export const measureHeap: Measure<HeapRow> = (run, effort, progress) => {
  const rows = (isWanted(effort, 'heap') ? SUBJECTS : []).map((subject) => {
    // A Map keeps every key, and ends at 2^24 of them.
    const calls = subject === 'map' ? effort.mapHeapCalls : effort.heapCalls;
    progress(`heap: ${titleOf(subject)}, ${count(calls)} new keys`);
    return { subject, calls, ...run({ measure: 'heap', subject, calls }) };
  });
  return { rows, section: { ...HEADING, rows: rows.map(cells) } };
};

const HEADING = {
  title: 'What calls leave on the JavaScript heap',
  note:
    'isAllowed with a new key each time, as a new string, on a limiter for 100,000 keys of which 50,000 are live; the ' +
    'heap and array buffers after garbage collection, after less before. A Map forgets nothing and ends at 2^24 keys, so it gets fewer.',
  head: ['subject', 'calls', 'bytes kept', 'bytes a call', 'evicted', 'overflowed'],
};

function cells({ subject, calls, heapBytes, bufferBytes, ...row }: HeapRow): string[] {
  const kept = heapBytes + bufferBytes;
  return [
    titleOf(subject),
    count(calls),
    count(kept),
    fixed(kept / calls, 4),
    count(row.evictedIdle),
    count(row.overflowed),
  ];
}
