import { addressKey } from '../../http/address.ts';
import { BATCH_LENGTH, Batch } from '../../replay/batch.ts';
import type { Field } from './fields.ts';
import { KEY_SEPARATOR, type LineSink } from './formats/format.ts';
import { Names } from './names.ts';

/** Line numbers that are told; the rest is only counted. */
const LINES_TOLD = 10;
/** Bounds what is kept beside the clients themselves. */
const MOST_RAW_KEYS = 262_144;
const MOST_GROUPS = 10_000;
const OTHER_GROUPS = '(others)';
const NO_GROUP = '(none)';
const NOT_ASCII = /[^\0-\x7f]/;
const ADDRESS_PREFIX = 'ip:';

/** Lines that were left out for one reason. */
export class Skipped {
  count = 0;
  readonly lines: string[] = [];

  add(file: string | undefined, line: number, why?: string): void {
    this.count += 1;
    if (this.lines.length >= LINES_TOLD) return;
    const place = file === undefined ? `${line}` : `${file}:${line}`;
    this.lines.push(why === undefined ? place : `${place} (${why})`);
  }
}

/** What is given whole batches, to keep; `groups` has the group of each request. */
export type BatchSink = (batch: Batch, groups: Uint32Array) => void;

/** Turns lines into batches: numbers the clients, keeps the order of time, counts what is left out. */
export class TrafficBuilder implements LineSink {
  readonly brokenLines = new Skipped();
  readonly outOfOrder = new Skipped();
  readonly withoutKey = new Skipped();
  readonly clientNames = new Names();
  readonly groupNames: string[] = [];
  requests = 0;
  firstTimeUs = 0;
  lastTimeUs = Number.NEGATIVE_INFINITY;
  /** Told with line numbers when there are several. */
  #file: string | undefined;
  #isLatin1 = false;
  readonly #key: readonly Field[];
  readonly #isGrouped: boolean;
  readonly #ipv6Prefix: number;
  readonly #onBatch: BatchSink;
  #batch = new Batch();
  #groups = new Uint32Array(BATCH_LENGTH);
  /** Keys as the log writes them, where those are not names: an address is brought into its one spelling once. */
  readonly #rawKeys = new Names();
  readonly #rawClients = new Uint32Array(MOST_RAW_KEYS);
  readonly #groupNumbers = new Map<string, number>();

  constructor(key: readonly Field[], isGrouped: boolean, ipv6Prefix: number, onBatch: BatchSink) {
    this.#key = key;
    this.#isGrouped = isGrouped;
    this.#ipv6Prefix = ipv6Prefix;
    this.#onBatch = onBatch;
  }

  /** The lines that come now are of another file, with this encoding. */
  begin(file: string | undefined, isLatin1: boolean): void {
    this.#file = file;
    this.#isLatin1 = isLatin1;
    this.#rawKeys.clear();
    this.#groupNumbers.clear();
    for (const [number, name] of this.groupNames.entries()) this.#groupNumbers.set(name, number);
  }

  request(
    line: number,
    timeUs: number,
    key: string | undefined,
    cost: number,
    group: string | undefined,
  ): void {
    if (timeUs < this.lastTimeUs) {
      this.outOfOrder.add(this.#file, line);
      return;
    }
    if (key === undefined || key === '') {
      this.withoutKey.add(this.#file, line);
      return;
    }
    if (this.requests === 0) this.firstTimeUs = timeUs;
    this.requests += 1;
    this.lastTimeUs = timeUs;
    const client = this.#clientOf(key);
    if (this.#isGrouped) this.#groups[this.#batch.length] = this.#groupOf(group);
    if (this.#batch.add(timeUs, client, cost)) this.flush();
  }

  broken(line: number, why: string): void {
    this.brokenLines.add(this.#file, line, why);
  }

  /** Hands on what is left in the last batch. */
  flush(): void {
    if (this.#batch.length === 0) return;
    this.#onBatch(this.#batch, this.#groups);
    this.#batch = new Batch();
    this.#groups = new Uint32Array(BATCH_LENGTH);
  }

  /** What stands for itself, as most addresses do, is found at once: a name is never the raw key of another one. */
  #clientOf(key: string): number {
    const client = this.clientNames.find(key);
    if (client >= 0) return client;
    const raw = this.#rawKeys.find(key);
    return raw < 0 ? this.#newRawKey(key) : (this.#rawClients[raw] as number);
  }

  #newRawKey(key: string): number {
    const decoded = this.#decoded(key);
    const parts = this.#key.length > 1 ? decoded.split(KEY_SEPARATOR) : [decoded];
    const name = parts
      .map((part, index) => (this.#key[index]?.kind === 'ip' ? this.#address(part) : part))
      .join(' ');
    const client = this.clientNames.add(name);
    if (name === key) return client;
    if (this.#rawKeys.length >= MOST_RAW_KEYS) this.#rawKeys.clear();
    this.#rawClients[this.#rawKeys.add(key)] = client;
    return client;
  }

  #address(part: string): string {
    return addressKey(part, this.#ipv6Prefix).slice(ADDRESS_PREFIX.length);
  }

  #groupOf(raw = NO_GROUP): number {
    const known = this.#groupNumbers.get(raw);
    if (known !== undefined) return known;
    const isFull = this.groupNames.length >= MOST_GROUPS;
    const name = isFull ? OTHER_GROUPS : flat(this.#decoded(raw));
    const number = this.#groupNumbers.get(name) ?? this.groupNames.push(name) - 1;
    this.#groupNumbers.set(name, number);
    // As written, for the lines that follow.
    if (!isFull) this.#groupNumbers.set(flat(raw), number);
    return number;
  }

  /** Logs read as bytes are UTF-8 all the same. */
  #decoded(text: string): string {
    const isUtf8 = this.#isLatin1 && NOT_ASCII.test(text);
    return isUtf8 ? Buffer.from(text, 'latin1').toString('utf8') : text;
  }
}

/** A slice of a block of the log would keep the whole block in memory. */
function flat(slice: string): string {
  return Buffer.from(slice, 'utf16le').toString('utf16le');
}
