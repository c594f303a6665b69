import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ReplayResult } from '../../../src/cli/replay/result.ts';
import { Command, MAIN } from '../command.ts';
import { combined, file, replay, replayed } from './run.ts';

const T0 = Date.UTC(2026, 0, 1);
const LIMIT = ['--limit', '2/10s'];

/** Three clients in one second: 5, 3 and 1 requests. */
const CROWD = ['a', 'a', 'b', 'a', 'b', 'c', 'a', 'b', 'a'];
const line = (record: object) => `${JSON.stringify(record)}\n`;
const crowd = CROWD.map((user, i) => line({ time: T0 + i, user, ip: `2001:db8::${i}` })).join('');

function clients({ results }: ReplayResult) {
  return results[0]?.mostDenied.map(({ client }) => client);
}

describe('who is limited', () => {
  it.each([
    ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:203::1', '2001:DB8:1:2ff:9::', '2001:db8:1:200/56'],
    ['[2001:db8::1%eth0]', '2001:db8::2', '2001:db8:0:0/56'],
  ])('is one address however it is spelled: %s, %s', async (one, other, name) => {
    const text = [one, other].map((ip, i) => combined(T0 + i, ip)).join('');
    expect(clients(await replayed(['-', '--limit', '1/10s'], text))).toEqual([name]);
  });

  it.each([
    [56, 1],
    [64, 2],
    [128, 3],
  ])('is a network of /%d: %d of three addresses', async (bits, expected) => {
    const ips = ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:2::1'];
    const text = ips.map((ip) => combined(T0, ip)).join('');
    const { clients } = await replayed(['-', ...LIMIT, '--ipv6-prefix', `${bits}`], text);
    expect(clients).toBe(expected);
  });

  it.each([
    ['user', line({ time: T0, user: 'ann' }), 'ann'],
    ['header:X-Api-Key', line({ time: T0, req: { headers: { 'x-api-key': 'k1' } } }), 'k1'],
    ['field:tenant.id', line({ time: T0, tenant: { id: 17 } }), '17'],
    ['tenant.id', line({ time: T0, 'tenant.id': 'dotted' }), 'dotted'],
    ['ip,path', line({ time: T0, ip: '::1', url: '/login?next=/' }), '0:0:0:0/56 /login'],
    ['user', combined(T0, '192.0.2.1', 'GET / HTTP/1.1', 'Zoë Smith'), 'Zoë Smith'],
    ['header:user-agent', combined(T0, '192.0.2.1'), 'Mozilla/5.0 (X11)'],
    ['method,path', combined(T0, '192.0.2.1', 'POST /a\\"b?c HTTP/1.1'), 'POST /a\\"b'],
  ])('is told by --key %s', async (key, text, name) => {
    const result = await replayed(['-', ...LIMIT, '--key', key], text.repeat(3));
    expect(clients(result)).toEqual([name]);
  });

  it.each([',', ';', '\t', '|'])('is a column of CSV, with %j between columns', async (mark) => {
    const row = `"2026-01-01 00:00:00"${mark}"Ä${mark}\n""b"""\r\n`;
    const text = `\ufeffTime${mark}Tenant\r\n${row.repeat(3)}x${mark}y\r\n`;
    const result = await replayed(['-', ...LIMIT, '--key', 'tenant'], text);
    expect(clients(result)).toEqual([`Ä${mark}\n"b"`]);
    // Each row is two lines.
    expect(result.skipped.broken.lines).toEqual(['8 (no time in time)']);
  });

  it('is nobody where the log has no key', async () => {
    const text = combined(T0, '192.0.2.1', 'GET / HTTP/1.1', 'ann') + combined(T0, '192.0.2.1');
    const { requests, skipped } = await replayed(['-', ...LIMIT, '--key', 'user'], text);
    expect({ requests, skipped: skipped.withoutKey }).toEqual({
      requests: 1,
      skipped: { count: 1, lines: ['2'] },
    });
  });
});

