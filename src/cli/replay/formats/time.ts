export type TimeUnit = 's' | 'ms' | 'us' | 'ns' | 'auto';

const TO_MICROSECONDS = { s: 1_000_000, ms: 1_000, us: 1, ns: 0.001 };
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** With its brackets: `[10/Oct/2000:13:55:36 -0700]`. */
export const COMBINED_LENGTH = 28;
const MINUTE_LENGTH = 17;
const ZONE_AT = 22;

/**
 * Reads the times of combined logs. Neighbouring lines mostly share their minute and their zone, so that only the
 * seconds are read of most.
 */
export class CombinedTime {
  #minute = '';
  #zone = '';
  #minuteMs = 0;

  /** Microseconds since 1970 of the time whose bracket opens at `at`; NaN if it is none. */
  at(text: string, at: number): number {
    const isKnown =
      text.startsWith(this.#minute, at + 1) && text.startsWith(this.#zone, at + ZONE_AT);
    if (!(isKnown && this.#minute !== '') && !this.#read(text, at)) return NaN;
    const tens = text.charCodeAt(at + 19) - 48;
    const ones = text.charCodeAt(at + 20) - 48;
    if (!(tens >= 0 && tens <= 6 && ones >= 0 && ones <= 9)) return NaN;
    return (this.#minuteMs + (tens * 10 + ones) * 1000) * 1000;
  }

  #read(text: string, at: number): boolean {
    const shape = /^\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):\d\d ([+-])(\d\d)([0-5]\d)\]$/;
    const match = shape.exec(text.slice(at, at + COMBINED_LENGTH));
    if (match === null) return false;
    const [, day, month = '', year, hour, minute, sign, zoneHours, zoneMinutes] = match;
    const index = MONTHS.indexOf(month);
    if (index < 0 || Number(day) > 31 || Number(hour) > 23 || Number(minute) > 59) return false;
    const utc = Date.UTC(Number(year), index, Number(day), Number(hour), Number(minute));
    const zoneMs = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000;
    this.#minuteMs = sign === '-' ? utc + zoneMs : utc - zoneMs;
    this.#minute = text.slice(at + 1, at + 1 + MINUTE_LENGTH);
    this.#zone = text.slice(at + ZONE_AT, at + COMBINED_LENGTH);
    return true;
  }
}

/**
 * Microseconds since 1970 of a time in JSON or CSV: ISO 8601, what `Date` reads, a combined log's spelling, or a number.
 * In `auto` a number's size tells its unit: from 1973 on the four do not meet. NaN if it is none.
 */
export function timeOf(value: unknown, unit: TimeUnit): number {
  if (typeof value === 'number') return fromNumber(value, unit);
  if (typeof value !== 'string' || value === '') return NaN;
  const number = Number(value);
  if (!Number.isNaN(number)) return fromNumber(number, unit);
  const ms = isoMs(value);
  if (!Number.isNaN(ms)) return Math.round(ms * 1000);
  return combinedTime.at(value.startsWith('[') ? value : `[${value}]`, 0);
}

const combinedTime = new CombinedTime();

function fromNumber(value: number, unit: TimeUnit): number {
  if (!Number.isFinite(value) || value < 0) return NaN;
  return Math.round(value * TO_MICROSECONDS[unit === 'auto' ? unitOf(value) : unit]);
}

function unitOf(value: number): Exclude<TimeUnit, 'auto'> {
  if (value < 1e11) return 's';
  if (value < 1e14) return 'ms';
  return value < 1e17 ? 'us' : 'ns';
}

/** `Date` keeps milliseconds only: the digits after them are added by hand. A time without a zone is taken as UTC. */
function isoMs(text: string): number {
  const shape = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d+))?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/;
  const match = shape.exec(text);
  if (match === null) return /^[A-Za-z]{3}|^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN;
  const [, date, time, fraction = '', zone = 'Z'] = match;
  const colon = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const seconds = Date.parse(`${date}T${time}${colon.length === 3 ? `${colon}:00` : colon}`);
  return fraction === '' ? seconds : seconds + Number(`0.${fraction}`) * 1000;
}
