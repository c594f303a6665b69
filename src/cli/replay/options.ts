import { parseArgs } from 'node:util';
import { ALGORITHMS, type Algorithm } from '../../replay/judges.ts';
import { checkLimit, type Limit, parseLimit } from '../../replay/limit.ts';
import { usageFault } from '../fault.ts';
import { redisAddress } from '../redis.ts';
import { type Fields, parseField } from './fields.ts';
import { FORMATS, type Format } from './formats/detect.ts';
import type { TimeUnit } from './formats/time.ts';

export const HELP = `Usage: sluicegate replay <file...|-> --limit 100/60s [options]

Replays an access log and tells what a limit would have done to it. Files may be gzip; - is standard input.

Options:
  --limit N/WINDOW      a limit to try, like 100/60s, 20/500ms, 5/m, 1000/h; may be repeated
  --algorithm NAME      token-bucket (default), sliding-window-counter, sliding-window-log,
                        fixed-window or all; may be repeated
  --key WHAT            who is limited: ip (default), user, path, method, header:NAME, field:NAME;
                        several with commas, like ip,path
  --cost NAME           permits a request takes, from this field; default 1 each
  --group-by WHAT       also count by path, method, status, header:NAME or field:NAME
  --format NAME         combined, common, json (an object a line), csv, or auto (default)
  --time NAME           the field of the time in JSON and CSV; default: the usual names
  --time-unit UNIT      s, ms, us, ns of a time that is a number, or auto (default: by its size)
  --ipv6-prefix BITS    one client is a network of this length; default 56
  --suggest PERCENT     the smallest limits that would have denied at most that many per cent
                        of requests, and of clients
  --top N               most-denied clients to show; default 10
  --max-keys N          clients that the limiters make room for; default 1000000
  --redis URL           decide in Redis, redis://host:port, with the limiters of sluicegate/redis;
                        their keys are under a random prefix and deleted in the end
  --report FILE         write one HTML page with plots
  --pseudonymise        invented names for clients; --no-pseudonymise: real ones in the report too
                        (by default the report has invented names, the rest real ones)
  --json                print JSON instead of tables
  -h, --help            show this`;

const TIME_UNITS = ['s', 'ms', 'us', 'ns', 'auto'] as const;
const DEFAULT_SUGGEST_PERCENT = 1;

export interface ReplayOptions {
  readonly files: readonly string[];
  readonly limits: readonly Limit[];
  readonly algorithms: readonly Algorithm[];
  readonly fields: Fields;
  readonly format: Format;
  readonly timeUnit: TimeUnit;
  readonly ipv6Prefix: number;
  /** Per cent; undefined if no limit is to be found. */
  readonly suggestPercent: number | undefined;
  readonly top: number;
  readonly maxKeys: number;
  /** The address of the Redis that decides; undefined if this process does. */
  readonly redis: string | undefined;
  readonly report: string | undefined;
  readonly hidesNames: { readonly output: boolean; readonly report: boolean };
  readonly json: boolean;
}

/** The options, or undefined if help was asked for. */
export function replayOptions(args: string[]): ReplayOptions | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    allowNegative: true,
    options: {
      algorithm: { type: 'string', multiple: true, default: ['token-bucket'] },
      cost: { type: 'string' },
      format: { type: 'string', default: 'auto' },
      'group-by': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      'ipv6-prefix': { type: 'string', default: '56' },
      json: { type: 'boolean', default: false },
      key: { type: 'string', default: 'ip' },
      limit: { type: 'string', multiple: true, default: [] },
      'max-keys': { type: 'string', default: '1000000' },
      pseudonymise: { type: 'boolean' },
      redis: { type: 'string' },
      report: { type: 'string' },
      suggest: { type: 'string' },
      time: { type: 'string' },
      'time-unit': { type: 'string', default: 'auto' },
      top: { type: 'string', default: '10' },
    },
  });
  if (values.help) return undefined;
  if (positionals.length === 0)
    throw usageFault('no log given: name files, or - for standard input');
  const { cost, time, report } = values;
  const redis = values.redis === undefined ? undefined : redisAddress(values.redis);
  const groupBy = values['group-by'];
  const algorithms = algorithmsOf(values.algorithm);
  return {
    files: positionals,
    limits: limitsOf(values.limit, algorithms, redis !== undefined),
    algorithms,
    fields: {
      key: values.key.split(',').map((part) => parseField('--key', part)),
      time: time === undefined ? { kind: 'time', name: 'time' } : { kind: 'named', name: time },
      cost: cost === undefined ? undefined : parseField('--cost', cost),
      group: groupBy === undefined ? undefined : parseField('--group-by', groupBy),
    },
    format: oneOf('--format', values.format, FORMATS),
    timeUnit: oneOf('--time-unit', values['time-unit'], TIME_UNITS),
    ipv6Prefix: whole('--ipv6-prefix', values['ipv6-prefix'], 1, 128),
    suggestPercent: suggestOf(values.suggest, report),
    top: whole('--top', values.top, 0, 1_000),
    maxKeys: whole('--max-keys', values['max-keys'], 1, 90_000_000),
    redis,
    report,
    hidesNames: { output: values.pseudonymise ?? false, report: values.pseudonymise ?? true },
    json: values.json,
  };
}

function limitsOf(
  texts: readonly string[],
  algorithms: readonly Algorithm[],
  inRedis: boolean,
): Limit[] {
  if (texts.length === 0) throw usageFault('no limit given: --limit 100/60s');
  try {
    const limits = [...new Set(texts)].map((text) => parseLimit(text));
    for (const limit of limits) for (const name of algorithms) checkLimit(limit, name, inRedis);
    return limits;
  } catch (error) {
    if (error instanceof RangeError) throw usageFault(error.message);
    throw error;
  }
}

function algorithmsOf(names: readonly string[]): Algorithm[] {
  const known = [...ALGORITHMS, 'all'] as const;
  const chosen = names
    .flatMap((name) => name.split(','))
    .map((name) => oneOf('--algorithm', name, known));
  return ALGORITHMS.filter((name) => chosen.includes(name) || chosen.includes('all'));
}

function oneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((name) => name === text);
  if (found !== undefined) return found;
  throw usageFault(`${option} must be one of ${known.join(', ')}; got '${text}'`);
}

function whole(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw usageFault(`${option} must be a whole number from ${least} to ${most}; got '${text}'`);
}

/** A report shows what other limits would have done, so that it looks for some on its own account. */
function suggestOf(text: string | undefined, report: string | undefined): number | undefined {
  if (text === undefined) return report === undefined ? undefined : DEFAULT_SUGGEST_PERCENT;
  const [, digits] = /^(\d+(?:\.\d+)?)\s*%?$/.exec(text) ?? [];
  if (digits === undefined || Number(digits) > 100) {
    throw usageFault(`--suggest must be a percentage from 0 to 100, like 1 or 0.1%; got '${text}'`);
  }
  return Number(digits);
}
