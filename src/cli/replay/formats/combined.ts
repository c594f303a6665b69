import type { Field, Fields } from '../fields.ts';
import { withoutQuery } from '../fields.ts';
import { costOf, KEY_SEPARATOR, type LineParser, type LineSink } from './format.ts';
import { COMBINED_LENGTH, CombinedTime } from './time.ts';

const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Common and combined logs: `host ident user [time] "request" status bytes "referer" "agent"`, the last two in combined
 * logs only, and whatever follows.
 *
 * A parser of our own: those on npm (alpine, clf-parser) are years old, read 125,000 to 200,000 lines a second where
 * this one reads over a million, and leave the time as text or the broken lines in. It cuts out only the fields asked
 * for, from the text of a whole block, and checks the rest by its shape.
 */
export class CombinedParser implements LineParser {
  readonly encoding = 'latin1';
  readonly #sink: LineSink;
  readonly #fields: Fields;
  readonly #time = new CombinedTime();
  readonly #onlyKey: Field | undefined;
  #text = '';
  #from = 0;
  #to = 0;
  /** Where the time's bracket opens. */
  #open = 0;
  /** Where the request's closing quote is. */
  #close = 0;

  constructor(fields: Fields, sink: LineSink) {
    this.#fields = fields;
    this.#sink = sink;
    this.#onlyKey = fields.key.length === 1 ? fields.key[0] : undefined;
  }

  line(text: string, from: number, to: number, number: number): void {
    this.#text = text;
    this.#from = from;
    this.#to = to;
    const timeUs = this.#shape();
    if (typeof timeUs === 'string') {
      this.#sink.broken(number, timeUs);
      return;
    }
    const { cost, group } = this.#fields;
    const permits = cost === undefined ? 1 : costOf(this.#value(cost));
    if (permits === undefined) {
      this.#sink.broken(number, `no cost: ${cost?.name} is no whole number`);
      return;
    }
    const grouped = group === undefined ? undefined : this.#value(group);
    this.#sink.request(number, timeUs, this.#key(), permits, grouped);
  }

  /** Finds the parts of the line; returns its time, or what is wrong with it. */
  #shape(): number | string {
    const text = this.#text;
    const open = text.indexOf(' [', this.#from) + 1;
    if (open === 0 || open + COMBINED_LENGTH > this.#to) return 'no [time]';
    const timeUs = this.#time.at(text, open);
    if (Number.isNaN(timeUs)) return 'no [time] like [10/Oct/2000:13:55:36 -0700]';
    const quote = open + COMBINED_LENGTH + 1;
    if (text.charCodeAt(quote) !== QUOTE) return 'no "request"';
    const close = this.#closingQuote(quote + 1);
    if (close < 0) return 'no end of "request"';
    // Three digits: status.
    const status = text.charCodeAt(close + 2);
    const isCut = close + 5 > this.#to || !(status >= 48 && status <= 57);
    this.#open = open;
    this.#close = close;
    return isCut ? 'no status' : timeUs;
  }

  #closingQuote(from: number): number {
    const text = this.#text;
    let at = text.indexOf('"', from);
    while (at >= 0 && at < this.#to && text.charCodeAt(at - 1) === BACKSLASH) {
      if (isEscaped(text, at, from)) at = text.indexOf('"', at + 1);
      else break;
    }
    return at < this.#to ? at : -1;
  }

  #key(): string | undefined {
    if (this.#onlyKey !== undefined) return this.#value(this.#onlyKey);
    const parts = this.#fields.key.map((field) => this.#value(field));
    return parts.includes(undefined) ? undefined : parts.join(KEY_SEPARATOR);
  }

  #value(field: Field): string | undefined {
    switch (field.kind) {
      case 'ip':
        return this.#text.slice(this.#from, this.#text.indexOf(' ', this.#from));
      case 'user':
        return this.#user();
      case 'method':
        return this.#request()[0];
      case 'path':
        return this.#request()[1];
      case 'status':
        return this.#text.slice(this.#close + 2, this.#close + 5);
      case 'bytes':
        return orNone(this.#text.slice(this.#close + 6, this.#to).split(' ', 1)[0] ?? '');
      case 'header':
        return this.#header(field.name);
      default:
        return undefined;
    }
  }

  /** The third word; it may have spaces of its own. */
  #user(): string | undefined {
    const [, , ...user] = this.#text.slice(this.#from, this.#open - 1).split(' ');
    return orNone(user.join(' '));
  }

  #request(): [method: string | undefined, path: string | undefined] {
    const start = this.#open + COMBINED_LENGTH + 2;
    const [method, path] = this.#text.slice(start, this.#close).split(' ');
    if (method === undefined || path === undefined) return [undefined, undefined];
    return [method, withoutQuery(path)];
  }

  #header(name: string): string | undefined {
    const quoted = this.#text.slice(this.#close + 1, this.#to).match(/"(?:[^"\\]|\\.)*"/g);
    const value = quoted?.[name === 'referer' ? 0 : 1];
    return value === undefined ? undefined : orNone(value.slice(1, -1));
  }
}

/** What a combined log can tell: the rest of the fields are in JSON and CSV only. */
export function isInCombined({ kind, name }: Field): boolean {
  if (kind === 'header') return name === 'referer' || name === 'user-agent';
  return kind !== 'named';
}

function orNone(value: string): string | undefined {
  return value === '-' || value === '' ? undefined : value;
}

/** An odd number of backslashes before it. */
function isEscaped(text: string, at: number, from: number): boolean {
  let start = at;
  while (start > from && text.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (at - start) % 2 === 1;
}
