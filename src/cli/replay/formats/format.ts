/** What was read of one line. Times are microseconds since 1970. */
export interface LineSink {
  /** A request; `undefined` for what the line does not have. */
  request(
    line: number,
    timeUs: number,
    key: string | undefined,
    cost: number,
    group: string | undefined,
  ): void;
  broken(line: number, why: string): void;
}

/** Reads the lines of a text, which is a whole number of lines. */
export interface LineParser {
  /** Lines of logs in bytes that mean themselves are read as Latin-1, and keys decoded later. */
  readonly encoding: 'latin1' | 'utf8';
  /** One line from `from`, without its line break at `to`. */
  line(text: string, from: number, to: number, number: number): void;
}

/** Between the parts of a key made of several values: no value has it. */
export const KEY_SEPARATOR = '\0';

/** A cost must be a whole number from 0. */
export function costOf(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const cost = typeof value === 'number' ? value : Number(String(value));
  return Number.isSafeInteger(cost) && cost >= 0 ? cost : undefined;
}