describe('times', () => {
  it.each([
    [1_767_225_600, 'seconds'],
    [1_767_225_600.5, 'seconds with a fraction'],
    ['1767225600000', 'milliseconds in text'],
    [1_767_225_600_000_000, 'microseconds'],
    ['2026-01-01T00:00:00Z', 'ISO 8601'],
    ['2026-01-01T01:00:00.123456+01:00', 'ISO 8601 with zone and microseconds'],
    ['2026-01-01 00:00:00,25', 'with a space and a comma, in UTC'],
    ['01/Jan/2026:02:00:00 +0200', "a combined log's"],
    ['Thu, 01 Jan 2026 00:00:00 GMT', "HTTP's"],
  ])('are read: %s, %s', async (time, _) => {
    const { fromMs } = await replayed(['-', ...LIMIT], line({ ts: time, ip: '192.0.2.1' }));
    expect(Math.floor(fromMs / 1000)).toBe(1_767_225_600);
  });

  it('count in the unit told', async () => {
    const text = [0, 999, 1000].map((at) => line({ at, ip: '192.0.2.1' })).join('');
    const args = [
      '--limit',
      '1/s',
      '--time',
      'at',
      '--time-unit',
      'ms',
      '--algorithm',
      'fixed-window',
    ];
    const { results } = await replayed(['-', ...args], text);
    expect(results[0]).toMatchObject({ admitted: 2, denied: 1, longestWaitMs: 1 });
  });
});

describe('the result', () => {
  it('tells what happened to whom', async () => {
    const args = ['--key', 'user', '--algorithm', 'sliding-window-log', ...LIMIT];
    const { results } = await replayed(['-', ...args], crowd);
    expect(results[0]).toMatchObject({
      limit: '2/10s',
      requests: 9,
      clients: 3,
      admitted: 5,
      denied: 4,
      clientsEverDenied: 2,
      // Client a's third request, 3 ms after its first.
      longestWaitMs: 9_997,
      worstWindow: 2,
      worstWindowRatio: 1,
      mostDenied: [
        { client: 'a', requests: 5, denied: 3 },
        { client: 'b', requests: 3, denied: 1 },
      ],
    });
  });

  it('counts costs, and tells which can never pass', async () => {
    const text = [2, 1, 3, 0]
      .map((tokens, i) => line({ time: T0 + i, ip: '::1', tokens }))
      .join('');
    const args = ['--cost', 'tokens', '--algorithm', 'all', '--limit', '2/10s'];
    const { results } = await replayed(['-', ...args], `${text}${line({ time: T0, ip: '::1' })}`);
    for (const row of results) {
      expect(row).toMatchObject({
        requests: 4,
        admitted: 2,
        denied: 2,
        neverPass: 1,
        worstWindow: 2,
      });
    }
  });

  it('is also counted by group', async () => {
    const paths = ['/a?x=1', '/a?x=2', '/b', '/a'];
    const text = paths.map((path, i) =>
      combined(T0 + i * 1000, '192.0.2.1', `GET ${path} HTTP/1.1`),
    );
    const { results } = await replayed(['-', ...LIMIT, '--group-by', 'path'], text.join(''));
    expect(results[0]?.groups).toEqual([
      { group: '/a', requests: 3, denied: 1 },
      { group: '/b', requests: 1, denied: 1 },
    ]);
  });

  it('is a table with the same numbers', async () => {
    const args = ['-', '--key', 'user', '--algorithm', 'all', ...LIMIT];
    const { code, stdout } = await replay(args, crowd);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ +sliding-window-log +9 +3 +5 +4 +44\.4 % +2 +66\.7 % +10 s +1\.00 x +/m,
    );
    expect(stdout).toMatch(/^ +a +5 +3 +60\.0 %$/m);
    expect(stdout).not.toContain('\x1b');
  });

  it('has invented names instead of real ones if asked', async () => {
    const args = ['-', '--key', 'user', '--pseudonymise', ...LIMIT];
    const { results } = await replayed([...args, '--group-by', 'user'], crowd);
    expect(results[0]?.mostDenied[0]).toMatchObject({ requests: 5, denied: 3 });
    const names = [...(results[0]?.mostDenied ?? []).map(({ client }) => client)];
    names.push(...(results[0]?.groups ?? []).map(({ group }) => group));
    for (const name of names) expect(name).toMatch(/^(client|group)-[0-9a-f]{10}$/);
    const { results: again } = await replayed(args, crowd);
    expect(again[0]?.mostDenied[0]?.client).not.toBe(names[0]);
  });

  it('keeps what is in a log from steering the terminal', async () => {
    const { stdout } = await replay(
      ['-', '--key', 'user', ...LIMIT],
      line({ time: T0, user: '\x1b[2Jx\u202e' }).repeat(3),
    );
    expect(stdout).toContain('\ufffd[2Jx\ufffd');
    expect(stdout).not.toContain('\x1b');
    expect(stdout).not.toContain('\u202e');
  });
});

