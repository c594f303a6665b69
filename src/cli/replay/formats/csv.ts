import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import Papa from 'papaparse';
import { CliFault } from '../../fault.ts';
import { type Field, type Fields, USUAL_NAMES } from '../fields.ts';
import type { Source } from '../source.ts';
import type { LineSink } from './format.ts';
import { requestOf } from './json.ts';
import type { TimeUnit } from './time.ts';

/** A field that goes on for longer is a quote that nobody closed. */
const LONGEST_FIELD = 16 * 1024 * 1024;

/** CSV whose first row names the columns. */
export class CsvReader {
  readonly #delimiter: string;
  readonly #fields: Fields;
  readonly #unit: TimeUnit;
  readonly #sink: LineSink;
  readonly #name: string;
  #columns: Map<Field, number> | undefined;
  #width = 0;
  #line = 1;

  constructor(
    { name, head }: Pick<Source, 'name' | 'head'>,
    fields: Fields,
    unit: TimeUnit,
    sink: LineSink,
  ) {
    this.#delimiter = delimiterOf(head.toString('utf8'));
    this.#name = name;
    this.#fields = fields;
    this.#unit = unit;
    this.#sink = sink;
  }

  get lines(): number {
    return this.#line - 1;
  }

  async read(chunks: AsyncIterable<Buffer>): Promise<void> {
    let sinceRows = 0;
    const name = this.#name;
    const line = () => this.#line;
    async function* texts(): AsyncGenerator<string> {
      const decoder = new StringDecoder('utf8');
      for await (const chunk of chunks) {
        sinceRows += chunk.length;
        if (sinceRows > LONGEST_FIELD) {
          throw new CliFault(`${name}: the quote that opens in line ${line()} is never closed`, 1);
        }
        const text = decoder.write(chunk);
        if (text !== '') yield text;
      }
    }
    await new Promise<void>((resolve, reject) => {
      let failed: unknown;
      const input = Readable.from(texts()).once('error', reject);
      Papa.parse<string[]>(input, {
        delimiter: this.#delimiter,
        chunk: ({ data, errors }, parser) => {
          if (data.length > 0) sinceRows = 0;
          try {
            this.#rows(data, new Set(errors.map(({ row }) => row)));
          } catch (error) {
            failed = error;
            parser.abort();
          }
        },
        complete: () => (failed === undefined ? resolve() : reject(failed)),
        error: reject,
      });
    });
  }

  /** The rows at the start of a text, to look at. */
  readHead(text: string): void {
    const { data, errors } = Papa.parse<string[]>(text, { delimiter: this.#delimiter });
    this.#rows(data, new Set(errors.map(({ row }) => row)));
  }

  #rows(rows: readonly string[][], broken: ReadonlySet<number | undefined>): void {
    rows.forEach((row, index) => {
      const line = this.#line;
      this.#line += 1;
      // A quoted field may go over several lines.
      for (const cell of row) if (cell.includes('\n')) this.#line += cell.split('\n').length - 1;
      if (row.length === 1 && row[0]?.trim() === '') return;
      if (this.#columns === undefined) this.#columns = this.#head(row);
      else if (broken.has(index)) this.#sink.broken(line, 'a quote in the wrong place');
      else if (row.length !== this.#width) this.#sink.broken(line, `${row.length} columns`);
      else this.#request(row, line, this.#columns);
    });
  }

  #request(row: readonly string[], line: number, columns: ReadonlyMap<Field, number>): void {
    const value = (field: Field) => row[columns.get(field) as number];
    requestOf(value, this.#fields, this.#unit, line, this.#sink);
  }

  #head(row: readonly string[]): Map<Field, number> {
    this.#width = row.length;
    const { key, time, cost, group } = this.#fields;
    const wanted = [time, ...key, cost, group].filter((field) => field !== undefined);
    return new Map(wanted.map((field) => [field, this.#column(field, row)]));
  }

  #column(field: Field, row: readonly string[]): number {
    const index = columnOf(field, row);
    if (index >= 0) return index;
    const option = field === this.#fields.time ? '--time' : '--key, --cost or --group-by';
    const columns = row.slice(0, 30).join(', ').slice(0, 300);
    throw new CliFault(
      `${this.#name} has no column for the ${field.name}; name one of its columns with ${option}: ${columns}`,
      1,
    );
  }
}

/** What the first line has most of: comma, semicolon, tab or bar. */
export function delimiterOf(text: string): string {
  const [head = ''] = text.trimStart().split('\n', 1);
  const counts = [',', ';', '\t', '|'].map((mark) => ({ mark, count: head.split(mark).length }));
  return counts.reduce((best, one) => (one.count > best.count ? one : best)).mark;
}

/** Where the column of a field is in the head, -1 if there is none. */
export function columnOf({ kind, name }: Field, row: readonly string[]): number {
  const names = kind === 'named' || kind === 'header' ? [name] : USUAL_NAMES[kind];
  const columns = row.map((column) => column.trim());
  for (const usual of names) {
    const index = columns.indexOf(usual);
    if (index >= 0) return index;
  }
  const lower = columns.map((column) => column.toLowerCase());
  const wanted = names.map((usual) => usual.toLowerCase());
  return lower.findIndex((column) => wanted.includes(column));
}
