import { type Field, type Fields, USUAL_NAMES, withoutQuery } from '../fields.ts';
import { costOf, KEY_SEPARATOR, type LineParser, type LineSink } from './format.ts';
import { type TimeUnit, timeOf } from './time.ts';

type Json = Record<string, unknown>;

/** One JSON object a line, as pino, nginx, Caddy and most services write it. Dots in a name lead into objects. */
export class JsonParser implements LineParser {
  readonly encoding = 'utf8';
  readonly #fields: Fields;
  readonly #unit: TimeUnit;
  readonly #sink: LineSink;

  constructor(fields: Fields, unit: TimeUnit, sink: LineSink) {
    this.#fields = fields;
    this.#unit = unit;
    this.#sink = sink;
  }

  line(text: string, from: number, to: number, number: number): void {
    const record = parsed(text.slice(from, to));
    if (record === undefined) this.#sink.broken(number, 'no JSON object');
    else
      requestOf((field) => jsonValue(record, field), this.#fields, this.#unit, number, this.#sink);
  }
}

/** Takes the wanted values out of a record, whatever format it came in. */
export function requestOf(
  value: (field: Field) => unknown,
  { key, time, cost, group }: Fields,
  unit: TimeUnit,
  line: number,
  sink: LineSink,
): void {
  const timeUs = timeOf(value(time), unit);
  if (Number.isNaN(timeUs)) {
    sink.broken(line, `no time in ${time.kind === 'named' ? time.name : 'time'}`);
    return;
  }
  const permits = cost === undefined ? 1 : costOf(value(cost));
  if (permits === undefined) {
    sink.broken(line, `no cost: ${cost?.name} is no whole number`);
    return;
  }
  const parts = key.map((field) => textOf(value(field), field));
  const whole = parts.includes(undefined) ? undefined : parts.join(KEY_SEPARATOR);
  const grouped = group === undefined ? undefined : textOf(value(group), group);
  sink.request(line, timeUs, whole, permits, grouped);
}

function parsed(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function jsonValue(record: Json, { kind, name }: Field): unknown {
  if (kind === 'named') return valueAt(record, name);
  if (kind === 'header') return headerOf(record, name);
  for (const usual of USUAL_NAMES[kind]) {
    const value = valueAt(record, usual);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

function valueAt(record: Json, name: string): unknown {
  if (Object.hasOwn(record, name)) return record[name];
  let value: unknown = record;
  if (!name.includes('.')) return undefined;
  for (const part of name.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

function headerOf(record: Json, name: string): unknown {
  for (const place of ['headers', 'req.headers', 'request.headers']) {
    const headers = valueAt(record, place);
    if (!isObject(headers)) continue;
    const spelled = Object.keys(headers).find((header) => header.toLowerCase() === name);
    if (spelled !== undefined) return [headers[spelled]].flat()[0];
  }
  return undefined;
}

function textOf(value: unknown, { kind }: Field): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return undefined;
  }
  const text = String(value);
  if (text === '' || text === '-') return undefined;
  return kind === 'path' ? withoutQuery(text) : text;
}
