import { fixed, type Section } from './sections/section.ts';
import type { Spread } from './spread.ts';

/** The section with its columns lined up, for a terminal. */
export function asText({ title, note, head, rows }: Section): string {
  const widths = head.map((cell, i) =>
    Math.max(cell.length, ...rows.map((row) => (row[i] ?? '').length)),
  );
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(pad(i)) : cell.padStart(pad(i)))).join('  ');
  const pad = (i: number) => widths[i] ?? 0;
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [title, wrapped(note), '', line(head), rule, ...rows.map(line)].join('\n');
}

export function asMarkdown({ title, note, head, rows }: Section): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  const rule = line(head.map((_, i) => (i === 0 ? '---' : '---:')));
  return [`## ${title}`, '', note, '', line(head), rule, ...rows.map(line)].join('\n');
}

/** A ratio and its quartiles, for a cell. */
export function withRange({ median, lowerQuartile, upperQuartile }: Spread): string {
  return `${fixed(median, 2)} (${fixed(lowerQuartile, 2)}-${fixed(upperQuartile, 2)})`;
}

/** A time and half the distance between its quartiles, for a cell. */
export function withSpread({ median, lowerQuartile, upperQuartile }: Spread): string {
  return `${fixed(median)} ±${fixed((upperQuartile - lowerQuartile) / 2)}`;
}

function wrapped(text: string, width = 100): string {
  return text.replace(new RegExp(`(.{1,${width}})(?: |$)`, 'g'), '$1\n').trimEnd();
}