it('ends quietly when nobody reads its output any more', async () => {
  const many = Array.from({ length: 30_000 }, (_, i) =>
    line({ time: T0 + i * 60_000, user: `u${i}` }),
  );
  const log = file('many.json', many.join(''));
  const args = [
    MAIN,
    'replay',
    log,
    '--key',
    'user',
    '--group-by',
    'user',
    '--top',
    '1000',
    '--json',
    ...LIMIT,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  expect(stderr).not.toContain('EPIPE');
});

describe('the smallest limit', () => {
  /** Client i makes i requests in one second, i from 1 to 20. */
  const stairs = Array.from({ length: 20 }, (_, i) => `u${i + 1}`)
    .flatMap((user, i) => Array.from({ length: i + 1 }, () => user))
    .map((user, i) => line({ time: T0 + i, user }))
    .join('');

  it.each([
    // A limit of n denies 20 - n clients, and (20 - n) * (21 - n) / 2 of 210 requests.
    ['0', 20, 20],
    ['5%', 16, 19],
    ['50', 6, 10],
    ['100', 1, 1],
  ])('that denies at most %s per cent: %d, %d', async (percent, ofRequests, ofClients) => {
    const args = ['--key', 'user', '--limit', '3/60s', '--algorithm', 'all', '--suggest', percent];
    const { suggestions } = await replayed(['-', ...args], gzipSync(stairs));
    expect(suggestions.map(({ algorithm }) => algorithm)).toHaveLength(4);
    for (const suggestion of suggestions) {
      expect(suggestion.ofRequests?.limit, suggestion.algorithm).toBe(ofRequests);
      expect(suggestion.ofClients?.limit, suggestion.algorithm).toBe(ofClients);
      for (const { limit, clientsEverDenied } of suggestion.tried) {
        expect(clientsEverDenied).toBe(Math.max(0, 20 - limit));
      }
    }
  });

  it('leaves no temporary file behind', async () => {
    const TMPDIR = mkdtempSync(join(tmpdir(), 'sluicegate-replay-tmp-'));
    const args = [
      'replay',
      file('steps.json', stairs),
      '--key',
      'user',
      '--limit',
      '3/60s',
      '--suggest',
      '5',
    ];
    const { code } = await new Command(args, { TMPDIR }).ended;
    expect({ code, files: readdirSync(TMPDIR) }).toEqual({ code: 0, files: [] });
    rmSync(TMPDIR, { recursive: true });
  });

  it('is told below the tables', async () => {
    const args = [
      file('stairs.json', stairs),
      '--key',
      'user',
      '--limit',
      '3/60s',
      '--suggest',
      '5',
    ];
    const { stdout } = await replay(args);
    expect(stdout).toMatch(
      /Smallest limit that denies at most 5 %\n.*\n +token-bucket +1 min +16 \/ 1 min +19 \/ 1 min\n$/,
    );
  });
});
