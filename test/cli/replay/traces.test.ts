import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ReplayResult } from '../../../src/cli/replay/result.ts';
import { bytes, percent } from '../../../src/cli/replay/tables.ts';
import { type Request, readTrace, worstWindow } from '../../support/trace.ts';
import { combined, file, replayed } from './run.ts';

/** A multiple of every window used here, so that windows begin with the trace as in its README. */
const START_MS = 1_500_000_000_000;

const toJson = (requests: readonly Request[]) =>
  requests.map(({ ms, client }) => `{"time":${START_MS + ms},"client":"c${client}"}\n`).join('');

const toCsv = (requests: readonly Request[]) => {
  const rows = requests.map(({ ms, client }) => `"c${client}",${isoOf(ms)}\n`);
  return `client,timestamp\n${rows.join('')}`;
};

const toCombined = (requests: readonly Request[]) =>
  requests.map(({ ms, client }) => combined(START_MS + ms, addressOf(client))).join('');

const isoOf = (ms: number) => new Date(START_MS + ms).toISOString();
const addressOf = (client: number) => `10.0.${client >> 8}.${client & 255}`;

/** How each trace is written down for the command: between them all formats, gzip and standard input. */
const TRACES = {
  'nasa-19950801': { clients: 2_365, args: [], write: toCombined },
  'wikimedia-20150912': { clients: 10_804, args: [], write: (r) => gzipSync(toJson(r)) },
  'elastic-apache-2015': { clients: 1_753, args: [], write: toCombined },
  'wrccdc-dns-tls': { clients: 146, args: ['--key', 'client'], write: toCsv },
  'azure-llm-2023': {
    clients: 2,
    args: ['--key', 'field:client'],
    write: (r) => gzipSync(toCsv(r)),
  },
} satisfies Record<
  string,
  { clients: number; args: string[]; write: (requests: readonly Request[]) => string | Buffer }
>;

interface Row {
  limit: string;
  log: number;
  fixed: number;
  fixedWorst?: number;
  counter: number;
  counterWorst?: number;
}

/** The figures of test/traces/README.md. */
const KNOWN: Record<keyof typeof TRACES, Row[]> = {
  'nasa-19950801': [
    { limit: '100/60s', log: 30_969, fixed: 30_969, counter: 30_969, counterWorst: 29 },
    { limit: '20/60s', log: 30_927, fixed: 30_950, counter: 30_936 },
    { limit: '5/10s', log: 29_073, fixed: 29_862, counter: 28_957 },
  ],
  'wikimedia-20150912': [{ limit: '20/60s', log: 39_241, fixed: 39_243, counter: 39_241 }],
  'elastic-apache-2015': [
    { limit: '20/10s', log: 9_988, fixed: 9_995, fixedWorst: 25, counter: 9_988, counterWorst: 22 },
  ],
  'wrccdc-dns-tls': [
    {
      limit: '100/60s',
      log: 34_061,
      fixed: 35_154,
      fixedWorst: 200,
      counter: 33_965,
      counterWorst: 172,
    },
    {
      limit: '20/10s',
      log: 28_049,
      fixed: 30_033,
      fixedWorst: 40,
      counter: 28_288,
      counterWorst: 38,
    },
  ],
  'azure-llm-2023': [
    {
      limit: '100/60s',
      log: 8_905,
      fixed: 9_779,
      fixedWorst: 200,
      counter: 9_117,
      counterWorst: 171,
    },
    { limit: '20/10s', log: 9_068, fixed: 9_784, fixedWorst: 40, counter: 8_908, counterWorst: 35 },
  ],
};

/** The bucket by its definition: tokens as whole multiples of 1 / window. */
function tokenBucket(requests: readonly Request[], limit: number, windowMs: number): Request[] {
  const buckets = new Map<number, { tokens: number; ms: number }>();
  return requests.filter(({ ms, client }) => {
    const full = limit * windowMs;
    const bucket = buckets.get(client) ?? { tokens: full, ms };
    const tokens = Math.min(full, bucket.tokens + (ms - bucket.ms) * limit);
    const isAllowed = tokens >= windowMs;
    buckets.set(client, { tokens: isAllowed ? tokens - windowMs : tokens, ms });
    return isAllowed;
  });
}

const page = readFileSync(new URL('../../../docs/algorithms.md', import.meta.url), 'utf8');

/** A line of the page's table: the share denied and the worst window, by algorithm in the page's order. */
function figures(trace: string, limit: string, { results }: ReplayResult): string {
  const cells = results
    .filter((row) => row.limit === limit)
    .map((row) => `${percent(row.denied, row.requests)}, ${row.worstWindowRatio.toFixed(2)} x`);
  return `| ${[trace, limit, ...cells].join(' | ')} |\n`;
}

function memory({ results }: ReplayResult): string {
  const parts = results.map(({ algorithm, memoryBytes }) => {
    return `${algorithm.replaceAll('-', ' ')} ${bytes(memoryBytes ?? Number.NaN)}`;
  });
  return `${parts.join(', ')}.\n`;
}

describe('the command on a trace', () => {
  it.each(Object.keys(TRACES) as (keyof typeof TRACES)[])(
    'counts as its README says: %s',
    async (name) => {
      const { write, args, clients } = TRACES[name];
      const requests = readTrace(name);
      const log = write(requests);
      const limits = KNOWN[name].flatMap(({ limit }) => ['--limit', limit]);
      const fromFile = typeof log === 'string' ? [file(`${name}.log`, log)] : ['-'];
      const input = typeof log === 'string' ? undefined : log;
      const result = await replayed([...fromFile, '--algorithm', 'all', ...args, ...limits], input);
      expect(result).toMatchObject({ requests: requests.length, clients });
      if (name === 'wikimedia-20150912') expect(page).toContain(memory(result));
      for (const { limit, ...known } of KNOWN[name]) {
        expect(page).toContain(figures(name, limit, result));
        const of = (algorithm: string) =>
          result.results.find((row) => row.limit === limit && row.algorithm === algorithm);
        const [permits = 0, seconds = 0] = limit.split(/\/|s/).map(Number);
        const bucket = tokenBucket(requests, permits, seconds * 1000);
        expect(of('sliding-window-log')?.admitted).toBe(known.log);
        expect(of('fixed-window')?.admitted).toBe(known.fixed);
        expect(of('sliding-window-counter')?.admitted).toBe(known.counter);
        expect(of('token-bucket')).toMatchObject({
          requests: requests.length,
          admitted: bucket.length,
          denied: requests.length - bucket.length,
          worstWindow: worstWindow(bucket, seconds * 1000),
        });
        expect(of('sliding-window-log')?.worstWindow).toBeLessThanOrEqual(permits);
        if (known.fixedWorst) expect(of('fixed-window')?.worstWindow).toBe(known.fixedWorst);
        if (known.counterWorst) {
          expect(of('sliding-window-counter')?.worstWindow).toBe(known.counterWorst);
        }
      }
    },
  );
});
