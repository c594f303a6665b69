import Papa from 'papaparse';
import { CliFault } from '../../fault.ts';
import type { Fields } from '../fields.ts';
import { LineCutter } from '../lines.ts';
import type { Source } from '../source.ts';
import { CombinedParser, isInCombined } from './combined.ts';
import { CsvReader, columnOf, delimiterOf } from './csv.ts';
import type { LineParser, LineSink } from './format.ts';
import { JsonParser } from './json.ts';
import type { TimeUnit } from './time.ts';

export const FORMATS = ['combined', 'common', 'json', 'csv', 'auto'] as const;
export type Format = (typeof FORMATS)[number];

/** Reads a whole log into the sink; resolves with the number of its lines. */
export type LogReader = (sink: LineSink) => Promise<number>;

export interface KnownLog {
  readonly source: Source;
  /** The time of its first request, to read logs in their order; undefined if it has none near its start. */
  readonly firstTimeUs: number | undefined;
  /** Read as bytes: keys are decoded afterwards. */
  readonly isLatin1: boolean;
  readonly read: LogReader;
}

/** Tells how a log is to be read, by its first lines unless the user has told. */
export function recognise(
  source: Source,
  format: Format,
  fields: Fields,
  unit: TimeUnit,
): KnownLog {
  if (isBinary(source.head)) {
    throw new CliFault(`${source.name} is no text: a log, or a log in gzip, is wanted`, 1);
  }
  const chosen = format === 'auto' ? guess(source, fields, unit) : format;
  const read: LogReader =
    chosen === 'csv' ? csvReader : lineReader(parserOf(chosen, source, fields, unit));
  return {
    source,
    firstTimeUs: firstTime(source, chosen, fields, unit),
    isLatin1: chosen === 'combined' || chosen === 'common',
    read,
  };

  async function csvReader(sink: LineSink): Promise<number> {
    const reader = new CsvReader(source, fields, unit, sink);
    await reader.read(source.chunks());
    return reader.lines;
  }

  function lineReader(make: (sink: LineSink) => LineParser): LogReader {
    return async (sink) => {
      const cutter = new LineCutter(make(sink), sink);
      for await (const chunk of source.chunks()) cutter.add(chunk);
      cutter.end();
      return cutter.lines;
    };
  }
}

type KnownFormat = Exclude<Format, 'auto'>;

function parserOf(format: KnownFormat, source: Source, fields: Fields, unit: TimeUnit) {
  if (format === 'json') return (sink: LineSink) => new JsonParser(fields, unit, sink);
  const wanted = [...fields.key, fields.cost, fields.group].filter((field) => field !== undefined);
  const missing = wanted.find((field) => !isInCombined(field));
  if (missing !== undefined) {
    throw new CliFault(
      `${source.name} is a ${format} log, which has no ${missing.kind} '${missing.name}'; ` +
        'it has ip, user, method, path, status, bytes, header:referer and header:user-agent',
      1,
    );
  }
  return (sink: LineSink) => new CombinedParser(fields, sink);
}

function guess(source: Source, fields: Fields, unit: TimeUnit): KnownFormat {
  const lines = firstLines(source.head);
  if (lines.length === 0) return 'combined';
  const probe: Fields = { ...fields, cost: undefined, group: undefined, key: [] };
  const combined = new Probe();
  for (const line of lines) new CombinedParser(probe, combined).line(line, 0, line.length, 0);
  const objects = new Probe();
  for (const line of lines) new JsonParser(probe, unit, objects).line(line, 0, line.length, 0);
  if (combined.requests > 0 && combined.requests >= objects.requests) return 'combined';
  if (objects.requests > 0 || lines.some(isObject)) return 'json';
  const delimiter = delimiterOf(lines[0] ?? '');
  const [head = []] = Papa.parse<string[]>(lines[0] ?? '', { delimiter }).data;
  if (head.length > 1 && columnOf(fields.time, head) >= 0) return 'csv';
  throw new CliFault(
    `${source.name} has no line that looks like a combined or common log, JSON, or CSV with a column for the time; ` +
      'its first line is ' +
      `${JSON.stringify((lines[0] ?? '').slice(0, 100))}. --format and --time can tell how to read it`,
    1,
  );
}

function firstTime(source: Source, format: KnownFormat, fields: Fields, unit: TimeUnit) {
  const probe = new Probe();
  const lines = firstLines(source.head);
  if (format === 'csv') {
    new CsvReader(source, fields, unit, probe).readHead(lines.join('\n'));
  } else {
    const parser = parserOf(format, source, fields, unit)(probe);
    for (const line of lines) parser.line(line, 0, line.length, 0);
  }
  return probe.firstTimeUs;
}

/** Hears whether lines are requests. */
class Probe implements LineSink {
  requests = 0;
  firstTimeUs: number | undefined;

  request(_line: number, timeUs: number): void {
    this.requests += 1;
    this.firstTimeUs ??= timeUs;
  }

  broken(): void {}
}

function isObject(line: string): boolean {
  try {
    return line.startsWith('{') && typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}

function firstLines(head: Buffer): string[] {
  return head
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line.trim() !== '')
    .slice(0, 100);
}

/** Text has no zero bytes. */
function isBinary(head: Buffer): boolean {
  return head.includes(0);
}
